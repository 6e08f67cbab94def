/* SPDX-License-Identifier: MIT */
/*
 * report_rows.h - the samples of a profile added up by function, line, file, module, thread,
 * process or container.
 *
 * In:  a profile and what to group by. Out: rows, hottest first, and edges between them.
 */
#ifndef SDW_REPORT_ROWS_H
#define SDW_REPORT_ROWS_H

#include "view/frame_text.h"
#include "view/report.h"

struct sdw_report_amount {
	uint64_t samples, weight;
};

struct sdw_report_row {
	uint8_t kind; /* enum sdw_code_kind; SDW_CODE_KIND_COUNT: a thread, process or container */
	const char *name; /* owned by the profile or the rows; "" where there is none */
	const char *file; /* of a thread: its process; of a container: its id */
	const char *pod;  /* of a container; else NULL */
	uint32_t line;	  /* by function: the first line; by line: the one being executed */
	uint32_t pid, tid;
	/* of a process or thread, else NULL: where its container and its pid there are told */
	const struct sdw_profile_process *process;
	struct sdw_report_amount self, total;
	size_t last_seen; /* private: 1 + the bucket that was added last */
};

/* Samples in which `caller` called `callee`, once per stack. Row numbers before sorting. */
struct sdw_report_edge {
	uint32_t caller, callee; /* SDW_REPORT_NO_ROW: the root, or nothing was called */
	struct sdw_report_amount amount;
	size_t last_seen; /* private */
};

#define SDW_REPORT_NO_ROW UINT32_MAX

struct sdw_report_rows {
	const struct sdw_profile *profile;
	const struct sdw_report_options *options;
	bool weighted;
	struct sdw_report_amount all;
	SDW_PROFILE_ARRAY(struct sdw_report_row) rows;
	SDW_PROFILE_ARRAY(struct sdw_report_edge) edges; /* only if options->edges */
	uint32_t *order; /* row numbers, hottest first; those without samples are left out */
	size_t order_count;
	uint32_t *row_of_frame;	  /* by frame id */
	uint32_t *row_of_process; /* by process id; only for SDW_REPORT_CONTAINER */
	char **modules;		  /* by code id: names made for SDW_REPORT_MODULE */
};

/* Returns 0 or -ENOMEM; to be freed in either case. */
int sdw_report_rows_make(struct sdw_report_rows *rows, const struct sdw_profile *profile,
			 const struct sdw_report_options *options);
void sdw_report_rows_free(struct sdw_report_rows *rows);

/* What rows are compared by and shares are of. */
uint64_t sdw_report_value(const struct sdw_report_rows *rows,
			  const struct sdw_report_amount *amount);
double sdw_report_share(const struct sdw_report_rows *rows, const struct sdw_report_amount *amount,
			const struct sdw_report_amount *of);

/* Private to report_*.c: finds the rows, and which frame belongs to which. */
int sdw_report_group(struct sdw_report_rows *rows);

/* Name of the package or program that a Python file belongs to, to be freed by the caller. */
char *sdw_report_module_name(const char *path);

#endif
