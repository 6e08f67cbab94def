// SPDX-License-Identifier: MIT
/*
 * debug_offsets.c - where things are inside a CPython that says so itself (3.13 to 3.15).
 *
 * In:  the bytes of its _Py_DebugOffsets, which may be forged.
 * Out: a struct sdw_pylayout whose offsets are within the bounds that pywalk.h relies on.
 *
 * Every field of that structure is 64 bits wide; each version has more of them than the one before.
 * What it does not tell (bits of the thread's status, bits of a string's state, tags of a
 * reference) follows from the version; tests/layout/probe.c holds all of it against the headers.
 */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "target/interpreter.h"

/* What is needed of it. */
enum word {
	RUNTIME_SIZE,
	RUNTIME_INTERPRETERS_HEAD,
	INTERPRETER_SIZE,
	INTERPRETER_NEXT,
	INTERPRETER_THREADS_HEAD,
	INTERPRETER_GC,
	THREAD_SIZE,
	THREAD_NEXT,
	THREAD_INTERPRETER,
	THREAD_FRAME,
	THREAD_ID,
	THREAD_STATUS,
	FRAME_SIZE,
	FRAME_PREVIOUS,
	FRAME_EXECUTABLE,
	FRAME_INSTRUCTION,
	FRAME_OWNER,
	FRAME_COPY, /* 3.14 on, where there is no GIL */
	CODE_SIZE,
	CODE_FILENAME,
	CODE_NAME,
	CODE_QUALNAME,
	CODE_LINETABLE,
	CODE_FIRSTLINENO,
	CODE_BYTECODE,
	CODE_COPIES, /* the same */
	OBJECT_SIZE,
	OBJECT_TYPE,
	BYTES_SIZE,
	BYTES_LENGTH,
	BYTES_DATA,
	UNICODE_STATE,
	UNICODE_LENGTH,
	UNICODE_ASCII_SIZE,
	GC_SIZE,
	GC_COLLECTING,
	WORDS,
};

/* Where each is, counted in words from the start. */
struct places {
	unsigned int version; /* major << 8 | minor */
	size_t count;	      /* words that the version has */
	uint8_t at[WORDS];
};

