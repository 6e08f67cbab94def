// SPDX-License-Identifier: MIT
/* code_table.c - ids to code objects, shared by contents, listed by image. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/map64.h"
#include "symbol/code_record.h"
#include "symbol/code_table.h"
#include "symbol/pycode.h"
#include "target/maps.h"

/* Of an entry: itself and its slot in by_id, which is at least a quarter full. */
#define ENTRY_BYTES (sizeof(struct entry) + 4 * sizeof(struct sdw_map64_slot))

/* One id of one image. */
struct entry {
	uint64_t id;
	struct sdw_code *code;
	uint32_t next; /* of the image, or of the free ones; 0: none */
};

struct sdw_code_table {
	struct sdw_strings *strings;
	uint64_t max_bytes;
	uint64_t bytes; /* of entries and codes */
	sdw_read_memory read;
	struct {
		struct entry *items; /* entry 0 is not used */
		size_t count, room;
	} entries;
	uint32_t free_entry;
	struct sdw_map64 by_id;	      /* id -> entry */
	struct sdw_map64 by_image;    /* image -> first entry */
	struct sdw_map64 by_contents; /* hash -> struct sdw_code */
	struct sdw_code_statistics statistics;
};

static const struct sdw_code unknown_code = {
	.name = "[unknown]", .file = "[unknown]", .incomplete = 1};
static const struct sdw_code refused_code = {.name = "[out of memory bound]", .file = "[unknown]"};

int sdw_code_table_create(struct sdw_strings *strings, uint64_t max_bytes, sdw_read_memory read,
			  struct sdw_code_table **table)
{
	struct sdw_code_table *new = calloc(1, sizeof(*new));

	if (!new)
		return -ENOMEM;
	new->strings = strings;
	new->max_bytes = max_bytes;
	new->read = read ? read : sdw_remote_read;
	*table = new;
	return 0;
}

void sdw_code_table_free(struct sdw_code_table *table)
{
	if (!table)
		return;
	for (size_t i = 0; i < table->by_contents.room; i++) {
		struct sdw_code *code, *next;

		if (!table->by_contents.slots[i].key)
			continue;
		code = (struct sdw_code *)(uintptr_t)table->by_contents.slots[i].value;
		for (; code; code = next) {
			next = code->next;
			free(code);
		}
	}
	free(table->entries.items);
	sdw_map64_free(&table->by_id);
	sdw_map64_free(&table->by_image);
	sdw_map64_free(&table->by_contents);
	free(table);
}

/* ---- code objects, shared ---- */

static uint64_t hash_of(const struct sdw_code *code, const uint8_t *lines)
{
	uint64_t hash = sdw_mix64((uintptr_t)code->name);

	hash = sdw_mix64(hash ^ (uintptr_t)code->file);
	hash = sdw_mix64(hash ^ ((uint64_t)code->version << 32 | code->first_line));
	for (uint32_t i = 0; i < code->table_size; i++)
		hash = (hash ^ lines[i]) * 0x100000001b3ull;
	return sdw_mix64(hash);
}

static bool is_equal(const struct sdw_code *code, const struct sdw_code *other,
		     const uint8_t *lines)
{
	return code->name == other->name && code->file == other->file &&
	       code->first_line == other->first_line && code->version == other->version &&
	       code->incomplete == other->incomplete && code->table_known == other->table_known &&
	       code->table_size == other->table_size &&
	       (!code->table_size || !memcmp(code->table, lines, code->table_size));
}

static struct sdw_code *first_with(const struct sdw_code_table *table, uint64_t hash)
{
	const uint64_t *value = sdw_map64_find(&table->by_contents, hash);

	return value ? (struct sdw_code *)(uintptr_t)*value : NULL;
}

static bool is_beyond_bound(const struct sdw_code_table *table, uint64_t more)
{
	return sdw_code_table_bytes(table) + more > table->max_bytes;
}

