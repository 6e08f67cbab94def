/* SPDX-License-Identifier: MIT */
/*
 * reader.h - reads traces with libbabeltrace2 and sends their events to a sink: our directories,
 * LTTng's, and what a relay daemon streams; several of them merged into one recording (merge.h).
 */
#ifndef SDW_READER_H
#define SDW_READER_H

#include <stddef.h>

#include "sink.h"

/*
 * Sends every event of the trace at `path` to `sink`, in order; checks each field (ids dense and
 * defined before use, strings, enums) since a trace may come from anybody. Logs what is wrong.
 * Returns 0, -ENOENT (no trace there), -EINVAL (not a trace of ours, or broken), or the sink's
 * error.
 */
int sdw_trace_read(const char *path, struct sdw_sink *sink);

/*
 * The same of several, in order of time as far as they were written so. Of what is streamed: until
 * its session ends, `live_s` seconds have gone (0: no limit), or SIGINT comes.
 */
int sdw_traces_read(const char *const *paths, size_t count, double live_s, struct sdw_sink *sink);

#endif
