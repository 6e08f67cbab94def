/* SPDX-License-Identifier: MIT */
/*
 * ctf_directory.h - the directory of a trace being written: made, replaced, and its files.
 *
 * Everything goes through the directory's descriptor, so that a path which changes under us leads
 * nowhere else.
 */
#ifndef SDW_SINK_CTF_DIRECTORY_H
#define SDW_SINK_CTF_DIRECTORY_H

#include <stdbool.h>
#include <stddef.h>

struct sdw_ctf_directory {
	int parent_fd; /* -1: not open */
	int fd;	       /* -1: not open */
	char *name;    /* within the parent */
	bool made;     /* by us; it was not there before */
};

/*
 * Makes the directory. With force, one that is there is emptied if it is ours and holds a trace or
 * nothing. Returns 0 or -errno: -EEXIST; with force -ENOTDIR or -ELOOP (not a directory), -EPERM
 * (another user's), -ENOTEMPTY (holds something that is not a trace).
 */
int sdw_ctf_directory_create(struct sdw_ctf_directory *directory, const char *path, bool force);

/* Closes what is open; always safe after create, failed or not. */
void sdw_ctf_directory_close(struct sdw_ctf_directory *directory);

/* Removes the trace's files, and the directory if it was made by us. */
void sdw_ctf_directory_remove(struct sdw_ctf_directory *directory);

/* Replaces the metadata, whole or not at all, and flushes it to disk. Returns 0 or -errno. */
int sdw_ctf_directory_write_metadata(struct sdw_ctf_directory *directory, const char *text,
				     size_t size);

/*
 * Creates a stream file: SDW_CTF_STREAM, or SDW_CTF_CPU_STREAM and a number. Returns its descriptor
 * or -errno.
 */
int sdw_ctf_directory_create_stream(struct sdw_ctf_directory *directory, const char *name);

#endif
