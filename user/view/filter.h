/* SPDX-License-Identifier: MIT */
/*
 * filter.h - a sink that lets through only the samples that were asked for.
 *
 * In:  the events of a trace, from the reader. Out: the same for the next sink, but of samples and
 * losses only those within the time, thread, process and function that are named; the totals say
 * what is left. A loss belongs to no thread: without a time it stays whole.
 */
#ifndef SDW_FILTER_H
#define SDW_FILTER_H

#include <stdbool.h>

#include "sink.h"

/* A name is that of a thread or function, whole, or a pattern with * and ? (see fnmatch(3)). */
struct sdw_filter {
	double from_s;	 /* seconds since the recording began */
	double until_s;	 /* the same, not included; 0: to the end */
	char *thread;	 /* name or tid; NULL: every one */
	char *process;	 /* name or pid; NULL: every one */
	char *container; /* name, id or its beginning, or pod; NULL: every one, and none */
	double live_s;	 /* of a relay daemon's url: read for so long; 0: until its session ends */
	char *function;	 /* of a frame anywhere in the stack; NULL: every one */
};

struct sdw_filter_sink {
	struct sdw_sink sink; /* send events here; close() does nothing, see sdw_filter_sink_free */
	const struct sdw_filter *filter;
	struct sdw_sink *next;
	uint64_t begin_ns, end_ns; /* CLOCK_MONOTONIC */
	char *text;		   /* what is asked for, in words */
	uint64_t samples;	   /* that came, let through or not */
	bool by_signal;		   /* the recording's samples are those of the signal path */
	uint64_t status[SDW_STATUS_COUNT];
	uint64_t lost[SDW_LOST_COUNT];
	/* by the ids of sink.h: is it, or is in it, what is asked for? */
	struct sdw_filter_marks {
		bool *items;
		size_t count, room;
	} processes, threads, codes, frames, stacks;
};

bool sdw_filter_is_set(const struct sdw_filter *filter);

/* Returns 0, or -ENOMEM; to be freed in either case. `filter` and `next` must outlive it. */
int sdw_filter_sink_init(struct sdw_filter_sink *sink, const struct sdw_filter *filter,
			 struct sdw_sink *next);
void sdw_filter_sink_free(struct sdw_filter_sink *sink);

#endif
