// SPDX-License-Identifier: MIT
/*
 * compare.c - compares sdw_position_of() with what an interpreter says, for run.sh.
 *
 * In (stdin):   code objects as tables.py writes them: a header, the table, the line, end line,
 * column and end column expected of every instruction. Out (stdout): each difference (the first
 * 20), then what was compared. Status 0: all agree.
 */
#include <stdio.h>
#include <stdlib.h>

#include "symbol/pycode.h"

#define MAX_TABLE_BYTES (16u << 20)

struct header {
	uint32_t version;
	int32_t first_line;
	uint32_t table_bytes;
	uint32_t instructions; /* of two bytes each */
};

struct expected {
	uint32_t line, end_line, column, end_column;
};

static unsigned long codes, compared, lineless, with_columns, differences;

static int is_same(const struct sdw_position *position, const struct expected *expected)
{
	return position->line == expected->line && position->end_line == expected->end_line &&
	       position->column == expected->column && position->end_column == expected->end_column;
}

static void compare(const struct header *header, const uint8_t *table,
		    const struct expected *expected)
{
	for (uint32_t i = 0; i < header->instructions; i++) {
		int broken;
		struct sdw_position at =
			sdw_position_of((uint16_t)header->version, table, header->table_bytes,
					header->first_line, (int32_t)(2 * i), &broken);

		compared++;
		lineless += !expected[i].line;
		with_columns += expected[i].column != 0;
		if (is_same(&at, &expected[i]) && !broken)
			continue;
		if (differences++ < 20)
			printf("code %lu, first line %d, offset %u: %u:%u-%u:%u, expected "
			       "%u:%u-%u:%u%s\n",
			       codes, header->first_line, 2 * i, at.line, at.column, at.end_line,
			       at.end_column, expected[i].line, expected[i].column,
			       expected[i].end_line, expected[i].end_column,
			       broken ? ", table taken for broken" : "");
	}
	codes++;
}

static int read_one(FILE *in)
{
	struct header header;
	uint8_t *table = NULL;
	struct expected *lines = NULL;
	int result = -1;

	if (fread(&header, sizeof(header), 1, in) != 1)
		return feof(in) ? 0 : -1;
	if (header.table_bytes > MAX_TABLE_BYTES || header.instructions > MAX_TABLE_BYTES)
		return -1;
	table = malloc(header.table_bytes + 1);
	lines = calloc(header.instructions + 1, sizeof(*lines));
	if (table && lines && fread(table, 1, header.table_bytes, in) == header.table_bytes &&
	    fread(lines, sizeof(*lines), header.instructions, in) == header.instructions) {
		compare(&header, table, lines);
		result = 1;
	}
	free(table);
	free(lines);
	return result;
}

int main(void)
{
	int result;

	do
		result = read_one(stdin);
	while (result > 0);
	if (result < 0)
		printf("the input is cut or not valid\n");
	printf("%lu code objects, %lu instructions (%lu without line, %lu with columns), %lu differ\n",
	       codes, compared, lineless, with_columns, differences);
	return result < 0 || differences || !compared;
}
