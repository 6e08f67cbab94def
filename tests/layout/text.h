/* SPDX-License-Identifier: MIT */
/* text.h - a struct sdw_pylayout as text, one field a line, so that diff names what differs.
 */
#ifndef SDW_TEST_LAYOUT_TEXT_H
#define SDW_TEST_LAYOUT_TEXT_H

#include <linux/types.h>
#include <stdio.h>

#include "pylayout.h"

/* clang-format off */
#define LAYOUT_FIELDS(X)                                                                           \
	X(version) X(frame_kind) X(free_threaded)                                                  \
	X(runtime_interpreters_head) X(runtime_tstate_current) X(runtime_gc_collecting)            \
	X(interpreter_next) X(interpreter_threads_head) X(interpreter_gc_collecting)               \
	X(thread_next) X(thread_interpreter) X(thread_id) X(thread_status)                         \
	X(thread_status_active_mask) X(thread_status_bound_gilstate_mask) X(thread_frame)          \
	X(cframe_current_frame) X(cframe_previous)                                                 \
	X(frame_previous) X(frame_code) X(frame_instruction) X(frame_owner) X(frame_span)          \
	X(frame_copy) X(frame_code_tags) X(lasti_scale)                                            \
	X(object_type) X(code_filename) X(code_name) X(code_qualname) X(code_firstlineno)          \
	X(code_linetable) X(code_bytecode) X(code_copies) X(code_span)                             \
	X(bytes_size) X(bytes_data)                                                                \
	X(unicode_length) X(unicode_state) X(unicode_state_kind) X(unicode_ascii_data)             \
	X(unicode_compact_data)
/* clang-format on */

static inline void print_layout(const struct sdw_pylayout *layout)
{
#define PRINT(field) printf("%s %d\n", #field, (int)layout->field);
	LAYOUT_FIELDS(PRINT)
#undef PRINT
}

#endif
