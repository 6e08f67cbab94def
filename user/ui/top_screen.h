/* SPDX-License-Identifier: MIT */
/* top_screen.h - lines of text with styles: what a drawing makes and a terminal shows. */
#ifndef SDW_TOP_SCREEN_H
#define SDW_TOP_SCREEN_H

#include <stdbool.h>
#include <stddef.h>

enum sdw_top_style {
	SDW_TOP_PLAIN,
	SDW_TOP_DIM,
	SDW_TOP_BOLD,
	SDW_TOP_TITLE,
	SDW_TOP_HEADING,
	SDW_TOP_SORTED, /* the heading of the column that rows are sorted by */
	SDW_TOP_NATIVE,
	SDW_TOP_KERNEL,
	SDW_TOP_WARNING,
	SDW_TOP_STYLES,
};

#define SDW_TOP_SEGMENTS 24 /* of a line; further ones take the style of the last */

struct sdw_top_line {
	char *text;   /* UTF-8, nothing in it steers a terminal */
	size_t bytes; /* of text */
	size_t width; /* columns */
	bool selected;
	struct {
		enum sdw_top_style style;
		size_t bytes;
	} segments[SDW_TOP_SEGMENTS];
	size_t segment_count;
};

struct sdw_top_screen {
	struct sdw_top_line *lines;
	size_t count, room;
	size_t width; /* no line has more columns */
	bool ascii;   /* other characters become '?' */
	bool failed;  /* out of memory: lines are missing */
};

/* Begins an empty screen; one that was used before keeps its memory. */
void sdw_top_screen_begin(struct sdw_top_screen *screen, size_t width, bool ascii);
void sdw_top_screen_free(struct sdw_top_screen *screen);

/* Begins a line; NULL without memory. It is valid until the next one is begun. */
struct sdw_top_line *sdw_top_screen_line(struct sdw_top_screen *screen);

/*
 * Appends text, which is escaped already, to the last line; what is beyond the width is cut, with
 * an ellipsis.
 */
void sdw_top_screen_add(struct sdw_top_screen *screen, enum sdw_top_style style, const char *text);
void sdw_top_screen_addf(struct sdw_top_screen *screen, enum sdw_top_style style,
			 const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Appends blanks up to `column`. */
void sdw_top_screen_pad(struct sdw_top_screen *screen, size_t column);

/* Columns of the last line so far. */
size_t sdw_top_screen_column(const struct sdw_top_screen *screen);

#endif
