// SPDX-License-Identifier: MIT
#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "dump/dict.h"
#include "dump/thread_names.h"
#include "symbol/pycode.h"
#include "symbol/remote_text.h"
#include "target/maps.h"

#define MAX_NAMES      65536u
#define MAX_NAME_BYTES 256u /* a multiple of four */

int sdw_dump_text(const struct sdw_dump_memory *memory, uint64_t address, size_t max_bytes,
		  char **text)
{
	const struct sdw_remote_process process = {
		.read = sdw_remote_read,
		.pid = memory->pid,
		.layout = &memory->python->layout,
	};
	struct sdw_remote_text found;
	int err = sdw_remote_string(&process, address, max_bytes, false, &found);

	if (err)
		return err;
	*text = sdw_text_decode(found.kind, found.bytes, found.size, false, found.cut);
	free(found.bytes);
	return *text ? 0 : -ENOMEM;
}

/* The dict threading._active: {ident: Thread}. */
static int find_active(const struct sdw_dump_memory *memory, uint64_t interpreter, uint64_t *active)
{
	uint64_t modules, module, dict;

	if (!sdw_dump_word(memory, interpreter + memory->objects.interpreter_modules, &modules) ||
	    !modules || sdw_dict_find(memory, modules, "threading", &module) ||
	    /* PyModuleObject.md_dict, the first behind the head */
	    !sdw_dump_word(memory, module + sdw_object_head(memory), &dict))
		return -ENOENT;
	return sdw_dict_find(memory, dict, "_active", active);
}

int sdw_thread_names_read(const struct sdw_dump_memory *memory, uint64_t interpreter,
			  struct sdw_thread_names *names)
{
	struct sdw_dict_reader reader;
	uint64_t active, ident, thread;
	int err = 0;

	if (find_active(memory, interpreter, &active) || sdw_dict_open(memory, active, &reader))
		return 0;
	while (!err && names->count < MAX_NAMES && sdw_dict_next(&reader, &ident, &thread)) {
		struct sdw_thread_name new;
		uint64_t name;

		if (sdw_object_unsigned(memory, ident, &new.thread_id) ||
		    sdw_instance_find(memory, thread, "_name", &name))
			continue;
		err = sdw_dump_text(memory, name, MAX_NAME_BYTES, &new.name);
		if (err && err != -ENOMEM) {
			err = 0;
			continue;
		}
		if (!err && (err = sdw_array_reserve(names, 1)))
			free(new.name);
		if (!err)
			names->items[names->count++] = new;
	}
	return err;
}

void sdw_thread_names_free(struct sdw_thread_names *names)
{
	for (size_t i = 0; i < names->count; i++)
		free(names->items[i].name);
	free(names->items);
	*names = (struct sdw_thread_names){0};
}
