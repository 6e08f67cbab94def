// SPDX-License-Identifier: MIT
/*
 * probe.c - the layout of a CPython as its own headers have it.
 *
 * Compiled once against the internal headers of each interpreter by run.sh; prints
 * every field of struct sdw_pylayout, which must be what user/target/layout.c says.
 */
#define Py_BUILD_CORE 1
#include <Python.h>
#include <frameobject.h>
#include <stddef.h>
#if PY_VERSION_HEX >= 0x03090000
#include "internal/pycore_interp.h"
#include "internal/pycore_runtime.h"
#endif
#if PY_VERSION_HEX >= 0x03080000
#include "internal/pycore_pystate.h"
#elif PY_VERSION_HEX >= 0x03070000
#include "internal/mem.h"
#include "internal/pystate.h"
#endif
#if PY_VERSION_HEX >= 0x030e0000
#include "internal/pycore_interpframe_structs.h"
#elif PY_VERSION_HEX >= 0x030b0000
#include "internal/pycore_frame.h"
#endif

#include "text.h"

#define END_OF(type, field) ((__u32)(offsetof(type, field) + sizeof(((type *)0)->field)))

static __u32 larger(__u32 a, __u32 b)
{
	return a > b ? a : b;
}

static void probe_runtime(struct sdw_pylayout *layout)
{
#if PY_VERSION_HEX >= 0x03070000
	layout->runtime_interpreters_head = offsetof(_PyRuntimeState, interpreters.head);
#endif
	layout->interpreter_next = offsetof(PyInterpreterState, next);
#if PY_VERSION_HEX < 0x030b0000
	layout->interpreter_threads_head = offsetof(PyInterpreterState, tstate_head);
#else
	layout->interpreter_threads_head = offsetof(PyInterpreterState, threads.head);
#endif
	layout->runtime_tstate_current = SDW_NO_OFFSET;
	layout->runtime_gc_collecting = SDW_NO_OFFSET;
	layout->interpreter_gc_collecting = SDW_NO_OFFSET;
#if PY_VERSION_HEX >= 0x03070000 && PY_VERSION_HEX < 0x030c0000
	layout->runtime_tstate_current = offsetof(_PyRuntimeState, gilstate.tstate_current);
#endif
#if PY_VERSION_HEX < 0x03070000
	/* no runtime yet: two variables, whose distance is another in each file */
#elif PY_VERSION_HEX < 0x03090000
	layout->runtime_gc_collecting = offsetof(_PyRuntimeState, gc.collecting);
#else
	layout->interpreter_gc_collecting = offsetof(PyInterpreterState, gc.collecting);
#endif
}

static void probe_thread(struct sdw_pylayout *layout)
{
	layout->thread_next = offsetof(PyThreadState, next);
	layout->thread_interpreter = offsetof(PyThreadState, interp);
	layout->thread_id = offsetof(PyThreadState, thread_id);
	layout->thread_status = SDW_NO_OFFSET;
#if PY_VERSION_HEX >= 0x030c0000
	PyThreadState state;

	layout->thread_status = offsetof(PyThreadState, _status);
	memset(&state, 0, sizeof(state));
	state._status.active = 1;
	memcpy(&layout->thread_status_active_mask, &state._status, 4);
	memset(&state, 0, sizeof(state));
	state._status.bound_gilstate = 1;
	memcpy(&layout->thread_status_bound_gilstate_mask, &state._status, 4);
#endif
	layout->cframe_current_frame = SDW_NO_OFFSET;
	layout->cframe_previous = SDW_NO_OFFSET;
#if PY_VERSION_HEX < 0x030b0000
	layout->thread_frame = offsetof(PyThreadState, frame);
#elif PY_VERSION_HEX < 0x030d0000
	layout->thread_frame = offsetof(PyThreadState, cframe);
	layout->cframe_current_frame = offsetof(_PyCFrame, current_frame);
	layout->cframe_previous = offsetof(_PyCFrame, previous);
#else
	layout->thread_frame = offsetof(PyThreadState, current_frame);
#endif
}

