/* SPDX-License-Identifier: MIT */
/* progress.h - one line on the terminal that tells how a recording goes. */
#ifndef SDW_PROGRESS_H
#define SDW_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/session.h"

struct sdw_progress {
	bool shown;	  /* stderr is a terminal, and nobody asked for quiet */
	bool on_screen;	  /* a line is there to be erased */
	uint64_t last_ns; /* elapsed time and samples of the line before */
	uint64_t last_samples;
};

void sdw_progress_init(struct sdw_progress *progress, bool quiet);

/* For sdw_session_run(): `progress` is a struct sdw_progress. */
void sdw_progress_show(void *progress, const struct sdw_session_state *state);

/* Erases the line. */
void sdw_progress_end(struct sdw_progress *progress);

/* The text for a terminal of `columns`; returns its length. For tests. */
int sdw_progress_format(const struct sdw_session_state *state, uint64_t samples_per_second,
			int columns, char *text, size_t size);

#endif
