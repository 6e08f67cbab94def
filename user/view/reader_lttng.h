/* SPDX-License-Identifier: MIT */
/*
 * reader_lttng.h - from an LTTng trace to the events of sink.h: those of the provider "sidewinder",
 * whoever else wrote into the session (include/tracepoint.h).
 *
 * Several recorders may have written, at once or one after the other: each is a recording of its
 * own. What they wrote and LTTng lost is counted: the recorder's own totals tell how much there
 * was.
 */
#ifndef SDW_READER_LTTNG_H
#define SDW_READER_LTTNG_H

#include <babeltrace2/babeltrace.h>

#include "view/merge.h"

struct sdw_lttng_reader;

/* `merge` and `problem` (of `size` bytes, for what is wrong with the trace) must outlive it. */
int sdw_lttng_reader_create(struct sdw_merge *merge, char *problem, size_t size,
			    struct sdw_lttng_reader **reader);
void sdw_lttng_reader_free(struct sdw_lttng_reader *reader);

/* Checks and sends one event. Returns 0, -EINVAL with the problem set, -ENOMEM, a sink's error. */
int sdw_lttng_reader_event(struct sdw_lttng_reader *reader, const bt_message *message);

/* The trace has ended: sends what was kept back. `any` becomes true if there was a recording. */
int sdw_lttng_reader_finish(struct sdw_lttng_reader *reader, bool *any);

#endif
