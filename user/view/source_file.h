/* SPDX-License-Identifier: MIT */
/*
 * source_file.h - the text of a Python source file, by the name that a profile has for it.
 *
 * In:  a name from a target, which can be any: only a regular file is read, and only one that is
 *      Python by its name or first line, since what it says goes into a page that is passed on.
 * Out: its text, or why there is none.
 */
#ifndef SDW_SOURCE_FILE_H
#define SDW_SOURCE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SDW_SOURCE_MAX_BYTES (4u << 20)

struct sdw_source_file {
	char *text;	     /* NUL-terminated, not checked to be UTF-8; NULL: there is none */
	size_t bytes;	     /* of it */
	const char *problem; /* why there is none, or NULL */
	int64_t changed_s;   /* when it was last written, since 1970 */
};

/* Reads `path`, at most `limit` bytes; to be freed in any case. */
void sdw_source_file_read(struct sdw_source_file *source, const char *path, size_t limit);
void sdw_source_file_free(struct sdw_source_file *source);

#endif
