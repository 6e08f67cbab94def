/* SPDX-License-Identifier: MIT */
/* lttng_condition.h - when a snapshot is written unasked: `record --snapshot-when`. */
#ifndef SDW_SINK_LTTNG_CONDITION_H
#define SDW_SINK_LTTNG_CONDITION_H

#include <stdbool.h>
#include <stddef.h>

#include "sink.h"

/* By id: is it, or has it in it, a function that is waited for? */
struct sdw_lttng_marks {
	bool *items;
	size_t count, room;
};

struct sdw_lttng_condition {
	const char *function; /* a name or a pattern (fnmatch(3)); NULL: not waited for */
	double rate;	      /* samples per second; 0: not waited for */
	struct sdw_lttng_marks codes, frames, stacks;
	uint64_t second_ns, samples; /* since when they are counted, and how many */
	bool above;		     /* the rate was, in the second before */
	uint64_t held_ns;	     /* when the function was seen, last */
};

/*
 * "rate>N" or "function=NAME". Returns 0, or -EINVAL. `text` must outlive the condition, which is
 * to be freed; NULL is a condition that never holds.
 */
int sdw_lttng_condition_parse(struct sdw_lttng_condition *condition, const char *text);
void sdw_lttng_condition_free(struct sdw_lttng_condition *condition);

/* Each returns 0 or -ENOMEM. */
int sdw_lttng_condition_code(struct sdw_lttng_condition *condition,
			     const struct sdw_code_event *event);
int sdw_lttng_condition_frame(struct sdw_lttng_condition *condition,
			      const struct sdw_frame_event *event);
int sdw_lttng_condition_stack(struct sdw_lttng_condition *condition,
			      const struct sdw_stack_event *event);

/*
 * Does it begin to hold with this sample? A rate does at the end of the first second that is above
 * it after one that was not; a function at a sample that has it, ten seconds after the one before.
 */
bool sdw_lttng_condition_sample(struct sdw_lttng_condition *condition, uint64_t time_ns,
				uint32_t stack);

#endif
