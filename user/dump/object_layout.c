// SPDX-License-Identifier: MIT
/*
 * object_layout.c - the table of object_layout.h; tests/dump/probe.c compares it with the headers
 * of every interpreter found. Sources: CPython Include/cpython/code.h, Objects/dict-common.h (up to
 * 3.10), Include/internal/pycore_dict.h, pycore_frame.h, pycore_interp.h, pycore_ceval_state.h.
 */
#include <errno.h>
#include <stddef.h>

#include "dump/object_layout.h"

static const struct sdw_object_layout table[] = {
	{
		.version = 0x0308,
		.interpreter_id = 16,
		.interpreter_modules = 56,
		.runtime_gil = 1152,
		.interpreter_gil = SDW_NO_OFFSET,
		.gil_size = 208,
		.frame_locals = 360,
		.code_varnames = 72,
		.code_cellvars = 88,
		.code_freevars = 80,
		.code_names = SDW_NO_OFFSET,
		.code_kinds = SDW_NO_OFFSET,
		.keys_have_size = true,
		.keys_size = 8,
		.keys_kind = SDW_NO_OFFSET,
		.keys_nentries = 32,
		.keys_indices = 40,
		.heap_type_keys = 872,
	},
	{
		.version = 0x0309,
		.interpreter_id = 24,
		.interpreter_modules = 856,
		.runtime_gil = 352,
		.interpreter_gil = SDW_NO_OFFSET,
		.gil_size = 208,
		.frame_locals = 360,
		.code_varnames = 72,
		.code_cellvars = 88,
		.code_freevars = 80,
		.code_names = SDW_NO_OFFSET,
		.code_kinds = SDW_NO_OFFSET,
		.keys_have_size = true,
		.keys_size = 8,
		.keys_kind = SDW_NO_OFFSET,
		.keys_nentries = 32,
		.keys_indices = 40,
		.heap_type_keys = 864,
	},
	{
		.version = 0x030a,
		.interpreter_id = 24,
		.interpreter_modules = 856,
		.runtime_gil = 352,
		.interpreter_gil = SDW_NO_OFFSET,
		.gil_size = 208,
		.frame_locals = 352,
		.code_varnames = 72,
		.code_cellvars = 88,
		.code_freevars = 80,
		.code_names = SDW_NO_OFFSET,
		.code_kinds = SDW_NO_OFFSET,
		.keys_have_size = true,
		.keys_size = 8,
		.keys_kind = SDW_NO_OFFSET,
		.keys_nentries = 32,
		.keys_indices = 40,
		.heap_type_keys = 872,
	},
	{
		.version = 0x030b,
		.interpreter_id = 48,
		.interpreter_modules = 888,
		.runtime_gil = 360,
		.interpreter_gil = SDW_NO_OFFSET,
		.gil_size = 208,
		.frame_locals = 72,
		.code_varnames = SDW_NO_OFFSET,
		.code_cellvars = SDW_NO_OFFSET,
		.code_freevars = SDW_NO_OFFSET,
		.code_names = 96,
		.code_kinds = 104,
		.keys_size = 9,
		.keys_kind = 10,
		.keys_nentries = 24,
		.keys_indices = 32,
		.heap_type_keys = 872,
	},
	{
		.version = 0x030c,
		.interpreter_id = 8,
		.interpreter_modules = 944,
		.runtime_gil = SDW_NO_OFFSET,
		.interpreter_gil = 384,
		.gil_size = 208,
		.frame_locals = 72,
		.code_varnames = SDW_NO_OFFSET,
		.code_cellvars = SDW_NO_OFFSET,
		.code_freevars = SDW_NO_OFFSET,
		.code_names = 96,
		.code_kinds = 104,
		.keys_size = 9,
		.keys_kind = 10,
		.keys_nentries = 24,
		.keys_indices = 32,
		.heap_type_keys = 880,
	},
	{
		.version = 0x030d,
		.interpreter_id = 7272,
		.interpreter_modules = 7656,
		.runtime_gil = SDW_NO_OFFSET,
		.interpreter_gil = 16,
		.gil_size = 208,
		.frame_locals = 72,
		.code_varnames = SDW_NO_OFFSET,
		.code_cellvars = SDW_NO_OFFSET,
		.code_freevars = SDW_NO_OFFSET,
		.code_names = 96,
		.code_kinds = 104,
		.keys_size = 9,
		.keys_kind = 10,
		.keys_nentries = 24,
		.keys_indices = 32,
		.values_first = 8,
		.heap_type_keys = 880,
	},
};

int sdw_object_layout_for(const struct sdw_pylayout *layout, struct sdw_object_layout *objects)
{
	/* their interpreters and dicts hold more */
	if (layout->free_threaded)
		return -ENOTSUP;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (table[i].version == layout->version) {
			*objects = table[i];
			return 0;
		}
	}
	return -ENOTSUP;
}
