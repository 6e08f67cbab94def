// SPDX-License-Identifier: MIT
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "capture/python_stacks.h"

int sdw_python_stacks_add(struct sdw_python_stacks *stacks, const struct sdw_record_stack *record,
			  size_t size)
{
	struct sdw_python_stack *stack;
	size_t bytes;
	int err;

	if (size < sizeof(*record) || record->frames > SDW_MAX_FRAMES ||
	    size < sizeof(*record) + record->frames * sizeof(stack->frame[0]) || !record->id)
		return -EINVAL;
	if (sdw_map64_find(&stacks->by_id, record->id))
		return 0;
	bytes = record->frames * sizeof(stack->frame[0]);
	stack = malloc(sizeof(*stack) + bytes);
	if (!stack)
		return -ENOMEM;
	stack->frames = record->frames;
	stack->status = record->status;
	memcpy(stack->frame, record + 1, bytes);
	err = sdw_map64_set(&stacks->by_id, record->id, (uintptr_t)stack);
	if (err) {
		free(stack);
		return err;
	}
	stacks->bytes += sizeof(*stack) + bytes;
	return 0;
}

const struct sdw_python_stack *sdw_python_stacks_find(const struct sdw_python_stacks *stacks,
						      uint64_t id)
{
	uint64_t *value = sdw_map64_find(&stacks->by_id, id);

	return value ? (const struct sdw_python_stack *)(uintptr_t)*value : NULL;
}

void sdw_python_stacks_free(struct sdw_python_stacks *stacks)
{
	for (size_t i = 0; i < stacks->by_id.room; i++) {
		if (stacks->by_id.slots[i].key)
			free((void *)(uintptr_t)stacks->by_id.slots[i].value);
	}
	sdw_map64_free(&stacks->by_id);
	stacks->bytes = 0;
}
