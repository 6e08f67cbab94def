// SPDX-License-Identifier: MIT
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "capture/python_stacks.h"

/* Of a stack besides its frames; its slot in by_id, which is at least a quarter full, included. */
#define STACK_BYTES (sizeof(struct sdw_python_stack) + 4 * sizeof(struct sdw_map64_slot))

static uint64_t image_key(uint32_t pid, uint32_t epoch)
{
	return sdw_mix64((uint64_t)pid << 32 | epoch); /* one to one, but for 0 */
}

static size_t bytes_of(const struct sdw_python_stack *stack)
{
	return STACK_BYTES + stack->frames * sizeof(stack->frame[0]);
}

/* Lists a stack by its id and under its image. Returns 0 or -ENOMEM. */
static int list(struct sdw_python_stacks *stacks, const struct sdw_record *record,
		struct sdw_python_stack *stack)
{
	uint64_t image = image_key(record->pid, record->epoch);
	const uint64_t *first = sdw_map64_find(&stacks->by_image, image);
	int err;

	stack->next = first ? (struct sdw_python_stack *)(uintptr_t)*first : NULL;
	err = sdw_map64_set(&stacks->by_id, stack->id, (uintptr_t)stack);
	if (err)
		return err;
	err = sdw_map64_set(&stacks->by_image, image, (uintptr_t)stack);
	if (err)
		sdw_map64_remove(&stacks->by_id, stack->id);
	return err;
}

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
	stack->id = record->id;
	stack->frames = record->frames;
	stack->status = record->status;
	memcpy(stack->frame, record + 1, bytes);
	err = list(stacks, &record->record, stack);
	if (err) {
		free(stack);
		return err;
	}
	stacks->bytes += bytes_of(stack);
	return 0;
}

const struct sdw_python_stack *sdw_python_stacks_find(const struct sdw_python_stacks *stacks,
						      uint64_t id)
{
	uint64_t *value = sdw_map64_find(&stacks->by_id, id);

	return value ? (const struct sdw_python_stack *)(uintptr_t)*value : NULL;
}

void sdw_python_stacks_forget(struct sdw_python_stacks *stacks, uint32_t pid, uint32_t epoch)
{
	uint64_t image = image_key(pid, epoch);
	const uint64_t *first = sdw_map64_find(&stacks->by_image, image);
	struct sdw_python_stack *stack, *next;

	stack = first ? (struct sdw_python_stack *)(uintptr_t)*first : NULL;
	for (; stack; stack = next) {
		next = stack->next;
		sdw_map64_remove(&stacks->by_id, stack->id);
		stacks->bytes -= bytes_of(stack);
		free(stack);
	}
	sdw_map64_remove(&stacks->by_image, image);
}

void sdw_python_stacks_free(struct sdw_python_stacks *stacks)
{
	for (size_t i = 0; i < stacks->by_id.room; i++) {
		if (stacks->by_id.slots[i].key)
			free((void *)(uintptr_t)stacks->by_id.slots[i].value);
	}
	sdw_map64_free(&stacks->by_id);
	sdw_map64_free(&stacks->by_image);
	stacks->bytes = 0;
}
