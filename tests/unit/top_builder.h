/* SPDX-License-Identifier: MIT */
/*
 * top_builder.h - a model for tests, fed as a recorder does. Stacks are text as in
 * profile_builder.h: "main@app.py:1:12;n memcpy@/lib/libc.so.6", root first.
 */
#ifndef SDW_TESTS_TOP_BUILDER_H
#define SDW_TESTS_TOP_BUILDER_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "events.h"
#include "ui/top_view.h"

#define SECOND 1000000000ull
#define START  (100 * SECOND)

struct top_builder {
	struct sdw_top_model model;
	struct sdw_top_view view;
	struct sdw_top_list list;
};

#define TOP_SEND(builder, call, ...) \
	assert_int_equal((builder)->model.sink.ops->call(&(builder)->model.sink, __VA_ARGS__), 0)

static inline void top_start(struct top_builder *builder, const char *unit, double window_s)
{
	struct sdw_recording recording = {
		.version = "0",
		.hostname = "host",
		.command = "python3 app.py",
		.event = strcmp(unit, "ns") == 0 ? "cpu-clock" : "cache-misses",
		.unit = unit,
		.frequency = 1000,
		.start_ns = START,
		.native = true,
	};

	*builder = (struct top_builder){0};
	assert_int_equal(sdw_top_model_init(&builder->model, window_s), 0);
	TOP_SEND(builder, recording, &recording);
}

static inline void top_end(struct top_builder *builder)
{
	sdw_top_model_free(&builder->model);
	sdw_top_list_free(&builder->list);
}

static inline uint32_t top_process(struct top_builder *builder, uint32_t pid, const char *comm)
{
	struct sdw_process_event event = {
		.id = (uint32_t)builder->model.profile.processes.count,
		.pid = pid,
		.inner_pid = pid,
		.comm = comm,
	};

	TOP_SEND(builder, process, &event);
	return event.id;
}

static inline uint32_t top_thread(struct top_builder *builder, uint32_t process, uint32_t tid,
				  const char *name)
{
	struct sdw_thread_event event = {
		.id = (uint32_t)builder->model.profile.threads.count,
		.process = process,
		.tid = tid,
		.inner_tid = tid,
		.name = name,
	};

	TOP_SEND(builder, thread, &event);
	return event.id;
}

/* The recorder gives equal functions, frames and stacks one id each. */
static inline uint32_t top_code(struct top_builder *builder, uint8_t kind, const char *name,
				const char *file, uint32_t first)
{
	const struct sdw_profile *profile = &builder->model.profile;
	struct sdw_code_event event = {
		.kind = kind, .name = name, .file = file, .first_line = first};

	for (uint32_t i = 1; i < profile->codes.count; i++) {
		const struct sdw_profile_code *code = &profile->codes.items[i];

		if (code->kind == kind && code->first_line == first && !strcmp(code->name, name) &&
		    !strcmp(code->file, file))
			return i;
	}
	event.id = (uint32_t)profile->codes.count;
	TOP_SEND(builder, code, &event);
	return event.id;
}

static inline uint32_t top_push(struct top_builder *builder, uint32_t parent, uint32_t code,
				uint32_t line)
{
	const struct sdw_profile *profile = &builder->model.profile;
	struct sdw_frame_event frame = {.code = code, .line = line};
	struct sdw_stack_event stack = {.parent = parent};

	for (frame.id = 1; frame.id < profile->frames.count; frame.id++) {
		if (profile->frames.items[frame.id].code == code &&
		    profile->frames.items[frame.id].line == line)
			break;
	}
	if (frame.id == profile->frames.count)
		TOP_SEND(builder, frame, &frame);
	stack.frame = frame.id;
	for (stack.id = 1; stack.id < profile->stacks.count; stack.id++) {
		if (profile->stacks.items[stack.id].parent == parent &&
		    profile->stacks.items[stack.id].frame == frame.id)
			return stack.id;
	}
	TOP_SEND(builder, stack, &stack);
	return stack.id;
}

static inline uint32_t top_push_text(struct top_builder *builder, uint32_t parent, char *text)
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
	return top_push(builder, parent, top_code(builder, kind, text, file ? file : "", first),
			line);
}

static inline uint32_t top_stack(struct top_builder *builder, const char *text)
{
	char *copy = strdup(text), *rest = NULL;
	uint32_t stack = 0;

	assert_non_null(copy);
	for (char *at = strtok_r(copy, ";", &rest); at; at = strtok_r(NULL, ";", &rest))
		stack = top_push_text(builder, stack, at);
	free(copy);
	return stack;
}

static inline void top_sample_of(struct top_builder *builder, struct sdw_sample_event event,
				 unsigned int count)
{
	while (count--)
		TOP_SEND(builder, sample, &event);
}

/* `count` samples of 1 ms CPU each, while the lock was held. */
static inline void top_samples(struct top_builder *builder, uint32_t thread, const char *stack,
			       unsigned int count)
{
	struct sdw_sample_event event = {
		.thread = thread,
		.stack = top_stack(builder, stack),
		.weight = 1000000,
		.flags = SDW_SAMPLE_HOLDS_GIL,
	};

	top_sample_of(builder, event, count);
}

/* Brings the model up to so many milliseconds after the start. */
static inline void top_update(struct top_builder *builder, uint64_t after_ms)
{
	assert_int_equal(sdw_top_model_update(&builder->model, START + after_ms * 1000000), 0);
}

static inline void top_list(struct top_builder *builder)
{
	assert_int_equal(sdw_top_list_make(&builder->list, &builder->model, &builder->model.counts,
					   &builder->view),
			 0);
}

static inline const struct sdw_top_item *top_find(const struct top_builder *builder,
						  const char *name)
{
	for (size_t i = 0; i < builder->list.count; i++) {
		if (!strcmp(builder->list.items[i].name, name))
			return &builder->list.items[i];
	}
	return NULL;
}

#endif
