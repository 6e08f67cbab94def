/* SPDX-License-Identifier: MIT */
/*
 * escape.h - writes names that come from a target into formats where some characters would act.
 *
 * In:  NUL-terminated text, meant to be UTF-8; it is not trusted to be.
 * Out: valid UTF-8 in which nothing is left that the format would interpret. A byte that is not
 * part of valid UTF-8 becomes the four characters \xNN in every format.
 */
#ifndef SDW_ESCAPE_H
#define SDW_ESCAPE_H

#include <stddef.h>
#include <stdio.h>

enum sdw_escape_mode {
	SDW_ESCAPE_NOTHING,  /* only makes it valid UTF-8 */
	SDW_ESCAPE_TERMINAL, /* controls as \xNN, those that reorder text as \uNNNN */
	SDW_ESCAPE_FOLDED,   /* the same, and ';' as \x3b: one line, split at ';' */
	SDW_ESCAPE_JSON,     /* the inside of a JSON string */
	SDW_ESCAPE_SCRIPT,   /* the inside of a JSON string within an HTML script element */
};

/* Writes `text`, escaped, to `file`; the stream keeps the error, if any. */
void sdw_escape_write(FILE *file, const char *text, enum sdw_escape_mode mode);

/*
 * Writes JSON as json-c made it, and a newline: that leaves characters as they are which steer a
 * terminal (those of C1, and those that turn the direction of text). They become \uNNNN.
 */
void sdw_escape_json_line(FILE *file, const char *json);

/* Returns `text` escaped, to be freed by the caller, or NULL without memory. */
char *sdw_escape_text(const char *text, enum sdw_escape_mode mode);

/* Columns that valid UTF-8 takes on a terminal, whatever the locale. */
size_t sdw_utf8_width(const char *text);

/*
 * Returns `text` (escaped for a terminal, valid UTF-8) in at most `width` columns, to be freed by
 * the caller. What does not fit is replaced by an ellipsis: of a path the beginning, else the
 * middle.
 */
char *sdw_utf8_fit(const char *text, size_t width, int is_path);

#endif
