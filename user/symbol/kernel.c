// SPDX-License-Identifier: MIT
/*
 * kernel.c - a sorted array of the kernel's symbols.
 *
 * kallsyms has no sizes: a function ends where the next symbol of any kind starts, and one that
 * seems larger than any function is stands at the end of a region and says nothing of what lies far
 * behind.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/log.h"
#include "base/strings.h"
#include "symbol/kernel.h"

#define MAX_SYMBOLS	   (4u << 20)
#define MAX_FUNCTION_BYTES (64u << 10)

struct entry {
	uint64_t start;
	const char *name, *module;
	uint32_t order; /* in the file */
	char type;	/* as nm has it; functions are t T w W */
};

struct sdw_kernel_symbols {
	struct entry *items;
	size_t count, room;
	struct sdw_strings strings;
};

static bool is_function(const struct entry *entry)
{
	return entry->type == 't' || entry->type == 'T' || entry->type == 'w' || entry->type == 'W';
}

/* Of several names of one address: functions first, weak ones last, then as in the file. */
static int rank(const struct entry *entry)
{
	if (!is_function(entry))
		return 2;
	return entry->type == 'w' || entry->type == 'W';
}

static int by_start(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (rank(a) != rank(b))
		return rank(a) - rank(b);
	return a->order < b->order ? -1 : 1;
}

/* "ffffffff81000000 T name" or "ffffffffc0000000 t name\t[module]". */
static int take_line(struct sdw_kernel_symbols *symbols, char *line)
{
	char *rest = NULL, *save = NULL, *name, *module;
	uint64_t start = strtoull(line, &rest, 16);
	struct entry *entry;
	int err;

	if (rest == line || rest[0] != ' ' || !rest[1] || rest[2] != ' ')
		return 0;
	if (!start)
		return 0; /* hidden, or the offset of a per-processor variable */
	name = strtok_r(rest + 3, " \t\n", &save);
	if (!name)
		return 0;
	module = strtok_r(NULL, " \t\n[]", &save);
	err = sdw_array_reserve(symbols, 1);
	if (err)
		return err;
	entry = &symbols->items[symbols->count];
	*entry = (struct entry){
		.start = start,
		.name = sdw_strings_keep(&symbols->strings, name),
		.module = sdw_strings_keep(&symbols->strings, module ? module : ""),
		.order = (uint32_t)symbols->count,
		.type = rest[1],
	};
	if (!entry->name || !entry->module)
		return -ENOMEM;
	symbols->count++;
	return 0;
}

int sdw_kernel_symbols_parse(FILE *file, struct sdw_kernel_symbols **symbols)
{
	struct sdw_kernel_symbols *new = calloc(1, sizeof(*new));
	char *line = NULL;
	size_t room = 0, lines = 0;
	int err = new ? 0 : -ENOMEM;

	while (!err && lines < MAX_SYMBOLS && getline(&line, &room, file) > 0) {
		lines++;
		err = take_line(new, line);
	}
	if (!err && ferror(file))
		err = -EIO;
	free(line);
	if (err) {
		sdw_kernel_symbols_free(new);
		return err;
	}
	if (lines && !new->count)
		sdw_warn("kernel functions have no names: the kernel hides their addresses "
			 "(CAP_SYSLOG, or sysctl kernel.kptr_restrict=0, shows them)");
	if (new->count)
		qsort(new->items, new->count, sizeof(*new->items), by_start);
	*symbols = new;
	return 0;
}

int sdw_kernel_symbols_read(struct sdw_kernel_symbols **symbols)
{
	FILE *file = fopen("/proc/kallsyms", "re");
	int err;

	if (!file)
		return -errno;
	err = sdw_kernel_symbols_parse(file, symbols);
	fclose(file);
	return err;
}

void sdw_kernel_symbols_free(struct sdw_kernel_symbols *symbols)
{
	if (!symbols)
		return;
	sdw_strings_free(&symbols->strings);
	free(symbols->items);
	free(symbols);
}

int sdw_kernel_symbol_at(const struct sdw_kernel_symbols *symbols, uint64_t address,
			 struct sdw_kernel_symbol *symbol)
{
	size_t low = 0, high = symbols->count;
	const struct entry *entry;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (symbols->items[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return -ENOENT;
	entry = &symbols->items[low - 1];
	while (entry > symbols->items && entry[-1].start == entry->start)
		entry--;
	if (!is_function(entry) || address - entry->start >= MAX_FUNCTION_BYTES)
		return -ENOENT;
	*symbol = (struct sdw_kernel_symbol){
		.start = entry->start, .name = entry->name, .module = entry->module};
	return 0;
}
