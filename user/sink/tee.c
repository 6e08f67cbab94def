// SPDX-License-Identifier: MIT
/* tee.c - one event in, the same event out to every sink. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sink/tee.h"

struct tee {
	struct sdw_sink sink;
	int error; /* the first of any sink */
	size_t count;
	struct sdw_sink *sinks[];
};

#define FORWARD(operation, type)                                                          \
	static int tee_##operation(struct sdw_sink *sink, type argument)                  \
	{                                                                                 \
		struct tee *tee = (struct tee *)sink;                                     \
		int first = 0;                                                            \
                                                                                          \
		for (size_t i = 0; i < tee->count; i++) {                                 \
			int err = tee->sinks[i]->ops->operation(tee->sinks[i], argument); \
                                                                                          \
			first = first ? first : err;                                      \
		}                                                                         \
		tee->error = tee->error ? tee->error : first;                             \
		return first;                                                             \
	}

FORWARD(recording, const struct sdw_recording *)
FORWARD(process, const struct sdw_process_event *)
FORWARD(thread, const struct sdw_thread_event *)
FORWARD(code, const struct sdw_code_event *)
FORWARD(frame, const struct sdw_frame_event *)
FORWARD(stack, const struct sdw_stack_event *)
FORWARD(sample, const struct sdw_sample_event *)
FORWARD(lost, const struct sdw_lost_event *)
FORWARD(totals, const struct sdw_totals *)
FORWARD(flush, uint64_t)

/* Only to those that take them. */
static int tee_signal_sample(struct sdw_sink *sink, const struct sdw_signal_sample_event *event)
{
	struct tee *tee = (struct tee *)sink;
	int first = 0;

	for (size_t i = 0; i < tee->count; i++) {
		int err = sdw_sink_signal_sample(tee->sinks[i], event);

		first = first ? first : err;
	}
	tee->error = tee->error ? tee->error : first;
	return first;
}

static int tee_snapshot(struct sdw_sink *sink)
{
	struct tee *tee = (struct tee *)sink;
	int first = 0;

	for (size_t i = 0; i < tee->count; i++) {
		int err = sdw_sink_snapshot(tee->sinks[i]);

		first = first ? first : err;
	}
	return first;
}

static int tee_close(struct sdw_sink *sink)
{
	struct tee *tee = (struct tee *)sink;
	int first = tee->error;

	for (size_t i = 0; i < tee->count; i++) {
		int err = tee->sinks[i]->ops->close(tee->sinks[i]);

		first = first ? first : err;
	}
	free(tee);
	return first;
}

static const struct sdw_sink_ops tee_ops = {
	.recording = tee_recording,
	.process = tee_process,
	.thread = tee_thread,
	.code = tee_code,
	.frame = tee_frame,
	.stack = tee_stack,
	.sample = tee_sample,
	.signal_sample = tee_signal_sample,
	.lost = tee_lost,
	.totals = tee_totals,
	.flush = tee_flush,
	.close = tee_close,
	.snapshot = tee_snapshot,
};

int sdw_tee_create(struct sdw_sink *const *sinks, size_t count, struct sdw_sink **sink)
{
	struct tee *tee = calloc(1, sizeof(*tee) + count * sizeof(struct sdw_sink *));

	if (!tee)
		return -ENOMEM;
	tee->sink.ops = &tee_ops;
	tee->count = count;
	memcpy(tee->sinks, sinks, count * sizeof(struct sdw_sink *));
	*sink = &tee->sink;
	return 0;
}
