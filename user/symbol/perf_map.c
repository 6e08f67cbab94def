// SPDX-License-Identifier: MIT
/*
 * perf_map.c - parses perf's map of just-in-time code and looks addresses up in it.
 *
 * Lines are "START SIZE NAME", both numbers in hex
 * (linux/tools/perf/Documentation/jit-interface.txt). New lines are kept aside and searched one by
 * one; when they are many, they are sorted in.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <linux/types.h>

#include "base/array.h"
#include "events.h"
#include "symbol/perf_map.h"
#include "symbol/pycode.h"

#define MAX_LINES      (256u * 1024u)
#define MAX_LINE_BYTES 4096u
#define MAX_NAME_BYTES 1024u
#define MAX_RECENT     256u
#define BLOCK_BYTES    (64u * 1024u)

/* Takes from the budget what the map has grown by. */
static void count_bytes(struct sdw_perf_map *map)
{
	uint64_t bytes = map->names.bytes +
			 (map->sorted.room + map->recent.room) * sizeof(*map->sorted.items);

	if (!map->budget)
		return;
	map->budget->used += bytes - map->bytes;
	map->bytes = bytes;
}

static bool is_beyond_budget(const struct sdw_perf_map *map)
{
	return map->budget && map->budget->used >= map->budget->max;
}

static void forget_lines(struct sdw_perf_map *map)
{
	free(map->sorted.items);
	free(map->recent.items);
	sdw_strings_free(&map->names);
	map->sorted = map->recent = (struct sdw_perf_map_entries){0};
	count_bytes(map);
	map->lines = 0;
	map->dropped = 0;
	map->read_to = 0;
}

void sdw_perf_map_free(struct sdw_perf_map *map)
{
	forget_lines(map);
}

static int by_start_then_order(const void *left, const void *right)
{
	const struct sdw_perf_map_entry *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->order < b->order ? -1 : 1;
}

/* Moves the recent entries among the sorted ones; of two that overlap the later line stays. */
static int sort_in(struct sdw_perf_map *map)
{
	struct sdw_perf_map_entries *sorted = &map->sorted;
	size_t kept = 0;
	int err = sdw_array_reserve(sorted, map->recent.count);

	if (err)
		return err;
	memcpy(sorted->items + sorted->count, map->recent.items,
	       map->recent.count * sizeof(*sorted->items));
	sorted->count += map->recent.count;
	map->recent.count = 0;
	qsort(sorted->items, sorted->count, sizeof(*sorted->items), by_start_then_order);
	for (size_t i = 0; i < sorted->count; i++) {
		const struct sdw_perf_map_entry entry = sorted->items[i];

		while (kept && sorted->items[kept - 1].end > entry.start &&
		       sorted->items[kept - 1].order < entry.order)
			kept--;
		if (!kept || sorted->items[kept - 1].end <= entry.start)
			sorted->items[kept++] = entry;
	}
	sorted->count = kept;
	return 0;
}

/* A number in hex, as it is or after "0x", up to the blank that must follow. */
static bool parse_hex(const char **at, const char *end, uint64_t *value)
{
	const char *p = *at;
	int digits = 0;

	if (end - p > 2 && p[0] == '0' && (p[1] == 'x' || p[1] == 'X'))
		p += 2;
	for (*value = 0; p < end && *p != ' '; p++, digits++) {
		unsigned int c = (unsigned char)*p, digit;

		if (c >= '0' && c <= '9')
			digit = c - '0';
		else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
			digit = (c | 0x20) - 'a' + 10;
		else
			return false;
		if (digits == 16)
			return false;
		*value = *value << 4 | digit;
	}
	if (!digits || p == end)
		return false;
	*at = p + 1;
	return true;
}

