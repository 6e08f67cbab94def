// SPDX-License-Identifier: MIT
/* object.c - what an object is: its type, by the type object itself. */
#include <errno.h>
#include <string.h>

#include "dump/object.h"
#include "symbol/remote_text.h"
#include "target/maps.h"

/* PyTypeObject, behind the head; alike from CPython 3.8 to 3.15 (Include/cpython/object.h) */
#define TYPE_NAME	 8u
#define TYPE_BASIC_SIZE	 16u
#define TYPE_FLAGS	 152u
#define TYPE_DICT_OFFSET 272u
#define TYPE_SPAN	 280u
#define TYPE_MAX_HEAD	 32u

/* tp_flags (Include/object.h) */
#define FLAG_HEAP_TYPE	   (1ull << 9)
#define FLAG_INT_SUBCLASS  (1ull << 24)
#define FLAG_TYPE_SUBCLASS (1ull << 31)

uint32_t sdw_object_head(const struct sdw_dump_memory *memory)
{
	uint32_t type = memory->python->layout.object_type;

	return type <= TYPE_MAX_HEAD - 8 ? type + 8 : 16;
}

/* A built-in type is static; a class of the same name is not. */
static enum sdw_object_kind kind_of(const struct sdw_object_type *type)
{
	static const struct {
		const char *name;
		enum sdw_object_kind kind;
	} kinds[] = {
		{"NoneType", SDW_OBJECT_NONE}, {"bool", SDW_OBJECT_BOOL},
		{"int", SDW_OBJECT_INT},       {"float", SDW_OBJECT_FLOAT},
		{"str", SDW_OBJECT_STR},       {"bytes", SDW_OBJECT_BYTES},
		{"list", SDW_OBJECT_LIST},     {"tuple", SDW_OBJECT_TUPLE},
		{"dict", SDW_OBJECT_DICT},     {"cell", SDW_OBJECT_CELL},
	};

	if (type->flags & FLAG_HEAP_TYPE)
		return SDW_OBJECT_OTHER;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(type->name, kinds[i].name))
			return kinds[i].kind;
	return SDW_OBJECT_OTHER;
}

/* Reads up to the NUL, at most to where memory ends. */
static void read_name(const struct sdw_dump_memory *memory, uint64_t address, char *name,
		      size_t size)
{
	size_t got = 0;

	while (got + 8 <= size - 1 && !sdw_dump_read(memory, address + got, name + got, 8)) {
		if (memchr(name + got, '\0', 8))
			return;
		got += 8;
	}
	name[got] = '\0';
}

int sdw_object_type_read(const struct sdw_dump_memory *memory, uint64_t address,
			 struct sdw_object_type *type)
{
	uint32_t head = sdw_object_head(memory);
	uint8_t bytes[TYPE_SPAN + TYPE_MAX_HEAD];
	uint64_t name;
	int err;

	*type = (struct sdw_object_type){0};
	if (!address)
		return -EFAULT;
	err = sdw_dump_read(memory, address + head - 8, &type->address, sizeof(type->address));
	err = err ?: sdw_dump_read(memory, type->address, bytes, head + TYPE_SPAN);
	if (err)
		return err;
	memcpy(&name, bytes + head + TYPE_NAME, sizeof(name));
	memcpy(&type->basic_size, bytes + head + TYPE_BASIC_SIZE, sizeof(type->basic_size));
	memcpy(&type->flags, bytes + head + TYPE_FLAGS, sizeof(type->flags));
	memcpy(&type->dict_offset, bytes + head + TYPE_DICT_OFFSET, sizeof(type->dict_offset));
	read_name(memory, name, type->name, sizeof(type->name));
	if (!type->name[0] || type->basic_size < head)
		return -EINVAL;
	type->kind = kind_of(type);
	return 0;
}

bool sdw_object_is_text(const struct sdw_dump_memory *memory, uint64_t address, const char *text)
{
	const struct sdw_pylayout *layout = &memory->python->layout;
	size_t length = strlen(text);
	uint64_t have;
	char found[64];

	/* bytes of another string that happens to look alike would have to be of this length, too
	 */
	return length < sizeof(found) &&
	       sdw_dump_word(memory, address + layout->unicode_length, &have) && have == length &&
	       !sdw_dump_read(memory, address + layout->unicode_ascii_data, found, length) &&
	       !memcmp(found, text, length);
}
