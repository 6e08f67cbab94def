/* SPDX-License-Identifier: MIT */
/*
 * lttng_definitions.h - what was defined so far, to be told again: LTTng overwrites the oldest
 * events of a snapshot, and who joins a live session has not seen them.
 */
#ifndef SDW_SINK_LTTNG_DEFINITIONS_H
#define SDW_SINK_LTTNG_DEFINITIONS_H

#include <stddef.h>

#include "base/strings.h"
#include "lttng/provider.h"

#define SDW_LTTNG_ARRAY(type)       \
	struct {                    \
		type *items;        \
		size_t count, room; \
	}

struct sdw_lttng_definitions {
	bool keep; /* all; else only what samples need, which are processes and threads */
	bool snapshot;
	struct sdw_recording recording;
	SDW_LTTNG_ARRAY(struct sdw_process_event) processes; /* by id - 1, as all others */
	SDW_LTTNG_ARRAY(struct sdw_thread_event) threads;
	SDW_LTTNG_ARRAY(struct sdw_code_event) codes;
	SDW_LTTNG_ARRAY(struct sdw_frame_event) frames;
	SDW_LTTNG_ARRAY(struct sdw_stack_event) stacks;
	struct sdw_strings strings;
	uint64_t bytes; /* of a trace that all of them take, about */
};

/* Each keeps a copy. Returns 0, -ENOMEM, or -EINVAL for an id that is not the next one. */
int sdw_lttng_keep_recording(struct sdw_lttng_definitions *all, const struct sdw_recording *event);
int sdw_lttng_keep_process(struct sdw_lttng_definitions *all,
			   const struct sdw_process_event *event);
int sdw_lttng_keep_thread(struct sdw_lttng_definitions *all, const struct sdw_thread_event *event);
int sdw_lttng_keep_code(struct sdw_lttng_definitions *all, const struct sdw_code_event *event);
int sdw_lttng_keep_frame(struct sdw_lttng_definitions *all, const struct sdw_frame_event *event);
int sdw_lttng_keep_stack(struct sdw_lttng_definitions *all, const struct sdw_stack_event *event);

/* Tells all of them through the provider, between two events `state`. */
void sdw_lttng_tell(const struct sdw_lttng_definitions *all,
		    const struct sdw_lttng_provider *provider, uint8_t recorder);

void sdw_lttng_definitions_free(struct sdw_lttng_definitions *all);

#endif
