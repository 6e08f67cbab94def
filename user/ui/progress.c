// SPDX-License-Identifier: MIT
/*
 * progress.c - draws the line and puts the cursor back to its start, so that whatever the recorded
 * program or a message writes next begins at the left margin.
 */
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "ui/progress.h"

#define MIN_INTERVAL_NS 900000000ull /* about one line a second */
#define ERASE_TO_END	"\033[K"

void sdw_progress_init(struct sdw_progress *progress, bool quiet)
{
	*progress = (struct sdw_progress){.shown = !quiet && isatty(STDERR_FILENO)};
}

static int terminal_columns(void)
{
	struct winsize size;

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) < 0 || !size.ws_col)
		return 80;
	return size.ws_col;
}

int sdw_progress_format(const struct sdw_session_state *state, uint64_t samples_per_second,
			int columns, char *text, size_t size)
{
	uint64_t seconds = state->elapsed_ns / 1000000000;
	int length;

	length = snprintf(text, size,
			  "recording %llu:%02llu  %llu samples/s  %llu lost  %u process%s",
			  (unsigned long long)(seconds / 60), (unsigned long long)(seconds % 60),
			  (unsigned long long)samples_per_second, (unsigned long long)state->lost,
			  state->processes, state->processes == 1 ? "" : "es");
	/* a line that wraps cannot be erased */
	if (length >= columns)
		length = columns > 1 ? columns - 1 : 0;
	if ((size_t)length >= size)
		length = (int)size - 1;
	text[length] = '\0';
	return length;
}

static void write_all(const char *text)
{
	/* a terminal that is gone is no reason to stop the recording */
	if (write(STDERR_FILENO, text, strlen(text)) < 0)
		return;
}

void sdw_progress_show(void *context, const struct sdw_session_state *state)
{
	struct sdw_progress *progress = context;
	uint64_t elapsed = state->elapsed_ns - progress->last_ns;
	uint64_t samples = state->samples - progress->last_samples;
	char text[160], line[192];

	if (!progress->shown || elapsed < MIN_INTERVAL_NS)
		return;
	sdw_progress_format(state, samples * 1000000000 / elapsed, terminal_columns(), text,
			    sizeof(text));
	snprintf(line, sizeof(line), "\r%s" ERASE_TO_END "\r", text);
	write_all(line);
	progress->on_screen = true;
	progress->last_ns = state->elapsed_ns;
	progress->last_samples = state->samples;
}

void sdw_progress_end(struct sdw_progress *progress)
{
	if (progress->on_screen)
		write_all("\r" ERASE_TO_END);
	progress->on_screen = false;
}
