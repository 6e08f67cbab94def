/* SPDX-License-Identifier: MIT */
/*
 * roff.h - plain text in the language of man(1), so that man and mandoc show it as it is.
 *
 * Every hyphen is written as a minus: what is copied from a page must work in a shell.
 */
#ifndef SDW_ROFF_H
#define SDW_ROFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* `size` characters as they are, inside a line that something else has begun. */
void sdw_roff_print(FILE *to, const char *text, size_t size);

/*
 * A paragraph in lines, and a newline; the options and the manual pages in it are bold. `column`:
 * 0, or how much of the first line is there.
 */
void sdw_roff_print_text(FILE *to, size_t column, const char *text);

#endif
