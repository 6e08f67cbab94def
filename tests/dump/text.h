/* SPDX-License-Identifier: MIT */
/* text.h - a struct sdw_object_layout as text, one field a line, so that diff names what differs.
 */
#ifndef SDW_TEST_DUMP_TEXT_H
#define SDW_TEST_DUMP_TEXT_H

#include <linux/types.h>
#include <stdio.h>

#include "dump/object_layout.h"

/* clang-format off */
#define OBJECT_FIELDS(X)                                                                           \
	X(version) X(free_threaded) X(interpreter_id) X(interpreter_modules) X(runtime_gil) X(interpreter_gil)      \
	X(gil_size) X(frame_locals) X(code_varnames) X(code_cellvars) X(code_freevars)             \
	X(code_names) X(code_kinds) X(tuple_items) X(keys_have_size) X(keys_size) X(keys_kind) X(keys_nentries)   \
	X(keys_indices) X(values_first) X(managed_dict) X(heap_type_keys)
/* clang-format on */

static inline void print_objects(const struct sdw_object_layout *objects)
{
#define PRINT(field) printf("%s %d\n", #field, (int)objects->field);
	OBJECT_FIELDS(PRINT)
#undef PRINT
}

#endif
