/* SPDX-License-Identifier: MIT */
/*
 * python_stack.h - the Python frames of one thread, of all interpreters that it has entered.
 *
 * A thread that runs code of a subinterpreter has a thread state in each, one inside the other on
 * its native stack. Their frames, innermost interpreter first, are its Python stack.
 */
#ifndef SDW_DUMP_PYTHON_STACK_H
#define SDW_DUMP_PYTHON_STACK_H

#include "dump/dumper.h"
#include "dump/task.h"

#define SDW_MAX_NESTED_STATES 8u /* thread states of one thread that are looked at */

struct sdw_dump_python {
	struct sdw_python_stack *stack; /* owned; room for SDW_MAX_FRAMES */
	uint64_t frames[SDW_MAX_FRAMES], code_objects[SDW_MAX_FRAMES];
	uint64_t chain; /* hash of frames and code objects, without where they are in their code */
	struct sdw_dump_state states[SDW_MAX_NESTED_STATES]; /* that were walked */
	size_t state_count;
};

/*
 * Walks the thread states `states` (innermost first) into `python`. Returns 0 or -errno; what could
 * be walked says python->stack->status.
 */
int sdw_dump_python_read(struct sdw_dumper *dumper, const struct sdw_dump_state *states,
			 size_t count, struct sdw_dump_python *python);

/*
 * Where on the native stack from `sp` on a thread state is at work: the lower, the further inside.
 * 0: not there. `stack` is a copy of it, as far as there is one.
 */
uint64_t sdw_dump_state_mark(const struct sdw_dump_memory *memory,
			     const struct sdw_dump_state *state, uint64_t sp, const uint8_t *stack,
			     size_t stack_size);

#endif
