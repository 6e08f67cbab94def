/* SPDX-License-Identifier: MIT */
/* trace_events.h - what the tests of traces share: directories, events to send, and babeltrace2. */
#ifndef TEST_TRACE_EVENTS_H
#define TEST_TRACE_EVENTS_H

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "events.h"
#include "sink/ctf.h"

#define send(sink_, what, ...) ((sink_)->ops->what((sink_), &(__VA_ARGS__)))

#define UNUSED __attribute__((unused))

static const struct sdw_recording plain_recording UNUSED = {
	.version = "0.1.0",
	.hostname = "host",
	.command = "python3 app.py",
	.event = "cpu-clock",
	.unit = "ns",
	.period = 1000000,
	.frequency = 1000,
	.start_ns = 5000000000,
	.start_unix_ns = 1700000005000000000,
	.native = true,
};

UNUSED static int remove_entry(const char *path, const struct stat *status, int type,
			       struct FTW *ftw)
{
	(void)status;
	(void)type;
	(void)ftw;
	return remove(path);
}

/* setup and teardown: a fresh directory as *state, and its removal. */
UNUSED static int make_directory(void **state)
{
	const char *parent = getenv("TMPDIR");
	char *path = NULL;

	if (asprintf(&path, "%s/sdw-trace-XXXXXX", parent ? parent : "/tmp") < 0)
		return -1;
	*state = mkdtemp(path);
	return *state ? 0 : -1;
}

UNUSED static int remove_directory(void **state)
{
	int err = nftw(*state, remove_entry, 8, FTW_DEPTH | FTW_PHYS);

	free(*state);
	return err;
}

/* A path within the test's directory; the last four stay valid. */
UNUSED static char *in(void **state, const char *name)
{
	static char paths[4][4096];
	static int next;

	next = (next + 1) % 4;
	snprintf(paths[next], sizeof(paths[next]), "%s/%s", (const char *)*state, name);
	return paths[next];
}

/* The whole file, NUL-terminated; the caller frees it. */
UNUSED static char *read_file(const char *path, size_t *size)
{
	FILE *file = fopen(path, "re");
	struct stat status;
	char *bytes;
	size_t n;

	assert_non_null(file);
	assert_int_equal(0, fstat(fileno(file), &status));
	bytes = malloc((size_t)status.st_size + 1);
	assert_non_null(bytes);
	n = fread(bytes, 1, (size_t)status.st_size, file);
	fclose(file);
	assert_int_equal(n, status.st_size);
	bytes[n] = '\0';
	if (size)
		*size = n;
	return bytes;
}

UNUSED static void write_file(const char *path, const void *bytes, size_t size)
{
	FILE *file = fopen(path, "we");

	assert_non_null(file);
	assert_int_equal(size, fwrite(bytes, 1, size, file));
	assert_int_equal(0, fclose(file));
}

/*
 * Runs the real babeltrace2, which must succeed without a word on stderr, and returns what it
 * printed: times in seconds, no deltas, no host name. Skips the test where there is no babeltrace2.
 */
UNUSED static char *babeltrace(void **state, const char *trace)
{
	char command[16384], *out, *messages;

	if (system("command -v babeltrace2 >/dev/null 2>&1")) {
		print_message("skipped: babeltrace2 is not installed\n");
		skip();
	}
	snprintf(command, sizeof(command),
		 "babeltrace2 --clock-seconds --no-delta --names=none '%s' >'%s' 2>'%s'", trace,
		 in(state, "stdout"), in(state, "stderr"));
	assert_int_equal(0, system(command));
	messages = read_file(in(state, "stderr"), NULL);
	assert_string_equal(messages, "");
	free(messages);
	out = read_file(in(state, "stdout"), NULL);
	return out;
}

/* One process, thread, code, frame and stack, each with id 1, at time_ns. */
UNUSED static void send_one_stack(struct sdw_sink *sink, uint64_t time_ns)
{
	assert_int_equal(0, send(sink, process,
				 (struct sdw_process_event){.time_ns = time_ns,
							    .id = 1,
							    .pid = 10,
							    .inner_pid = 2,
							    .comm = "py"}));
	assert_int_equal(0, send(sink, thread,
				 (struct sdw_thread_event){.time_ns = time_ns,
							   .id = 1,
							   .process = 1,
							   .tid = 11,
							   .inner_tid = 3,
							   .name = "main"}));
	assert_int_equal(0, send(sink, code,
				 (struct sdw_code_event){.time_ns = time_ns,
							 .id = 1,
							 .kind = SDW_CODE_PYTHON,
							 .name = "work",
							 .file = "/app.py",
							 .first_line = 7}));
	assert_int_equal(0, send(sink, frame,
				 (struct sdw_frame_event){.time_ns = time_ns,
							  .id = 1,
							  .code = 1,
							  .line = 9,
							  .column = 5,
							  .end_column = 7,
							  .end_line = 10}));
	assert_int_equal(0,
			 send(sink, stack,
			      (struct sdw_stack_event){.time_ns = time_ns, .id = 1, .frame = 1}));
}

UNUSED static struct sdw_sample_event plain_sample(uint64_t time_ns)
{
	return (struct sdw_sample_event){
		.time_ns = time_ns,
		.thread = 1,
		.stack = 1,
		.weight = 1000000,
		.cpu = 3,
	};
}

/* The signal of a sample that has this pair. */
UNUSED static struct sdw_signal_sample_event plain_signal_sample(uint64_t time_ns, uint64_t pair)
{
	return (struct sdw_signal_sample_event){
		.time_ns = time_ns,
		.overflow_ns = time_ns - 1000,
		.handler_ns = time_ns - 500,
		.pair = pair,
		.weight = 1000000,
		.merged = 4,
		.thread = 1,
		.stack = 1,
		.cpu = 3,
		.flags = SDW_SAMPLE_HOLDS_GIL,
		.delivery = SDW_SIGNAL_AFTER_KERNEL | SDW_SIGNAL_BLOCKED,
	};
}

#endif
