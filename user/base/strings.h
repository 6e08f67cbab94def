/* SPDX-License-Identifier: MIT */
/*
 * strings.h - keeps one copy of each distinct string, at an address that never changes.
 *
 * Names and paths repeat in every frame and every process; what is kept grows with distinct ones
 * only.
 */
#ifndef SDW_STRINGS_H
#define SDW_STRINGS_H

#include <stddef.h>
#include <stdint.h>

#include "base/map64.h"

struct sdw_strings_entry {
	const char *text;
	size_t size;   /* with the NUL */
	uint32_t next; /* with the same hash, 0: none */
};

struct sdw_strings_chunk;

/* All zeroes is an empty set. */
struct sdw_strings {
	struct sdw_map64 by_hash; /* hash -> first entry */
	struct {
		struct sdw_strings_entry *items; /* entry 0 is not used */
		size_t count, room;
	} entries;
	struct sdw_strings_chunk *chunks;
	size_t bytes; /* of memory that the strings take, with what finds them */
};

/* Returns the kept copy of `text` (equal strings: the same pointer), or NULL (out of memory). */
const char *sdw_strings_keep(struct sdw_strings *strings, const char *text);

/* Frees every string that was kept. */
void sdw_strings_free(struct sdw_strings *strings);

#endif
