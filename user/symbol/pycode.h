/* SPDX-License-Identifier: MIT */
/*
 * pycode.h - turns what the BPF side sent of a code object into names and lines.
 *
 * In:  bytes of a target: lengths, kinds and tables are hostile and are checked here.
 * Out: UTF-8 names (bounded, with what is missing marked by U+2026) and line numbers.
 */
#ifndef SDW_PYCODE_H
#define SDW_PYCODE_H

#include <stddef.h>
#include <stdint.h>

/*
 * Decodes a Python string into UTF-8. `kind` is enum sdw_text_kind (events.h) and decides how many
 * of the `size` bytes make a character. Lone surrogates become \udXXX, NUL \x00, bytes of
 * SDW_TEXT_BYTES that are not UTF-8 \xNN, values above U+10FFFF U+FFFD.
 * cut_front, cut_back: characters are missing there: an ellipsis (U+2026) is put in their place.
 * Returns the malloc'ed string or NULL (out of memory).
 */
char *sdw_text_decode(uint32_t kind, const void *bytes, size_t size, int cut_front, int cut_back);

/* The dearest escapes are \xNN for one byte and \udXXX for two: at most four bytes for each one.
 */
#define SDW_TEXT_GROWTH 4
#define SDW_TEXT_EXTRA	16 /* two ellipses and the terminating NUL */

/*
 * The same into `to`, which has room for size * SDW_TEXT_GROWTH + SDW_TEXT_EXTRA bytes; also in a
 * signal handler. Returns the bytes without the terminating NUL.
 */
size_t sdw_text_write(char *to, uint32_t kind, const void *bytes, size_t size, int cut_front,
		      int cut_back);

/*
 * The line being executed at `instruction`, an offset in bytes into the bytecode (< 0: not
 * started). version: major << 8 | minor of the interpreter, 2.7, 3.6 to 3.15; it decides the format
 * of the table: co_lnotab (up to 3.9), co_linetable of 3.10, the location table from 3.11 on.
 * Returns the line, > 0; first_line where the table ends early or is garbage (then *broken is 1,
 * otherwise 0); 0 for an instruction that the compiler gave no line.
 */
uint32_t sdw_line_of(uint16_t version, const uint8_t *table, size_t size, int32_t first_line,
		     int32_t instruction, int *broken);

/* The expression at an instruction; all 0 where it is not known. */
struct sdw_position {
	uint32_t line, end_line;     /* counted from 1 */
	uint16_t column, end_column; /* bytes, counted from 1; the end is behind the last */
};

/*
 * Like sdw_line_of(), and with the columns: line is what that gives; the rest is 0 if the table has
 * no columns for the instruction (up to 3.10 there are none), or none that can be (an end before
 * the start, beyond 65,534 bytes).
 */
struct sdw_position sdw_position_of(uint16_t version, const uint8_t *table, size_t size,
				    int32_t first_line, int32_t instruction, int *broken);

#endif
