// SPDX-License-Identifier: MIT
/* show.c - see show.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cmd/show.h"
#include "view/output_file.h"

#define DEFAULT_PAGER "less -R"

void sdw_terminal_look(struct sdw_terminal *terminal)
{
	const char *columns = getenv("COLUMNS"), *no_colour = getenv("NO_COLOR");
	const char *name = getenv("TERM");
	uint32_t asked = columns ? (uint32_t)strtoul(columns, NULL, 10) : 0;
	struct winsize size = {0};

	*terminal = (struct sdw_terminal){.width = asked};
	if (!isatty(STDOUT_FILENO))
		return;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) {
		terminal->width = asked ? asked : size.ws_col;
		terminal->rows = size.ws_row;
	}
	terminal->colour = !(no_colour && *no_colour) && name && strcmp(name, "dumb") != 0;
}

static bool is_longer(const char *text, uint32_t rows)
{
	uint32_t lines = 0;

	for (; (text = strchr(text, '\n')); text++)
		lines++;
	return rows && lines >= rows;
}

/* Returns 0, or -errno when there is no pager to write to. */
static int page(const char *text)
{
	const char *pager = getenv("PAGER");
	FILE *pipe;

	if (!pager)
		pager = DEFAULT_PAGER;
	if (!*pager || strcmp(pager, "cat") == 0)
		return -ENOENT;
	fflush(stdout);
	pipe = popen(pager, "we"); /* the user's own choice of a command, as in git or man */
	if (!pipe)
		return -errno;
	fputs(text, pipe); /* who leaves the pager early has seen enough */
	/* 127: the shell found no such program */
	return pclose(pipe) == 127 << 8 ? -ENOENT : 0;
}

int sdw_show(const char *text, const struct sdw_terminal *terminal, bool use_pager)
{
	struct sdw_output_file output;
	int err;

	if (use_pager && is_longer(text, terminal->rows) && page(text) == 0)
		return 0;
	err = sdw_output_file_open(&output, NULL);
	if (err)
		return err;
	fputs(text, output.stream);
	err = sdw_output_file_close(&output, 0);
	return err == -EPIPE ? 0 : err;
}
