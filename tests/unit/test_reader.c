// SPDX-License-Identifier: MIT
/* test_reader.c - a trace reads back as what was written, and a broken one never does harm. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#else
#define __lsan_disable()
#define __lsan_enable()
#endif

#include "base/utf8.h"
#include "sink/ctf_format.h"
#include "sink/tee.h"
#include "trace_events.h"
#include "view/profile.h"
#include "view/reader.h"

/* libbabeltrace2 leaks where a trace is broken, and its plug-in has no name at exit any more. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) /* NOLINT(bugprone-reserved-identifier) */
{
	return "detect_leaks=0";
}

enum { PROCESSES = 3, THREADS = 9, CODES = 300, FRAMES = 900, STACKS = 2000, SAMPLES = 20000 };

/* Deterministic numbers (a linear congruential generator). */
static uint32_t next_number(uint32_t *seed, uint32_t below)
{
	*seed = *seed * 1103515245 + 12345;
	return (*seed >> 8) % below;
}

static void send_code(struct sdw_sink *sink, uint64_t time_ns, uint32_t id, uint32_t *seed)
{
	static const char *const odd[] = {"", "\xe2\x82\xac\xf0\x9f\x90\x8d", "a\"b\\c\nd", "<x>"};
	char name[5000], file[64];

	memset(name, 'n', sizeof(name));
	snprintf(name + next_number(seed, sizeof(name) - 64), 64, "%s%u", odd[id % 4], id);
	*file = 0;
	if (id % 7) /* else none, as kernel functions have it */
		snprintf(file, sizeof(file), "/dir/%u.py", id / 10);
	assert_int_equal(0, send(sink, code,
				 (struct sdw_code_event){.time_ns = time_ns,
							 .id = id,
							 .kind = id % SDW_CODE_KIND_COUNT,
							 .name = name,
							 .file = file,
							 .first_line = id * 3}));
}

static void send_tasks(struct sdw_sink *sink, uint64_t time_ns)
{
	for (uint32_t id = 1; id <= PROCESSES; id++)
		assert_int_equal(
			0, send(sink, process,
				(struct sdw_process_event){.time_ns = time_ns,
							   .id = id,
							   .parent = id - 1,
							   .pid = 100 + id,
							   .inner_pid = id,
							   .comm = "py\tthon",
							   .container = id % 3 == 1 ? "c1" : NULL,
							   .container_name = "we\"b",
							   .pod = "shop/web"}));
	for (uint32_t id = 1; id <= THREADS; id++)
		assert_int_equal(0, send(sink, thread,
					 (struct sdw_thread_event){.time_ns = time_ns,
								   .id = id,
								   .process = 1 + id % PROCESSES,
								   .tid = 1000 + id,
								   .inner_tid = id,
								   .name = "thread"}));
}

static void send_stacks(struct sdw_sink *sink, uint64_t time_ns, uint32_t *seed)
{
	for (uint32_t id = 1; id <= CODES; id++)
		send_code(sink, time_ns, id, seed);
	for (uint32_t id = 1; id <= FRAMES; id++)
		assert_int_equal(0, send(sink, frame,
					 (struct sdw_frame_event){.time_ns = time_ns,
								  .id = id,
								  .code = 1 + id % CODES,
								  .line = id}));
	for (uint32_t id = 1; id <= STACKS; id++)
		assert_int_equal(
			0, send(sink, stack,
				(struct sdw_stack_event){.time_ns = time_ns,
							 .id = id,
							 .parent = next_number(seed, id),
							 .frame = 1 + next_number(seed, FRAMES)}));
}

static struct sdw_sample_event any_sample(uint64_t time_ns, uint32_t *seed)
{
	return (struct sdw_sample_event){
		.time_ns = time_ns,
		.thread = 1 + next_number(seed, THREADS),
		.stack = next_number(seed, STACKS + 1),
		.weight = next_number(seed, 3) ? 1000000 : next_number(seed, 1u << 23) * 1000ull,
		.cpu = (uint16_t)next_number(seed, 65536),
		.status = (uint8_t)next_number(seed, SDW_STATUS_COUNT),
		.flags = (uint8_t)next_number(seed, 256),
	};
}

