/* SPDX-License-Identifier: MIT */
/*
 * page.h - HTML pages that need nothing else, made of parts that are in the program.
 *
 * A page is copied up to each "@WORD@", which stands for what a function writes: data, scripts,
 * style. @NONCE@ is one that is new in each page: only the script and style that carry it are let
 * run by the page's own policy. Data is a JSON object in a script element of type
 * application/json; nothing in it can end that element (SDW_ESCAPE_SCRIPT).
 */
#ifndef SDW_PAGE_H
#define SDW_PAGE_H

#include <stdio.h>

struct sdw_page_word {
	const char *word; /* "@DATA@"; NULL ends the list */
	void (*write)(const void *context, FILE *file);
};

/* Writes `page` with each word replaced. Returns 0 or -EIO (no random numbers to be had). */
int sdw_page_write(const char *page, const struct sdw_page_word *words, const void *context,
		   FILE *file);

/* A JSON string of text that is not trusted (NULL is ""), with its quotes. */
void sdw_page_write_string(FILE *file, const char *text);

#endif
