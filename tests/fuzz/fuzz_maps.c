// SPDX-License-Identifier: MIT
/* fuzz_maps.c - lines of /proc/PID/maps, whose names the target chooses, and what they add up to.
 */
#include <string.h>
#include <unistd.h>

#include "fuzz/input.h"
#include "target/maps.h"

/* By start, not overlapping, none empty: what searches rely on. */
static void check(struct sdw_maps *maps)
{
	for (size_t i = 0; i < maps->count; i++) {
		const struct sdw_mapping *mapping = &maps->items[i];

		fuzz_assert(mapping->start < mapping->end && mapping->path);
		fuzz_assert(!i || maps->items[i - 1].end <= mapping->start);
		fuzz_assert(sdw_maps_find(maps, mapping->start) == mapping);
		fuzz_assert(sdw_maps_find(maps, mapping->end - 1) == mapping);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = {data, size};
	struct sdw_file_cache *cache;
	struct sdw_maps maps, copy;

	if (sdw_file_cache_create(&cache))
		abort();
	sdw_maps_init(&maps, (uint32_t)getpid(), cache);
	while (input.left) {
		const uint8_t *end = memchr(input.at, '\n', input.left);
		size_t line_size = end ? (size_t)(end - input.at) : input.left;
		uint8_t *line = input_block(&input, &line_size);
		struct sdw_mapping mapping = {0};

		if (sdw_maps_parse_line((const char *)line, line_size, &mapping) == 0) {
			(void)sdw_maps_add(&maps, &mapping);
			free(mapping.path);
		}
		free(line);
		input_number(&input, 1);
	}
	check(&maps);
	if (sdw_maps_copy(&copy, &maps, 1) == 0) {
		fuzz_assert(copy.count == maps.count);
		check(&copy);
		sdw_maps_free(&copy);
	}
	sdw_maps_free(&maps);
	sdw_file_cache_free(cache);
	return 0;
}