/* The signal of the sample's overflow, with every field another number. */
static void send_signal(struct sdw_sink *sink, const struct sdw_sample_event *sample)
{
	struct sdw_signal_sample_event event = plain_signal_sample(sample->time_ns, sample->pair);

	event.thread = sample->thread;
	event.stack = sample->stack;
	event.cpu = sample->cpu;
	event.status = sample->status;
	event.flags = sample->flags;
	event.weight = sample->weight;
	event.merged = sample->cpu;
	assert_int_equal(0, send(sink, signal_sample, event));
}

/* A recording with every kind of event. */
static void send_recording(struct sdw_sink *sink)
{
	uint64_t time_ns = plain_recording.start_ns;
	struct sdw_totals totals = {.complete = true, .processes = 7, .threads = 8};
	struct sdw_recording recording = plain_recording;
	uint32_t seed = 7;

	recording.path = SDW_PATH_BOTH;
	assert_int_equal(0, send(sink, recording, recording));
	send_tasks(sink, time_ns);
	send_stacks(sink, time_ns, &seed);
	for (uint32_t i = 0; i < SAMPLES; i++) {
		struct sdw_sample_event sample = any_sample(time_ns, &seed);

		sample.pair = i % 10 ? 0 : i + 1ull;
		assert_int_equal(0, send(sink, sample, sample));
		if (sample.pair)
			send_signal(sink, &sample);
		time_ns += next_number(&seed, 100) ? 1000 : 200000000;
	}
	totals.signal_samples = 1;
	totals.signal_merged = 2;
	totals.signal_lost = 3;
	for (int i = 0; i < SDW_LOST_COUNT; i++) {
		totals.lost[i] = 1ull << (40 + i);
		assert_int_equal(0, send(sink, lost,
					 (struct sdw_lost_event){.time_ns = time_ns - 5,
								 .begin_ns = time_ns - 100,
								 .count = totals.lost[i],
								 .reason = (uint8_t)i}));
	}
	for (int i = 0; i < SDW_STATUS_COUNT; i++)
		totals.status[i] = 1ull << (50 + i);
	totals.time_ns = time_ns;
	totals.duration_ns = time_ns - plain_recording.start_ns;
	totals.overflows = UINT64_MAX;
	assert_int_equal(0, send(sink, totals, totals));
}

static void assert_same_recording(const struct sdw_recording *a, const struct sdw_recording *b)
{
	assert_string_equal(a->version, b->version);
	assert_string_equal(a->hostname, b->hostname);
	assert_string_equal(a->command, b->command);
	assert_string_equal(a->event, b->event);
	assert_string_equal(a->unit, b->unit);
	assert_int_equal(a->period, b->period);
	assert_int_equal(a->frequency, b->frequency);
	assert_int_equal(a->start_ns, b->start_ns);
	assert_int_equal(a->start_unix_ns, b->start_unix_ns);
	assert_int_equal(a->native, b->native);
	assert_int_equal(a->kernel, b->kernel);
	assert_int_equal(a->path, b->path);
}

static void assert_same_definitions(const struct sdw_profile *a, const struct sdw_profile *b)
{
	assert_int_equal(a->processes.count, b->processes.count);
	for (size_t i = 0; i < a->processes.count; i++) {
		assert_int_equal(a->processes.items[i].parent, b->processes.items[i].parent);
		assert_int_equal(a->processes.items[i].pid, b->processes.items[i].pid);
		assert_int_equal(a->processes.items[i].inner_pid, b->processes.items[i].inner_pid);
		assert_string_equal(a->processes.items[i].comm, b->processes.items[i].comm);
		assert_string_equal(a->processes.items[i].container,
				    b->processes.items[i].container);
		assert_string_equal(a->processes.items[i].container_name,
				    b->processes.items[i].container_name);
		assert_string_equal(a->processes.items[i].pod, b->processes.items[i].pod);
	}
	assert_int_equal(a->threads.count, b->threads.count);
	for (size_t i = 0; i < a->threads.count; i++) {
		assert_int_equal(a->threads.items[i].process, b->threads.items[i].process);
		assert_int_equal(a->threads.items[i].tid, b->threads.items[i].tid);
		assert_int_equal(a->threads.items[i].inner_tid, b->threads.items[i].inner_tid);
		assert_string_equal(a->threads.items[i].name, b->threads.items[i].name);
	}
	assert_int_equal(a->codes.count, b->codes.count);
	for (size_t i = 0; i < a->codes.count; i++) {
		assert_int_equal(a->codes.items[i].kind, b->codes.items[i].kind);
		assert_string_equal(a->codes.items[i].name, b->codes.items[i].name);
		assert_string_equal(a->codes.items[i].file, b->codes.items[i].file);
		assert_int_equal(a->codes.items[i].first_line, b->codes.items[i].first_line);
	}
}

