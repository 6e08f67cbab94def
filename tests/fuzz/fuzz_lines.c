// SPDX-License-Identifier: MIT
/* fuzz_lines.c - line tables. Input: version, first line, instruction, the table. */
#include <limits.h>

#include "fuzz/input.h"
#include "symbol/pycode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = {data, size};
	uint16_t version = (uint16_t)(0x0300 | (6 + input_number(&input, 1) % 8));
	int32_t first = (int32_t)input_number(&input, 4);
	int32_t instruction = (int32_t)input_number(&input, 4);
	size_t table_size = input.left;
	uint8_t *table = input_block(&input, &table_size);
	int broken = 7;
	uint32_t line = sdw_line_of(version, table, table_size, first, instruction, &broken);

	fuzz_assert(line <= INT_MAX);
	fuzz_assert(broken == 0 || broken == 1);
	if (broken)
		fuzz_assert(line == (first > 0 ? (uint32_t)first : 0));
	free(table);
	return 0;
}
