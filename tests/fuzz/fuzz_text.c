// SPDX-License-Identifier: MIT
/* fuzz_text.c - names of a target. Input: kind and marks, the bytes. Whatever they are, the result
 * is UTF-8. */
#include "base/utf8.h"
#include "fuzz/input.h"
#include "symbol/pycode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = {data, size};
	uint32_t flags = (uint32_t)input_number(&input, 1);
	size_t bytes_size = input.left;
	uint8_t *bytes = input_block(&input, &bytes_size);
	char *text = sdw_text_decode(flags & 15, bytes, bytes_size, flags >> 4 & 1, flags >> 5 & 1);

	fuzz_assert(text);
	fuzz_assert(sdw_utf8_valid_prefix(text) == strlen(text));
	fuzz_assert(strlen(text) <= 6 * bytes_size + 8);
	free(bytes);
	free(text);
	return 0;
}
