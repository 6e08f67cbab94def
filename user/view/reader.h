/* SPDX-License-Identifier: MIT */
/* reader.h - reads a CTF directory with libbabeltrace2 and sends its events to a sink. */
#ifndef SDW_READER_H
#define SDW_READER_H

#include "sink.h"

/*
 * Sends every event of the trace at `path` to `sink`, in order; checks each field (ids dense and
 * defined before use, strings, enums) since a trace may come from anybody. Logs what is wrong.
 * Returns 0, -ENOENT (no trace there), -EINVAL (not a trace of ours, or broken), or the sink's
 * error.
 */
int sdw_trace_read(const char *path, struct sdw_sink *sink);

#endif