/* The kept code object that equals `code` with these lines, one more reference to it. */
static int keep_code(struct sdw_code_table *table, const struct sdw_code *like,
		     const uint8_t *lines, struct sdw_code **kept)
{
	uint64_t hash = hash_of(like, lines);
	struct sdw_code *first = first_with(table, hash), *code;
	int err;

	for (code = first; code; code = code->next) {
		if (is_equal(code, like, lines)) {
			code->references++;
			*kept = code;
			return 0;
		}
	}
	if (is_beyond_bound(table, sizeof(*code) + like->table_size))
		return -ENOSPC;
	code = malloc(sizeof(*code) + like->table_size);
	if (!code)
		return -ENOMEM;
	*code = *like;
	code->references = 1;
	code->hash = hash;
	code->next = first;
	if (like->table_size)
		memcpy(code->table, lines, like->table_size);
	err = sdw_map64_set(&table->by_contents, hash, (uintptr_t)code);
	if (err) {
		free(code);
		return err;
	}
	table->bytes += sizeof(*code) + code->table_size;
	*kept = code;
	return 0;
}

static void release_code(struct sdw_code_table *table, struct sdw_code *code)
{
	struct sdw_code *first, *before;

	if (--code->references)
		return;
	first = first_with(table, code->hash);
	if (first != code) {
		for (before = first; before->next != code;)
			before = before->next;
		before->next = code->next;
	} else if (code->next) {
		/* the key is there: this cannot fail */
		(void)sdw_map64_set(&table->by_contents, code->hash, (uintptr_t)code->next);
	} else {
		sdw_map64_remove(&table->by_contents, code->hash);
	}
	table->bytes -= sizeof(*code) + code->table_size;
	free(code);
}

/* ---- ids ---- */

static uint64_t image_key(uint32_t pid, uint32_t epoch)
{
	return sdw_mix64((uint64_t)pid << 32 | epoch); /* one to one, but for 0 */
}

static struct entry *entry_of(const struct sdw_code_table *table, uint64_t id)
{
	const uint64_t *index = sdw_map64_find(&table->by_id, id);

	return index ? &table->entries.items[*index] : NULL;
}

static int take_entry(struct sdw_code_table *table, uint32_t *index)
{
	if (table->free_entry) {
		*index = table->free_entry;
		table->free_entry = table->entries.items[*index].next;
		return 0;
	}
	if (is_beyond_bound(table, ENTRY_BYTES))
		return -ENOSPC;
	if (table->entries.count >= UINT32_MAX || sdw_array_reserve(&table->entries, 2))
		return -ENOMEM;
	if (!table->entries.count)
		table->entries.count = 1;
	*index = (uint32_t)table->entries.count++;
	table->bytes += ENTRY_BYTES;
	return 0;
}

static void free_entry(struct sdw_code_table *table, uint32_t index)
{
	table->entries.items[index] = (struct entry){.next = table->free_entry};
	table->free_entry = index;
}

/* Lists a new id of an image. Takes over the caller's reference to `code` if it succeeds. */
static int add_entry(struct sdw_code_table *table, const struct sdw_record_code *record,
		     struct sdw_code *code)
{
	uint64_t image = image_key(record->record.pid, record->record.epoch);
	const uint64_t *first;
	uint32_t index;
	int err;

	err = take_entry(table, &index);
	if (err)
		return err;
	first = sdw_map64_find(&table->by_image, image);
	table->entries.items[index] = (struct entry){
		.id = record->id, .code = code, .next = first ? (uint32_t)*first : 0};
	err = sdw_map64_set(&table->by_id, record->id, index);
	if (err)
		goto fail;
	err = sdw_map64_set(&table->by_image, image, index);
	if (err)
		goto fail;
	return 0;
fail:
	sdw_map64_remove(&table->by_id, record->id);
	free_entry(table, index);
	return err;
}

/* ---- records ---- */