/* clang-format off */
static const struct places versions[] = {
	/* CPython 3.13 Include/internal/pycore_runtime.h */
	{0x030d, 73, {
		[RUNTIME_SIZE] = 3, [RUNTIME_INTERPRETERS_HEAD] = 5,
		[INTERPRETER_SIZE] = 6, [INTERPRETER_NEXT] = 8, [INTERPRETER_THREADS_HEAD] = 9,
		[INTERPRETER_GC] = 10,
		[THREAD_SIZE] = 19, [THREAD_NEXT] = 21, [THREAD_INTERPRETER] = 22,
		[THREAD_FRAME] = 23, [THREAD_ID] = 24, [THREAD_STATUS] = 27,
		[FRAME_SIZE] = 28, [FRAME_PREVIOUS] = 29, [FRAME_EXECUTABLE] = 30,
		[FRAME_INSTRUCTION] = 31, [FRAME_OWNER] = 33,
		[CODE_SIZE] = 34, [CODE_FILENAME] = 35, [CODE_NAME] = 36, [CODE_QUALNAME] = 37,
		[CODE_LINETABLE] = 38, [CODE_FIRSTLINENO] = 39, [CODE_BYTECODE] = 43,
		[OBJECT_SIZE] = 44, [OBJECT_TYPE] = 45,
		[BYTES_SIZE] = 64, [BYTES_LENGTH] = 65, [BYTES_DATA] = 66,
		[UNICODE_STATE] = 68, [UNICODE_LENGTH] = 69, [UNICODE_ASCII_SIZE] = 70,
		[GC_SIZE] = 71, [GC_COLLECTING] = 72,
	}},
	/* CPython 3.14 Include/internal/pycore_debug_offsets.h */
	{0x030e, 95, {
		[RUNTIME_SIZE] = 3, [RUNTIME_INTERPRETERS_HEAD] = 5,
		[INTERPRETER_SIZE] = 6, [INTERPRETER_NEXT] = 8, [INTERPRETER_THREADS_HEAD] = 9,
		[INTERPRETER_GC] = 11,
		[THREAD_SIZE] = 22, [THREAD_NEXT] = 24, [THREAD_INTERPRETER] = 25,
		[THREAD_FRAME] = 26, [THREAD_ID] = 27, [THREAD_STATUS] = 30,
		[FRAME_SIZE] = 31, [FRAME_PREVIOUS] = 32, [FRAME_EXECUTABLE] = 33,
		[FRAME_INSTRUCTION] = 34, [FRAME_OWNER] = 36, [FRAME_COPY] = 38,
		[CODE_SIZE] = 39, [CODE_FILENAME] = 40, [CODE_NAME] = 41, [CODE_QUALNAME] = 42,
		[CODE_LINETABLE] = 43, [CODE_FIRSTLINENO] = 44, [CODE_BYTECODE] = 48, [CODE_COPIES] = 49,
		[OBJECT_SIZE] = 50, [OBJECT_TYPE] = 51,
		[BYTES_SIZE] = 74, [BYTES_LENGTH] = 75, [BYTES_DATA] = 76,
		[UNICODE_STATE] = 78, [UNICODE_LENGTH] = 79, [UNICODE_ASCII_SIZE] = 80,
		[GC_SIZE] = 81, [GC_COLLECTING] = 82,
	}},
	/* CPython 3.15: the same header */
	{0x030f, 111, {
		[RUNTIME_SIZE] = 3, [RUNTIME_INTERPRETERS_HEAD] = 5,
		[INTERPRETER_SIZE] = 6, [INTERPRETER_NEXT] = 8, [INTERPRETER_THREADS_HEAD] = 9,
		[INTERPRETER_GC] = 11,
		[THREAD_SIZE] = 22, [THREAD_NEXT] = 24, [THREAD_INTERPRETER] = 25,
		[THREAD_FRAME] = 26, [THREAD_ID] = 30, [THREAD_STATUS] = 33,
		[FRAME_SIZE] = 39, [FRAME_PREVIOUS] = 40, [FRAME_EXECUTABLE] = 41,
		[FRAME_INSTRUCTION] = 42, [FRAME_OWNER] = 44, [FRAME_COPY] = 46,
		[CODE_SIZE] = 47, [CODE_FILENAME] = 48, [CODE_NAME] = 49, [CODE_QUALNAME] = 50,
		[CODE_LINETABLE] = 51, [CODE_FIRSTLINENO] = 52, [CODE_BYTECODE] = 56, [CODE_COPIES] = 57,
		[OBJECT_SIZE] = 58, [OBJECT_TYPE] = 59,
		[BYTES_SIZE] = 86, [BYTES_LENGTH] = 87, [BYTES_DATA] = 88,
		[UNICODE_STATE] = 90, [UNICODE_LENGTH] = 91, [UNICODE_ASCII_SIZE] = 92,
		[GC_SIZE] = 94, [GC_COLLECTING] = 95,
	}},
};
/* clang-format on */

#define COOKIE		      "xdebugpy"
#define MAX_RUNTIME_BYTES     (16u << 20) /* 3.13: 283 KB, the main interpreter is in it */
#define MAX_STRUCT_BYTES      4096u	  /* of every other object here; the largest has 248 */
#define MAX_FRAME_SPAN	      128u
#define MAX_CODE_SPAN	      256u
#define STATUS_BOUND_GILSTATE (1u << 3) /* CPython 3.13 Include/cpython/pystate.h, _status */
#define STATUS_ACTIVE	      (1u << 4)
#define REFERENCE_TAGS	      3u /* CPython 3.14 Include/internal/pycore_stackref.h */

/* The words of one target, and whether every offset so far lies inside its object. */
struct source {
	const uint8_t *bytes;
	const struct places *places;
	bool broken;
};

static uint64_t word_of(const struct source *source, enum word word)
{
	uint64_t value;

	memcpy(&value, source->bytes + source->places->at[word] * sizeof(value), sizeof(value));
	return value;
}

/* The offset that `word` holds, of a field of `bytes` bytes in an object of the size that `size`
 * holds. */
static uint32_t offset_of(struct source *source, enum word word, uint64_t bytes, enum word size,
			  uint64_t limit)
{
	uint64_t offset = word_of(source, word), room = word_of(source, size);

	if (room > limit || offset > limit || offset + bytes > room)
		source->broken = true;
	return (uint32_t)offset;
}

