// SPDX-License-Identifier: MIT
/*
 * line_table.c - the line that belongs to an instruction, by the code object's own table.
 *
 * In:  the table as the target holds it, in the format of its version; contents are hostile.
 * Out: what the interpreter's PyCode_Addr2Line() says, or the first line where the table is no use.
 * Each loop consumes at least one byte of the table a turn, so its size bounds the work.
 */
#include <limits.h>
#include <stdbool.h>

#include "symbol/pycode.h"

#define VERSION(major, minor) ((major) << 8 | (minor))

/* Outcomes other than a line */
enum { NO_LINE = -1, BROKEN = -2 };

/* Lines are ints in CPython, and deltas may be anything: 64 bits hold every sum of a table's
 * deltas. */
static int64_t checked(int64_t line)
{
	return line >= 0 && line <= INT_MAX ? line : BROKEN;
}

/*
 * co_lnotab, to 3.9 (CPython 3.9 Objects/lnotab_notes.txt): pairs of bytes, how far to step in
 * bytecode and in lines (signed from 3.6 on). The last line goes on to the end of the code.
 */
static int64_t line_by_lnotab(const uint8_t *table, size_t size, bool is_signed, int64_t line,
			      int64_t instruction)
{
	int64_t address = 0;

	for (size_t i = 0; i + 1 < size; i += 2) {
		address += table[i];
		if (address > instruction)
			return checked(line);
		line += is_signed ? (int8_t)table[i + 1] : table[i + 1];
	}
	/* half a pair still says where this line ends, but not what follows */
	if (size % 2 && address + table[size - 1] <= instruction)
		return BROKEN;
	return checked(line);
}

/*
 * co_linetable of 3.10 (CPython 3.10 Objects/lnotab_notes.txt, PEP 626): pairs of bytes, the length
 * of a range of bytecode and the step in lines (signed) before it; -128 marks a range without line.
 */
static int64_t line_by_ranges(const uint8_t *table, size_t size, int64_t line, int64_t instruction)
{
	int64_t end = 0;

	for (size_t i = 0; i + 1 < size; i += 2) {
		int delta = (int8_t)table[i + 1];

		end += table[i];
		if (delta != -128)
			line += delta;
		if (end > instruction)
			return delta == -128 ? NO_LINE : checked(line);
	}
	return BROKEN;
}

/* Kinds of entries of a location table (CPython 3.11 Objects/locations.md, PEP 657) */
enum {
	ENTRY_ONE_LINE0 = 10,
	ENTRY_ONE_LINE2 = 12,
	ENTRY_NO_COLUMNS = 13,
	ENTRY_LONG = 14,
	ENTRY_NONE = 15,
};

/* A number in groups of six bits, lowest first. Returns its bytes; 0: cut or too long. */
static size_t read_unsigned(const uint8_t *bytes, size_t size, uint64_t *value)
{
	*value = 0;
	for (size_t i = 0; i < size && i < 6; i++) {
		if (bytes[i] & 0x80)
			return 0;
		*value |= (uint64_t)(bytes[i] & 0x3f) << (6 * i);
		if (!(bytes[i] & 0x40))
			return i + 1;
	}
	return 0;
}

/* The same with a sign, which is bit 0. */
static size_t read_signed(const uint8_t *bytes, size_t size, int64_t *value)
{
	uint64_t bits;
	size_t used = read_unsigned(bytes, size, &bits);

	*value = bits & 1 ? -(int64_t)(bits >> 1) : (int64_t)(bits >> 1);
	return used;
}

static void set_columns(struct sdw_position *position, uint64_t lines, uint64_t column,
			uint64_t end_column)
{
	/* counted from 0 in the table; an end before the start is no end */
	if (column >= UINT16_MAX || end_column >= UINT16_MAX || lines >= UINT16_MAX ||
	    (!lines && end_column < column))
		return;
	position->column = (uint16_t)(column + 1);
	position->end_column = (uint16_t)(end_column + 1);
	position->end_line = (uint32_t)lines; /* as the table has it: from the line on */
}

/* Columns of an entry: `at` is behind its first byte, and behind the line's step. */
static void read_columns(unsigned int kind, const uint8_t *at, size_t size,
			 struct sdw_position *position)
{
	uint64_t number[3]; /* lines further on, column, end column; both columns from 1 on */
	size_t used = 0, i;

	if (kind < ENTRY_ONE_LINE0 && size >= 1) {
		uint64_t column = kind << 3 | (at[0] >> 4 & 7);

		set_columns(position, 0, column, column + (at[0] & 15));
	} else if (kind >= ENTRY_ONE_LINE0 && kind <= ENTRY_ONE_LINE2 && size >= 2) {
		set_columns(position, 0, at[0], at[1]);
	} else if (kind == ENTRY_LONG) {
		for (i = 0; i < 3; i++) {
			size_t bytes = read_unsigned(at + used, size - used, &number[i]);

			if (!bytes)
				return;
			used += bytes;
		}
		if (number[1] && number[2]) /* 0: none */
			set_columns(position, number[0], number[1] - 1, number[2] - 1);
	}
}

/*
 * Location table, from 3.11: entries start with a byte that has the top bit set, a kind and a
 * length in code units of two bytes; no other byte of an entry has the top bit.
 */
static int64_t line_by_locations(const uint8_t *table, size_t size, int64_t line,
				 int64_t instruction, struct sdw_position *position)
{
	int64_t end = 0;
	size_t i = 0;

	while (i < size) {
		unsigned int kind = table[i] >> 3 & 15;
		int64_t delta = 0;
		size_t used = 0;

		if (!(table[i] & 0x80))
			return BROKEN;
		end += ((table[i] & 7) + 1) * 2;
		i++;
		if (kind == ENTRY_LONG || kind == ENTRY_NO_COLUMNS) {
			used = read_signed(table + i, size - i, &delta);
			if (!used)
				return BROKEN;
		} else if (kind >= ENTRY_ONE_LINE0 && kind <= ENTRY_ONE_LINE2) {
			delta = kind - ENTRY_ONE_LINE0;
		}
		line += delta;
		if (end > instruction) {
			read_columns(kind, table + i + used, size - i - used, position);
			return kind == ENTRY_NONE ? NO_LINE : checked(line);
		}
		while (i < size && !(table[i] & 0x80))
			i++;
	}
	return BROKEN;
}

uint32_t sdw_line_of(uint16_t version, const uint8_t *table, size_t size, int32_t first_line,
		     int32_t instruction, int *broken)
{
	return sdw_position_of(version, table, size, first_line, instruction, broken).line;
}

struct sdw_position sdw_position_of(uint16_t version, const uint8_t *table, size_t size,
				    int32_t first_line, int32_t instruction, int *broken)
{
	struct sdw_position position = {0};
	int64_t line;

	*broken = 0;
	if (instruction < 0)
		return (struct sdw_position){.line = first_line > 0 ? (uint32_t)first_line : 0};
	if (version < VERSION(3, 10))
		line = line_by_lnotab(table, size, version >= VERSION(3, 6), first_line,
				      instruction);
	else if (version == VERSION(3, 10))
		line = line_by_ranges(table, size, first_line, instruction);
	else
		line = line_by_locations(table, size, first_line, instruction, &position);
	if (line == BROKEN) {
		*broken = 1;
		line = first_line;
	}
	if (*broken || line <= 0 || !position.column)
		return (struct sdw_position){.line = line > 0 ? (uint32_t)line : 0};
	position.line = (uint32_t)line;
	position.end_line += position.line;
	return position;
}
