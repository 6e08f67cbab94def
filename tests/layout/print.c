// SPDX-License-Identifier: MIT
/* print.c PID - the layout that Sidewinder uses for a process, as probe.c prints its. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"
#include "target/interpreter.h"

int main(int argc, char **argv)
{
	struct sdw_found_interpreter found = {0};
	struct sdw_file_cache *cache;
	struct sdw_maps maps;
	int result;

	if (argc != 2 || sdw_file_cache_create(&cache))
		return 2;
	sdw_maps_init(&maps, (uint32_t)strtoul(argv[1], NULL, 10), cache);
	result = sdw_maps_read(&maps);
	if (!result)
		result = sdw_interpreter_find(&maps, &found);
	if (result == 1 && found.layout.version < 0x0307) {
		/* another distance in each file, of which headers know nothing */
		found.layout.runtime_interpreters_head = 0;
		found.layout.runtime_tstate_current = SDW_NO_OFFSET;
	}
	if (result == 1)
		print_layout(&found.layout);
	else
		fprintf(stderr, "print: %s: %s\n", result ? strerror(-result) : "no CPython",
			found.problem);
	fprintf(stderr, "%s %s runtime %llx code type %llx\n", found.version, found.path,
		(unsigned long long)found.runtime_addr, (unsigned long long)found.code_type_addr);
	sdw_maps_free(&maps);
	sdw_file_cache_free(cache);
	return result != 1;
}
