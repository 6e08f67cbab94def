/* SPDX-License-Identifier: MIT */
/*
 * dumper.h - what the dumps of all processes of one run share: files, names, scratch memory.
 */
#ifndef SDW_DUMPER_H
#define SDW_DUMPER_H

#include "capture/stack_builder.h"
#include "dump/registers.h"
#include "dump/walker.h"
#include "view/profile.h"

struct sdw_dumper {
	bool locals; /* read the locals of Python frames */
	struct sdw_file_cache *files;
	struct sdw_strings strings;
	struct sdw_code_table *codes;
	struct sdw_profile profile; /* names of frames; its ids are private to a thread's capture */
	struct sdw_profile sampled; /* of threads that run, see running.c */
	bool has_sampled;
	struct sdw_catalog catalog;
	struct sdw_stack_builder builder;
	struct sdw_unwind_statistics unwinding;
	struct sdw_register_reader registers;
	struct sdw_dump_walker *walker;
	uint64_t *pcs;	/* SDW_MAX_NATIVE_FRAMES */
	uint8_t *stack; /* a copy of a native stack */
	size_t stack_size, stack_room;
};

/* Returns 0 or -errno; free it in any case. */
int sdw_dumper_init(struct sdw_dumper *dumper);
void sdw_dumper_free(struct sdw_dumper *dumper);

#endif
