/* SPDX-License-Identifier: MIT */
/*
 * profile_builder.h - profiles for tests, sent through the events as a recorder or reader would.
 *
 * A stack is written as text, root first: "main@app.py:1:12;json.loads@/lib/x.py:5:9;n
 * memcpy@/lib/libc.so.6" (name@file:first line:line; a leading "n ", "k " or "x " for native,
 * kernel, marker). Names that hold these delimiters are given to builder_code() instead.
 */
#ifndef SDW_TESTS_PROFILE_BUILDER_H
#define SDW_TESTS_PROFILE_BUILDER_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "view/profile.h"

struct builder {
	struct sdw_profile profile;
	struct sdw_sink *sink;
	uint64_t now_ns;
};

#define SEND(builder, call, ...) \
	assert_int_equal((builder)->sink->ops->call((builder)->sink, __VA_ARGS__), 0)

static inline void builder_start(struct builder *builder, const char *unit)
{
	struct sdw_recording recording = {
		.version = "0",
		.hostname = "host",
		.command = "python3 app.py",
		.event = strcmp(unit, "ns") == 0 ? "cpu-clock" : "cache-misses",
		.unit = unit,
		.frequency = 1000,
		.start_ns = 1000000000,
		.start_unix_ns = 1700000000000000000,
		.native = true,
	};

	*builder = (struct builder){.now_ns = 1000000000};
	assert_int_equal(sdw_profile_init(&builder->profile, true), 0);
	builder->sink = &builder->profile.sink;
	SEND(builder, recording, &recording);
}

static inline uint32_t builder_process(struct builder *builder, uint32_t pid, const char *comm)
{
	struct sdw_process_event event = {
		.id = (uint32_t)builder->profile.processes.count,
		.pid = pid,
		.inner_pid = pid,
		.comm = comm,
	};

	SEND(builder, process, &event);
	return event.id;
}

/* A process in a container, of which name and pod may be "". */
static inline uint32_t builder_contained(struct builder *builder, uint32_t pid, const char *comm,
					 const char *container, const char *name, const char *pod)
{
	struct sdw_process_event event = {
		.id = (uint32_t)builder->profile.processes.count,
		.pid = pid,
		.inner_pid = 1,
		.comm = comm,
		.container = container,
		.container_name = name,
		.pod = pod,
	};

	SEND(builder, process, &event);
	return event.id;
}

static inline uint32_t builder_thread(struct builder *builder, uint32_t process, uint32_t tid,
				      const char *name)
{
	struct sdw_thread_event event = {
		.id = (uint32_t)builder->profile.threads.count,
		.process = process,
		.tid = tid,
		.inner_tid = tid,
		.name = name,
	};

	SEND(builder, thread, &event);
	return event.id;
}

/* A new code even if one like it is there, as two processes have it. */
static inline uint32_t builder_code(struct builder *builder, uint8_t kind, const char *name,
				    const char *file, uint32_t first_line)
{
	struct sdw_code_event event = {
		.id = (uint32_t)builder->profile.codes.count,
		.kind = kind,
		.name = name,
		.file = file,
		.first_line = first_line,
	};

	SEND(builder, code, &event);
	return event.id;
}

/* `parent` with a frame of `code` on top. */
static inline uint32_t builder_push(struct builder *builder, uint32_t parent, uint32_t code,
				    uint32_t line)
{
	struct sdw_frame_event frame = {
		.id = (uint32_t)builder->profile.frames.count,
		.code = code,
		.line = line,
	};
	struct sdw_stack_event stack = {
		.id = (uint32_t)builder->profile.stacks.count,
		.parent = parent,
		.frame = frame.id,
	};

	SEND(builder, frame, &frame);
	SEND(builder, stack, &stack);
	return stack.id;
}

static inline uint32_t builder_push_text(struct builder *builder, uint32_t parent, char *text)
{
	static const char kinds[] = "pnkx";
	uint8_t kind = SDW_CODE_PYTHON;
	uint32_t first = 0, line = 0;
	char *file, *number;

	if (text[0] && text[1] == ' ' && strchr(kinds, text[0])) {
		kind = (uint8_t)(strchr(kinds, text[0]) - kinds);
		text += 2;
	}
	file = strchr(text, '@');
	if (file)
		*file++ = 0;
	number = file ? strchr(file, ':') : NULL;
	if (number) {
		*number++ = 0;
		first = (uint32_t)strtoul(number, &number, 10);
		line = *number == ':' ? (uint32_t)strtoul(number + 1, NULL, 10) : first;
	}
	return builder_push(builder, parent,
			    builder_code(builder, kind, text, file ? file : "", first), line);
}

static inline uint32_t builder_stack(struct builder *builder, const char *text)
{
	char *copy = strdup(text), *rest = NULL;
	uint32_t stack = 0;

	assert_non_null(copy);
	for (char *at = strtok_r(copy, ";", &rest); at; at = strtok_r(NULL, ";", &rest))
		stack = builder_push_text(builder, stack, at);
	free(copy);
	return stack;
}

static inline void builder_sample(struct builder *builder, uint32_t thread, uint32_t stack,
				  unsigned int count, uint64_t weight, uint8_t status)
{
	while (count--) {
		struct sdw_sample_event event = {
			.time_ns = builder->now_ns += 1000000,
			.thread = thread,
			.stack = stack,
			.weight = weight,
			.status = status,
		};

		SEND(builder, sample, &event);
	}
}

static inline void builder_end(struct builder *builder, uint64_t ring_full)
{
	struct sdw_totals totals = {.complete = true, .duration_ns = 2500000000};

	for (size_t i = 0; i < builder->profile.buckets.count; i++) {
		const struct sdw_profile_bucket *bucket = &builder->profile.buckets.items[i];

		totals.status[bucket->status] += bucket->samples;
		totals.overflows += bucket->samples;
	}
	totals.lost[SDW_LOST_RING_FULL] = ring_full;
	totals.overflows += ring_full;
	SEND(builder, totals, &totals);
}

/* Runs a view and returns what it wrote, to be freed. */
#define CAPTURE(text, expected, call)                                \
	do {                                                         \
		size_t capture_bytes;                                \
		FILE *out = open_memstream(&(text), &capture_bytes); \
                                                                     \
		assert_non_null(out);                                \
		assert_int_equal(call, expected);                    \
		fclose(out);                                         \
	} while (0)

#endif