#if PY_VERSION_HEX < 0x030b0000
static void probe_frame(struct sdw_pylayout *layout)
{
	layout->frame_kind = SDW_FRAMES_OBJECTS;
	layout->frame_previous = offsetof(PyFrameObject, f_back);
	layout->frame_code = offsetof(PyFrameObject, f_code);
	layout->frame_instruction = offsetof(PyFrameObject, f_lasti);
	layout->frame_owner = SDW_NO_OFFSET;
	layout->frame_span = END_OF(PyFrameObject, f_lasti);
	/* f_lasti counts instructions of two bytes on 3.10: "int f_lasti; Last instruction if
	 * called" */
	layout->lasti_scale = PY_VERSION_HEX >= 0x030a0000 ? 2 : 1;
}
#else
static void probe_frame(struct sdw_pylayout *layout)
{
	typedef struct _PyInterpreterFrame frame;

	layout->frame_previous = offsetof(frame, previous);
	layout->lasti_scale = 1;
#if PY_VERSION_HEX < 0x030c0000
	layout->frame_kind = SDW_FRAMES_ENTRY_FLAG;
	layout->frame_code = offsetof(frame, f_code);
	layout->frame_instruction = offsetof(frame, prev_instr);
	layout->frame_owner = offsetof(frame, is_entry);
	layout->frame_span = END_OF(frame, is_entry);
#elif PY_VERSION_HEX < 0x030d0000
	layout->frame_kind = SDW_FRAMES_SHIM_CFRAME;
	layout->frame_code = offsetof(frame, f_code);
	layout->frame_instruction = offsetof(frame, prev_instr);
	layout->frame_owner = offsetof(frame, owner);
	layout->frame_span = END_OF(frame, owner);
#else
#if PY_VERSION_HEX >= 0x030f0000
	layout->frame_kind = SDW_FRAMES_SHIM_BASE;
#else
	layout->frame_kind = SDW_FRAMES_SHIM;
#endif
#if PY_VERSION_HEX >= 0x030e0000
	/* by what a reference to an object that is counted elsewhere, and to none, look like */
	layout->frame_code_tags = 3;
#endif
	layout->frame_code = offsetof(frame, f_executable);
	layout->frame_instruction = offsetof(frame, instr_ptr);
	layout->frame_owner = offsetof(frame, owner);
	layout->frame_span = END_OF(frame, owner);
#endif
#if defined(Py_GIL_DISABLED) && PY_VERSION_HEX >= 0x030e0000
	layout->frame_copy = offsetof(frame, tlbc_index);
#endif
}
#endif

static void probe_code(struct sdw_pylayout *layout)
{
	layout->object_type = offsetof(PyObject, ob_type);
	layout->code_filename = offsetof(PyCodeObject, co_filename);
	layout->code_name = offsetof(PyCodeObject, co_name);
	layout->code_firstlineno = offsetof(PyCodeObject, co_firstlineno);
	layout->code_qualname = SDW_NO_OFFSET;
	layout->code_bytecode = SDW_NO_OFFSET;
#if PY_VERSION_HEX < 0x030a0000
	layout->code_linetable = offsetof(PyCodeObject, co_lnotab);
	layout->code_span = END_OF(PyCodeObject, co_lnotab);
#else
	layout->code_linetable = offsetof(PyCodeObject, co_linetable);
	layout->code_span = END_OF(PyCodeObject, co_linetable);
#endif
#if defined(Py_GIL_DISABLED) && PY_VERSION_HEX >= 0x030e0000
	layout->code_copies = offsetof(PyCodeObject, co_tlbc);
#endif
#if PY_VERSION_HEX >= 0x030b0000
	layout->code_qualname = offsetof(PyCodeObject, co_qualname);
	layout->code_bytecode = offsetof(PyCodeObject, co_code_adaptive);
	layout->code_span = larger(layout->code_span, END_OF(PyCodeObject, co_qualname));
#endif
	layout->code_span = larger(layout->code_span, END_OF(PyCodeObject, co_firstlineno));
	layout->code_span = larger(layout->code_span, END_OF(PyCodeObject, co_name));
}

#if PY_MAJOR_VERSION == 2
static void probe_strings(struct sdw_pylayout *layout)
{
	layout->bytes_size = offsetof(PyBytesObject, ob_size);
	layout->bytes_data = offsetof(PyBytesObject, ob_sval);
	/* names are str, which is bytes */
	layout->unicode_state = SDW_NO_OFFSET;
	layout->unicode_length = layout->bytes_size;
	layout->unicode_ascii_data = layout->bytes_data;
}
#else
static void probe_strings(struct sdw_pylayout *layout)
{
	PyASCIIObject text;
	__u32 state;

	layout->bytes_size = offsetof(PyBytesObject, ob_base.ob_size);
	layout->bytes_data = offsetof(PyBytesObject, ob_sval);
	layout->unicode_length = offsetof(PyASCIIObject, length);
	layout->unicode_state = offsetof(PyASCIIObject, state);
	memset(&text, 0, sizeof(text));
	text.state.kind = 1;
	memcpy(&state, &text.state, 4);
	layout->unicode_state_kind = (__u32)__builtin_ctz(state);
	layout->unicode_ascii_data = sizeof(PyASCIIObject);
	layout->unicode_compact_data = sizeof(PyCompactUnicodeObject);
}
#endif

int main(void)
{
	struct sdw_pylayout layout = {.version = PY_VERSION_HEX >> 16};

#ifdef Py_GIL_DISABLED
	layout.free_threaded = 1;
#endif
	probe_runtime(&layout);
	probe_thread(&layout);
	probe_frame(&layout);
	probe_code(&layout);
	probe_strings(&layout);
	print_layout(&layout);
	return 0;
}