static void assert_same_signal(const struct sdw_signal_sample_event *a,
			       const struct sdw_signal_sample_event *b)
{
	assert_int_equal(a->time_ns, b->time_ns);
	assert_int_equal(a->overflow_ns, b->overflow_ns);
	assert_int_equal(a->handler_ns, b->handler_ns);
	assert_int_equal(a->pair, b->pair);
	assert_int_equal(a->weight, b->weight);
	assert_int_equal(a->merged, b->merged);
	assert_int_equal(a->thread, b->thread);
	assert_int_equal(a->stack, b->stack);
	assert_int_equal(a->cpu, b->cpu);
	assert_int_equal(a->status, b->status);
	assert_int_equal(a->flags, b->flags);
	assert_int_equal(a->delivery, b->delivery);
}

#define assert_same_items(a, b)                                                            \
	do {                                                                               \
		assert_int_equal((a).count, (b).count);                                    \
		assert_memory_equal((a).items, (b).items, (a).count * sizeof(*(a).items)); \
	} while (0)

static void test_a_trace_reads_back_as_what_was_sent(void **state)
{
	struct sdw_profile direct, read;
	struct sdw_sink *sinks[2], *tee;

	assert_int_equal(0, sdw_profile_init(&direct, true));
	assert_int_equal(0, sdw_profile_init(&read, true));
	assert_int_equal(0, sdw_ctf_create(in(state, "t"), false, &sinks[0]));
	sinks[1] = &direct.sink;
	assert_int_equal(0, sdw_tee_create(sinks, 2, &tee));
	send_recording(tee);
	assert_int_equal(0, tee->ops->close(tee));
	assert_int_equal(0, sdw_trace_read(in(state, "t"), &read.sink));

	assert_same_recording(&direct.recording, &read.recording);
	assert_same_definitions(&direct, &read);
	assert_same_items(direct.frames, read.frames);
	assert_same_items(direct.stacks, read.stacks);
	assert_int_equal(read.samples.count, SAMPLES);
	for (size_t i = 0; i < SAMPLES; i++) {
		const struct sdw_sample_event *a = &direct.samples.items[i];
		const struct sdw_sample_event *b = &read.samples.items[i];

		assert_int_equal(a->time_ns, b->time_ns);
		assert_int_equal(a->thread, b->thread);
		assert_int_equal(a->stack, b->stack);
		assert_int_equal(a->weight, b->weight);
		assert_int_equal(a->cpu, b->cpu);
		assert_int_equal(a->status, b->status);
		assert_int_equal(a->flags, b->flags);
		assert_int_equal(a->pair, b->pair);
	}
	assert_int_equal(read.signal_samples.count, SAMPLES / 10);
	for (size_t i = 0; i < SAMPLES / 10; i++)
		assert_same_signal(&direct.signal_samples.items[i], &read.signal_samples.items[i]);
	assert_int_equal(read.totals.signal_samples, 1);
	assert_int_equal(read.totals.signal_merged, 2);
	assert_int_equal(read.totals.signal_lost, 3);
	assert_int_equal(direct.lost.count, read.lost.count);
	for (size_t i = 0; i < direct.lost.count; i++) {
		assert_int_equal(direct.lost.items[i].time_ns, read.lost.items[i].time_ns);
		assert_int_equal(direct.lost.items[i].begin_ns, read.lost.items[i].begin_ns);
		assert_int_equal(direct.lost.items[i].count, read.lost.items[i].count);
		assert_int_equal(direct.lost.items[i].reason, read.lost.items[i].reason);
	}
	assert_memory_equal(direct.totals.status, read.totals.status, sizeof(read.totals.status));
	assert_memory_equal(direct.totals.lost, read.totals.lost, sizeof(read.totals.lost));
	assert_int_equal(read.totals.overflows, UINT64_MAX);
	assert_int_equal(read.totals.duration_ns, direct.totals.duration_ns);
	assert_int_equal(read.totals.processes, 7);
	assert_int_equal(read.totals.threads, 8);
	assert_true(read.totals.complete);
	sdw_profile_free(&direct);
	sdw_profile_free(&read);
}

