/* SPDX-License-Identifier: MIT */
/* demangle.h - C++ and Rust names as their authors wrote them. */
#ifndef SDW_DEMANGLE_H
#define SDW_DEMANGLE_H

#include <stddef.h>

/*
 * Writes the readable form of a mangled name to `to`. Returns 0, or -ENOENT where there is none:
 * the name is not mangled, or broken, or would not fit (a few bytes may stand for gigabytes).
 */
int sdw_demangle(const char *name, char *to, size_t room);

#endif
