/* SPDX-License-Identifier: MIT */
/* utf8.h - what is UTF-8: RFC 3629, so no surrogates, nothing overlong, U+10FFFF at most. */
#ifndef SDW_UTF8_H
#define SDW_UTF8_H

#include <stddef.h>

/* Bytes of the character at `text`, 1 to 4; 0 if it is not UTF-8 or the terminating NUL. */
size_t sdw_utf8_length(const char *text);

/* Bytes up to the NUL or to the first that is not UTF-8. */
size_t sdw_utf8_valid_prefix(const char *text);

/* A malloc'ed copy with every byte that is not UTF-8 as \xNN, or NULL (out of memory). */
char *sdw_utf8_repair(const char *text);

#endif
