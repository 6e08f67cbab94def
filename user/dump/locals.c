// SPDX-License-Identifier: MIT
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "dump/locals.h"
#include "dump/object.h"
#include "dump/thread_names.h"

#define MAX_LOCALS     100u /* of one frame that are shown */
#define MAX_SLOTS      4096u
#define MAX_NAME_BYTES 256u

/* Where the frame's next slot is. */
struct slots {
	const struct sdw_dump_memory *memory;
	struct sdw_dump_locals *locals;
	uint64_t next; /* address of the slot */
};

void sdw_dump_locals_free(struct sdw_dump_locals *locals)
{
	for (size_t i = 0; i < locals->count; i++) {
		free(locals->items[i].name);
		free(locals->items[i].value);
	}
	free(locals->items);
	*locals = (struct sdw_dump_locals){0};
}

/* A variable that an inner function uses is in a cell; an argument is put there by the code. */
static bool open_cell(const struct sdw_dump_memory *memory, uint64_t *object)
{
	struct sdw_object_type type;

	if (sdw_object_type_read(memory, *object, &type) || type.kind != SDW_OBJECT_CELL)
		return true;
	return sdw_dump_word(memory, *object + sdw_object_head(memory), object) && *object;
}

static int value_text(const struct sdw_dump_memory *memory, uint64_t object, char **text)
{
	size_t size;
	FILE *file = open_memstream(text, &size);
	bool failed;

	if (!file)
		return -ENOMEM;
	sdw_object_print(memory, object, file);
	failed = ferror(file);
	if (fclose(file) || failed) {
		free(*text);
		*text = NULL;
		return -ENOMEM;
	}
	return 0;
}

static int add_local(struct slots *slots, uint64_t name, uint64_t object)
{
	struct sdw_dump_local new = {0};
	int err;

	err = sdw_dump_text(slots->memory, name, MAX_NAME_BYTES, &new.name);
	if (err)
		return err == -ENOMEM ? err : 0;
	err = value_text(slots->memory, object, &new.value);
	err = err ?: sdw_array_reserve(slots->locals, 1);
	if (err) {
		free(new.name);
		free(new.value);
		return err;
	}
	slots->locals->items[slots->locals->count++] = new;
	return 0;
}

/* The slots that are named by the tuple at `address` of the code object. */
static int add_tuple(struct slots *slots, uint64_t address)
{
	const struct sdw_dump_memory *memory = slots->memory;
	uint64_t tuple, items, count;
	int err = 0;

	if (!sdw_dump_word(memory, address, &tuple))
		return 0;
	items = tuple + sdw_object_head(memory);
	if (!sdw_dump_word(memory, items, &count) || count > MAX_SLOTS)
		return 0;
	items += memory->objects.tuple_items;
	for (uint64_t i = 0; !err && i < count; i++) {
		uint64_t name, object;

		if (!sdw_dump_word(memory, slots->next, &object))
			return 0;
		slots->next += sizeof(object);
		/* 3.14 and later tag references, in locals as in f_executable */
		object &= ~(uint64_t)memory->python->layout.frame_code_tags;
		if (!object || slots->locals->count >= MAX_LOCALS || !open_cell(memory, &object) ||
		    !sdw_dump_word(memory, items + i * sizeof(name), &name))
			continue;
		err = add_local(slots, name, object);
	}
	return err;
}

int sdw_dump_locals_read(const struct sdw_dump_memory *memory, uint64_t code, uint64_t frame,
			 struct sdw_dump_locals *locals)
{
	const struct sdw_object_layout *objects = &memory->objects;
	struct slots slots = {memory, locals, frame + objects->frame_locals};
	int err;

	if (objects->code_names != SDW_NO_OFFSET)
		return add_tuple(&slots, code + objects->code_names);
	err = add_tuple(&slots, code + objects->code_varnames);
	err = err ?: add_tuple(&slots, code + objects->code_cellvars);
	return err ?: add_tuple(&slots, code + objects->code_freevars);
}
