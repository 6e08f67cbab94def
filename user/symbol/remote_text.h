/* SPDX-License-Identifier: MIT */
/*
 * remote_text.h - reads str and bytes objects out of a living process.
 *
 * In:  an address that a code object named, and the layout of its interpreter; both may be stale or
 *      made up, so that lengths are bounded before anything is read.
 * Out: the characters as the target stores them, for sdw_text_decode().
 */
#ifndef SDW_REMOTE_TEXT_H
#define SDW_REMOTE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/types.h>

#include "pylayout.h"

/* As sdw_remote_read() (target/maps.h): all of `size` bytes, or -errno. */
typedef int (*sdw_read_memory)(uint32_t pid, uint64_t address, void *to, size_t size);

struct sdw_remote_process {
	sdw_read_memory read;
	uint32_t pid;
	const struct sdw_pylayout *layout;
};

struct sdw_remote_text {
	uint32_t kind;	/* enum sdw_text_kind */
	uint8_t *bytes; /* the caller frees it */
	size_t size;
	bool cut; /* longer than what was asked for */
};

/*
 * Reads at most max_bytes (a multiple of four) of a str: its beginning, or its end if from_end.
 * Returns 0 or -errno (-EINVAL: not a string).
 */
int sdw_remote_string(const struct sdw_remote_process *process, uint64_t address, size_t max_bytes,
		      bool from_end, struct sdw_remote_text *text);

/* The same for the beginning of a bytes object. */
int sdw_remote_bytes(const struct sdw_remote_process *process, uint64_t address, size_t max_bytes,
		     struct sdw_remote_text *text);

#endif
