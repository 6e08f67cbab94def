/* SPDX-License-Identifier: MIT */
/*
 * object.h - Python objects in the memory of another process.
 *
 * In:  addresses, which may be stale or forged: everything is bounded, nothing is called, no
 * reference is taken. Out: what is there now, as text like repr() has it.
 */
#ifndef SDW_DUMP_OBJECT_H
#define SDW_DUMP_OBJECT_H

#include <stdio.h>

#include "dump/states.h"

#define SDW_TYPE_NAME_BYTES 64

enum sdw_object_kind {
	SDW_OBJECT_OTHER,
	SDW_OBJECT_NONE,
	SDW_OBJECT_BOOL,
	SDW_OBJECT_INT,
	SDW_OBJECT_FLOAT,
	SDW_OBJECT_STR,
	SDW_OBJECT_BYTES,
	SDW_OBJECT_LIST,
	SDW_OBJECT_TUPLE,
	SDW_OBJECT_DICT,
	SDW_OBJECT_CELL,
};

struct sdw_object_type {
	uint64_t address;
	enum sdw_object_kind kind; /* of the built-in types themselves, not of classes made of them
				    */
	uint64_t basic_size, flags;
	int64_t dict_offset;
	char name[SDW_TYPE_NAME_BYTES]; /* tp_name, cut; any bytes */
};

/* Reads what the object at `address` is. Returns 0 or -errno (-EINVAL: not an object). */
int sdw_object_type_read(const struct sdw_dump_memory *memory, uint64_t address,
			 struct sdw_object_type *type);

/* Bytes of the head of every object: reference count and type. */
uint32_t sdw_object_head(const struct sdw_dump_memory *memory);

/* An int that fits 64 bits without sign. Returns 0 or -errno. */
int sdw_object_unsigned(const struct sdw_dump_memory *memory, uint64_t address, uint64_t *value);

/* True if the object is a str with exactly these ASCII characters. */
bool sdw_object_is_text(const struct sdw_dump_memory *memory, uint64_t address, const char *text);

/*
 * Writes the object as repr() would: None, bool, int, float, str, bytes exactly; list, tuple and
 * dict of these to a depth of SDW_MAX_DEPTH; anything else as <type name>. What is long is cut, and
 * ends with an ellipsis. "<unreadable>" where there is no object.
 */
void sdw_object_print(const struct sdw_dump_memory *memory, uint64_t address, FILE *file);

#endif
