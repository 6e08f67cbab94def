// SPDX-License-Identifier: MIT
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dump/python_stack.h"

#define MAX_SHIM_STEPS 2048u	     /* frames up to the shim of the innermost evaluation */
#define STACK_LIMIT    (64ull << 20) /* of a native stack whose end is not known */

/* 3.12 and later: the shim frame of the innermost evaluation is a variable of its function. */
static uint64_t find_shim(const struct sdw_dump_memory *memory, uint64_t frame)
{
	const struct sdw_pylayout *layout = &memory->python->layout;

	for (unsigned int i = 0; i < MAX_SHIM_STEPS && frame; i++) {
		uint8_t owner;

		if (sdw_dump_read(memory, frame + layout->frame_owner, &owner, sizeof(owner)))
			return 0;
		if (owner >= SDW_FRAME_OWNER_SHIM)
			return frame;
		if (!sdw_dump_word(memory, frame + layout->frame_previous, &frame))
			return 0;
	}
	return 0;
}

uint64_t sdw_dump_state_mark(const struct sdw_dump_memory *memory,
			     const struct sdw_dump_state *state, uint64_t sp, const uint8_t *stack,
			     size_t stack_size)
{
	uint64_t mark = state->frame;

	if (!mark)
		return 0;
	switch (memory->python->layout.frame_kind) {
	case SDW_FRAMES_OBJECTS:
		/* the evaluation keeps the address of its frame object on the stack */
		for (size_t at = 0; at + sizeof(mark) <= stack_size; at += sizeof(mark))
			if (!memcmp(stack + at, &mark, sizeof(mark)))
				return sp + at;
		return 0;
	case SDW_FRAMES_SHIM:
	case SDW_FRAMES_SHIM_BASE:
		mark = find_shim(memory, mark);
		break;
	default: /* 3.11, 3.12: the _PyCFrame is a variable of the evaluation function */
		break;
	}
	return mark >= sp && mark - sp < STACK_LIMIT ? mark : 0;
}

/* Appends what the walker found to the thread's stack. */
static void append(struct sdw_dump_python *python, const struct sdw_dump_walker *walker)
{
	const struct sdw_walk *walk = &walker->walk;
	struct sdw_python_stack *stack = python->stack;

	for (uint32_t i = 0; i < walk->count; i++) {
		uint32_t at = stack->frames;

		if (at >= SDW_MAX_FRAMES) {
			stack->status = SDW_STATUS_TRUNCATED;
			return;
		}
		stack->frame[at] = walk->frames[i];
		python->frames[at] = walker->frames[i];
		python->code_objects[at] = walker->code_objects[i];
		python->chain = sdw_mix64(python->chain ^ walker->frames[i]);
		python->chain = sdw_mix64(python->chain ^ walk->frames[i].code);
		stack->frames++;
	}
	stack->id = sdw_mix64(stack->id ^ walk->hash);
	if (walk->status != SDW_STATUS_NO_FRAME)
		stack->status = walk->status;
}

static bool is_broken(uint32_t status)
{
	return status == SDW_STATUS_UNREADABLE || status == SDW_STATUS_BROKEN ||
	       status == SDW_STATUS_TRUNCATED;
}

int sdw_dump_python_read(struct sdw_dumper *dumper, const struct sdw_dump_state *states,
			 size_t count, struct sdw_dump_python *python)
{
	struct sdw_python_stack *stack = python->stack;
	int err = 0;

	stack->id = 1;
	stack->frames = 0;
	stack->status = count ? SDW_STATUS_NO_FRAME : SDW_STATUS_NO_THREAD_STATE;
	python->chain = 1;
	python->state_count = 0;
	for (size_t i = 0; !err && i < count && i < SDW_MAX_NESTED_STATES; i++) {
		err = sdw_dump_walk(dumper->walker, states[i].address);
		if (err && err != -ENOMEM && err != -ESRCH) { /* not there, or no time left */
			stack->status = SDW_STATUS_UNREADABLE;
			err = 0;
			break;
		}
		if (err)
			break;
		python->states[python->state_count++] = states[i];
		append(python, dumper->walker);
		if (is_broken(stack->status))
			break;
	}
	return err;
}
