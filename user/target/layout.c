// SPDX-License-Identifier: MIT
/*
 * layout.c - where things are inside each CPython, and inside one that says so itself.
 *
 * In:  a version (3.8 to 3.12), or the bytes of a 3.13's _Py_DebugOffsets, which may be forged.
 * Out: a struct sdw_pylayout whose offsets are within the bounds that pywalk.h relies on.
 *
 * The table is that of 64-bit builds without Py_DEBUG or Py_TRACE_REFS; tests/layout/probe.c
 * compares it with the headers of every interpreter found. Fields not named in an entry are 0.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "target/interpreter.h"

static const struct sdw_pylayout table[] = {
	/* CPython 3.8: Include/internal/pycore_pystate.h, Include/frameobject.h, Include/code.h */
	{
		.version = 0x0308,
		.frame_kind = SDW_FRAMES_OBJECTS,
		.runtime_interpreters_head = 32,
		.runtime_tstate_current = 1368,
		.runtime_gc_collecting = 544,
		.interpreter_next = 0,
		.interpreter_threads_head = 8,
		.interpreter_gc_collecting = SDW_NO_OFFSET,
		.thread_next = 8,
		.thread_interpreter = 16,
		.thread_id = 176,
		.thread_status = SDW_NO_OFFSET,
		.thread_frame = 24,
		.cframe_current_frame = SDW_NO_OFFSET,
		.cframe_previous = SDW_NO_OFFSET,
		.frame_previous = 24,
		.frame_code = 32,
		.frame_instruction = 104,
		.frame_owner = SDW_NO_OFFSET,
		.frame_span = 108,
		.lasti_scale = 1,
		.object_type = 8,
		.code_filename = 104,
		.code_name = 112,
		.code_qualname = SDW_NO_OFFSET,
		.code_firstlineno = 40,
		.code_linetable = 120,
		.code_bytecode = SDW_NO_OFFSET,
		.code_span = 128,
		.bytes_size = 16,
		.bytes_data = 32,
		.unicode_length = 16,
		.unicode_state = 32,
		.unicode_state_kind = 2,
		.unicode_ascii_data = 48,
		.unicode_compact_data = 72,
	},
	/* CPython 3.9: Include/internal/pycore_interp.h, Include/cpython/frameobject.h,
	   Include/cpython/code.h */
	{
		.version = 0x0309,
		.frame_kind = SDW_FRAMES_OBJECTS,
		.runtime_interpreters_head = 32,
		.runtime_tstate_current = 568,
		.runtime_gc_collecting = SDW_NO_OFFSET,
		.interpreter_next = 0,
		.interpreter_threads_head = 8,
		.interpreter_gc_collecting = 816,
		.thread_next = 8,
		.thread_interpreter = 16,
		.thread_id = 176,
		.thread_status = SDW_NO_OFFSET,
		.thread_frame = 24,
		.cframe_current_frame = SDW_NO_OFFSET,
		.cframe_previous = SDW_NO_OFFSET,
		.frame_previous = 24,
		.frame_code = 32,
		.frame_instruction = 104,
		.frame_owner = SDW_NO_OFFSET,
		.frame_span = 108,
		.lasti_scale = 1,
		.object_type = 8,
		.code_filename = 104,
		.code_name = 112,
		.code_qualname = SDW_NO_OFFSET,
		.code_firstlineno = 40,
		.code_linetable = 120,
		.code_bytecode = SDW_NO_OFFSET,
		.code_span = 128,
		.bytes_size = 16,
		.bytes_data = 32,
		.unicode_length = 16,
		.unicode_state = 32,
		.unicode_state_kind = 2,
		.unicode_ascii_data = 48,
		.unicode_compact_data = 72,
	},
	/* CPython 3.10: the same headers as 3.9 */
	{
		.version = 0x030a,
		.frame_kind = SDW_FRAMES_OBJECTS,
		.runtime_interpreters_head = 32,
		.runtime_tstate_current = 568,
		.runtime_gc_collecting = SDW_NO_OFFSET,
		.interpreter_next = 0,
		.interpreter_threads_head = 8,
		.interpreter_gc_collecting = 816,
		.thread_next = 8,
		.thread_interpreter = 16,
		.thread_id = 176,
		.thread_status = SDW_NO_OFFSET,
		.thread_frame = 24,
		.cframe_current_frame = SDW_NO_OFFSET,
		.cframe_previous = SDW_NO_OFFSET,
		.frame_previous = 24,
		.frame_code = 32,
		.frame_instruction = 96,
		.frame_owner = SDW_NO_OFFSET,
		.frame_span = 100,
		.lasti_scale = 2,
		.object_type = 8,
		.code_filename = 104,
		.code_name = 112,
		.code_qualname = SDW_NO_OFFSET,
		.code_firstlineno = 40,
		.code_linetable = 120,
		.code_bytecode = SDW_NO_OFFSET,
		.code_span = 128,
		.bytes_size = 16,
		.bytes_data = 32,
		.unicode_length = 16,
		.unicode_state = 32,
		.unicode_state_kind = 2,
		.unicode_ascii_data = 48,
		.unicode_compact_data = 72,
	},
	/* CPython 3.11: Include/internal/pycore_frame.h, pycore_interp.h, pycore_runtime.h,
	   Include/cpython/pystate.h, code.h */
	{
		.version = 0x030b,
		.frame_kind = SDW_FRAMES_ENTRY_FLAG,
		.runtime_interpreters_head = 40,
		.runtime_tstate_current = 576,
		.runtime_gc_collecting = SDW_NO_OFFSET,
		.interpreter_next = 0,
		.interpreter_threads_head = 16,
		.interpreter_gc_collecting = 848,
		.thread_next = 8,
		.thread_interpreter = 16,
		.thread_id = 152,
		.thread_status = SDW_NO_OFFSET,
		.thread_frame = 56,
		.cframe_current_frame = 8,
		.cframe_previous = 16,
		.frame_previous = 48,
		.frame_code = 32,
		.frame_instruction = 56,
		.frame_owner = 68,
		.frame_span = 69,
		.lasti_scale = 1,
		.object_type = 8,
		.code_filename = 112,
		.code_name = 120,
		.code_qualname = 128,
		.code_firstlineno = 72,
		.code_linetable = 136,
		.code_bytecode = 184,
		.code_span = 144,
		.bytes_size = 16,
		.bytes_data = 32,
		.unicode_length = 16,
		.unicode_state = 32,
		.unicode_state_kind = 2,
		.unicode_ascii_data = 48,
		.unicode_compact_data = 72,
	},
	/* CPython 3.12: the same headers as 3.11 */
	{
		.version = 0x030c,
		.frame_kind = SDW_FRAMES_SHIM_CFRAME,
		.runtime_interpreters_head = 40,
		.runtime_tstate_current = SDW_NO_OFFSET,
		.runtime_gc_collecting = SDW_NO_OFFSET,
		.interpreter_next = 0,
		.interpreter_threads_head = 72,
		.interpreter_gc_collecting = 312,
		.thread_next = 8,
		.thread_interpreter = 16,
		.thread_id = 136,
		.thread_status = 24,
		.thread_status_active_mask = 1u << 4,
		.thread_status_bound_gilstate_mask = 1u << 3,
		.thread_frame = 56,
		.cframe_current_frame = 0,
		.cframe_previous = 8,
		.frame_previous = 8,
		.frame_code = 0,
		.frame_instruction = 56,
		.frame_owner = 70,
		.frame_span = 71,
		.lasti_scale = 1,
		.object_type = 8,
		.code_filename = 112,
		.code_name = 120,
		.code_qualname = 128,
		.code_firstlineno = 68,
		.code_linetable = 136,
		.code_bytecode = 192,
		.code_span = 144,
		.bytes_size = 16,
		.bytes_data = 32,
		.unicode_length = 16,
		.unicode_state = 32,
		.unicode_state_kind = 2,
		.unicode_ascii_data = 40,
		.unicode_compact_data = 56,
	},
};

