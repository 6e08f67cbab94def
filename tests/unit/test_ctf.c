// SPDX-License-Identifier: MIT
/* test_ctf.c - what the CTF sink writes, read by babeltrace2 and byte by byte; and how it fails. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <sys/resource.h>

#include "sink/ctf_format.h"
#include "sink/tee.h"
#include "trace_events.h"

#define PAGE	    4096
#define START_BYTES sizeof(struct sdw_ctf_packet_start)

static struct sdw_sink *begin(const char *path, const struct sdw_recording *recording)
{
	struct sdw_sink *sink;

	assert_int_equal(0, sdw_ctf_create(path, false, &sink));
	assert_int_equal(0, send(sink, recording, *recording));
	return sink;
}

static size_t count_lines(const char *text)
{
	size_t lines = 0;

	for (; *text; text++)
		lines += *text == '\n';
	return lines;
}

static void test_babeltrace_reads_every_kind_of_event(void **state)
{
	struct sdw_sink *sink = begin(in(state, "t"), &plain_recording);
	struct sdw_sample_event sample = plain_sample(6000000000);
	struct sdw_signal_sample_event signal_sample = plain_signal_sample(6000000000, 9);
	struct sdw_totals totals = {.time_ns = 7000000000, .duration_ns = 2, .overflows = 5};
	char *out;

	send_one_stack(sink, 6000000000);
	assert_int_equal(0, send(sink, sample, sample));
	sample.weight = 2;
	sample.status = SDW_STATUS_TRUNCATED;
	sample.flags = 5;
	assert_int_equal(0, send(sink, sample, sample));
	sample.pair = 9;
	assert_int_equal(0, send(sink, sample, sample));
	assert_int_equal(0, send(sink, signal_sample, signal_sample));
	assert_int_equal(0, send(sink, lost,
				 (struct sdw_lost_event){.time_ns = 6000000001,
							 .begin_ns = 6,
							 .count = 3,
							 .reason = SDW_LOST_OUTSIDE_TARGET}));
	totals.signal_samples = 4;
	totals.signal_merged = 5;
	totals.signal_lost = 6;
	totals.status[SDW_STATUS_COMPLETE] = 2;
	totals.lost[SDW_LOST_OUTSIDE_TARGET] = 3;
	assert_int_equal(0, send(sink, totals, totals));
	assert_int_equal(0, sink->ops->close(sink));
	out = babeltrace(state, in(state, "t"));
	assert_non_null(strstr(
		out,
		"[1700000006.000000000] host process: { 1, 0, 10, 2, \"py\", \"-\", \"-\", \"-\" }\n"
		"[1700000006.000000000] host thread: { 1, 1, 11, 3, \"main\" }\n"
		"[1700000006.000000000] host code: { 1, ( \"python\" : container = 0 ), 7, \"work\", "
		"\"/app.py\" }\n"
		"[1700000006.000000000] host frame: { 1, 1, 9, 5, 7, 10 }\n"
		"[1700000006.000000000] host stack: { 1, 0, 1 }\n"
		"[1700000006.000000000] host sample: { 10, 11, 1, 1, 3, "
		"( \"complete\" : container = 0 ), 0 }\n"
		"[1700000006.000000000] host sample_weighted: { 10, 11, 1, 1, 3, "
		"( \"truncated\" : container = 5 ), 5, 2 }\n"
		"[1700000006.000000000] host sample_paired: { 10, 11, 1, 1, 3, "
		"( \"truncated\" : container = 5 ), 5, 2, 9 }\n"
		"[1700000006.000000000] host signal_sample: { 10, 11, 1, 1, 3, "
		"( \"complete\" : container = 0 ), 2, 3, 4, 5999999000, 5999999500, 9, 1000000 }\n"
		"[1700000006.000000001] host lost: { 6, 6000000001, 3, "
		"( \"outside_target\" : container = 3 ) }\n"
		"[1700000007.000000000] host totals: { 2, 5, 0, 0, 0, 4, 5, 6, 2, "));
	assert_int_equal(count_lines(out), 11);
	free(out);
}

static void test_an_empty_recording_is_a_valid_trace(void **state)
{
	struct sdw_sink *sink = begin(in(state, "t"), &plain_recording);
	char *out;

	assert_int_equal(0, sink->ops->close(sink));
	out = babeltrace(state, in(state, "t"));
	assert_string_equal(out, "");
	free(out);
}

static void test_a_sample_takes_24_bytes(void **state)
{
	struct sdw_sink *sink = begin(in(state, "t"), &plain_recording);
	struct sdw_sample_event sample = plain_sample(6000000000);
	struct stat before, after;

	send_one_stack(sink, 6000000000);
	assert_int_equal(0, sink->ops->flush(sink, 0));
	assert_int_equal(0, stat(in(state, "t/stream"), &before));
	for (int i = 0; i < 100; i++)
		assert_int_equal(0, send(sink, sample, sample));
	assert_int_equal(0, sink->ops->close(sink));
	assert_int_equal(0, stat(in(state, "t/stream"), &after));
	assert_int_equal(after.st_size - before.st_size, START_BYTES + 100 * 24);
}

static void test_long_pauses_and_late_times_are_kept_to_the_nanosecond(void **state)
{
	/* around the 27 bits of a compact header, and up to the last time that babeltrace2 takes */
	static const uint64_t times[] = {
		0,	   1,	       134217728,     268435455,	  402653183,
		536870911, 6000000000, 0x7ffffffffff, 0x7ffffffffffffffe, 0x7ffffffffffffffe};
	struct sdw_recording recording = plain_recording;
	struct sdw_sink *sink;
	char *out, *at, expect[64];

	recording.start_ns = recording.start_unix_ns = 0;
	sink = begin(in(state, "t"), &recording);
	send_one_stack(sink, 0);
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		struct sdw_sample_event sample = plain_sample(times[i]);

		assert_int_equal(0, send(sink, sample, sample));
	}
	assert_int_equal(0, sink->ops->close(sink));
	at = out = babeltrace(state, in(state, "t"));
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		snprintf(expect, sizeof(expect),
			 "[%llu.%09llu] host sample:", (unsigned long long)times[i] / 1000000000,
			 (unsigned long long)times[i] % 1000000000);
		at = strstr(at, expect);
		assert_non_null(at);
		at++;
	}
	free(out);
}

