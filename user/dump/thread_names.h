/* SPDX-License-Identifier: MIT */
/* thread_names.h - names that a program gave its threads: threading._active of an interpreter. */
#ifndef SDW_THREAD_NAMES_H
#define SDW_THREAD_NAMES_H

#include "dump/states.h"

struct sdw_thread_name {
	uint64_t thread_id; /* pthread_self() */
	char *name;	    /* owned; UTF-8, not escaped */
};

struct sdw_thread_names {
	struct sdw_thread_name *items;
	size_t count, room;
};

/* Returns 0 (also where the module is not loaded, or cannot be read) or -ENOMEM. */
int sdw_thread_names_read(const struct sdw_dump_memory *memory, uint64_t interpreter,
			  struct sdw_thread_names *names);
void sdw_thread_names_free(struct sdw_thread_names *names);

/* A str object as UTF-8, cut at max_bytes. Returns 0 or -errno; the caller frees *text. */
int sdw_dump_text(const struct sdw_dump_memory *memory, uint64_t address, size_t max_bytes,
		  char **text);

#endif
