/* SPDX-License-Identifier: MIT */
/*
 * line_merge.h - makes frames of one line one frame, where a recording tells its expressions apart.
 *
 * In:  the ids of a trace with columns. Out: dense ids of frames and stacks that differ in lines.
 * It costs nothing until the first frame with columns comes: before it, ids are what they are.
 */
#ifndef SDW_LINE_MERGE_H
#define SDW_LINE_MERGE_H

#include <stdbool.h>

#include "base/map64.h"

struct sdw_profile;

struct sdw_line_merge_ids {
	uint32_t *items; /* by the trace's id: ours */
	size_t count, room;
};

/* All zeroes: not begun. */
struct sdw_line_merge {
	bool begun;
	struct sdw_line_merge_ids frame_of, stack_of;
	struct sdw_map64 frames; /* code << 32 | line -> frame */
	struct sdw_map64 stacks; /* parent << 32 | frame -> stack */
};

/* Lists what `profile` has so far. Returns 0 or -ENOMEM. */
int sdw_line_merge_begin(struct sdw_line_merge *merge, const struct sdw_profile *profile);
void sdw_line_merge_free(struct sdw_line_merge *merge);

/* Our id for one of the trace; UINT32_MAX: there is none. */
uint32_t sdw_line_merge_frame(const struct sdw_line_merge *merge, uint32_t id);
uint32_t sdw_line_merge_stack(const struct sdw_line_merge *merge, uint32_t id);

/*
 * Takes the trace's next id, of a frame (code, line) or stack (parent, frame; these two ours). If
 * it is new, it is `next`, to be added by the caller. Returns 1 if it is, 0 if there is one like
 * it, -EINVAL if `id` is not the next, or -ENOMEM.
 */
int sdw_line_merge_add_frame(struct sdw_line_merge *merge, uint32_t id, uint32_t code,
			     uint32_t line, size_t next);
int sdw_line_merge_add_stack(struct sdw_line_merge *merge, uint32_t id, uint32_t parent,
			     uint32_t frame, size_t next);

#endif
