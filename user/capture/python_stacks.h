/* SPDX-License-Identifier: MIT */
/*
 * python_stacks.h - the distinct Python stacks that the BPF side sent, by id; freed with their
 * image.
 */
#ifndef SDW_PYTHON_STACKS_H
#define SDW_PYTHON_STACKS_H

#include "base/map64.h"
#include "events.h"

struct sdw_python_stack {
	uint64_t id;
	struct sdw_python_stack *next; /* of the same image */
	uint32_t frames;
	uint32_t status;		 /* enum sdw_status */
	struct sdw_python_frame frame[]; /* innermost first */
};

/* All zeroes is an empty store. */
struct sdw_python_stacks {
	struct sdw_map64 by_id;	   /* id -> struct sdw_python_stack * */
	struct sdw_map64 by_image; /* -> the first of the image's */
	size_t bytes;		   /* that they take, with what finds them */
};

/*
 * Keeps the stack of a record of `size` bytes, unless it is there. Returns 0, -EINVAL (the record
 * is broken) or -ENOMEM.
 */
int sdw_python_stacks_add(struct sdw_python_stacks *stacks, const struct sdw_record_stack *record,
			  size_t size);

/* Returns the stack, or NULL. */
const struct sdw_python_stack *sdw_python_stacks_find(const struct sdw_python_stacks *stacks,
						      uint64_t id);

/* Frees the stacks of an image that ended and whose samples were all seen. */
void sdw_python_stacks_forget(struct sdw_python_stacks *stacks, uint32_t pid, uint32_t epoch);

void sdw_python_stacks_free(struct sdw_python_stacks *stacks);

#endif
