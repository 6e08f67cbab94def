// SPDX-License-Identifier: MIT
/*
 * top_terminal_check.c - can the terminal show a screen? Apart, since <term.h> makes macros of
 * short words.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"
#include "ui/top_terminal.h"

#include <curses.h>
#include <term.h> /* after all others */

int sdw_top_terminal_check(void)
{
	const char *type = getenv("TERM");
	int status;
	bool can;

	if (!isatty(STDOUT_FILENO)) {
		sdw_error("top: standard output is no terminal: --once prints a table, --json an "
			  "object");
		return -ENOTTY;
	}
	can = setupterm(NULL, STDOUT_FILENO, &status) == OK && cursor_address;
	if (cur_term)
		del_curterm(cur_term);
	if (can)
		return 0;
	sdw_error("top: a terminal of type '%s' cannot show a full screen: set TERM to what it is, "
		  "or use --once",
		  type ? type : "");
	return -ENOTTY;
}
