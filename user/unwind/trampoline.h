/* SPDX-License-Identifier: MIT */
/*
 * trampoline.h - CPython's perf trampolines: code made at run time, one copy per Python function,
 * that calls the evaluation function (3.12 and later with -X perf or PYTHONPERFSUPPORT). It has
 * no unwind tables, and up to 3.13 no frame pointer, but is always the same few instructions.
 */
#ifndef SDW_TRAMPOLINE_H
#define SDW_TRAMPOLINE_H

#include "unwind/template.h"

/*
 * True if frame->pc is in a trampoline, by its bytes in the process's memory; *form is the step out
 * of it then. False also if the process is gone.
 */
bool sdw_trampoline_find(struct sdw_maps *maps, const struct sdw_frame *frame,
			 struct sdw_template *form);

#endif
