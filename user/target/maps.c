// SPDX-License-Identifier: MIT
/*
 * maps.c - the mappings of one process image, in order of address.
 *
 * In:  /proc/PID/maps and the kernel's mmap records; paths are whatever the target's owner likes.
 * Out: see maps.h. The files behind the mappings are opened in mapped_file.c.
 */
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "target/maps.h"

/* vm.max_map_count is 65530 by default; what lies beyond the cap has no names */
#define MAX_MAPPINGS (1u << 20)

void sdw_maps_init(struct sdw_maps *maps, uint32_t pid, struct sdw_file_cache *cache)
{
	*maps = (struct sdw_maps){.pid = pid, .task = pid, .cache = cache};
}

static void release(struct sdw_mapping *mapping)
{
	sdw_elf_unref(mapping->elf);
	free(mapping->path);
}

void sdw_maps_free(struct sdw_maps *maps)
{
	for (size_t i = 0; i < maps->count; i++)
		release(&maps->items[i]);
	free(maps->items);
	sdw_maps_init(maps, maps->pid, maps->cache);
}

/* The kernel writes only a newline inside a path as \012; a backslash stays as it is. */
static char *copy_path(const char *path, size_t size)
{
	char *copy = malloc(size + 1);
	size_t used = 0;

	if (!copy)
		return NULL;
	for (size_t i = 0; i < size; i++) {
		if (path[i] == '\\' && size - i >= 4 && memcmp(path + i, "\\012", 4) == 0) {
			copy[used++] = '\n';
			i += 3;
		} else {
			copy[used++] = path[i];
		}
	}
	copy[used] = '\0';
	return copy;
}

struct cursor {
	const char *at, *end;
	bool broken;
};

/* A number of at least one digit that fits into 64 bits, ended by `stop`, which is skipped. */
static uint64_t number(struct cursor *cursor, unsigned int base, char stop)
{
	const char *start = cursor->at;
	uint64_t value = 0;

	for (; cursor->at < cursor->end; cursor->at++) {
		char c = *cursor->at;
		unsigned int digit;

		if (c >= '0' && c <= '9')
			digit = (unsigned int)(c - '0');
		else if (c >= 'a' && c <= 'f')
			digit = (unsigned int)(c - 'a') + 10;
		else
			break;
		if (digit >= base || value > (UINT64_MAX - digit) / base)
			break;
		value = value * base + digit;
	}
	if (cursor->at == start || cursor->at == cursor->end || *cursor->at != stop)
		cursor->broken = true;
	else
		cursor->at++;
	return value;
}

int sdw_maps_parse_line(const char *line, size_t size, struct sdw_mapping *mapping)
{
	struct cursor cursor = {.at = line, .end = line + size};
	struct sdw_mapping parsed = {0};
	uint64_t major, minor;
	const char *access;

	if (size && line[size - 1] == '\n')
		cursor.end--;
	parsed.start = number(&cursor, 16, '-');
	parsed.end = number(&cursor, 16, ' ');
	access = cursor.at;
	if (cursor.broken || cursor.end - cursor.at < 5 || access[4] != ' ')
		return -EINVAL;
	parsed.executable = access[2] == 'x';
	cursor.at += 5;
	parsed.offset = number(&cursor, 16, ' ');
	major = number(&cursor, 16, ':');
	minor = number(&cursor, 16, ' ');
	if (cursor.broken || major > UINT32_MAX || minor > UINT32_MAX)
		return -EINVAL;
	parsed.device_major = (uint32_t)major;
	parsed.device_minor = (uint32_t)minor;
	parsed.inode = number(&cursor, 10, ' ');
	if (cursor.broken || parsed.start >= parsed.end ||
	    parsed.offset + (parsed.end - parsed.start) < parsed.offset)
		return -EINVAL;
	while (cursor.at < cursor.end && *cursor.at == ' ')
		cursor.at++;
	parsed.path = copy_path(cursor.at, (size_t)(cursor.end - cursor.at));
	if (!parsed.path)
		return -ENOMEM;
	*mapping = parsed;
	return 0;
}

