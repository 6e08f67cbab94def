/* SPDX-License-Identifier: MIT */
/* report_edges.h - who calls a function, or whom it calls. */
#ifndef SDW_REPORT_EDGES_H
#define SDW_REPORT_EDGES_H

#include "view/report_rows.h"

/* The row on the other side of an edge, as a table shows it. */
struct sdw_report_neighbour {
	struct sdw_report_row row; /* only kind, name, file and line */
	struct sdw_report_amount amount;
};

struct sdw_report_neighbours {
	SDW_PROFILE_ARRAY(struct sdw_report_neighbour) list; /* the most frequent first */
};

/* Replaces `neighbours` by callers or callees (options->edges) of `row`. Returns 0 or -ENOMEM. */
int sdw_report_neighbours_find(const struct sdw_report_rows *rows, uint32_t row,
			       struct sdw_report_neighbours *neighbours);

/*
 * True if `row` is to be shown: its name is options->function, or ends in a dot and it (a method of
 * any class), or no function was asked for.
 */
bool sdw_report_row_wanted(const struct sdw_report_rows *rows, const struct sdw_report_row *row);

#endif