static int keep_words(struct sdw_code_table *table, const struct sdw_record_code *record,
		      const struct sdw_code_words *words, struct sdw_code **code)
{
	const char *name = words->name ? words->name : unknown_code.name;
	const char *file = words->file ? words->file : unknown_code.file;
	struct sdw_code like = {
		.first_line = record->first_line > 0 ? (uint32_t)record->first_line : 0,
		.version = record->version,
		.incomplete = words->may_grow,
		.table_known = words->table_known,
		.table_size = (uint32_t)words->table_size,
	};

	/* checked before the strings are kept, since they stay */
	if (is_beyond_bound(table, strlen(name) + strlen(file)))
		return -ENOSPC;
	like.name = sdw_strings_keep(table->strings, name);
	like.file = sdw_strings_keep(table->strings, file);
	if (!like.name || !like.file)
		return -ENOMEM;
	return keep_code(table, &like, words->table, code);
}

static int add_words(struct sdw_code_table *table, const struct sdw_record_code *record,
		     const struct sdw_code_words *words)
{
	struct entry *known = entry_of(table, record->id);
	struct sdw_code *code;
	int err;

	if (known && words->may_grow)
		return 0;
	err = keep_words(table, record, words, &code);
	if (err)
		return err;
	if (known) {
		release_code(table, known->code);
		known->code = code;
		return 0;
	}
	err = add_entry(table, record, code);
	if (err)
		release_code(table, code);
	return err;
}

int sdw_code_table_add(struct sdw_code_table *table, const struct sdw_record_code *record,
		       size_t size, const struct sdw_pylayout *layout)
{
	struct sdw_remote_process process = {.read = table->read, .layout = layout};
	struct sdw_code_words words;
	const struct entry *known;
	int err;

	if (sdw_code_record_check(record, size)) {
		table->statistics.broken++;
		return -EINVAL;
	}
	known = entry_of(table, record->id);
	if (known && !known->code->incomplete)
		return 0; /* another processor's, or sent once more */
	process.pid = record->record.pid;
	err = sdw_code_record_words(record, layout ? &process : NULL, &words);
	if (err)
		return err;
	err = add_words(table, record, &words);
	if (err == -ENOSPC)
		table->statistics.out_of_bound++;
	if (!err && !known) {
		table->statistics.records++;
		table->statistics.completed += words.completed;
		table->statistics.incomplete += words.missing;
	}
	sdw_code_words_free(&words);
	return err;
}

const struct sdw_code *sdw_code_table_find(const struct sdw_code_table *table, uint64_t id)
{
	const struct entry *entry = entry_of(table, id);

	if (entry)
		return entry->code;
	return table->statistics.out_of_bound ? &refused_code : &unknown_code;
}

uint32_t sdw_code_table_line(struct sdw_code_table *table, const struct sdw_code *code,
			     int32_t instruction)
{
	return sdw_code_table_position(table, code, instruction).line;
}

struct sdw_position sdw_code_table_position(struct sdw_code_table *table,
					    const struct sdw_code *code, int32_t instruction)
{
	struct sdw_position position;
	int broken = 0;

	if (!code->table_known && instruction >= 0) {
		table->statistics.lines_unknown++;
		return (struct sdw_position){.line = code->first_line};
	}
	position = sdw_position_of(code->version, code->table, code->table_size,
				   (int32_t)code->first_line, instruction, &broken);
	table->statistics.lines_unknown += broken != 0;
	return position;
}

void sdw_code_table_forget(struct sdw_code_table *table, uint32_t pid, uint32_t epoch)
{
	uint64_t image = image_key(pid, epoch);
	const uint64_t *first = sdw_map64_find(&table->by_image, image);
	uint32_t next;

	if (!first)
		return;
	for (uint32_t i = (uint32_t)*first; i; i = next) {
		struct entry *entry = &table->entries.items[i];

		next = entry->next;
		sdw_map64_remove(&table->by_id, entry->id);
		release_code(table, entry->code);
		free_entry(table, i);
	}
	sdw_map64_remove(&table->by_image, image);
}

const struct sdw_code_statistics *sdw_code_table_statistics(const struct sdw_code_table *table)
{
	return &table->statistics;
}

uint64_t sdw_code_table_bytes(const struct sdw_code_table *table)
{
	return table->bytes + table->strings->bytes;
}
