/* SPDX-License-Identifier: MIT */
/* texts.h - distinct texts, numbered from 0 in the order of their coming: tables of strings. */
#ifndef SDW_TEXTS_H
#define SDW_TEXTS_H

#include "base/strings.h"

/* All zeroes is an empty table. */
struct sdw_texts {
	struct sdw_strings strings;
	struct sdw_map64 number_of; /* a kept string's address -> its place */
	const char **items;
	size_t count, room;
};

/* Puts the number of `text`, which is copied, into *number. Returns 0 or -ENOMEM. */
int sdw_texts_number(struct sdw_texts *texts, const char *text, uint32_t *number);
void sdw_texts_free(struct sdw_texts *texts);

#endif
