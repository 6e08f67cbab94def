// SPDX-License-Identifier: MIT
/* fuzz_demangle.c - symbol names that a forged file gives to the demangler. */
#include "fuzz/input.h"
#include "symbol/demangle.h"

#define ROOM 256

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *name = malloc(size + 1), *to = malloc(ROOM);

	if (!name || !to)
		abort();
	memcpy(name, data, size);
	name[size] = '\0';
	if (sdw_demangle(name, to, ROOM) == 0)
		fuzz_assert(memchr(to, '\0', ROOM));
	free(name);
	free(to);
	return 0;
}
