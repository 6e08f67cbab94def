// SPDX-License-Identifier: MIT
/* test_ctf_kernel.c - the kernel trace byte by byte; what its events mean tests/compass looks at.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "sink/ctf_directory.h"
#include "sink/ctf_format.h"
#include "sink/ctf_kernel.h"

#define BEGIN_NS 1000000u
#define CPU	 2u
#define HEADER	 4u /* of an event that follows soon */

static const struct sdw_recording recording = {
	.version = "1", .hostname = "host", .start_ns = 5, .start_unix_ns = 1000000005};

/* A packet's start with what a processor's stream adds, and its events. */
struct packet {
	struct sdw_ctf_packet_start start;
	uint32_t cpu;
	uint8_t events[4096];
} __attribute__((packed));

static char directory[64], path[80];

static int make_directory(void **state)
{
	(void)state;
	snprintf(directory, sizeof(directory), "/tmp/sidewinder-kernel-XXXXXX");
	assert_non_null(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/kernel", directory);
	return 0;
}

/* As `record --force` does with one that is there. */
static int remove_directory(void **state)
{
	struct sdw_ctf_directory found;

	(void)state;
	assert_int_equal(sdw_ctf_directory_create(&found, path, true), 0);
	sdw_ctf_directory_close(&found);
	assert_int_equal(rmdir(path), 0);
	return rmdir(directory);
}

/* The second packet of a stream; the first one is empty. Gives the bytes of its events. */
static size_t read_packet(uint32_t cpu, struct packet *packet)
{
	uint8_t bytes[8192];
	char name[128];
	ssize_t size;
	size_t first;
	int fd;

	snprintf(name, sizeof(name), "%s/cpu-%u", path, cpu);
	fd = open(name, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	size = read(fd, bytes, sizeof(bytes));
	close(fd);
	memcpy(packet, bytes, sizeof(packet->start));
	first = packet->start.packet_bits / 8;
	assert_int_equal(packet->start.content_bits / 8, sizeof(packet->start) + 4);
	assert_true(size > (ssize_t)first);
	memset(packet, 0, sizeof(*packet));
	memcpy(packet, bytes + first, (size_t)size - first);
	return packet->start.content_bits / 8 - sizeof(packet->start) - 4;
}

static void test_a_switch_has_its_fields_in_order(void **state)
{
	const struct sdw_sched_record record = {
		.time_ns = BEGIN_NS + 5,
		.kind = SDW_SCHED_SWITCH,
		.value = 1,
		.tasks = {{"one", 11, 10, 20}, {"two", 22, 21, -1}},
	};
	int32_t numbers[2], wanted[] = {11, 20}, next[] = {22, -1};
	struct sdw_kernel_trace *trace;
	struct packet packet;
	int64_t prev_state;

	(void)state;
	assert_int_equal(sdw_kernel_trace_create(path, &recording, 4, BEGIN_NS, &trace), 0);
	assert_int_equal(sdw_kernel_trace_add(trace, CPU, &record, sizeof(record)), 0);
	assert_int_equal(sdw_kernel_trace_set_lost(trace, CPU, 7), 0);
	assert_int_equal(sdw_kernel_trace_close(trace), 0);
	assert_int_equal(read_packet(CPU, &packet), HEADER + 56);
	assert_int_equal(packet.cpu, CPU);
	assert_int_equal(packet.start.discarded, 7);
	assert_int_equal(packet.start.timestamp_end, BEGIN_NS + 5);
	assert_string_equal((char *)packet.events + HEADER, "one");
	memcpy(numbers, packet.events + HEADER + 16, sizeof(numbers));
	assert_memory_equal(numbers, wanted, sizeof(wanted));
	memcpy(&prev_state, packet.events + HEADER + 24, sizeof(prev_state));
	assert_int_equal(prev_state, 1);
	assert_string_equal((char *)packet.events + HEADER + 32, "two");
	memcpy(numbers, packet.events + HEADER + 48, sizeof(numbers));
	assert_memory_equal(numbers, next, sizeof(next));
}

static void test_a_name_without_its_end_is_cut(void **state)
{
	struct sdw_sched_exec exec = {
		.record = {.time_ns = BEGIN_NS, .kind = SDW_SCHED_EXEC, .value = 9}};
	struct sdw_kernel_trace *trace;
	struct packet packet;

	(void)state;
	memset(exec.file, 'f', sizeof(exec.file));
	assert_int_equal(sdw_kernel_trace_create(path, &recording, 4, BEGIN_NS, &trace), 0);
	assert_int_equal(sdw_kernel_trace_add(trace, 0, &exec, sizeof(exec)), 0);
	assert_int_equal(sdw_kernel_trace_close(trace), 0);
	assert_int_equal(read_packet(0, &packet), HEADER + sizeof(exec.file) + 8);
	assert_int_equal(strlen((char *)packet.events + HEADER), sizeof(exec.file) - 1);
}

static void test_what_is_no_record_is_left_out(void **state)
{
	struct sdw_sched_exec exec = {.record = {.time_ns = BEGIN_NS, .kind = SDW_SCHED_EXEC}};
	struct sdw_kernel_trace *trace;
	char name[128];

	(void)state;
	assert_int_equal(sdw_kernel_trace_create(path, &recording, 4, BEGIN_NS, &trace), 0);
	assert_int_equal(sdw_kernel_trace_add(trace, 1, &exec, sizeof(exec.record)), 0);
	assert_int_equal(sdw_kernel_trace_add(trace, 1, &exec, 3), 0);
	exec.record.kind = SDW_SCHED_KIND_COUNT;
	assert_int_equal(sdw_kernel_trace_add(trace, 1, &exec, sizeof(exec)), 0);
	exec.record.kind = SDW_SCHED_EXIT;
	assert_int_equal(sdw_kernel_trace_add(trace, 4, &exec, sizeof(exec)), -EINVAL);
	assert_int_equal(sdw_kernel_trace_close(trace), 0);
	snprintf(name, sizeof(name), "%s/cpu-1", path);
	assert_int_equal(access(name, F_OK), -1);
}

static void test_a_directory_that_is_there_stays(void **state)
{
	struct sdw_kernel_trace *trace;

	(void)state;
	assert_int_equal(sdw_kernel_trace_create(path, &recording, 1, BEGIN_NS, &trace), 0);
	assert_int_equal(sdw_kernel_trace_close(trace), 0);
	assert_int_equal(sdw_kernel_trace_create(path, &recording, 1, BEGIN_NS, &trace), -EEXIST);
	assert_int_equal(sdw_kernel_trace_close(NULL), 0);
}

int main(void)
{
#define IN_DIRECTORY(test) cmocka_unit_test_setup_teardown(test, make_directory, remove_directory)
	const struct CMUnitTest tests[] = {
		IN_DIRECTORY(test_a_switch_has_its_fields_in_order),
		IN_DIRECTORY(test_a_name_without_its_end_is_cut),
		IN_DIRECTORY(test_what_is_no_record_is_left_out),
		IN_DIRECTORY(test_a_directory_that_is_there_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
