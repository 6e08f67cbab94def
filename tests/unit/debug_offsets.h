/* SPDX-License-Identifier: MIT */
/* debug_offsets.h - _Py_DebugOffsets of a real CPython, for tests to forge. */
#ifndef SDW_TEST_DEBUG_OFFSETS_H
#define SDW_TEST_DEBUG_OFFSETS_H

#include <stdint.h>

/* _Py_DebugOffsets of CPython 3.13.0, x86-64, as 64-bit words; named where the tests change one */
enum debug_offsets_word {
	COOKIE,
	VERSION,
	FREE_THREADED,
	RUNTIME_SIZE,
	INTERPRETERS_HEAD = 5,
	INTERPRETER_SIZE,
	THREADS_HEAD = 9,
	GC,
	THREAD_SIZE = 19,
	CURRENT_FRAME = 23,
	FRAME_SIZE = 28,
	FRAME_EXECUTABLE = 30,
	CODE_SIZE = 34,
	CODE_LINETABLE = 38,
	ASCII_SIZE = 70,
	GC_SIZE = 71,
	WORDS = 73,
};

/* clang-format off */
static const uint64_t real_offsets[WORDS] = {
	0, 0x030d00f0, 0, /* "xdebugpy", 3.13.0 final, with the GIL */
	283320, 608, 632, /* runtime: size, finalizing, interpreters_head */
	/* interpreter: size, id, next, threads_head, gc, modules, sysdict, builtins, gil ... */
	194968, 7272, 7264, 7344, 7400, 7656, 7640, 7648, 16, 7752, 0, 7768, 7760,
	/* thread: size, prev, next, interp, current_frame, thread_id, native, chunk, status */
	304, 0, 8, 16, 72, 152, 160, 232, 32,
	80, 8, 0, 56, 72, 70, /* frame: size, previous, executable, instr_ptr, locals, owner */
	/* code: size, filename, name, qualname, linetable, firstlineno, ... co_code_adaptive */
	208, 112, 120, 128, 136, 68, 52, 96, 104, 200,
	16, 8, 416, 24, 88, 168, 32, 24, 16, 40, 24, 16, 48, 32, 40, 24, 16, 32, 16, 24,
	40, 16, 32, 64, 32, 16, 40, 240, 200, /* bytes, unicode, gc */
};
/* clang-format on */

#endif
