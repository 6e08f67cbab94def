/* SPDX-License-Identifier: MIT */
/*
 * merge.h - several recordings into one: ids become those of one numbering, processes stay apart.
 *
 * In:  the events of each recording, in its own ids, through a sink of its own; definitions may be
 *      missing, come twice, or skip ids.
 * Out: events as sink.h has them, to one sink. Where hosts differ, a process is called COMM@HOST.
 *      What was not defined is a marker. Times are those of the recording that came first: others
 *      are shifted by the difference of their clocks' offsets to the time of day.
 *
 * The event `recording` comes again when one more recording joins, and totals are those of all.
 */
#ifndef SDW_MERGE_H
#define SDW_MERGE_H

#include <stddef.h>

#include "sink.h"

struct sdw_merge;

/* `next` must outlive it. Returns 0 or -ENOMEM. */
int sdw_merge_create(struct sdw_sink *next, struct sdw_merge **merge);
void sdw_merge_free(struct sdw_merge *merge);

/* Tells of a host before its recordings come, so that names are right from the first one on. */
int sdw_merge_add_host(struct sdw_merge *merge, const char *host);

/* A sink for one more recording; it lives as long as the merge. NULL: out of memory. */
struct sdw_sink *sdw_merge_add(struct sdw_merge *merge);

/* Why a call returned -EINVAL, in words; "" if that came from `next`. */
const char *sdw_merge_problem(const struct sdw_merge *merge);

#endif
