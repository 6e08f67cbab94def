/* SPDX-License-Identifier: MIT */
/* idle_time.h - how long the processors had nothing to do. */
#ifndef SDW_CAPTURE_IDLE_TIME_H
#define SDW_CAPTURE_IDLE_TIME_H

#include <stdint.h>

/*
 * Adds up the lines of the single processors in the text of /proc/stat: idle and iowait. Returns
 * nanoseconds since boot (proc(5) counts in ticks of 10 ms), 0 if there is no such line.
 */
uint64_t sdw_idle_time_parse(const char *text);

/* The same for the running kernel; 0 if it cannot be read. */
uint64_t sdw_idle_time_ns(void);

#endif