static void test_quotes_backslashes_and_newlines_in_names_stay_text(void **state)
{
	static const char odd[] = "a\"b\\c\nd\te\x01\x7f\xc3\xa9}; env { x = 1; \\\\\"";
	struct sdw_recording recording = plain_recording;
	struct sdw_sink *sink;
	char *out;

	recording.command = recording.event = odd;
	recording.unit = "\\";
	sink = begin(in(state, "t"), &recording);
	assert_int_equal(0, send(sink, process, (struct sdw_process_event){.id = 1, .comm = odd}));
	assert_int_equal(0, sink->ops->close(sink));
	out = babeltrace(state, in(state, "t"));
	assert_non_null(strstr(out, "host process: { 1, 0, 0, 0, \"a\\\"b\\\\c\\nd\\te"));
	assert_int_equal(count_lines(out), 1);
	free(out);
}

static void test_strings_beyond_64_kib_are_cut_and_marked(void **state)
{
	struct sdw_sink *sink = begin(in(state, "t"), &plain_recording);
	size_t size = 200001, kept;
	char *large = malloc(size), *out, *at;

	assert_non_null(large);
	/* two bytes a character, at odd places: the bound falls within one */
	large[0] = 'x';
	for (size_t i = 1; i + 1 < size; i += 2)
		memcpy(large + i, "\xc3\xa9", 2);
	large[size - 2] = '\0';
	assert_int_equal(0, send(sink, code,
				 (struct sdw_code_event){.id = 1, .name = large, .file = large}));
	large[SDW_CTF_MAX_TEXT - 1] = '\0';
	assert_int_equal(
		0, send(sink, code, (struct sdw_code_event){.id = 2, .name = large, .file = ""}));
	assert_int_equal(0, sink->ops->close(sink));
	out = babeltrace(state, in(state, "t"));
	at = strchr(out, 'x');
	assert_non_null(at);
	kept = strcspn(at, "\"");
	assert_in_range(kept, SDW_CTF_MAX_TEXT - 5, SDW_CTF_MAX_TEXT - 1);
	assert_memory_equal(at, large, kept - 3);
	assert_memory_equal(at + kept - 5, "\xc3\xa9\xe2\x80\xa6", 5);
	at = strstr(at + kept, " code: { 2, ");
	assert_non_null(at);
	at = strchr(at, 'x');
	assert_non_null(at);
	assert_int_equal(strcspn(at, "\""), SDW_CTF_MAX_TEXT - 1);
	free(out);
	free(large);
}