int sdw_layout_for_version(unsigned int version, struct sdw_pylayout *layout)
{
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (table[i].version == version) {
			*layout = table[i];
			return 0;
		}
	}
	return -ENOTSUP;
}

/* CPython 3.13 Include/internal/pycore_runtime.h, struct _Py_DebugOffsets; all in bytes. */
struct debug_offsets {
	char cookie[8];
	uint64_t version; /* PY_VERSION_HEX */
	uint64_t free_threaded;
	struct {
		uint64_t size, finalizing, interpreters_head;
	} runtime;
	struct {
		uint64_t size, id, next, threads_head, gc, imports_modules, sysdict, builtins;
		uint64_t ceval_gil, gil, gil_enabled, gil_locked, gil_holder;
	} interpreter;
	struct {
		uint64_t size, prev, next, interpreter, current_frame, thread_id;
		uint64_t native_thread_id, datastack_chunk, status;
	} thread;
	struct {
		uint64_t size, previous, executable, instr_ptr, localsplus, owner;
	} frame;
	struct {
		uint64_t size, filename, name, qualname, linetable, firstlineno, argcount;
		uint64_t localsplusnames, localspluskinds, co_code_adaptive;
	} code;
	struct {
		uint64_t size, ob_type;
	} object;
	struct {
		uint64_t size, tp_name, tp_repr, tp_flags;
	} type;
	struct {
		uint64_t size, ob_item, ob_size;
	} tuple, list;
	struct {
		uint64_t size, ma_keys, ma_values;
	} dict;
	struct {
		uint64_t size, ob_fval;
	} floating;
	struct {
		uint64_t size, lv_tag, ob_digit;
	} integer;
	struct {
		uint64_t size, ob_size, ob_sval;
	} bytes;
	struct {
		uint64_t size, state, length, asciiobject_size;
	} unicode;
	struct {
		uint64_t size, collecting;
	} gc;
};