/* Reads the trace into a fresh profile, which the caller frees. */
static int read_into(struct sdw_profile *profile, const char *path)
{
	assert_int_equal(0, sdw_profile_init(profile, false));
	return sdw_trace_read(path, &profile->sink);
}

/* For traces that may be broken: libbabeltrace2 2.0.4 leaks when it refuses one. */
static int read_status(const char *path)
{
	struct sdw_profile profile;
	int err;

	__lsan_disable();
	err = read_into(&profile, path);
	__lsan_enable();
	sdw_profile_free(&profile);
	return err;
}

/* A trace of a few events, as small as can be. */
static void write_small_trace(const char *path)
{
	struct sdw_sink *sink;

	assert_int_equal(0, sdw_ctf_create(path, true, &sink));
	assert_int_equal(0, send(sink, recording, plain_recording));
	send_one_stack(sink, 6000000000);
	for (int i = 0; i < 5; i++) {
		struct sdw_sample_event sample = plain_sample(6000000000 + 200000000ull * i);

		sample.weight -= i % 2;
		assert_int_equal(0, send(sink, sample, sample));
	}
	assert_int_equal(0, send(sink, lost, (struct sdw_lost_event){.count = 1}));
	assert_int_equal(0, send(sink, totals, (struct sdw_totals){.complete = true}));
	assert_int_equal(0, sink->ops->close(sink));
}

static void test_what_is_no_trace_is_not_there(void **state)
{
	assert_int_equal(-ENOENT, read_status(in(state, "none")));
	assert_int_equal(-ENOENT, read_status(*state));
	write_file(in(state, "file"), "x", 1);
	assert_int_equal(-ENOENT, read_status(in(state, "file")));
	assert_int_equal(0, mkdir(in(state, "t"), 0700));
	assert_int_equal(0, mkfifo(in(state, "t/metadata"), 0600)); /* nobody waits for it */
	assert_int_equal(-ENOENT, read_status(in(state, "t")));
}

static void test_garbage_and_missing_streams_are_invalid(void **state)
{
	write_small_trace(in(state, "t"));
	write_file(in(state, "t/metadata"), "garbage", 7);
	assert_int_equal(-EINVAL, read_status(in(state, "t")));
	write_file(in(state, "t/metadata"), "", 0);
	assert_int_equal(-EINVAL, read_status(in(state, "t")));
	assert_int_equal(0, remove(in(state, "t/metadata")));
	assert_int_equal(-ENOENT, read_status(in(state, "t")));
	assert_int_equal(0, remove(in(state, "t/stream")));
	write_small_trace(in(state, "u"));
	assert_int_equal(0, truncate(in(state, "u/stream"), 0));
	assert_int_equal(-EINVAL, read_status(in(state, "u")));
	assert_int_equal(0, remove(in(state, "u/stream")));
	assert_int_equal(-EINVAL, read_status(in(state, "u")));
	assert_int_equal(0, mkfifo(in(state, "u/stream"), 0600));
	assert_int_equal(-EINVAL, read_status(in(state, "u")));
}

/* Writes the metadata anew with `from` replaced by `to`. */
static void edit_metadata(void **state, const char *from, const char *to)
{
	char *text = read_file(in(state, "t/metadata"), NULL), *at = strstr(text, from), *edited;

	assert_non_null(at);
	assert_true(asprintf(&edited, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from)) >
		    0);
	write_file(in(state, "t/metadata"), edited, strlen(edited));
	free(edited);
	free(text);
}

