/* SPDX-License-Identifier: MIT */
/*
 * map64.h - hash map from a 64-bit key (not 0) to a 64-bit value, open addressing, grows by itself.
 * A library would do; this one is on the path of every sample, where a lookup must cost
 * nanoseconds.
 */
#ifndef SDW_MAP64_H
#define SDW_MAP64_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sdw_map64_slot {
	uint64_t key; /* 0: free */
	uint64_t value;
};

/* All zeroes is an empty map. */
struct sdw_map64 {
	struct sdw_map64_slot *slots;
	size_t count;
	size_t room; /* a power of two, or 0 */
};

/* Returns a pointer to the value of `key`, valid until the next change, or NULL. */
uint64_t *sdw_map64_find(const struct sdw_map64 *map, uint64_t key);

/* Sets the value of `key`. Returns 0, -EINVAL for key 0, or -ENOMEM. */
int sdw_map64_set(struct sdw_map64 *map, uint64_t key, uint64_t value);

/* Removes `key`; no effect if it is not there. */
void sdw_map64_remove(struct sdw_map64 *map, uint64_t key);

void sdw_map64_clear(struct sdw_map64 *map);
void sdw_map64_free(struct sdw_map64 *map);

/* Mixes all bits of x (splitmix64's finalizer); never returns 0. */
static inline uint64_t sdw_mix64(uint64_t x)
{
	x ^= x >> 30;
	x *= 0xbf58476d1ce4e5b9ull;
	x ^= x >> 27;
	x *= 0x94d049bb133111ebull;
	x ^= x >> 31;
	return x ? x : 1;
}

#endif