#define COOKIE		      "xdebugpy"
#define MAX_RUNTIME_BYTES     (16u << 20) /* 3.13: 283 KB, the main interpreter is in it */
#define MAX_STRUCT_BYTES      4096u	  /* of every other object here; the largest has 248 */
#define MAX_FRAME_SPAN	      128u
#define MAX_CODE_SPAN	      256u
#define STATUS_BOUND_GILSTATE (1u << 3) /* CPython 3.13 Include/cpython/pystate.h, _status */
#define STATUS_ACTIVE	      (1u << 4)

/* Collects whether every offset lies inside its object, so that the caller checks once. */
struct checker {
	bool broken;
};

static uint32_t inside(struct checker *checker, uint64_t offset, uint64_t field, uint64_t size,
		       uint64_t limit)
{
	if (size > limit || offset > limit || offset + field > size)
		checker->broken = true;
	return (uint32_t)offset;
}

static void convert_states(const struct debug_offsets *from, struct checker *checker,
			   struct sdw_pylayout *layout)
{
	uint64_t interpreter = from->interpreter.size, thread = from->thread.size;

	layout->runtime_interpreters_head = inside(checker, from->runtime.interpreters_head, 8,
						   from->runtime.size, MAX_RUNTIME_BYTES);
	layout->interpreter_next =
		inside(checker, from->interpreter.next, 8, interpreter, MAX_RUNTIME_BYTES);
	layout->interpreter_threads_head =
		inside(checker, from->interpreter.threads_head, 8, interpreter, MAX_RUNTIME_BYTES);
	inside(checker, from->interpreter.gc, from->gc.size, interpreter, MAX_RUNTIME_BYTES);
	layout->interpreter_gc_collecting =
		(uint32_t)from->interpreter.gc +
		inside(checker, from->gc.collecting, 4, from->gc.size, MAX_STRUCT_BYTES);
	layout->thread_next = inside(checker, from->thread.next, 8, thread, MAX_STRUCT_BYTES);
	layout->thread_interpreter =
		inside(checker, from->thread.interpreter, 8, thread, MAX_STRUCT_BYTES);
	layout->thread_id = inside(checker, from->thread.thread_id, 8, thread, MAX_STRUCT_BYTES);
	layout->thread_status = inside(checker, from->thread.status, 4, thread, MAX_STRUCT_BYTES);
	layout->thread_status_active_mask = STATUS_ACTIVE;
	layout->thread_status_bound_gilstate_mask = STATUS_BOUND_GILSTATE;
	layout->thread_frame =
		inside(checker, from->thread.current_frame, 8, thread, MAX_STRUCT_BYTES);
}

static uint32_t highest(const uint32_t *ends, size_t count)
{
	uint32_t end = 0;

	for (size_t i = 0; i < count; i++)
		end = ends[i] > end ? ends[i] : end;
	return end;
}

static void convert_frame(const struct debug_offsets *from, struct checker *checker,
			  struct sdw_pylayout *layout)
{
	uint64_t size = from->frame.size;

