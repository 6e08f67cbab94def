// SPDX-License-Identifier: MIT
/* report_edges.c - see report_edges.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "view/report_edges.h"

static int compare_neighbours(const void *left, const void *right, void *context)
{
	const struct sdw_report_neighbour *a = left, *b = right;
	uint64_t first = sdw_report_value(context, &a->amount);
	uint64_t second = sdw_report_value(context, &b->amount);

	if (first != second)
		return first > second ? -1 : 1;
	if (strcmp(a->row.name, b->row.name) != 0)
		return strcmp(a->row.name, b->row.name);
	return a->row.line == b->row.line ? 0 : a->row.line < b->row.line ? -1 : 1;
}

static struct sdw_report_row other_side(const struct sdw_report_rows *rows, uint32_t row)
{
	bool callers = rows->options->edges == SDW_REPORT_CALLERS;
	struct sdw_report_row none = {
		.kind = SDW_CODE_MARKER,
		.name = callers ? "root of the stack" : "itself",
		.file = "",
	};

	return row == SDW_REPORT_NO_ROW ? none : rows->rows.items[row];
}

int sdw_report_neighbours_find(const struct sdw_report_rows *rows, uint32_t row,
			       struct sdw_report_neighbours *neighbours)
{
	bool callers = rows->options->edges == SDW_REPORT_CALLERS;
	int err;

	neighbours->list.count = 0;
	for (size_t i = 0; i < rows->edges.count; i++) {
		const struct sdw_report_edge *edge = &rows->edges.items[i];

		if ((callers ? edge->callee : edge->caller) != row)
			continue;
		err = sdw_array_reserve(&neighbours->list, 1);
		if (err)
			return err;
		neighbours->list.items[neighbours->list.count++] = (struct sdw_report_neighbour){
			.row = other_side(rows, callers ? edge->caller : edge->callee),
			.amount = edge->amount,
		};
	}
	if (neighbours->list.count)
		qsort_r(neighbours->list.items, neighbours->list.count,
			sizeof(*neighbours->list.items), compare_neighbours, (void *)rows);
	return 0;
}

bool sdw_report_row_wanted(const struct sdw_report_rows *rows, const struct sdw_report_row *row)
{
	const char *function = rows->options->function;
	size_t bytes, wanted;

	if (!function || !*function)
		return true;
	bytes = strlen(row->name);
	wanted = strlen(function);
	if (bytes < wanted || strcmp(row->name + bytes - wanted, function) != 0)
		return false;
	return bytes == wanted || row->name[bytes - wanted - 1] == '.';
}
