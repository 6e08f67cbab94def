// SPDX-License-Identifier: MIT
/* dict.c - CPython Objects/dictobject.c: keys with an index table, entries behind it. */
#include <errno.h>
#include <string.h>

#include "dump/dict.h"
#include "target/maps.h"

/* PyDictObject behind the head: ma_used, ma_version_tag, ma_keys, ma_values (3.8 to 3.15) */
#define DICT_KEYS   16u
#define DICT_VALUES 24u

#define MAX_ENTRIES (1ull << 24)
#define MAX_SEARCH  (1ull << 17) /* entries looked at for one name */

#define FLAG_MANAGED_DICT  (1ull << 4) /* 3.11 and later, Include/object.h */
#define FLAG_INLINE_VALUES (1ull << 2) /* 3.13 */
#define FLAG_HEAP_TYPE	   (1ull << 9)
#define MAX_DICT_OFFSET	   65536

/* Bytes of the index table. */
static int index_bytes(const struct sdw_dump_memory *memory, uint64_t keys, uint64_t *bytes)
{
	const struct sdw_object_layout *objects = &memory->objects;
	uint64_t size;
	uint8_t log2;
	int err;

	if (objects->keys_have_size) {
		err = sdw_dump_read(memory, keys + objects->keys_size, &size, sizeof(size));
		if (err)
			return err;
		if (size > MAX_ENTRIES * 2)
			return -EINVAL;
		*bytes = size * (size <= 0xff ? 1 : size <= 0xffff ? 2 : 4);
		return 0;
	}
	err = sdw_dump_read(memory, keys + objects->keys_size, &log2, sizeof(log2));
	if (err)
		return err;
	if (log2 > 32)
		return -EINVAL;
	*bytes = 1ull << log2;
	return 0;
}

static int open_keys(const struct sdw_dump_memory *memory, uint64_t keys, uint64_t values,
		     struct sdw_dict_reader *reader)
{
	const struct sdw_object_layout *objects = &memory->objects;
	uint64_t bytes;
	uint8_t kind = 0;
	int err;

	*reader = (struct sdw_dict_reader){.memory = memory, .entry_words = 3, .key_word = 1};
	err = index_bytes(memory, keys, &bytes);
	err = err
		      ?: sdw_dump_read(memory, keys + objects->keys_nentries, &reader->count,
				       sizeof(reader->count));
	if (!err && objects->keys_kind != SDW_NO_OFFSET)
		err = sdw_dump_read(memory, keys + objects->keys_kind, &kind, sizeof(kind));
	if (err)
		return err;
	if (reader->count > MAX_ENTRIES)
		return -EINVAL;
	if (kind) { /* all keys are str: their hash is in them */
		reader->entry_words = 2;
		reader->key_word = 0;
	}
	reader->entries = keys + objects->keys_indices + bytes;
	reader->values = values ? values + objects->values_first : 0;
	return 0;
}

int sdw_dict_open(const struct sdw_dump_memory *memory, uint64_t address,
		  struct sdw_dict_reader *reader)
{
	uint64_t body = address + sdw_object_head(memory), keys, values;

	if (!memory->has_objects)
		return -ENOTSUP;
	if (!sdw_dump_word(memory, body + DICT_KEYS, &keys) ||
	    !sdw_dump_word(memory, body + DICT_VALUES, &values))
		return -EFAULT;
	return open_keys(memory, keys, values, reader);
}

static bool fill_block(struct sdw_dict_reader *reader)
{
	uint64_t left = reader->count - reader->next;
	size_t entry = reader->entry_words * sizeof(uint64_t);

	reader->first_read = reader->next;
	reader->read = left < SDW_DICT_BLOCK ? left : SDW_DICT_BLOCK;
	return sdw_dump_read(reader->memory, reader->entries + reader->next * entry, reader->block,
			     reader->read * entry) == 0;
}

bool sdw_dict_next(struct sdw_dict_reader *reader, uint64_t *key, uint64_t *value)
{
	while (reader->next < reader->count) {
		const uint64_t *entry;
		uint64_t index;

		if (reader->next >= reader->first_read + reader->read && !fill_block(reader))
			return false;
		index = reader->next++;
		entry = reader->block + (index - reader->first_read) * reader->entry_words;
		*key = entry[reader->key_word];
		*value = entry[reader->key_word + 1];
		if (reader->values &&
		    !sdw_dump_word(reader->memory, reader->values + index * sizeof(*value), value))
			return false;
		if (*key && *value)
			return true;
	}
	return false;
}

static int find(struct sdw_dict_reader *reader, const char *name, uint64_t *value)
{
	uint64_t key;

	if (reader->count > MAX_SEARCH)
		reader->count = MAX_SEARCH;
	while (sdw_dict_next(reader, &key, value))
		if (sdw_object_is_text(reader->memory, key, name))
			return 0;
	return -ENOENT;
}

int sdw_dict_find(const struct sdw_dump_memory *memory, uint64_t address, const char *name,
		  uint64_t *value)
{
	struct sdw_dict_reader reader;

	return sdw_dict_open(memory, address, &reader) ? -ENOENT : find(&reader, name, value);
}

/* Values of an instance, named by the keys of its class. */
static int find_in_values(const struct sdw_dump_memory *memory, const struct sdw_object_type *type,
			  uint64_t values, const char *name, uint64_t *value)
{
	struct sdw_dict_reader reader;
	uint64_t keys;

	if (!(type->flags & FLAG_HEAP_TYPE) ||
	    !sdw_dump_word(memory, type->address + memory->objects.heap_type_keys, &keys) ||
	    !keys || open_keys(memory, keys, values, &reader))
		return -ENOENT;
	return find(&reader, name, value);
}

/* 3.11 and later: words in front of the object, or values behind it. */
static int find_managed(const struct sdw_dump_memory *memory, const struct sdw_object_type *type,
			uint64_t address, const char *name, uint64_t *value)
{
	uint16_t version = memory->python->layout.version;
	uint64_t dict, values = 0;
	uint8_t valid = 0;

	if (!sdw_dump_word(memory, address - memory->objects.managed_dict, &dict))
		return -ENOENT;
	if (version == 0x030b && !sdw_dump_word(memory, address - 32, &values))
		return -ENOENT;
	if (version == 0x030c && dict & 1) { /* _PyDictOrValues: values are tagged by -1 */
		values = dict + 1;
		dict = 0;
	}
	if (version >= 0x030d && !dict && type->flags & FLAG_INLINE_VALUES) {
		values = address + type->basic_size;
		/* PyDictValues: capacity, size, embedded, valid */
		if (sdw_dump_read(memory, values + 3, &valid, sizeof(valid)) || !valid)
			return -ENOENT;
	}
	if (values)
		return find_in_values(memory, type, values, name, value);
	return dict ? sdw_dict_find(memory, dict, name, value) : -ENOENT;
}

int sdw_instance_find(const struct sdw_dump_memory *memory, uint64_t address, const char *name,
		      uint64_t *value)
{
	struct sdw_object_type type;
	uint64_t dict;

	if (!memory->has_objects || sdw_object_type_read(memory, address, &type))
		return -ENOENT;
	if (memory->python->layout.version >= 0x030b && type.flags & FLAG_MANAGED_DICT)
		return find_managed(memory, &type, address, name, value);
	if (type.dict_offset <= 0 || type.dict_offset > MAX_DICT_OFFSET ||
	    !sdw_dump_word(memory, address + (uint64_t)type.dict_offset, &dict) || !dict)
		return -ENOENT;
	return sdw_dict_find(memory, dict, name, value);
}