	layout->frame_previous = inside(checker, from->frame.previous, 8, size, MAX_STRUCT_BYTES);
	layout->frame_code = inside(checker, from->frame.executable, 8, size, MAX_STRUCT_BYTES);
	layout->frame_instruction =
		inside(checker, from->frame.instr_ptr, 8, size, MAX_STRUCT_BYTES);
	layout->frame_owner = inside(checker, from->frame.owner, 1, size, MAX_STRUCT_BYTES);
	layout->lasti_scale = 1;
	layout->frame_span =
		highest((uint32_t[]){layout->frame_previous + 8, layout->frame_code + 8,
				     layout->frame_instruction + 8, layout->frame_owner + 1},
			4);
	if (layout->frame_span > MAX_FRAME_SPAN)
		checker->broken = true;
}

static void convert_code(const struct debug_offsets *from, struct checker *checker,
			 struct sdw_pylayout *layout)
{
	uint64_t size = from->code.size;

	layout->object_type =
		inside(checker, from->object.ob_type, 8, from->object.size, MAX_STRUCT_BYTES);
	layout->code_filename = inside(checker, from->code.filename, 8, size, MAX_STRUCT_BYTES);
	layout->code_name = inside(checker, from->code.name, 8, size, MAX_STRUCT_BYTES);
	layout->code_qualname = inside(checker, from->code.qualname, 8, size, MAX_STRUCT_BYTES);
	layout->code_firstlineno =
		inside(checker, from->code.firstlineno, 4, size, MAX_STRUCT_BYTES);
	layout->code_linetable = inside(checker, from->code.linetable, 8, size, MAX_STRUCT_BYTES);
	/* the bytecode begins in the object's last bytes and goes on behind them */
	layout->code_bytecode =
		inside(checker, from->code.co_code_adaptive, 1, size, MAX_STRUCT_BYTES);
	layout->code_span =
		highest((uint32_t[]){layout->object_type + 8, layout->code_filename + 8,
				     layout->code_name + 8, layout->code_qualname + 8,
				     layout->code_firstlineno + 4, layout->code_linetable + 8},
			6);
	if (layout->code_span > MAX_CODE_SPAN)
		checker->broken = true;
}

static void convert_strings(const struct debug_offsets *from, struct checker *checker,
			    struct sdw_pylayout *layout)
{
	uint64_t size = from->unicode.asciiobject_size;

	layout->bytes_size =
		inside(checker, from->bytes.ob_size, 8, from->bytes.size, MAX_STRUCT_BYTES);
	layout->bytes_data =
		inside(checker, from->bytes.ob_sval, 1, from->bytes.size, MAX_STRUCT_BYTES);
	layout->unicode_length = inside(checker, from->unicode.length, 8, size, MAX_STRUCT_BYTES);
	layout->unicode_state = inside(checker, from->unicode.state, 4, size, MAX_STRUCT_BYTES);
	/* CPython 3.13 Include/cpython/unicodeobject.h: two bits `interned` come before */
	layout->unicode_state_kind = 2;
	layout->unicode_ascii_data = (uint32_t)size;
	/* PyCompactUnicodeObject adds utf8_length and utf8 */
	layout->unicode_compact_data = (uint32_t)size + 16;
}

int sdw_layout_from_debug_offsets(const void *bytes, size_t size, struct sdw_pylayout *layout)
{
	struct checker checker = {false};
	struct sdw_pylayout converted = {0};
	struct debug_offsets from;

	if (size < sizeof(from))
		return -EINVAL;
	memcpy(&from, bytes, sizeof(from));
	if (memcmp(from.cookie, COOKIE, sizeof(from.cookie)) != 0)
		return -EINVAL;
	if (from.version >> 16 != 0x030d || from.free_threaded > 1)
		return -ENOTSUP;
	converted.version = 0x030d;
	converted.frame_kind = SDW_FRAMES_SHIM;
	converted.free_threaded = (uint8_t)from.free_threaded;
	converted.runtime_tstate_current = SDW_NO_OFFSET;
	converted.runtime_gc_collecting = SDW_NO_OFFSET;
	converted.cframe_current_frame = SDW_NO_OFFSET;
	converted.cframe_previous = SDW_NO_OFFSET;
	convert_states(&from, &checker, &converted);
	convert_frame(&from, &checker, &converted);
	convert_code(&from, &checker, &converted);
	convert_strings(&from, &checker, &converted);
	if (checker.broken)
		return -EINVAL;
	*layout = converted;
	return 0;
}
