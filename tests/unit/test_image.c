// SPDX-License-Identifier: MIT
/*
 * test_image.c - what becomes of process images: by life and mapping records, and where these were
 * lost. The BPF side is one of this file's own, which counts what it is told.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include <cmocka.h>

#include "capture/image.h"

#define GONE   0x7ffffff0u /* a pid that cannot be: beyond PID_MAX_LIMIT */
#define SECOND 1000000000ull

struct sdw_programs {
	int err;
	unsigned int told, told_python, forgotten;
};

int sdw_programs_set_interpreter(struct sdw_programs *programs, uint32_t pid, uint32_t epoch,
				 const struct sdw_pylayout *layout, uint64_t runtime_addr,
				 uint64_t code_type_addr)
{
	(void)pid, (void)epoch, (void)runtime_addr, (void)code_type_addr;
	programs->told++;
	programs->told_python += layout != NULL;
	return programs->err;
}

int sdw_programs_layout_index(struct sdw_programs *programs, const struct sdw_pylayout *layout)
{
	(void)programs;
	(void)layout;
	return 0;
}

void sdw_programs_forget(struct sdw_programs *programs, uint32_t pid, uint32_t epoch)
{
	(void)pid, (void)epoch;
	programs->forgotten++;
}

struct fixture {
	struct sdw_programs programs;
	struct sdw_strings strings;
	struct sdw_images images;
	uint64_t now_ns;
};

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	if (!fixture)
		return -1;
	fixture->now_ns = 100 * SECOND;
	*state = fixture;
	return sdw_images_init(&fixture->images, &fixture->programs, &fixture->strings);
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	sdw_images_free(&fixture->images);
	sdw_strings_free(&fixture->strings);
	free(fixture);
	return 0;
}

static void life(struct fixture *fixture, uint32_t what, uint32_t pid, uint32_t epoch,
		 uint32_t parent_pid, uint32_t parent_epoch)
{
	struct sdw_record_life record = {
		.record = {.type = SDW_RECORD_LIFE,
			   .size = sizeof(record),
			   .time_ns = ++fixture->now_ns,
			   .pid = pid,
			   .epoch = epoch},
		.what = what,
		.tid = pid,
		.parent_pid = parent_pid,
		.parent_epoch = parent_epoch,
		.comm = "program",
	};

	assert_int_equal(sdw_images_life(&fixture->images, &record), 0);
}

static void map(struct fixture *fixture, uint32_t pid, uint64_t start, uint64_t length,
		uint64_t inode, const char *path)
{
	union {
		struct sdw_record_mapping record;
		char bytes[sizeof(struct sdw_record_mapping) + 64];
	} mapping = {.record = {.record = {.type = SDW_RECORD_MAPPING,
					   .time_ns = ++fixture->now_ns,
					   .pid = pid},
				.start = start,
				.length = length,
				.inode = inode}};

	snprintf(mapping.bytes + sizeof(mapping.record), 64, "%s", path);
	assert_int_equal(sdw_images_mapping(&fixture->images, &mapping.record), 0);
}

static void tick(struct fixture *fixture)
{
	fixture->now_ns += 10000000;
	sdw_images_tick(&fixture->images, fixture->now_ns);
}

static void test_a_process_whose_first_record_was_lost_is_looked_at(void **state)
{
	struct fixture *fixture = *state;
	struct sdw_image *image = sdw_images_get(&fixture->images, (uint32_t)getpid(), 5);

	assert_non_null(image);
	assert_int_equal(image->state, SDW_IMAGE_UNKNOWN);
	tick(fixture);
	assert_int_equal(image->state, SDW_IMAGE_OTHER);
	assert_int_equal(fixture->programs.told, 1);
	tick(fixture);
	assert_int_equal(fixture->programs.told, 1);
}

