/* SPDX-License-Identifier: MIT */
/* summary.h - what a recording came to: for people on stderr, or as one JSON object on stdout. */
#ifndef SDW_SUMMARY_H
#define SDW_SUMMARY_H

#include <stdio.h>

#include "capture/config.h"
#include "capture/sched.h"
#include "sink.h"
#include "sink/lttng.h"
#include "unwind/unwind.h"

struct sdw_summary {
	const struct sdw_config *config;
	const char *trace;		       /* its directory */
	const struct sdw_lttng_outcome *lttng; /* NULL: not asked for */
	/* runs of a handler that wrote an event through LTTng, and that could not */
	uint64_t handler_events, handler_off;
	struct sdw_totals totals;
	struct sdw_sched_totals sched; /* where config->sched asks for it */
	struct sdw_unwind_statistics unwind;
};

uint64_t sdw_totals_samples(const struct sdw_totals *totals);

/* Of the target: an overflow of a task that nobody asked for (SDW_LOST_OUTSIDE_TARGET) is no loss.
 */
uint64_t sdw_totals_target_overflows(const struct sdw_totals *totals);
uint64_t sdw_totals_lost(const struct sdw_totals *totals);

/* Share of these overflows that were lost, 0 to 1. */
double sdw_totals_loss(const struct sdw_totals *totals);

/*
 * Share of the overflows that could have been samples and were dropped, 0 to 1: not those that the
 * kernel's timers were too late for (in a virtual machine whose processor is taken away), and not
 * those of processes that cannot be seen from the profiler's pid namespace.
 */
double sdw_totals_dropped(const struct sdw_totals *totals);

/* A line for the whole, and one for every status and loss that occurred. */
void sdw_summary_print(const struct sdw_summary *summary, FILE *to);

/* One line. Returns 0 or -errno, e.g. -ENOSPC or -EPIPE. */
int sdw_summary_print_json(const struct sdw_summary *summary, FILE *to);

#endif
