/* SPDX-License-Identifier: MIT */
/*
 * show.h - a text on standard output, through a pager where it is longer than the terminal.
 *
 * In:  text that is safe for a terminal. Out: it is there, or the error was told.
 */
#ifndef SDW_SHOW_H
#define SDW_SHOW_H

#include <stdbool.h>
#include <stdint.h>

struct sdw_terminal {
	uint32_t width; /* columns; 0: standard output is none, and COLUMNS does not say */
	uint32_t rows;	/* 0: none */
	bool colour;	/* a terminal that has it, and NO_COLOR does not forbid */
};

/* What standard output is: by the terminal, COLUMNS, NO_COLOR and TERM. */
void sdw_terminal_look(struct sdw_terminal *terminal);

/* Prints `text`. Returns 0, or -errno after saying what is wrong; a closed pipe is no error. */
int sdw_show(const char *text, const struct sdw_terminal *terminal, bool use_pager);

#endif
