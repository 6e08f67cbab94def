// SPDX-License-Identifier: MIT
/* strings.c - strings packed into chunks, found by hash and then compared byte by byte. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/strings.h"

/* Besides its bytes: its entry and its slot in by_hash, which is at least a quarter full. */
#define STRING_BYTES (sizeof(struct sdw_strings_entry) + 4 * sizeof(struct sdw_map64_slot))
#define CHUNK_BYTES  (64u * 1024u - sizeof(struct sdw_strings_chunk))

struct sdw_strings_chunk {
	struct sdw_strings_chunk *next;
	size_t used, size;
	char bytes[];
};

/* FNV-1a; sdw_mix64 in the map spreads what it leaves uneven */
static uint64_t hash_of(const char *text, size_t size)
{
	uint64_t hash = 0xcbf29ce484222325ull;

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ (unsigned char)text[i]) * 0x100000001b3ull;
	return hash ? hash : 1;
}

static char *take_bytes(struct sdw_strings *strings, size_t size)
{
	struct sdw_strings_chunk *chunk = strings->chunks;
	char *bytes;

	if (!chunk || chunk->size - chunk->used < size) {
		size_t room = size > CHUNK_BYTES ? size : CHUNK_BYTES;

		chunk = malloc(sizeof(*chunk) + room);
		if (!chunk)
			return NULL;
		*chunk = (struct sdw_strings_chunk){.next = strings->chunks, .size = room};
		strings->chunks = chunk;
	}
	bytes = chunk->bytes + chunk->used;
	chunk->used += size;
	return bytes;
}

const char *sdw_strings_keep(struct sdw_strings *strings, const char *text)
{
	size_t size = strlen(text) + 1;
	uint64_t hash = hash_of(text, size);
	const uint64_t *first = sdw_map64_find(&strings->by_hash, hash);
	uint32_t before = first ? (uint32_t)*first : 0;
	struct sdw_strings_entry *entry;
	char *copy;

	for (uint32_t i = before; i; i = entry->next) {
		entry = &strings->entries.items[i];
		if (entry->size == size && !memcmp(entry->text, text, size))
			return entry->text;
	}
	if (!strings->entries.count)
		strings->entries.count = 1;
	if (strings->entries.count >= UINT32_MAX || sdw_array_reserve(&strings->entries, 1))
		return NULL;
	copy = take_bytes(strings, size);
	if (!copy || sdw_map64_set(&strings->by_hash, hash, strings->entries.count))
		return NULL;
	memcpy(copy, text, size);
	entry = &strings->entries.items[strings->entries.count++];
	*entry = (struct sdw_strings_entry){.text = copy, .size = size, .next = before};
	strings->bytes += size + STRING_BYTES;
	return copy;
}

void sdw_strings_free(struct sdw_strings *strings)
{
	struct sdw_strings_chunk *chunk, *next;

	for (chunk = strings->chunks; chunk; chunk = next) {
		next = chunk->next;
		free(chunk);
	}
	free(strings->entries.items);
	sdw_map64_free(&strings->by_hash);
	*strings = (struct sdw_strings){0};
}