static void test_packets_follow_one_another_within_pages(void **state)
{
	struct sdw_sink *sink = begin(in(state, "t"), &plain_recording);
	struct sdw_ctf_packet_start start;
	char name[3000], *bytes, *out;
	size_t size, offset = 0;
	uint64_t sequence = 0;

	memset(name, 'n', sizeof(name));
	send_one_stack(sink, 6000000000);
	for (int i = 0; i < 3000; i++) {
		struct sdw_sample_event sample = plain_sample(6000000000 + (uint64_t)i * 1000);

		assert_int_equal(0, send(sink, sample, sample));
		if (i % 7 == 0)
			assert_int_equal(0, sink->ops->flush(sink, sample.time_ns));
		name[i] = '\0'; /* an event of every size up to three quarters of a page */
		assert_int_equal(0, send(sink, code,
					 (struct sdw_code_event){.time_ns = sample.time_ns,
								 .id = 2 + (uint32_t)i,
								 .name = name,
								 .file = "f"}));
		name[i] = 'n';
	}
	assert_int_equal(0, sink->ops->close(sink));
	bytes = read_file(in(state, "t/stream"), &size);
	for (; offset < size; offset += start.packet_bits / 8) {
		memcpy(&start, bytes + offset, sizeof(start));
		assert_int_equal(start.magic, SDW_CTF_MAGIC);
		assert_int_equal(start.sequence, sequence++);
		assert_true(start.content_bits <= start.packet_bits);
		assert_int_equal(offset / PAGE, (offset + start.packet_bits / 8 - 1) / PAGE);
	}
	assert_int_equal(offset, size);
	free(bytes);
	out = babeltrace(state, in(state, "t"));
	assert_int_equal(count_lines(out), 5 + 6000);
	free(out);
}

static void test_what_was_seen_and_dropped_counts_as_discarded(void **state)
{
	struct sdw_sink *sink = begin(in(state, "t"), &plain_recording);
	struct sdw_ctf_packet_start start;
	char *bytes;
	size_t size;

	for (int i = 0; i < SDW_LOST_COUNT; i++)
		assert_int_equal(0,
				 send(sink, lost,
				      (struct sdw_lost_event){.count = 10, .reason = (uint8_t)i}));
	assert_int_equal(0, sink->ops->close(sink));
	bytes = read_file(in(state, "t/stream"), &size);
	memcpy(&start, bytes + START_BYTES, sizeof(start));
	/* ring_full, no_scratch, consumer; not what was never seen or asked about */
	assert_int_equal(start.discarded, 10 * 3);
	free(bytes);
}

static void test_a_killed_profiler_leaves_what_was_flushed(void **state)
{
	const char *path = in(state, "t");
	pid_t child = fork();
	int status;
	char *out;

	assert_true(child >= 0);
	if (!child) {
		struct sdw_sink *sink = begin(path, &plain_recording);

		send_one_stack(sink, 6000000000);
		for (int i = 0; i < 1000; i++) {
			struct sdw_sample_event sample = plain_sample(6000000000);

			if (send(sink, sample, sample) || (i == 899 && sink->ops->flush(sink, 0)))
				_exit(1);
		}
		raise(SIGKILL);
	}
	assert_int_equal(child, waitpid(child, &status, 0));
	assert_true(WIFSIGNALED(status));
	out = babeltrace(state, path);
	assert_in_range(count_lines(out), 5 + 900, 5 + 1000); /* full packets went out too */
	free(out);
}