static void convert_states(struct source *from, struct sdw_pylayout *layout)
{
	layout->runtime_interpreters_head =
		offset_of(from, RUNTIME_INTERPRETERS_HEAD, 8, RUNTIME_SIZE, MAX_RUNTIME_BYTES);
	layout->interpreter_next =
		offset_of(from, INTERPRETER_NEXT, 8, INTERPRETER_SIZE, MAX_RUNTIME_BYTES);
	layout->interpreter_threads_head =
		offset_of(from, INTERPRETER_THREADS_HEAD, 8, INTERPRETER_SIZE, MAX_RUNTIME_BYTES);
	layout->interpreter_gc_collecting =
		offset_of(from, INTERPRETER_GC, word_of(from, GC_SIZE), INTERPRETER_SIZE,
			  MAX_RUNTIME_BYTES) +
		offset_of(from, GC_COLLECTING, 4, GC_SIZE, MAX_STRUCT_BYTES);
	layout->thread_next = offset_of(from, THREAD_NEXT, 8, THREAD_SIZE, MAX_STRUCT_BYTES);
	layout->thread_interpreter =
		offset_of(from, THREAD_INTERPRETER, 8, THREAD_SIZE, MAX_STRUCT_BYTES);
	layout->thread_id = offset_of(from, THREAD_ID, 8, THREAD_SIZE, MAX_STRUCT_BYTES);
	layout->thread_status = offset_of(from, THREAD_STATUS, 4, THREAD_SIZE, MAX_STRUCT_BYTES);
	layout->thread_status_active_mask = STATUS_ACTIVE;
	layout->thread_status_bound_gilstate_mask = STATUS_BOUND_GILSTATE;
	layout->thread_frame = offset_of(from, THREAD_FRAME, 8, THREAD_SIZE, MAX_STRUCT_BYTES);
}

static uint32_t highest(const uint32_t *ends, size_t count)
{
	uint32_t end = 0;

	for (size_t i = 0; i < count; i++)
		end = ends[i] > end ? ends[i] : end;
	return end;
}

static void convert_frame(struct source *from, struct sdw_pylayout *layout)
{
	layout->frame_previous = offset_of(from, FRAME_PREVIOUS, 8, FRAME_SIZE, MAX_STRUCT_BYTES);
	layout->frame_code = offset_of(from, FRAME_EXECUTABLE, 8, FRAME_SIZE, MAX_STRUCT_BYTES);
	layout->frame_instruction =
		offset_of(from, FRAME_INSTRUCTION, 8, FRAME_SIZE, MAX_STRUCT_BYTES);
	layout->frame_owner = offset_of(from, FRAME_OWNER, 1, FRAME_SIZE, MAX_STRUCT_BYTES);
	layout->lasti_scale = 1;
	layout->frame_span =
		highest((uint32_t[]){layout->frame_previous + 8, layout->frame_code + 8,
				     layout->frame_instruction + 8, layout->frame_owner + 1},
			4);
	if (from->places->version >= 0x030e)
		layout->frame_code_tags = REFERENCE_TAGS;
	if (layout->frame_span > MAX_FRAME_SPAN)
		from->broken = true;
}

static void convert_code(struct source *from, struct sdw_pylayout *layout)
{
	layout->object_type = offset_of(from, OBJECT_TYPE, 8, OBJECT_SIZE, MAX_STRUCT_BYTES);
	layout->code_filename = offset_of(from, CODE_FILENAME, 8, CODE_SIZE, MAX_STRUCT_BYTES);
	layout->code_name = offset_of(from, CODE_NAME, 8, CODE_SIZE, MAX_STRUCT_BYTES);
	layout->code_qualname = offset_of(from, CODE_QUALNAME, 8, CODE_SIZE, MAX_STRUCT_BYTES);
	layout->code_firstlineno =
		offset_of(from, CODE_FIRSTLINENO, 4, CODE_SIZE, MAX_STRUCT_BYTES);
	layout->code_linetable = offset_of(from, CODE_LINETABLE, 8, CODE_SIZE, MAX_STRUCT_BYTES);
	/* the bytecode begins in the object's last bytes and goes on behind them */
	layout->code_bytecode = offset_of(from, CODE_BYTECODE, 1, CODE_SIZE, MAX_STRUCT_BYTES);
	layout->code_span =
		highest((uint32_t[]){layout->object_type + 8, layout->code_filename + 8,
				     layout->code_name + 8, layout->code_qualname + 8,
				     layout->code_firstlineno + 4, layout->code_linetable + 8},
			6);
	if (layout->code_span > MAX_CODE_SPAN)
		from->broken = true;
}

