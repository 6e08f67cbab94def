/* SPDX-License-Identifier: MIT */
/*
 * manual.h - the manual pages, in the language of man(1).
 *
 * In:  the tables of options of the sub-commands, and what tables cannot say (manual_text.c).
 * Out: sidewinder(1), or sidewinder-VERB(1).
 */
#ifndef SDW_MANUAL_H
#define SDW_MANUAL_H

#include <stdio.h>

#include "cmd/commands.h"

/* A paragraph, or what a tag stands for. */
struct sdw_manual_item {
	const char *tag;  /* NULL: a paragraph of its own */
	const char *text; /* NULL and no tag: the end */
};

struct sdw_manual_section {
	const char
		*title; /* in capitals; "", only first: goes on with DESCRIPTION; NULL: the end */
	const struct sdw_manual_item *items;
};

/* What stands between the options and the examples; `verb` NULL: of sidewinder(1). */
const struct sdw_manual_section *sdw_manual_sections(const char *verb);

/* The page of `verb`, which must be one of `commands`; NULL: of the program. */
void sdw_manual_print(const struct sdw_command *commands, const char *verb, FILE *to);

#endif