/* Runs in a child: its limit on the size of files stands for a full disk. */
static int fill_disk(const char *path)
{
	struct rlimit limit = {65536, 65536};
	struct sdw_sink *sink = NULL;
	struct sdw_totals totals = {.time_ns = 9000000000};
	int err;

	if (signal(SIGXFSZ, SIG_IGN) == SIG_ERR || setrlimit(RLIMIT_FSIZE, &limit))
		return 1;
	if (sdw_ctf_create(path, false, &sink) || send(sink, recording, plain_recording))
		return 2;
	send_one_stack(sink, 6000000000);
	do {
		struct sdw_sample_event sample = plain_sample(6000000000);

		err = send(sink, sample, sample);
	} while (!err);
	if (err != -EFBIG)
		return 3;
	if (send(sink, code, (struct sdw_code_event){.id = 2, .name = "", .file = ""}) != -EFBIG)
		return 4; /* nothing may follow the gap that could refer to what is missing */
	(void)send(sink, totals, totals);
	return sink->ops->close(sink) == -EFBIG ? 0 : 5;
}

static void test_a_full_disk_is_an_error_and_leaves_a_valid_trace(void **state)
{
	const char *path = in(state, "t");
	pid_t child = fork();
	struct stat stream;
	int status;
	char *out;

	assert_true(child >= 0);
	if (!child)
		_exit(fill_disk(path));
	assert_int_equal(child, waitpid(child, &status, 0));
	assert_int_equal(status, 0);
	assert_int_equal(0, stat(in(state, "t/stream"), &stream));
	assert_int_equal(stream.st_size, 65536);
	out = babeltrace(state, path);
	/* 16 pages of samples of 24 bytes, less the definitions in the first */
	assert_in_range(count_lines(out), 16 * 160, 16 * 168);
	free(out);
}

static void test_no_room_for_the_metadata_is_found_before_recording(void **state)
{
	const char *path = in(state, "t");
	pid_t child = fork();
	int status;

	assert_true(child >= 0);
	if (!child) {
		struct rlimit limit = {1000, 1000};
		struct sdw_sink *sink;

		signal(SIGXFSZ, SIG_IGN);
		_exit(setrlimit(RLIMIT_FSIZE, &limit) ||
		      sdw_ctf_create(path, false, &sink) != -EFBIG);
	}
	assert_int_equal(child, waitpid(child, &status, 0));
	assert_int_equal(status, 0);
	assert_int_equal(-1, access(path, F_OK));
}

static void test_what_exists_is_never_touched_without_force(void **state)
{
	struct sdw_sink *sink;

	assert_int_equal(-ENOENT, sdw_ctf_create(in(state, "no/such"), false, &sink));
	assert_int_equal(-ENOENT, sdw_ctf_create("", false, &sink));
	write_file(in(state, "file"), "x", 1);
	assert_int_equal(-EEXIST, sdw_ctf_create(in(state, "file"), false, &sink));
	assert_int_equal(-ENOTDIR, sdw_ctf_create(in(state, "file"), true, &sink));
	assert_int_equal(-ENOTDIR, sdw_ctf_create(in(state, "file/t"), false, &sink));
	assert_int_equal(0, mkdir(in(state, "empty"), 0755));
	assert_int_equal(-EEXIST, sdw_ctf_create(in(state, "empty"), false, &sink));
	assert_int_equal(0, symlink("empty", in(state, "link")));
	assert_int_equal(-EEXIST, sdw_ctf_create(in(state, "link"), false, &sink));
	assert_int_equal(-EEXIST, sdw_ctf_create(in(state, "link/"), false, &sink));
	assert_int_equal(0, rmdir(in(state, "empty")));
}

static void test_force_replaces_traces_and_empty_directories_only(void **state)
{
	struct sdw_sink *sink;
	char *out;

	assert_int_equal(0, mkdir(in(state, "t"), 0755));
	assert_int_equal(0, symlink("t", in(state, "link")));
	assert_int_not_equal(0, sdw_ctf_create(in(state, "link/"), true, &sink));
	for (int i = 0; i < 2; i++) {
		assert_int_equal(0, sdw_ctf_create(in(state, "t/"), true, &sink));
		assert_int_equal(0, send(sink, recording, plain_recording));
		if (i == 0)
			send_one_stack(sink, 6000000000);
		assert_int_equal(0, sink->ops->close(sink));
	}
	out = babeltrace(state, in(state, "t"));
	assert_string_equal(out, "");
	free(out);
	write_file(in(state, "t/precious"), "x", 1);
	assert_int_equal(-ENOTEMPTY, sdw_ctf_create(in(state, "t"), true, &sink));
	assert_int_equal(0, access(in(state, "t/stream"), F_OK));
	assert_int_equal(0, unlink(in(state, "t/precious")));
	write_file(in(state, "t/metadata"), "/* CTF 1.8 */\nof another tracer\n", 31);
	assert_int_equal(-ENOTEMPTY, sdw_ctf_create(in(state, "t"), true, &sink));
	assert_int_equal(0, access(in(state, "t/stream"), F_OK));
}

