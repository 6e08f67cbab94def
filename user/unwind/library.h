/* SPDX-License-Identifier: MIT */
/*
 * library.h - libunwind's remote interface over captured bytes and ELF files.
 *
 * libunwind sees one frame description entry at a time, put together anew from what frame_table.c
 * found and checked, so that neither a forged file nor .debug_frame's other form gets to it.
 */
#ifndef SDW_LIBRARY_H
#define SDW_LIBRARY_H

#include "unwind/frame.h"
#include "unwind/memory.h"

struct sdw_library;

int sdw_library_create(struct sdw_maps *maps, struct sdw_library **library);
void sdw_library_free(struct sdw_library *library);

/*
 * Steps from *frame to its callers, at most `max`, and appends their program counters to pcs.
 * *count grows by the number of steps; *frame is the last frame reached.
 * Returns SDW_STEP_MOVED if all `max` steps were done, otherwise why not.
 */
enum sdw_step sdw_library_walk(struct sdw_library *library, const struct sdw_memory *memory,
			       struct sdw_frame *frame, uint64_t *pcs, size_t max, size_t *count);

/*
 * The addresses around the frame's for which the tables say the same: [*start, *end). Call it after
 * a walk of one step, with the same memory. Returns false if that cannot be told.
 */
bool sdw_library_row(struct sdw_library *library, const struct sdw_memory *memory,
		     const struct sdw_frame *frame, uint64_t *start, uint64_t *end);

/* True if the last walk ended for want of memory. */
bool sdw_library_is_out_of_memory(const struct sdw_library *library);

#endif