static void test_traces_of_others_and_of_other_formats_are_refused(void **state)
{
	static const char *const edits[][2] = {
		{"tracer_name = \"sidewinder\"", "tracer_name = \"lttng-ust\""},
		{"trace_format = 1;", "trace_format = 2;"},
		{"\ttracer_name = \"sidewinder\";\n", ""},
		{"uint32_t stack;", "uint32_t other;"},
		{"text_t comm;", "uint8_t comm;"},
		{"freq = 1000000000;", "freq = 0;"}, /* libbabeltrace2 divides by it */
		{"name = \"frame\";", "name = \"stack\";"},
	};

	for (size_t i = 0; i < sizeof(edits) / sizeof(edits[0]); i++) {
		write_small_trace(in(state, "t"));
		edit_metadata(state, edits[i][0], edits[i][1]);
		assert_int_equal(-EINVAL, read_status(in(state, "t")));
	}
}

static void test_a_trace_without_columns_is_read(void **state)
{
	struct sdw_profile profile;

	write_small_trace(in(state, "t"));
	assert_int_equal(0, sdw_profile_init(&profile, false));
	profile.keep_columns = true;
	assert_int_equal(0, sdw_trace_read(in(state, "t"), &profile.sink));
	assert_int_equal(profile.frames.items[1].column, 5);
	assert_int_equal(profile.frames.items[1].end_column, 7);
	assert_int_equal(profile.frames.items[1].end_line, 10);
	sdw_profile_free(&profile);
	/* fields of other names: as if they were not there */
	edit_metadata(state, "uint16_t column;", "uint16_t calumn;");
	edit_metadata(state, "uint32_t end_line;", "uint32_t end_lime;");
	edit_metadata(state, "uint64_t signal_lost;", "uint64_t signal_last;");
	assert_int_equal(0, sdw_profile_init(&profile, false));
	profile.keep_columns = true;
	assert_int_equal(0, sdw_trace_read(in(state, "t"), &profile.sink));
	assert_int_equal(profile.frames.items[1].line, 9);
	assert_int_equal(profile.frames.items[1].column, 0);
	assert_int_equal(profile.frames.items[1].end_column, 7);
	assert_int_equal(profile.frames.items[1].end_line, 0);
	sdw_profile_free(&profile);
}

static void test_a_stream_cut_at_a_packet_is_read_up_to_there(void **state)
{
	struct sdw_profile profile;
	struct sdw_sink *sink;

	assert_int_equal(0, sdw_ctf_create(in(state, "t"), false, &sink));
	send_recording(sink);
	assert_int_equal(0, sink->ops->close(sink));
	assert_int_equal(0, truncate(in(state, "t/stream"), 4096 * 300));
	assert_int_equal(0, read_into(&profile, in(state, "t")));
	assert_false(profile.totals.complete);
	assert_int_equal(profile.stacks.count, STACKS + 1);
	assert_true(profile.buckets.count > 0);
	sdw_profile_free(&profile);
	assert_int_equal(0, truncate(in(state, "t/stream"), 4096 * 300 - 1));
	assert_int_equal(-EINVAL, read_status(in(state, "t")));
}

static int fail_sample(struct sdw_sink *sink, const struct sdw_sample_event *event)
{
	(void)sink;
	(void)event;
	return -ENOSPC;
}

static void test_the_error_of_the_sink_comes_back(void **state)
{
	struct sdw_profile profile;
	struct sdw_sink_ops ops;

	write_small_trace(in(state, "t"));
	assert_int_equal(0, sdw_profile_init(&profile, false));
	ops = *profile.sink.ops;
	ops.sample = fail_sample;
	profile.sink.ops = &ops;
	assert_int_equal(-ENOSPC, sdw_trace_read(in(state, "t"), &profile.sink));
	sdw_profile_free(&profile);
}

