/* SPDX-License-Identifier: MIT */
/* perf_events_internal.h - shared by perf_events.c, perf_probe.c and their tests. */
#ifndef SDW_PERF_EVENTS_INTERNAL_H
#define SDW_PERF_EVENTS_INTERNAL_H

#include <linux/perf_event.h>

#include "capture/config.h"

/* What the kernel is asked for. */
void sdw_events_fill_attr(const struct sdw_config *config, struct perf_event_attr *attr);

/* flags: PERF_FLAG_* beside close-on-exec. Returns a file descriptor or -errno. */
int sdw_perf_event_open(struct perf_event_attr *attr, pid_t pid, int cpu, unsigned long flags);

#endif
