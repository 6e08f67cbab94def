/* SPDX-License-Identifier: MIT */
/* reader_stream.h - checks the packets of a stream file before libbabeltrace2 gets to see it. */
#ifndef SDW_READER_STREAM_H
#define SDW_READER_STREAM_H

#include <stddef.h>

/*
 * Checks that the stream of the trace directory `fd` is whole packets of one trace, one behind the
 * other; on sizes that cannot be libbabeltrace2 2.0.4 aborts, and a file cut in a packet (a full
 * disk during a copy, a crash of the machine) it refuses without a word on what to do. Returns 0,
 * -EINVAL with what is wrong in `problem`, or another -errno.
 */
int sdw_reader_check_stream(int fd, const char *path, char *problem, size_t size);

/* The same of every stream of an LTTng trace, which may also be in the middle of being written. */
int sdw_reader_check_lttng_streams(int fd, const char *path, char *problem, size_t size);

#endif
