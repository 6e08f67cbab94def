// SPDX-License-Identifier: MIT
/* top_draw_help.c - the help on the screen; its lines fit 40 columns. */
#include "ui/top_draw.h"

static const char *const lines[] = {
	"Keys",
	"  f  functions      l  lines",
	"  t  threads        p  processes",
	"  s  sort by the next column, S before",
	"  n  native and kernel rows, or Python",
	"  /  only rows with some text",
	"     (Enter keeps it, Escape drops it)",
	"  Enter      who calls the function, or",
	"             what the thread does now",
	"  Backspace  back, or drop the filter",
	"  up down k j  PgUp PgDn  Home End g G",
	"  space  pause, go on",
	"  q  quit    h ?  this help",
	"",
	"Figures",
	"  NOW   the last seconds, as many as the",
	"        second line says, all alike",
	"  SELF  samples that hit the function",
	"        itself; with Python rows only,",
	"        also what it calls in C",
	"  TOTAL samples with it in their stack",
	"  GIL   while the thread held the lock",
	"  CPU   100% is one busy processor",
	"  kernel  the processor was in it; the",
	"        others by the innermost frame",
	"  lost  overflows without a sample",
	"  status  samples that lack a part of",
	"        their stack, by cause",
	"  P N K Python, native, kernel; [where",
	"        something is missing]",
};

#define LINES (sizeof(lines) / sizeof(*lines))

void sdw_top_draw_help(struct sdw_top_screen *screen, const struct sdw_top_drawing *drawing)
{
	struct sdw_top_view *view = drawing->view;
	size_t rows = drawing->height > 1 ? drawing->height - 1 : 1;

	view->page = rows;
	if (view->first + rows > LINES)
		view->first = LINES > rows ? LINES - rows : 0;
	for (size_t i = view->first; i < LINES && i < view->first + rows; i++) {
		bool heading = lines[i][0] && lines[i][0] != ' ';

		sdw_top_screen_line(screen);
		sdw_top_screen_add(screen, heading ? SDW_TOP_BOLD : SDW_TOP_PLAIN, lines[i]);
	}
	while (screen->count < rows && sdw_top_screen_line(screen))
		;
	sdw_top_screen_line(screen);
	sdw_top_screen_add(screen, SDW_TOP_DIM,
			   LINES > rows ? "up down: more   any other key: back" : "any key: back");
}