/* Threads without a GIL run copies of the bytecode, from 3.14 on. */
static void convert_copies(struct source *from, struct sdw_pylayout *layout)
{
	if (!layout->free_threaded || from->places->version < 0x030e)
		return;
	layout->frame_copy = offset_of(from, FRAME_COPY, 4, FRAME_SIZE, MAX_STRUCT_BYTES);
	layout->code_copies = offset_of(from, CODE_COPIES, 8, CODE_SIZE, MAX_STRUCT_BYTES);
	if (layout->frame_span < layout->frame_copy + 4)
		layout->frame_span = layout->frame_copy + 4;
	if (layout->frame_span > MAX_FRAME_SPAN || !layout->code_copies)
		from->broken = true;
}

static void convert_strings(struct source *from, struct sdw_pylayout *layout)
{
	uint32_t size = (uint32_t)word_of(from, UNICODE_ASCII_SIZE);

	layout->bytes_size = offset_of(from, BYTES_LENGTH, 8, BYTES_SIZE, MAX_STRUCT_BYTES);
	layout->bytes_data = offset_of(from, BYTES_DATA, 1, BYTES_SIZE, MAX_STRUCT_BYTES);
	layout->unicode_length =
		offset_of(from, UNICODE_LENGTH, 8, UNICODE_ASCII_SIZE, MAX_STRUCT_BYTES);
	layout->unicode_state =
		offset_of(from, UNICODE_STATE, 4, UNICODE_ASCII_SIZE, MAX_STRUCT_BYTES);
	/* `interned` comes before: two bits, or a byte of its own where threads share it
	   (CPython 3.14 Include/cpython/unicodeobject.h) */
	layout->unicode_state_kind =
		layout->free_threaded && from->places->version >= 0x030e ? 8 : 2;
	layout->unicode_ascii_data = size;
	/* PyCompactUnicodeObject adds utf8_length and utf8 */
	layout->unicode_compact_data = size + 16;
}

/* The version by PY_VERSION_HEX; NULL: none of these. */
static const struct places *places_of(uint64_t hex)
{
	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
		if (hex >> 16 == versions[i].version)
			return &versions[i];
	}
	return NULL;
}

int sdw_layout_from_debug_offsets(const void *bytes, size_t size, struct sdw_pylayout *layout)
{
	struct source from = {.bytes = bytes};
	struct sdw_pylayout converted = {0};
	uint64_t head[3]; /* cookie, version, free_threaded: the same place in every version */

	if (size < sizeof(head))
		return -EINVAL;
	memcpy(head, bytes, sizeof(head));
	if (memcmp(&head[0], COOKIE, sizeof(head[0])) != 0)
		return -EINVAL;
	from.places = places_of(head[1]);
	if (!from.places || head[2] > 1)
		return -ENOTSUP;
	if (size < from.places->count * sizeof(uint64_t))
		return -EINVAL;
	converted.version = (uint16_t)from.places->version;
	converted.frame_kind = converted.version >= 0x030f ? SDW_FRAMES_SHIM_BASE : SDW_FRAMES_SHIM;
	converted.free_threaded = (uint8_t)head[2];
	converted.runtime_tstate_current = SDW_NO_OFFSET;
	converted.runtime_gc_collecting = SDW_NO_OFFSET;
	converted.cframe_current_frame = SDW_NO_OFFSET;
	converted.cframe_previous = SDW_NO_OFFSET;
	convert_states(&from, &converted);
	convert_frame(&from, &converted);
	convert_code(&from, &converted);
	convert_copies(&from, &converted);
	convert_strings(&from, &converted);
	if (from.broken)
		return -EINVAL;
	*layout = converted;
	return 0;
}
