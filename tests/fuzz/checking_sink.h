/* SPDX-License-Identifier: MIT */
/*
 * checking_sink.h - a sink that keeps nothing and aborts on what sink.h promises never to send.
 */
#ifndef SDW_FUZZ_CHECKING_SINK_H
#define SDW_FUZZ_CHECKING_SINK_H

#include "base/utf8.h"
#include "fuzz/input.h"
#include "sink.h"

struct checking_sink {
	struct sdw_sink sink;
	uint32_t processes, threads, codes, frames, stacks;
	uint64_t samples, last_ns;
};

static inline struct checking_sink *checking(struct sdw_sink *sink)
{
	return (struct checking_sink *)sink;
}

static inline void check_text(const char *text)
{
	fuzz_assert(text && sdw_utf8_valid_prefix(text) == strlen(text));
}

static int check_process(struct sdw_sink *sink, const struct sdw_process_event *event)
{
	fuzz_assert(event->id == ++checking(sink)->processes);
	fuzz_assert(event->parent < event->id);
	check_text(event->comm);
	check_text(event->container);
	check_text(event->container_name);
	check_text(event->pod);
	return 0;
}

static int check_thread(struct sdw_sink *sink, const struct sdw_thread_event *event)
{
	fuzz_assert(event->id == ++checking(sink)->threads);
	fuzz_assert(event->process && event->process <= checking(sink)->processes);
	check_text(event->name);
	return 0;
}

static int check_code(struct sdw_sink *sink, const struct sdw_code_event *event)
{
	fuzz_assert(event->id == ++checking(sink)->codes && event->kind < SDW_CODE_KIND_COUNT);
	check_text(event->name);
	check_text(event->file);
	return 0;
}

static int check_frame(struct sdw_sink *sink, const struct sdw_frame_event *event)
{
	fuzz_assert(event->id == ++checking(sink)->frames);
	fuzz_assert(event->code && event->code <= checking(sink)->codes);
	return 0;
}

static int check_stack(struct sdw_sink *sink, const struct sdw_stack_event *event)
{
	fuzz_assert(event->id == ++checking(sink)->stacks && event->parent < event->id);
	fuzz_assert(event->frame && event->frame <= checking(sink)->frames);
	return 0;
}

static int check_sample(struct sdw_sink *sink, const struct sdw_sample_event *event)
{
	struct checking_sink *known = checking(sink);

	fuzz_assert(event->thread && event->thread <= known->threads);
	fuzz_assert(event->stack <= known->stacks && event->status < SDW_STATUS_COUNT);
	fuzz_assert(event->time_ns >= known->last_ns);
	known->last_ns = event->time_ns;
	known->samples++;
	return 0;
}

static const struct sdw_sink_ops checking_ops = {
	.process = check_process,
	.thread = check_thread,
	.code = check_code,
	.frame = check_frame,
	.stack = check_stack,
	.sample = check_sample,
};

#endif
