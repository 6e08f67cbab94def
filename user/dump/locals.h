/* SPDX-License-Identifier: MIT */
/* locals.h - names and values of a Python frame's variables, read without running anything. */
#ifndef SDW_DUMP_LOCALS_H
#define SDW_DUMP_LOCALS_H

#include "dump/process.h"

/*
 * Reads the variables of the frame at `frame` that have a value, in the order of its slots:
 * arguments first. Code at module or class level has none: its names are in a dict. What cannot be
 * read is left out. Returns 0 or -ENOMEM.
 */
int sdw_dump_locals_read(const struct sdw_dump_memory *memory, uint64_t code, uint64_t frame,
			 struct sdw_dump_locals *locals);
void sdw_dump_locals_free(struct sdw_dump_locals *locals);

#endif
