// SPDX-License-Identifier: MIT
/* report.c - the tables of report.h: the hottest rows, or the callers or callees of functions. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "view/report.h"
#include "view/report_edges.h"
#include "view/report_header.h"
#include "view/report_table.h"

static size_t limited(const struct sdw_report_options *options, size_t count)
{
	return options->limit && options->limit < count ? options->limit : count;
}

static void name_columns(struct sdw_table *table, const struct sdw_report_options *options)
{
	static const char *const names[][2] = {
		[SDW_REPORT_FUNCTION] = {"FUNCTION", "FILE:LINE"},
		[SDW_REPORT_LINE] = {"FUNCTION", "FILE:LINE RUNNING"},
		[SDW_REPORT_FILE] = {"FILE", ""},
		[SDW_REPORT_MODULE] = {"MODULE", ""},
		[SDW_REPORT_THREAD] = {"THREAD", "TID OF PROCESS"},
		[SDW_REPORT_PROCESS] = {"PROCESS", "PID"},
		[SDW_REPORT_CONTAINER] = {"CONTAINER", "ID AND POD"},
	};

	table->headings[0] = "SELF";
	table->headings[1] = "TOTAL";
	table->figures = 2;
	table->name_heading = names[options->by][0];
	table->where_heading = names[options->by][1];
	if (options->by >= SDW_REPORT_THREAD) {
		table->headings[0] = table->rows->weighted ? "WEIGHT" : "SAMPLES";
		table->figures = 1;
	}
}

static int add_row(struct sdw_table *table, const struct sdw_report_row *row)
{
	const struct sdw_report_rows *rows = table->rows;
	struct sdw_table_line *line;
	int err = sdw_table_add(table, row, &line);

	if (err)
		return err;
	line->figures[0] = row->self;
	line->figures[1] = row->total;
	line->shares[0] = sdw_report_share(rows, &row->self, &rows->all);
	line->shares[1] = sdw_report_share(rows, &row->total, &rows->all);
	return 0;
}

static int fill_hottest(struct sdw_table *table)
{
	const struct sdw_report_rows *rows = table->rows;
	size_t count = limited(rows->options, rows->order_count);
	int err = 0;

	for (size_t i = 0; i < count && !err; i++)
		err = add_row(table, &rows->rows.items[rows->order[i]]);
	return err;
}

static int add_title(struct sdw_table *table, const struct sdw_report_row *row)
{
	struct sdw_table_line *line;
	int err = sdw_table_add(table, row, &line);

	if (!err)
		line->is_title = true;
	return err;
}

/* A function as title, its neighbours below: shares are of the function's own total. */
static int add_function(struct sdw_table *table, uint32_t number,
			struct sdw_report_neighbours *neighbours)
{
	const struct sdw_report_rows *rows = table->rows;
	const struct sdw_report_row *row = &rows->rows.items[number];
	int err = sdw_report_neighbours_find(rows, number, neighbours);
	size_t count = limited(rows->options, neighbours->list.count);

	if (!err)
		err = add_title(table, row);
	for (size_t i = 0; i < count && !err; i++) {
		const struct sdw_report_neighbour *at = &neighbours->list.items[i];
		struct sdw_table_line *line;

		err = sdw_table_add(table, &at->row, &line);
		if (err)
			break;
		line->figures[0] = at->amount;
		line->shares[0] = sdw_report_share(rows, &at->amount, &row->total);
	}
	return err;
}

static int fill_edges(struct sdw_table *table)
{
	const struct sdw_report_rows *rows = table->rows;
	struct sdw_report_neighbours neighbours = {0};
	bool one = rows->options->function && *rows->options->function;
	size_t left = one ? rows->order_count : limited(rows->options, rows->order_count);
	int err = 0;

	for (size_t i = 0; i < rows->order_count && left && !err; i++) {
		if (!sdw_report_row_wanted(rows, &rows->rows.items[rows->order[i]]))
			continue;
		err = add_function(table, rows->order[i], &neighbours);
		left--;
	}
	free(neighbours.list.items);
	if (!err && one && !table->lines.count)
		return -ENOENT;
	return err;
}

int sdw_report_print(const struct sdw_profile *profile, const struct sdw_report_options *options,
		     FILE *file)
{
	struct sdw_report_rows rows;
	struct sdw_table table = {.rows = &rows};
	int err = sdw_report_rows_make(&rows, profile, options);

	if (err)
		goto out;
	name_columns(&table, options);
	if (options->edges == SDW_REPORT_NO_EDGES) {
		err = fill_hottest(&table);
	} else {
		table.figures = 1;
		table.headings[0] = options->edges == SDW_REPORT_CALLERS ? "CALLED" : "CALLS";
		err = fill_edges(&table);
	}
	if (err)
		goto out;
	if (!options->no_header)
		sdw_report_header_print(profile, file);
	if (!table.lines.count)
		fputs("no samples\n", file);
	else
		err = sdw_table_print(&table, options->width, options->colour, file);
out:
	sdw_table_free(&table);
	sdw_report_rows_free(&rows);
	return err;
}