static void test_a_late_sample_of_a_process_that_is_gone_leaves_no_image(void **state)
{
	struct fixture *fixture = *state;

	assert_non_null(sdw_images_get(&fixture->images, GONE, 5));
	tick(fixture);
	fixture->now_ns += 2 * SECOND;
	tick(fixture);
	assert_int_equal(fixture->images.all.count, 0);
	assert_int_equal(fixture->programs.forgotten, 1);
}

static void test_a_process_whose_exit_was_lost_is_found_to_be_gone(void **state)
{
	struct fixture *fixture = *state;

	life(fixture, SDW_LIFE_SEEN, (uint32_t)getpid(), 1, 0, 0);
	life(fixture, SDW_LIFE_FORK, GONE, 2, (uint32_t)getpid(), 1);
	sdw_images_find_ended(&fixture->images, fixture->now_ns);
	fixture->now_ns += 2 * SECOND;
	tick(fixture);
	assert_int_equal(fixture->images.all.count, 1);
	assert_int_equal(fixture->images.all.items[0]->pid, getpid());
}

static void test_a_process_without_an_epoch_is_made_anew(void **state)
{
	struct fixture *fixture = *state;

	assert_non_null(sdw_images_get(&fixture->images, (uint32_t)getpid(), 0));
	sdw_images_find_ended(&fixture->images, fixture->now_ns);
	fixture->now_ns += 2 * SECOND;
	tick(fixture);
	assert_int_equal(fixture->images.all.count, 0);
}

static void test_a_full_table_of_the_bpf_side_does_not_end_the_recording(void **state)
{
	struct fixture *fixture = *state;

	fixture->programs.err = -ENOSPC;
	life(fixture, SDW_LIFE_SEEN, (uint32_t)getpid(), 1, 0, 0);
	life(fixture, SDW_LIFE_FORK, GONE, 2, (uint32_t)getpid(), 1);
	assert_int_equal(fixture->programs.told, 2);
}

/* Its libraries never come: it may be that it only seems to need them. */
static void
test_a_program_that_does_not_start_for_long_is_taken_for_one_without_python(void **state)
{
	struct fixture *fixture = *state;
	struct sdw_image *image = sdw_images_get(&fixture->images, GONE, 1);
	char path[4096] = "";
	struct stat status;
	struct sdw_mapping program = {.end = 1 << 20, .executable = true, .path = path};

	assert_true(readlink("/proc/self/exe", path, sizeof(path) - 1) > 0);
	assert_int_equal(stat(path, &status), 0);
	program.inode = status.st_ino;
	program.device_major = major(status.st_dev);
	program.device_minor = minor(status.st_dev);
	image->maps_known = true;
	assert_int_equal(sdw_maps_add(&image->maps, &program), 0);
	for (int i = 0; i < 499; i++)
		assert_int_equal(sdw_images_look(&fixture->images, image, fixture->now_ns), 0);
	assert_int_equal(image->state, SDW_IMAGE_UNKNOWN);
	assert_int_equal(sdw_images_look(&fixture->images, image, fixture->now_ns), 0);
	assert_int_equal(image->state, SDW_IMAGE_OTHER);
	assert_int_equal(fixture->programs.told, 1);
	assert_true(image->retry_ns == fixture->now_ns + SECOND / 10); /* and is looked at on */
}

static void test_of_two_images_under_one_pid_the_older_has_ended(void **state)
{
	struct fixture *fixture = *state;

	life(fixture, SDW_LIFE_SEEN, (uint32_t)getpid(), 1, 0, 0);
	life(fixture, SDW_LIFE_SEEN, (uint32_t)getpid(), 2, 0, 0);
	sdw_images_find_ended(&fixture->images, fixture->now_ns);
	fixture->now_ns += 2 * SECOND;
	tick(fixture);
	assert_int_equal(fixture->images.all.count, 1);
	assert_int_equal(fixture->images.all.items[0]->epoch, 2);
}

