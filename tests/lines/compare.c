// SPDX-License-Identifier: MIT
/*
 * line_table_helper.c - compares sdw_line_of() with what an interpreter says, for
 * test_line_tables.sh.
 *
 * In (stdin):   code objects as tables.py writes them: a header, the table, the line
 * expected of every instruction. Out (stdout): each difference (the first 20), then what was
 * compared. Status 0: all agree.
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

static unsigned long codes, compared, lineless, differences;

static void compare(const struct header *header, const uint8_t *table, const uint32_t *lines)
{
	for (uint32_t i = 0; i < header->instructions; i++) {
		int broken;
		uint32_t line = sdw_line_of((uint16_t)header->version, table, header->table_bytes,
					    header->first_line, (int32_t)(2 * i), &broken);

		compared++;
		lineless += !lines[i];
		if (line == lines[i] && !broken)
			continue;
		if (differences++ < 20)
			printf("code %lu, first line %d, offset %u: line %u, expected %u%s\n",
			       codes, header->first_line, 2 * i, line, lines[i],
			       broken ? ", table taken for broken" : "");
	}
	codes++;
}

static int read_one(FILE *in)
{
	struct header header;
	uint8_t *table = NULL;
	uint32_t *lines = NULL;
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
	printf("%lu code objects, %lu instructions (%lu without line), %lu differ\n", codes,
	       compared, lineless, differences);
	return result < 0 || differences || !compared;
}
