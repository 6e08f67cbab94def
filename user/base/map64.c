// SPDX-License-Identifier: MIT
/* map64.c - linear probing at no more than half full, removal by shifting back. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/map64.h"

#define FIRST_ROOM 64

static size_t home(const struct sdw_map64 *map, uint64_t key)
{
	return sdw_mix64(key) & (map->room - 1);
}

static struct sdw_map64_slot *slot_of(const struct sdw_map64 *map, uint64_t key)
{
	size_t i = home(map, key);

	while (map->slots[i].key && map->slots[i].key != key)
		i = (i + 1) & (map->room - 1);
	return &map->slots[i];
}

static int grow(struct sdw_map64 *map)
{
	struct sdw_map64 larger = {.room = map->room ? map->room * 2 : FIRST_ROOM};

	larger.slots = calloc(larger.room, sizeof(*larger.slots));
	if (!larger.slots)
		return -ENOMEM;
	for (size_t i = 0; i < map->room; i++) {
		if (map->slots[i].key)
			*slot_of(&larger, map->slots[i].key) = map->slots[i];
	}
	larger.count = map->count;
	free(map->slots);
	*map = larger;
	return 0;
}

uint64_t *sdw_map64_find(const struct sdw_map64 *map, uint64_t key)
{
	struct sdw_map64_slot *slot;

	if (!map->room || !key)
		return NULL;
	slot = slot_of(map, key);
	return slot->key ? &slot->value : NULL;
}

int sdw_map64_set(struct sdw_map64 *map, uint64_t key, uint64_t value)
{
	struct sdw_map64_slot *slot;

	if (!key)
		return -EINVAL;
	if ((map->count + 1) * 2 > map->room) {
		int err = grow(map);

		if (err)
			return err;
	}
	slot = slot_of(map, key);
	if (!slot->key) {
		slot->key = key;
		map->count++;
	}
	slot->value = value;
	return 0;
}

void sdw_map64_remove(struct sdw_map64 *map, uint64_t key)
{
	size_t hole, i, mask = map->room - 1;
	struct sdw_map64_slot *slot;

	if (!map->room || !key)
		return;
	slot = slot_of(map, key);
	if (!slot->key)
		return;
	hole = (size_t)(slot - map->slots);
	for (i = (hole + 1) & mask; map->slots[i].key; i = (i + 1) & mask) {
		/* what would not be found past the hole moves into it */
		if (((i - home(map, map->slots[i].key)) & mask) >= ((i - hole) & mask)) {
			map->slots[hole] = map->slots[i];
			hole = i;
		}
	}
	map->slots[hole] = (struct sdw_map64_slot){0};
	map->count--;
}

void sdw_map64_clear(struct sdw_map64 *map)
{
	if (map->room)
		memset(map->slots, 0, map->room * sizeof(*map->slots));
	map->count = 0;
}

void sdw_map64_free(struct sdw_map64 *map)
{
	free(map->slots);
	*map = (struct sdw_map64){0};
}