/* A second owner of the same path and file. */
static int duplicate(struct sdw_mapping *to, const struct sdw_mapping *from)
{
	char *path = strdup(from->path ? from->path : "");

	if (!path)
		return -ENOMEM;
	*to = *from;
	to->path = path;
	if (to->elf)
		sdw_elf_ref(to->elf);
	return 0;
}

static void cut_front(struct sdw_mapping *mapping, uint64_t start)
{
	mapping->offset += start - mapping->start;
	mapping->start = start;
}

/* Index of the first mapping that ends after `address`. */
static size_t first_after(const struct sdw_maps *maps, uint64_t address)
{
	size_t low = 0, high = maps->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (maps->items[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void move_tail(struct sdw_maps *maps, size_t to, size_t from)
{
	memmove(&maps->items[to], &maps->items[from], (maps->count - from) * sizeof(*maps->items));
	maps->count = maps->count - from + to;
}

/* Takes away everything between start and end; *index is where a mapping from there belongs. */
static int clear(struct sdw_maps *maps, uint64_t start, uint64_t end, size_t *index)
{
	size_t first = first_after(maps, start), last;

	if (first < maps->count && maps->items[first].start < start) {
		if (maps->items[first].end > end) {
			struct sdw_mapping behind;

			if (duplicate(&behind, &maps->items[first]))
				return -ENOMEM;
			cut_front(&behind, end);
			move_tail(maps, first + 2, first + 1);
			maps->items[first + 1] = behind;
		}
		maps->items[first++].end = start;
	}
	for (last = first; last < maps->count && maps->items[last].end <= end; last++)
		release(&maps->items[last]);
	if (last < maps->count && maps->items[last].start < end)
		cut_front(&maps->items[last], end);
	move_tail(maps, first, last);
	*index = first;
	return 0;
}

int sdw_maps_add(struct sdw_maps *maps, const struct sdw_mapping *mapping)
{
	struct sdw_mapping copy;
	size_t index;
	int err;

	if (mapping->start >= mapping->end)
		return -EINVAL;
	/* one for the mapping, one for the rest of a mapping that it splits */
	if (maps->count + 2 > MAX_MAPPINGS || sdw_array_reserve(maps, 2))
		return -ENOMEM;
	if (duplicate(&copy, mapping))
		return -ENOMEM;
	err = clear(maps, mapping->start, mapping->end, &index);
	if (err) {
		release(&copy);
		return err;
	}
	move_tail(maps, index + 1, index);
	maps->items[index] = copy;
	maps->generation++;
	return 0;
}

int sdw_maps_copy(struct sdw_maps *to, const struct sdw_maps *from, uint32_t pid)
{
	sdw_maps_init(to, pid, from->cache);
	if (sdw_array_reserve(to, from->count))
		return -ENOMEM;
	for (size_t i = 0; i < from->count; i++) {
		if (duplicate(&to->items[i], &from->items[i])) {
			sdw_maps_free(to);
			return -ENOMEM;
		}
		to->count++;
	}
	to->generation = from->generation + 1;
	return 0;
}

struct sdw_mapping *sdw_maps_find(struct sdw_maps *maps, uint64_t address)
{
	size_t index = first_after(maps, address);

	if (index == maps->count || maps->items[index].start > address)
		return NULL;
	return &maps->items[index];
}

/* The file was looked for already if the old mapping is the same one. */
static void take_over(struct sdw_maps *old, struct sdw_mapping *mapping)
{
	struct sdw_mapping *before = sdw_maps_find(old, mapping->start);

	if (!before || !before->elf || before->start != mapping->start ||
	    before->end != mapping->end || before->offset != mapping->offset ||
	    before->inode != mapping->inode || before->device_major != mapping->device_major ||
	    before->device_minor != mapping->device_minor)
		return;
	mapping->elf = sdw_elf_ref(before->elf);
	mapping->file_tried = true;
}

static int read_lines(FILE *file, struct sdw_maps *fresh, struct sdw_maps *old)
{
	char *line = NULL;
	size_t room = 0;
	ssize_t size;
	int err = 0;

	while (!err && (size = getline(&line, &room, file)) > 0) {
		struct sdw_mapping mapping;

		err = sdw_maps_parse_line(line, (size_t)size, &mapping);
		if (err == -EINVAL) {
			err = 0; /* a line of a future kernel: the others still count */
			continue;
		}
		if (err)
			break;
		if (mapping.inode || mapping.executable) {
			take_over(old, &mapping);
			err = sdw_maps_add(fresh, &mapping);
		}
		release(&mapping);
	}
	if (!err && ferror(file))
		err = errno ? -errno : -EIO;
	free(line);
	return err;
}

/* One whose memory is released while its mappings are listed has a list that ends early. */
static bool has_memory(uint32_t task)
{
	char path[64];
	FILE *file;
	bool has;

	snprintf(path, sizeof(path), "/proc/%u/maps", task);
	file = fopen(path, "re");
	if (!file)
		return false;
	has = fgetc(file) != EOF;
	fclose(file);
	return has;
}

int sdw_maps_read(struct sdw_maps *maps)
{
	struct sdw_maps fresh;
	char path[64];
	FILE *file;
	int err;

	sdw_maps_init(&fresh, maps->pid, maps->cache);
	fresh.task = sdw_live_task(maps->pid);
	snprintf(path, sizeof(path), "/proc/%u/maps", fresh.task);
	file = fopen(path, "re");
	if (!file)
		return errno == ENOENT ? -ESRCH : -errno;
	errno = 0;
	err = read_lines(file, &fresh, maps);
	fclose(file);
	if (!err && maps->count && !has_memory(fresh.task))
		err = -ESRCH; /* what there was is worth more */
	if (err) {
		sdw_maps_free(&fresh);
		return err;
	}
	fresh.generation = maps->generation + 1;
	sdw_maps_free(maps);
	*maps = fresh;
	return 0;
}

/*
 * The loaded segment that the mapping shows. Segments are mapped in whole pages, so that the page
 * where one ends and the next begins is mapped for both: the mapping is then that of the one that
 * begins there and has the same right to execute.
 */
static const struct sdw_elf_segment *segment_of(const struct sdw_mapping *mapping)
{
	const struct sdw_elf_segment *segments, *best = NULL;
	uint64_t in_page = (uint64_t)sysconf(_SC_PAGESIZE) - 1;
	bool best_fits = false;
	size_t count;

	if (!mapping->elf)
		return NULL;
	segments = sdw_elf_segments(mapping->elf, &count);
	for (size_t i = 0; i < count; i++) {
		const struct sdw_elf_segment *segment = &segments[i];
		bool fits = mapping->executable == ((segment->flags & PF_X) != 0);

		if ((segment->offset & ~in_page) > mapping->offset ||
		    segment->offset + segment->file_size <= mapping->offset)
			continue;
		if (!best || (fits && !best_fits) ||
		    (fits == best_fits && segment->offset > best->offset)) {
			best = segment;
			best_fits = fits;
		}
	}
	return best;
}

int sdw_mapping_bias(const struct sdw_mapping *mapping, uint64_t *bias)
{
	const struct sdw_elf_segment *segment = segment_of(mapping);

	if (!segment)
		return -ENOENT;
	*bias = mapping->start - (mapping->offset - segment->offset + segment->vaddr);
	return 0;
}

int sdw_mapping_to_vaddr(const struct sdw_mapping *mapping, uint64_t address, uint64_t *vaddr)
{
	uint64_t bias;

	if (address < mapping->start || address >= mapping->end || sdw_mapping_bias(mapping, &bias))
		return -ENOENT;
	*vaddr = address - bias;
	return 0;
}
