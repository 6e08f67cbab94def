/* SPDX-License-Identifier: MIT */
/* top_options.h - the command line of `sidewinder top`. */
#ifndef SDW_TOP_OPTIONS_H
#define SDW_TOP_OPTIONS_H

#include "cmd/capture_options.h"
#include "ui/top_view.h"
#include "view/filter.h"

struct sdw_top_arguments {
	struct sdw_capture_arguments capture; /* first: the table of options says so */
	struct sdw_top_view view;
	struct sdw_filter samples;  /* which of them count */
	const char *filter;	    /* text of the rows to show; NULL: all */
	const char *command_output; /* file for what the command writes; NULL: nowhere */
	double window_s, refresh_s;
	uint32_t limit; /* rows of a print; 0: all */
	bool all_frames;
	bool once;
};

/* Always followed by sdw_top_options_free(). What is wrong was said. */
enum sdw_options_result sdw_top_options_parse(int argc, char **argv,
					      struct sdw_top_arguments *arguments);
void sdw_top_options_free(struct sdw_top_arguments *arguments);

#endif