static void test_after_lost_mappings_a_process_is_read_and_looked_at_again(void **state)
{
	struct fixture *fixture = *state;
	struct sdw_image *image;

	life(fixture, SDW_LIFE_SEEN, (uint32_t)getpid(), 1, 0, 0);
	image = sdw_images_get(&fixture->images, (uint32_t)getpid(), 1);
	map(fixture, (uint32_t)getpid(), 0, 0, 0, ""); /* an exec begins */
	assert_true(image->executing);
	map(fixture, 0, 0, 0, 0, "");
	assert_false(image->executing);
	assert_false(image->maps_known);
	fixture->programs.told = 0;
	tick(fixture);
	assert_true(image->maps_known);
	assert_int_equal(fixture->programs.told, 1);
}

static void test_a_program_without_python_is_not_looked_at_with_each_mapping(void **state)
{
	struct fixture *fixture = *state;

	life(fixture, SDW_LIFE_SEEN, (uint32_t)getpid(), 1, 0, 0);
	for (uint64_t i = 1; i <= 1000; i++)
		map(fixture, (uint32_t)getpid(), i << 20, 4096, i, "/nowhere/plugin.so");
	tick(fixture);
	assert_int_equal(fixture->programs.told, 1);
}

static void test_mappings_made_and_undone_do_not_pile_up(void **state)
{
	struct fixture *fixture = *state;
	struct sdw_image *image;
	size_t most = 0;

	life(fixture, SDW_LIFE_SEEN, (uint32_t)getpid(), 1, 0, 0);
	image = sdw_images_get(&fixture->images, (uint32_t)getpid(), 1);
	for (uint64_t i = 1; i <= 100000; i++) {
		map(fixture, (uint32_t)getpid(), i << 20, 4096, 0, "//anon");
		sdw_images_need_maps(image);
		most = image->maps.count > most ? image->maps.count : most;
	}
	assert_in_range(most, 10000, 20000);
}

static void test_a_child_has_its_parents_mappings_until_it_executes(void **state)
{
	struct fixture *fixture = *state;
	struct sdw_image *parent, *child;

	life(fixture, SDW_LIFE_SEEN, (uint32_t)getpid(), 1, 0, 0);
	parent = sdw_images_get(&fixture->images, (uint32_t)getpid(), 1);
	assert_true(parent->maps.count > 1);
	life(fixture, SDW_LIFE_FORK, GONE, 2, (uint32_t)getpid(), 1);
	child = sdw_images_get(&fixture->images, GONE, 2);
	assert_int_equal(child->maps.count, parent->maps.count);
	map(fixture, GONE, 0, 0, 0, "");
	map(fixture, GONE, 0x400000, 0x1000, 7, "/nowhere/program");
	assert_null(sdw_maps_find(&child->maps, 0x400000));
	life(fixture, SDW_LIFE_EXEC, GONE, 3, GONE, 2);
	assert_int_not_equal(child->ended_ns, 0);
	child = sdw_images_get(&fixture->images, GONE, 3);
	assert_int_equal(child->maps.count, 1);
	assert_non_null(sdw_maps_find(&child->maps, 0x400000));
}

static void test_a_thread_that_is_renamed_for_ever_takes_no_memory(void **state)
{
	struct fixture *fixture = *state;
	struct sdw_record_life record = {
		.record = {.type = SDW_RECORD_LIFE,
			   .size = sizeof(record),
			   .pid = GONE,
			   .epoch = 1},
		.what = SDW_LIFE_THREAD_SEEN,
		.tid = 7,
		.comm = "first",
	};
	struct sdw_image *image = sdw_images_get(&fixture->images, GONE, 1);

	assert_int_equal(sdw_images_life(&fixture->images, &record), 0);
	assert_string_equal(sdw_image_new_thread(image, 7)->comm, "first");
	assert_int_equal(sdw_image_announce_thread(image, 7, 1), 0);
	assert_null(sdw_image_new_thread(image, 7));
	for (unsigned int i = 0; i < 1000; i++) {
		snprintf(record.comm, sizeof(record.comm), "name %u", i % 1000);
		assert_int_equal(sdw_images_life(&fixture->images, &record), 0);
	}
	assert_null(sdw_image_new_thread(image, 7));
	assert_int_equal(fixture->strings.bytes, 0);
}

