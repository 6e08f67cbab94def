/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * pylayout.h - where things are inside one build of CPython.
 *
 * Filled in user space (user/target/layout.c: a table up to 3.12; debug_offsets.c: the target's own
 * _Py_DebugOffsets from 3.13) and given to every user of pywalk.h. All offsets are in bytes from
 * the start of the object named by the prefix. The walker bounds each offset before it uses it, so
 * a hostile layout costs a wrong name, never a bad access.
 */
#ifndef SDW_PYLAYOUT_H
#define SDW_PYLAYOUT_H

#ifndef __bpf__ /* there vmlinux.h has these */
#include <linux/types.h>
#endif

/* How the frames of a thread hang together. */
enum sdw_frame_kind {
	/* 2.7, 3.6 to 3.10: PyFrameObject, linked heap objects; each is its own native evaluation
	 */
	SDW_FRAMES_OBJECTS,
	/* 3.11: _PyInterpreterFrame reached through _PyCFrame; is_entry marks an evaluation's
	   outermost */
	SDW_FRAMES_ENTRY_FLAG,
	/* 3.12: the same, and a shim frame owned by the C stack ends each evaluation */
	SDW_FRAMES_SHIM_CFRAME,
	/* 3.13, 3.14: shim frames, and the thread state points at the current frame itself */
	SDW_FRAMES_SHIM,
	/* 3.15: the same, and one more shim, the thread state's own, is below the outermost */
	SDW_FRAMES_SHIM_BASE,
};

/* Numbers that say "this version has no such field" */
#define SDW_NO_OFFSET 0xffffffffu

struct sdw_pylayout {
	__u16 version;	    /* major << 8 | minor, e.g. 0x030c */
	__u8 frame_kind;    /* enum sdw_frame_kind */
	__u8 free_threaded; /* 1: a Py_GIL_DISABLED build */

	/* _PyRuntimeState; 2.7, 3.6: two variables, from the lower one on */
	__u32 runtime_interpreters_head;
	__u32 runtime_tstate_current; /* <= 3.11: gilstate.tstate_current, the holder of the GIL */
	__u32 runtime_gc_collecting; /* 3.7, 3.8: int, the collector runs; later one per interpreter
				      */

	/* PyInterpreterState */
	__u32 interpreter_next;
	__u32 interpreter_threads_head;
	__u32 interpreter_gc_collecting; /* int: the collector runs */

	/* PyThreadState */
	__u32 thread_next;
	__u32 thread_interpreter;
	__u32 thread_id;     /* unsigned long: pthread_self() of the thread it belongs to */
	__u32 thread_status; /* >= 3.12: _status bit field, u32, and these bits of it: */
	__u32 thread_status_active_mask;	 /* it is its thread's current one: holds the GIL */
	__u32 thread_status_bound_gilstate_mask; /* it is the one that its thread used last */
	__u32 thread_frame; /* <= 3.10 frame; 3.11, 3.12 cframe; >= 3.13 current_frame */

	/* _PyCFrame, 3.11 and 3.12 only */
	__u32 cframe_current_frame;
	__u32 cframe_previous;

	/* PyFrameObject (<= 3.10) or _PyInterpreterFrame */
	__u32 frame_previous;
	__u32 frame_code;	 /* f_code, f_executable */
	__u32 frame_instruction; /* int f_lasti (<= 3.10), otherwise prev_instr or instr_ptr */
	__u32 frame_owner;	 /* char: is_entry on 3.11, owner from 3.12 */
	__u32 frame_copy;      /* >= 3.14 without a GIL: int, which copy of the bytecode it runs */
	__u32 frame_code_tags; /* >= 3.14: bits of frame_code that are no part of the address */
	__u32 frame_span;      /* bytes from the start that hold all of the above, <= 128 */
	__u32 lasti_scale;     /* bytes of bytecode per unit of f_lasti: 1 up to 3.9, 2 on 3.10 */

	/* PyObject, PyCodeObject */
	__u32 object_type;
	__u32 code_filename;
	__u32 code_name;
	__u32 code_qualname;	/* >= 3.11 */
	__u32 code_firstlineno; /* int */
	__u32 code_linetable;	/* bytes object: co_lnotab, co_linetable */
	__u32 code_bytecode;	/* >= 3.11: co_code_adaptive, where the instructions start */
	__u32 code_copies;	/* >= 3.14 without a GIL: _PyCodeArray *, copies of the bytecode of
				   which each thread runs one; 0: there are none */
	__u32 code_span;	/* bytes from the start that hold all of the above, <= 256 */

	/* PyBytesObject, PyUnicodeObject */
	__u32 bytes_size;
	__u32 bytes_data;
	__u32 unicode_length;
	__u32 unicode_state;	    /* u32 bit field: interned, kind, compact, ascii; 2.7: none,
				       names are bytes objects */
	__u32 unicode_state_kind;   /* right shift that brings `kind` (3 bits) to bit 0 */
	__u32 unicode_ascii_data;   /* where the characters of a compact ASCII string are */
	__u32 unicode_compact_data; /* where those of any other compact string are */
};

/* One interpreter in one process image: what the BPF side needs to walk its threads. */
struct sdw_interpreter {
	__u64 runtime_addr;   /* &_PyRuntime in the process */
	__u64 code_type_addr; /* &PyCode_Type in the process; 0: not known, do not check */
	__u32 layout;	      /* index into the table of layouts */
	__u32 supported;      /* 0: looked at, holds no CPython that can be walked */
};

#endif
