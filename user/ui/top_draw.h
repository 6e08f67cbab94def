/* SPDX-License-Identifier: MIT */
/*
 * top_draw.h - a view as lines of text, for any width; knows of no terminal.
 *
 * In:  counts, a view, its rows, a width. Out: a screen. Names of targets are escaped here.
 */
#ifndef SDW_TOP_DRAW_H
#define SDW_TOP_DRAW_H

#include "ui/top_screen.h"
#include "ui/top_view.h"

#define SDW_TOP_LEAST_WIDTH 20 /* what is narrower is drawn as if it had these columns */

struct sdw_top_drawing {
	const struct sdw_top_model *model;
	const struct sdw_top_counts *counts;
	const struct sdw_top_list *list;
	struct sdw_top_view *view; /* .page and .first are set to what fits */
	size_t width;
	size_t height;	     /* lines; 0: as many as there are, without selection and keys */
	size_t limit;	     /* rows at most if height is 0; 0: all */
	const char *message; /* last line, raw; NULL: the most important keys */
	bool ascii;
};

/* Draws into `screen`, which was begun before or is all zeroes. Returns 0 or -ENOMEM. */
int sdw_top_draw(struct sdw_top_screen *screen, const struct sdw_top_drawing *drawing);

/* Private to top_draw*.c */
void sdw_top_draw_header(struct sdw_top_screen *screen, const struct sdw_top_drawing *drawing);
void sdw_top_draw_help(struct sdw_top_screen *screen, const struct sdw_top_drawing *drawing);

#endif
