/* SPDX-License-Identifier: MIT */
/*
 * output_file.h - a file that is there whole or not at all.
 *
 * In:  a path, or NULL or "-" for standard output.
 * Out: a stream to write to. A regular file is written under another name in the same directory,
 * mode 0600, and takes the place of `path` when it is complete; devices and pipes are written
 * directly.
 */
#ifndef SDW_OUTPUT_FILE_H
#define SDW_OUTPUT_FILE_H

#include <stdbool.h>
#include <stdio.h>

struct sdw_output_file {
	FILE *stream;
	const char *path; /* NULL: standard output */
	char *temporary;  /* where it is until it is complete; NULL: written directly */
	bool is_nameless; /* not there yet either */
	int fd;
	int err; /* -errno of the first write that failed: the stream only keeps that there was one
		  */
};

/*
 * Returns 0 or -errno, after saying which file cannot be written and why. `file` must stay where it
 * is until it is closed: the stream points to it.
 */
int sdw_output_file_open(struct sdw_output_file *file, const char *path);

/*
 * Ends the output. `err`: what the writer returned; the stream's own error is found here. Puts the
 * file in place, or removes it and says why. Returns 0 or -errno; a closed pipe is -EPIPE and not
 * told.
 */
int sdw_output_file_close(struct sdw_output_file *file, int err);

/* Gives the output up without a word: nothing of it is left. */
void sdw_output_file_discard(struct sdw_output_file *file);

#endif
