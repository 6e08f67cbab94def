/* SPDX-License-Identifier: MIT */
/*
 * top_terminal.h - shows a screen on the terminal, and takes its keys.
 *
 * The terminal is as it was before after sdw_top_terminal_close(), and while the process is stopped
 * by Ctrl-Z. What is said on stderr meanwhile is kept, and said then.
 */
#ifndef SDW_TOP_TERMINAL_H
#define SDW_TOP_TERMINAL_H

#include <stdint.h>

#include "ui/top_screen.h"

struct sdw_top_terminal;

enum sdw_top_event {
	SDW_TOP_NO_EVENT,
	SDW_TOP_KEY,	/* a key was pressed */
	SDW_TOP_REDRAW, /* the size changed, or the process was stopped */
	SDW_TOP_STOP,	/* a signal asks for the end, or the terminal is gone */
};

/* Can a screen be shown at all? Says what to do if not. Returns 0 or -errno. */
int sdw_top_terminal_check(void);

/*
 * Takes the terminal over. SIGINT, SIGTERM and SIGHUP are the caller's, who blocks them, and stays
 * blocking until the close. Returns 0 or -errno after saying what is wrong.
 */
int sdw_top_terminal_open(struct sdw_top_terminal **terminal);
void sdw_top_terminal_close(struct sdw_top_terminal *terminal); /* NULL: does nothing */

/* From here on these three signals give SDW_TOP_STOP. Returns 0 or -errno. */
int sdw_top_terminal_take_stops(struct sdw_top_terminal *terminal);

/* To be waited for: can be read when there is an event. */
int sdw_top_terminal_fd(const struct sdw_top_terminal *terminal);

/* Takes the next event, without waiting; of a key *key is its character or enum sdw_top_key. */
enum sdw_top_event sdw_top_terminal_next(struct sdw_top_terminal *terminal, uint32_t *key);

void sdw_top_terminal_size(const struct sdw_top_terminal *terminal, size_t *width, size_t *height);

/* Does it show only ASCII? */
bool sdw_top_terminal_is_ascii(const struct sdw_top_terminal *terminal);

/* The last line that was said on stderr since the last call, or NULL. Valid until the next call. */
const char *sdw_top_terminal_said(struct sdw_top_terminal *terminal);

/* Makes the terminal show this; only what differs is sent. */
void sdw_top_terminal_show(struct sdw_top_terminal *terminal, const struct sdw_top_screen *screen);

#endif
