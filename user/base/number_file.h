/* SPDX-License-Identifier: MIT */
/* number_file.h - the kernel's one-number files: /proc/sys, tracefs. */
#ifndef SDW_NUMBER_FILE_H
#define SDW_NUMBER_FILE_H

#include <stdint.h>

/* Reads the decimal number at the start of `path`, relative to `dir` (or AT_FDCWD). 0 or -errno. */
int sdw_number_file_read(int dir, const char *path, int64_t *number);

#endif