/* Returns 0 (also for a line that is dropped) or -ENOMEM. */
static int take_line(struct sdw_perf_map *map, const char *line, size_t size)
{
	const char *end = line + size;
	struct sdw_perf_map_entry *entry;
	uint64_t start, length;
	size_t name_bytes;
	char *name;
	int err;

	if (!parse_hex(&line, end, &start) || !parse_hex(&line, end, &length) || line == end ||
	    !length || length > UINT64_MAX - start || map->lines >= MAX_LINES ||
	    is_beyond_budget(map)) {
		map->dropped++;
		return 0;
	}
	if (map->recent.count >= MAX_RECENT && map->recent.count * 4 >= map->sorted.count) {
		err = sort_in(map);
		if (err)
			return err;
	}
	err = sdw_array_reserve(&map->recent, 1);
	if (err)
		return err;
	name_bytes = (size_t)(end - line);
	name = sdw_text_decode(SDW_TEXT_BYTES, line,
			       name_bytes < MAX_NAME_BYTES ? name_bytes : MAX_NAME_BYTES, 0,
			       name_bytes > MAX_NAME_BYTES);
	if (!name)
		return -ENOMEM;
	entry = &map->recent.items[map->recent.count];
	*entry = (struct sdw_perf_map_entry){
		.start = start,
		.end = start + length,
		.order = map->lines,
		.name = sdw_strings_keep(&map->names, name),
	};
	free(name);
	if (!entry->name)
		return -ENOMEM;
	map->recent.count++;
	map->lines++;
	count_bytes(map);
	return 0;
}

/* Takes the whole lines of a block. Returns the bytes that they are, or -ENOMEM. */
static ssize_t take_lines(struct sdw_perf_map *map, const char *block, size_t size)
{
	size_t done = 0;

	while (done < size) {
		const char *newline = memchr(block + done, '\n', size - done);
		size_t length;
		int err;

		if (!newline)
			break;
		length = (size_t)(newline - (block + done));
		err = take_line(map, block + done, length);
		if (err)
			return err;
		done += length + 1;
	}
	return (ssize_t)done;
}

/* Reads from map->read_to to the end of the last whole line. */
static int read_lines(struct sdw_perf_map *map, int fd, uint64_t end)
{
	char *block = malloc(BLOCK_BYTES);
	int err = block ? 0 : -ENOMEM;

	while (!err && map->read_to < end) {
		size_t want = end - map->read_to < BLOCK_BYTES ? end - map->read_to : BLOCK_BYTES;
		ssize_t got = pread(fd, block, want, (off_t)map->read_to), done;

		if (got <= 0) {
			err = got < 0 ? -errno : 0;
			break;
		}
		done = take_lines(map, block, (size_t)got);
		if (done < 0) {
			err = (int)done;
		} else if (!done) {
			if ((size_t)got < MAX_LINE_BYTES)
				break; /* the rest of the line is still to come */
			/* no line: skip it, in pieces that count as one wrong line each */
			map->dropped++;
			done = got;
		}
		if (!err)
			map->read_to += (uint64_t)done;
	}
	free(block);
	return err;
}

int sdw_perf_map_read(struct sdw_perf_map *map, int fd)
{
	struct stat status;
	uint64_t size, before = map->read_to;
	int err;

	if (fstat(fd, &status))
		return -errno;
	size = (uint64_t)status.st_size;
	if (status.st_dev != map->device || status.st_ino != map->inode || size < map->read_to) {
		forget_lines(map);
		map->device = status.st_dev;
		map->inode = status.st_ino;
		before = 0;
	}
	err = read_lines(map, fd, size);
	if (!err && map->recent.count > MAX_RECENT)
		err = sort_in(map);
	count_bytes(map);
	if (err)
		return err;
	return map->read_to != before;
}

const struct sdw_perf_map_entry *sdw_perf_map_find(const struct sdw_perf_map *map, uint64_t address)
{
	size_t low = 0, high = map->sorted.count;

	for (size_t i = map->recent.count; i > 0; i--) {
		const struct sdw_perf_map_entry *entry = &map->recent.items[i - 1];

		if (address >= entry->start && address < entry->end)
			return entry;
	}
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (map->sorted.items[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || address >= map->sorted.items[low - 1].end)
		return NULL;
	return &map->sorted.items[low - 1];
}