static void test_a_thread_is_known_for_its_last_samples_and_then_its_tid_is_free(void **state)
{
	struct fixture *fixture = *state;
	struct sdw_image *image;

	life(fixture, SDW_LIFE_SEEN, (uint32_t)getpid(), 1, 0, 0);
	image = sdw_images_get(&fixture->images, (uint32_t)getpid(), 1);
	assert_int_equal(sdw_map64_set(&image->threads, (uint32_t)getpid(), 9), 0);
	life(fixture, SDW_LIFE_THREAD_EXIT, (uint32_t)getpid(), 1, 0, 0);
	tick(fixture);
	assert_non_null(sdw_map64_find(&image->threads, (uint32_t)getpid()));
	fixture->now_ns += SECOND;
	tick(fixture);
	assert_null(sdw_map64_find(&image->threads, (uint32_t)getpid()));
}

static void test_another_thread_under_the_number_of_one_that_ended_is_told_apart(void **state)
{
	struct fixture *fixture = *state;
	struct sdw_record_life record = {
		.record = {.type = SDW_RECORD_LIFE,
			   .size = sizeof(record),
			   .pid = GONE,
			   .epoch = 1},
		.tid = 7,
	};
	struct sdw_image *image = sdw_images_get(&fixture->images, GONE, 1);

	assert_int_equal(sdw_image_announce_thread(image, 7, 1), 0);
	record.what = SDW_LIFE_THREAD_EXIT;
	record.record.time_ns = fixture->now_ns;
	assert_int_equal(sdw_images_life(&fixture->images, &record), 0);
	/* on its way out it is seen on another processor */
	record.what = SDW_LIFE_THREAD_SEEN;
	record.start_ns = record.record.time_ns - 1;
	assert_int_equal(sdw_images_life(&fixture->images, &record), 0);
	assert_int_equal(*sdw_map64_find(&image->threads, 7), 1);
	record.start_ns = record.record.time_ns + 1;
	assert_int_equal(sdw_images_life(&fixture->images, &record), 0);
	assert_null(sdw_map64_find(&image->threads, 7));
	/* that the former has ended is not the latter's end */
	assert_int_equal(sdw_image_announce_thread(image, 7, 2), 0);
	fixture->now_ns += SECOND;
	tick(fixture);
	assert_int_equal(*sdw_map64_find(&image->threads, 7), 2);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_process_whose_first_record_was_lost_is_looked_at),
		TEST(test_a_late_sample_of_a_process_that_is_gone_leaves_no_image),
		TEST(test_a_process_whose_exit_was_lost_is_found_to_be_gone),
		TEST(test_a_process_without_an_epoch_is_made_anew),
		TEST(test_a_full_table_of_the_bpf_side_does_not_end_the_recording),
		TEST(test_a_program_that_does_not_start_for_long_is_taken_for_one_without_python),
		TEST(test_of_two_images_under_one_pid_the_older_has_ended),
		TEST(test_after_lost_mappings_a_process_is_read_and_looked_at_again),
		TEST(test_a_program_without_python_is_not_looked_at_with_each_mapping),
		TEST(test_mappings_made_and_undone_do_not_pile_up),
		TEST(test_a_child_has_its_parents_mappings_until_it_executes),
		TEST(test_a_thread_that_is_renamed_for_ever_takes_no_memory),
		TEST(test_a_thread_is_known_for_its_last_samples_and_then_its_tid_is_free),
		TEST(test_another_thread_under_the_number_of_one_that_ended_is_told_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
