// SPDX-License-Identifier: MIT
/*
 * fuzz_perf_map.c - a perf map that a target writes while it is read.
 *
 * Input: where the first of two writes ends, how long the file is before the second read, the text.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "base/utf8.h"
#include "fuzz/input.h"
#include "symbol/perf_map.h"

static void check(const struct sdw_perf_map *map)
{
	for (size_t i = 0; i < map->sorted.count; i++) {
		const struct sdw_perf_map_entry *entry = &map->sorted.items[i];

		fuzz_assert(entry->start < entry->end);
		fuzz_assert(!i || map->sorted.items[i - 1].end <= entry->start);
		fuzz_assert(sdw_utf8_valid_prefix(entry->name) == strlen(entry->name));
	}
	for (size_t i = 0; i < map->recent.count; i++) {
		const struct sdw_perf_map_entry *entry = &map->recent.items[i];
		const struct sdw_perf_map_entry *found = sdw_perf_map_find(map, entry->start);

		fuzz_assert(found && found->start <= entry->start && entry->start < found->end);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = {data, size};
	size_t first = input_number(&input, 2), cut = input_number(&input, 1);
	struct sdw_perf_map map = {.pid = 1};
	int fd = memfd_create("perf-map", MFD_CLOEXEC);

	if (fd < 0)
		abort();
	if (first > input.left)
		first = input.left;
	if (write(fd, input.at, first) == (ssize_t)first && sdw_perf_map_read(&map, fd) >= 0)
		check(&map);
	if (cut == 1 && ftruncate(fd, (off_t)(first / 2)))
		abort();
	if (write(fd, input.at + first, input.left - first) >= 0 &&
	    sdw_perf_map_read(&map, fd) >= 0)
		check(&map);
	sdw_perf_map_free(&map);
	close(fd);
	return 0;
}
