// SPDX-License-Identifier: MIT
/* line_merge.c - see line_merge.h. */
#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "view/line_merge.h"
#include "view/profile.h"

static uint64_t key_of(uint32_t high, uint32_t low)
{
	return (uint64_t)high << 32 |
	       low; /* never 0: a code or a frame is in it, these count from 1 */
}

static int add_id(struct sdw_line_merge_ids *ids, uint32_t own)
{
	int err = sdw_array_reserve(ids, 1);

	if (!err)
		ids->items[ids->count++] = own;
	return err;
}

int sdw_line_merge_begin(struct sdw_line_merge *merge, const struct sdw_profile *profile)
{
	int err = 0;

	for (size_t i = 0; i < profile->frames.count && !err; i++) {
		const struct sdw_profile_frame *frame = &profile->frames.items[i];

		err = add_id(&merge->frame_of, (uint32_t)i);
		if (!err && i)
			err = sdw_map64_set(&merge->frames, key_of(frame->code, frame->line), i);
	}
	for (size_t i = 0; i < profile->stacks.count && !err; i++) {
		const struct sdw_profile_stack *stack = &profile->stacks.items[i];

		err = add_id(&merge->stack_of, (uint32_t)i);
		if (!err && i)
			err = sdw_map64_set(&merge->stacks, key_of(stack->parent, stack->frame), i);
	}
	merge->begun = !err;
	return err;
}

void sdw_line_merge_free(struct sdw_line_merge *merge)
{
	free(merge->frame_of.items);
	free(merge->stack_of.items);
	sdw_map64_free(&merge->frames);
	sdw_map64_free(&merge->stacks);
	*merge = (struct sdw_line_merge){0};
}

static uint32_t id_of(const struct sdw_line_merge_ids *ids, uint32_t id)
{
	return id < ids->count ? ids->items[id] : UINT32_MAX;
}

uint32_t sdw_line_merge_frame(const struct sdw_line_merge *merge, uint32_t id)
{
	return merge->begun ? id_of(&merge->frame_of, id) : id;
}

uint32_t sdw_line_merge_stack(const struct sdw_line_merge *merge, uint32_t id)
{
	return merge->begun ? id_of(&merge->stack_of, id) : id;
}

static int add(struct sdw_line_merge_ids *ids, struct sdw_map64 *known, uint32_t id, uint64_t key,
	       size_t next)
{
	const uint64_t *found;
	int err;

	if (id != ids->count)
		return -EINVAL;
	found = sdw_map64_find(known, key);
	if (found)
		return add_id(ids, (uint32_t)*found);
	err = add_id(ids, (uint32_t)next);
	if (!err)
		err = sdw_map64_set(known, key, next);
	return err ? err : 1;
}

int sdw_line_merge_add_frame(struct sdw_line_merge *merge, uint32_t id, uint32_t code,
			     uint32_t line, size_t next)
{
	return add(&merge->frame_of, &merge->frames, id, key_of(code, line), next);
}

int sdw_line_merge_add_stack(struct sdw_line_merge *merge, uint32_t id, uint32_t parent,
			     uint32_t frame, size_t next)
{
	return add(&merge->stack_of, &merge->stacks, id, key_of(parent, frame), next);
}