static void test_names_that_are_not_utf8_are_escaped(void **state)
{
	struct sdw_profile profile;
	struct sdw_sink *sink;

	assert_int_equal(0, sdw_ctf_create(in(state, "t"), false, &sink));
	assert_int_equal(0, send(sink, recording, plain_recording));
	assert_int_equal(0, send(sink, code,
				 (struct sdw_code_event){
					 .id = 1, .name = "a\xff\xc3\xa9", .file = "\xe2\x82"}));
	assert_int_equal(0, sink->ops->close(sink));
	assert_int_equal(0, read_into(&profile, in(state, "t")));
	assert_string_equal(profile.codes.items[1].name, "a\\xff\xc3\xa9");
	assert_string_equal(profile.codes.items[1].file, "\\xe2\\x82");
	sdw_profile_free(&profile);
}

static void test_utf8_is_that_of_rfc_3629(void **state)
{
	(void)state;
	assert_int_equal(sdw_utf8_length(""), 0);
	assert_int_equal(sdw_utf8_length("a"), 1);
	assert_int_equal(sdw_utf8_length("\xc3\xa9"), 2);
	assert_int_equal(sdw_utf8_length("\xef\xbf\xbf"), 3);
	assert_int_equal(sdw_utf8_length("\xf4\x8f\xbf\xbf"), 4);
	assert_int_equal(sdw_utf8_length("\x80"), 0);
	assert_int_equal(sdw_utf8_length("\xc0\x80"), 0);	  /* overlong */
	assert_int_equal(sdw_utf8_length("\xe0\x9f\xbf"), 0);	  /* overlong */
	assert_int_equal(sdw_utf8_length("\xed\xa0\x80"), 0);	  /* surrogate */
	assert_int_equal(sdw_utf8_length("\xf4\x90\x80\x80"), 0); /* above U+10FFFF */
	assert_int_equal(sdw_utf8_length("\xf0\x9f\x90"), 0);	  /* cut */
	assert_int_equal(sdw_utf8_valid_prefix("ab\xc3\xa9\xc3"), 4);
}

/* The reader says of each broken trace what is wrong: not a thousand times in a log of tests. */
static int hide_stderr(void)
{
	int shown = dup(STDERR_FILENO), null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	assert_true(shown >= 0 && null >= 0);
	assert_true(dup2(null, STDERR_FILENO) >= 0);
	close(null);
	return shown;
}

static void show_stderr(int shown)
{
	assert_true(dup2(shown, STDERR_FILENO) >= 0);
	close(shown);
}

/* Reads a trace with one byte of `file` changed, at each of `tries` places spread over it. */
static void flip_bytes(void **state, const char *file, size_t tries)
{
	static const uint8_t masks[] = {0x01, 0x80, 0xff, 0x10};
	size_t size, good = 0, invalid = 0;
	char *bytes = read_file(in(state, file), &size);
	int shown = hide_stderr();

	for (size_t i = 0; i < tries; i++) {
		size_t at = i * size / tries;
		int err;

		bytes[at] = (char)(bytes[at] ^ masks[i % 4]);
		write_file(in(state, file), bytes, size);
		err = read_status(in(state, "t"));
		good += !err;
		invalid += err == -EINVAL;
		bytes[at] = (char)(bytes[at] ^ masks[i % 4]);
	}
	show_stderr(shown);
	write_file(in(state, file), bytes, size);
	free(bytes);
	assert_int_equal(0, read_status(in(state, "t")));
	assert_int_equal(good + invalid, tries);
	assert_true(good > 0 && invalid > 0);
}

static void test_a_flipped_byte_gives_an_error_or_a_result(void **state)
{
	write_small_trace(in(state, "t"));
	flip_bytes(state, "t/stream", 500);
	flip_bytes(state, "t/metadata", 500);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_directory, remove_directory)
	const struct CMUnitTest tests[] = {
		TEST(test_a_trace_reads_back_as_what_was_sent),
		TEST(test_what_is_no_trace_is_not_there),
		TEST(test_garbage_and_missing_streams_are_invalid),
		TEST(test_traces_of_others_and_of_other_formats_are_refused),
		TEST(test_a_stream_cut_at_a_packet_is_read_up_to_there),
		TEST(test_a_trace_without_columns_is_read),
		TEST(test_the_error_of_the_sink_comes_back),
		TEST(test_names_that_are_not_utf8_are_escaped),
		TEST(test_utf8_is_that_of_rfc_3629),
		TEST(test_a_flipped_byte_gives_an_error_or_a_result),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
