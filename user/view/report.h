/* SPDX-License-Identifier: MIT */
/*
 * report.h - tables of a profile for people, and the same as one JSON object.
 *
 * In:  a profile (profile.h). Out: text on a stream; errors of writing stay in the stream (ferror).
 *
 * Self: samples whose innermost frame it is. Total: samples in whose stack it is, once per stack
 * however often a function recurs. Where the event has weights, amounts are weights (frame_text.h).
 */
#ifndef SDW_REPORT_H
#define SDW_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "view/profile.h"

enum sdw_report_by {
	SDW_REPORT_FUNCTION, /* the same only if kind, name, whole file and first line agree */
	SDW_REPORT_LINE,     /* function and line being executed */
	SDW_REPORT_FILE,     /* Python source, or ELF file */
	SDW_REPORT_MODULE,   /* Python package, ELF file, or the kernel */
	SDW_REPORT_THREAD,
	SDW_REPORT_PROCESS,
	SDW_REPORT_CONTAINER,
};

enum sdw_report_sort { SDW_REPORT_SELF, SDW_REPORT_TOTAL };

enum sdw_report_edges { SDW_REPORT_NO_EDGES, SDW_REPORT_CALLERS, SDW_REPORT_CALLEES };

struct sdw_report_options {
	enum sdw_report_by by;
	enum sdw_report_sort sort;
	enum sdw_report_edges edges; /* who calls, or is called by, each function */
	const char *function;	     /* edges of this one only; "" or NULL: of the hottest */
	uint32_t limit;		     /* rows; 0: all */
	uint32_t width;		     /* columns; 0: 80 */
	bool colour;
	/* of a stack with Python frames only these: what they call counts as their own */
	bool python_only;
	bool no_header;
};

/* Prints a table. Returns 0, -ENOENT when no function is called options->function, or -ENOMEM. */
int sdw_report_print(const struct sdw_profile *profile, const struct sdw_report_options *options,
		     FILE *file);

/* Prints one JSON object and a newline; its keys are told in report_json.c. */
int sdw_report_print_json(const struct sdw_profile *profile,
			  const struct sdw_report_options *options, FILE *file);

#endif
