/* SPDX-License-Identifier: MIT */
/*
 * lttng_recorder.h - what one recorder wrote into an LTTng trace.
 *
 * Samples go on as they come, with two exceptions: those before the event `recording` wait for it
 * (whoever joins a live session is told the definitions later), and those of a snapshot wait for
 * its end, since LTTng has overwritten the oldest of them: only what is whole goes on. The buffers
 * of the processors are overwritten one by one, so that of the oldest seconds only some is left.
 */
#ifndef SDW_LTTNG_RECORDER_H
#define SDW_LTTNG_RECORDER_H

#include "view/merge.h"
#include "view/reader_events.h"

struct sdw_lttng_recorder;

/* `merge` must outlive it. Returns 0 or -ENOMEM. */
int sdw_lttng_recorder_create(struct sdw_merge *merge, struct sdw_lttng_recorder **recorder);
void sdw_lttng_recorder_free(struct sdw_lttng_recorder *recorder);

/* Where its events go, by sdw_reader_payload(). */
struct sdw_reader *sdw_lttng_recorder_reader(struct sdw_lttng_recorder *recorder);

/*
 * The event `recording`: a new one, or the same told again. Returns 0, -EPROTO if it lacks fields
 * or is of another format, -ENOMEM, or a sink's error.
 */
int sdw_lttng_recorder_begin(struct sdw_lttng_recorder *recorder, const bt_field *payload);

/* Whose sample comes next: its definition may be missing. */
void sdw_lttng_recorder_task(struct sdw_lttng_recorder *recorder, uint32_t pid, uint32_t tid);

/* Sends what waits, and the totals of what was read. `any` becomes true if it had a recording. */
int sdw_lttng_recorder_finish(struct sdw_lttng_recorder *recorder, bool *any);

#endif
