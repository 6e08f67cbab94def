/* SPDX-License-Identifier: MIT */
/*
 * walker.h - walks the Python stack of a thread of another process (pywalk.h over
 * sdw_remote_read()).
 */
#ifndef SDW_DUMP_WALKER_H
#define SDW_DUMP_WALKER_H

#include "dump/states.h"
#include "pywalk_state.h"
#include "symbol/code_table.h"

struct sdw_dump_walker {
	struct sdw_walk walk; /* result: frames, count, status, hash */
	const struct sdw_dump_memory *memory;
	struct sdw_code_table *codes;
	/* of each frame: itself, and its code object; for locals */
	uint64_t frames[SDW_MAX_FRAMES], code_objects[SDW_MAX_FRAMES];
	int err; /* -ENOMEM: the walk ended for want of memory */
};

/*
 * Walks from the thread state at `state`. Code objects are made known to `codes`. Returns 0: what
 * was found is in walker->walk (status SDW_STATUS_NO_FRAME: no Python code runs), or -errno.
 */
int sdw_dump_walk(struct sdw_dump_walker *walker, uint64_t state);

#endif
