/* SPDX-License-Identifier: MIT */
/*
 * interpreter.h - finds CPython in a process and says how it is laid out.
 *
 * By what the mapped ELF files hold (_PyRuntime in .dynsym or .symtab, section .PyRuntime), never
 * by a file name. The version comes from the target itself (Py_Version from 3.11, the "3.x.y" that
 * Py_GetVersion's data holds, _Py_DebugOffsets' cookie and version from 3.13) and must agree with
 * what is found on the living target; what does not agree is refused by name.
 */
#ifndef SDW_INTERPRETER_H
#define SDW_INTERPRETER_H

#include <linux/types.h>

#include "pylayout.h"
#include "target/maps.h"

struct sdw_found_interpreter {
	struct sdw_pylayout layout;
	__u64 runtime_addr;
	__u64 code_type_addr;
	char version[32];  /* e.g. "3.12.1" */
	char path[256];	   /* of the file that holds it, cut at the front */
	char problem[160]; /* why it is not supported; "" if it is */
	bool may_pass;	   /* the problem is in the process's memory, which changes: look again */
};

/*
 * Looks for CPython in the mappings of a living process. Returns 1: found and supported; 0: no
 * CPython here; -ENOTSUP: there is one, which cannot be walked (found->problem says why, in one
 * line); other -errno: could not look (-ESRCH: process gone; -EAGAIN: it is just starting, or its
 * libraries are not all mapped yet: try again). What depends on the file alone is cached in the
 * file cache, so that a second process of the same interpreter costs microseconds.
 */
int sdw_interpreter_find(struct sdw_maps *maps, struct sdw_found_interpreter *found);

/*
 * True if the file of one of the mappings holds a CPython, whether it can be walked or not. For a
 * process that was looked at, and has mapped one file more.
 */
bool sdw_interpreter_is_in(struct sdw_maps *maps, struct sdw_mapping *mapping);

/* The table entry for a version (major << 8 | minor: 2.7, 3.6 to 3.12). Returns 0 or -ENOTSUP. */
int sdw_layout_for_version(unsigned int version, struct sdw_pylayout *layout);

/* Builds a layout from the bytes of a _Py_DebugOffsets (3.13 to 3.15); checks everything. 0 or
 * -errno. */
int sdw_layout_from_debug_offsets(const void *bytes, size_t size, struct sdw_pylayout *layout);

#endif