static void test_files_are_private_and_a_recording_that_never_began_leaves_none(void **state)
{
	struct stat status;
	struct sdw_sink *sink;

	assert_int_equal(0, sdw_ctf_create(in(state, "t"), false, &sink));
	assert_int_equal(0, stat(in(state, "t"), &status));
	assert_int_equal(status.st_mode & 07777, 0700);
	assert_int_equal(0, stat(in(state, "t/metadata"), &status));
	assert_int_equal(status.st_mode & 07777, 0600);
	assert_int_equal(0, stat(in(state, "t/stream"), &status));
	assert_int_equal(status.st_mode & 07777, 0600);
	free(babeltrace(state, in(state, "t"))); /* valid from the first moment */
	assert_int_equal(0, sink->ops->close(sink));
	assert_int_equal(-1, access(in(state, "t"), F_OK));
}

static void test_ids_that_skip_are_refused(void **state)
{
	struct sdw_sink *sink = begin(in(state, "t"), &plain_recording);
	struct sdw_sample_event sample = plain_sample(6000000000);

	assert_int_equal(-EINVAL, send(sink, sample, sample));
	assert_int_equal(-EINVAL, send(sink, process, (struct sdw_process_event){.id = 2}));
	assert_int_equal(-EINVAL,
			 send(sink, thread, (struct sdw_thread_event){.id = 1, .process = 1}));
	assert_int_equal(0, sink->ops->close(sink));
}

/* A sink that counts, and fails on samples if told to. */
struct counting_sink {
	struct sdw_sink sink;
	int error;
	int samples, closed;
};

static int count_sample(struct sdw_sink *sink, const struct sdw_sample_event *event)
{
	struct counting_sink *counting = (struct counting_sink *)sink;

	(void)event;
	counting->samples++;
	return counting->error;
}

static int count_close(struct sdw_sink *sink)
{
	((struct counting_sink *)sink)->closed++;
	return 0;
}

static void test_a_tee_feeds_the_others_when_one_fails(void **state)
{
	static const struct sdw_sink_ops ops = {.sample = count_sample, .close = count_close};
	struct counting_sink a = {.sink.ops = &ops, .error = -ENOSPC}, b = {.sink.ops = &ops};
	struct sdw_sink *both[] = {&a.sink, &b.sink}, *tee;
	struct sdw_sample_event sample = {0};

	(void)state;
	assert_int_equal(0, sdw_tee_create(both, 2, &tee));
	assert_int_equal(-ENOSPC, send(tee, sample, sample));
	a.error = 0;
	assert_int_equal(0, send(tee, sample, sample));
	assert_int_equal(-ENOSPC, tee->ops->close(tee));
	assert_int_equal(a.samples, 2);
	assert_int_equal(b.samples, 2);
	assert_int_equal(a.closed + b.closed, 2);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_directory, remove_directory)
	const struct CMUnitTest tests[] = {
		TEST(test_babeltrace_reads_every_kind_of_event),
		TEST(test_an_empty_recording_is_a_valid_trace),
		TEST(test_a_sample_takes_24_bytes),
		TEST(test_long_pauses_and_late_times_are_kept_to_the_nanosecond),
		TEST(test_quotes_backslashes_and_newlines_in_names_stay_text),
		TEST(test_strings_beyond_64_kib_are_cut_and_marked),
		TEST(test_packets_follow_one_another_within_pages),
		TEST(test_what_was_seen_and_dropped_counts_as_discarded),
		TEST(test_a_killed_profiler_leaves_what_was_flushed),
		TEST(test_a_full_disk_is_an_error_and_leaves_a_valid_trace),
		TEST(test_no_room_for_the_metadata_is_found_before_recording),
		TEST(test_what_exists_is_never_touched_without_force),
		TEST(test_force_replaces_traces_and_empty_directories_only),
		TEST(test_files_are_private_and_a_recording_that_never_began_leaves_none),
		TEST(test_ids_that_skip_are_refused),
		TEST(test_a_tee_feeds_the_others_when_one_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
