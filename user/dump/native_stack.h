/* SPDX-License-Identifier: MIT */
/*
 * native_stack.h - copies and unwinds the native stack of a thread that sleeps.
 */
#ifndef SDW_DUMP_NATIVE_STACK_H
#define SDW_DUMP_NATIVE_STACK_H

#include "dump/dumper.h"
#include "dump/task.h"

struct sdw_dump_native {
	size_t count; /* program counters in dumper->pcs */
	int end;      /* enum sdw_unwind_end */
};

/*
 * Unwinds from the task's sp and pc. dumper->stack is then the copy that was needed. Returns 0, or
 * -errno (-EFAULT: there is no stack at sp).
 */
int sdw_dump_native_read(struct sdw_dumper *dumper, struct sdw_image *image,
			 const struct sdw_task *task, struct sdw_dump_native *native);

#endif
