/* SPDX-License-Identifier: MIT */
/* nearest.h - what somebody may have meant by a word that is not known. */
#ifndef SDW_NEAREST_H
#define SDW_NEAREST_H

#include <stddef.h>

/* Inserted, deleted, changed and swapped characters between two words (of at most 63 bytes). */
size_t sdw_word_distance(const char *a, const char *b);

/*
 * The one of `count` words (NULLs are passed over) that begins with `word` or is closest to it, or
 * NULL when all are further away than a slip of the finger: a third of the length of the word, at
 * least 2.
 */
const char *sdw_nearest_word(const char *word, const char *const *words, size_t count);

#endif
