/* SPDX-License-Identifier: MIT */
/*
 * perf_map.h - names of code that a runtime made while it ran, from its /tmp/perf-PID.map.
 *
 * In:  the file as the target sees it (its root, its own pid), written by the target: hostile. It
 * is read only if it is a regular file with one name, of the target's user or root, not too large.
 * Out: the name of the code at an address; later lines replace those that they overlap.
 */
#ifndef SDW_PERF_MAP_H
#define SDW_PERF_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/strings.h"

struct sdw_perf_map_entry {
	uint64_t start, end;
	uint32_t order;	  /* of the line in the file */
	const char *name; /* UTF-8; kept as long as the map */
};

struct sdw_perf_map_entries {
	struct sdw_perf_map_entry *items;
	size_t count, room;
};

/* What all maps of a recording may take together. */
struct sdw_perf_map_budget {
	uint64_t used, max; /* bytes */
};

/* All zeroes and a pid is an empty map. */
struct sdw_perf_map {
	uint32_t pid;			    /* in the profiler's pid namespace */
	struct sdw_perf_map_budget *budget; /* NULL: that of one file alone */
	uint64_t bytes;			    /* of it that this map has used */
	struct sdw_perf_map_entries sorted; /* by start, not overlapping */
	struct sdw_perf_map_entries recent; /* in the order of the file, not yet sorted in */
	struct sdw_strings names;
	uint32_t lines;	  /* taken so far */
	uint64_t dropped; /* lines beyond the bound, or not in the format */
	dev_t device;	  /* of the file read last */
	ino_t inode;
	uint64_t read_to; /* bytes of it read, up to the end of a whole line */
};

void sdw_perf_map_free(struct sdw_perf_map *map);

/* The code at `address` by what was read so far, or NULL. Valid until the next refresh. */
const struct sdw_perf_map_entry *sdw_perf_map_find(const struct sdw_perf_map *map,
						   uint64_t address);

/*
 * Reads what was added to the file since the last time; starts anew if it is another file or got
 * shorter. Returns 1: there is something new, 0: there is not, -errno: -ENOENT no file, -EPERM one
 * that must not be believed, -EFBIG one that is too large.
 */
int sdw_perf_map_refresh(struct sdw_perf_map *map);

/* The same from a descriptor, whose checks are the caller's: for sdw_perf_map_refresh and tests. */
int sdw_perf_map_read(struct sdw_perf_map *map, int fd);

/*
 * Opens tmp/perf-`inner_pid`.map below the directory `root`, following no link; checks that it is a
 * regular file with one name, of user `owner` or root. Returns a descriptor or -errno (see above).
 */
int sdw_perf_map_open(int root, uint32_t inner_pid, uid_t owner);

#endif
