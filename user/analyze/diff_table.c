// SPDX-License-Identifier: MIT
/* diff_table.c - a difference as a table: what both recordings are, then a row for each change. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/diff.h"
#include "base/options.h"
#include "view/escape.h"
#include "view/report_header.h"
#include "view/report_table.h"

#define DEFAULT_WIDTH 80
#define WIDE	      110 /* columns from which the error of the total has room too */
#define GAP	      2
#define CELL_BYTES    16
/* Rows that did not change are shown if they have this part of the samples of either. */
#define LEAST_SHARE 0.005

#define BOLD  "\033[1m"
#define DIM   "\033[2m"
#define MORE  "\033[31m"
#define LESS  "\033[34m"
#define RESET "\033[0m"

enum column { BASE, NEW, CHANGE, ERROR, COLUMNS };

static const char *const headings[COLUMNS] = {"BASE", "NEW", "CHANGE", "+-"};

/* One figure's cells, as text. */
struct cells {
	char text[COLUMNS][CELL_BYTES];
};

/* The columns of one figure. */
struct block {
	int widths[COLUMNS];
	bool has_error;
};

struct line {
	const struct sdw_diff_row *row;
	struct cells self, total;
	char *name, *where; /* escaped, owned */
};

struct table {
	const struct sdw_diff *diff;
	struct line *lines;
	size_t count;
	double scale;	  /* of figures to what is printed */
	const char *unit; /* of what is printed */
	int decimals;
	struct block self, total;
	size_t name, where; /* columns of these */
	bool is_by_owner;   /* threads and the like: there is no total by itself */
};

static const char *const name_headings[][2] = {
	[SDW_REPORT_FUNCTION] = {"FUNCTION", "FILE:LINE"},
	[SDW_REPORT_LINE] = {"FUNCTION", "FILE:LINE RUNNING"},
	[SDW_REPORT_FILE] = {"FILE", ""},
	[SDW_REPORT_MODULE] = {"MODULE", ""},
	[SDW_REPORT_THREAD] = {"THREAD", "PROCESS"},
	[SDW_REPORT_PROCESS] = {"PROCESS", ""},
	[SDW_REPORT_CONTAINER] = {"CONTAINER", ""},
};

static double larger(double a, double b)
{
	return a > b ? a : b;
}

static double largest_value(const struct table *table, double *error)
{
	double value = 0;

	*error = 0;
	for (size_t i = 0; i < table->count; i++) {
		const struct sdw_diff_row *row = table->lines[i].row;

		value = larger(value, larger(row->total.base, row->total.new));
		*error = larger(*error, row->self.error * SDW_DIFF_CONFIDENCE);
	}
	return value;
}

/* One unit for the whole table, in which its figures have few digits. */
static void choose_unit(struct table *table)
{
	static const char *const times[] = {"us", "ms", "s"};
	static const char *const rates[] = {"us/s", "ms/s", "s/s"};
	static const char *const counts[] = {"", "k", "M", "G", "T"};
	static const char *const count_rates[] = {"/s", "k/s", "M/s", "G/s", "T/s"};
	const struct sdw_diff *diff = table->diff;
	bool is_rate = diff->options->of == SDW_DIFF_RATE;
	double error, value = largest_value(table, &error);
	size_t at = 0;

	if (diff->options->of == SDW_DIFF_SHARE) {
		table->scale = 100;
		table->unit = "%";
	} else if (diff->is_clock) {
		table->scale = 1e6;
		for (; at < 2 && value * table->scale >= 10000; at++)
			table->scale /= 1000;
		table->unit = is_rate ? rates[at] : times[at];
	} else {
		table->scale = 1;
		for (; at < 4 && value * table->scale >= 10000; at++)
			table->scale /= 1000;
		table->unit = is_rate ? count_rates[at] : counts[at];
	}
	error *= table->scale;
	table->decimals = error < 0.25 ? 2 : error < 10 ? 1 : 0;
}

static void fill_cells(const struct table *table, struct block *block, struct cells *cells,
		       const struct sdw_diff_figure *figure)
{
	const double values[COLUMNS] = {figure->base, figure->new, figure->change,
					figure->error *SDW_DIFF_CONFIDENCE};

	for (int i = 0; i < COLUMNS; i++) {
		double shown = values[i] * table->scale;
		int n;

		if (i == CHANGE && fabs(shown) * pow(10, table->decimals) < 0.5)
			shown = 0; /* no "-0.0" */
		n = snprintf(cells->text[i], CELL_BYTES,
			     i == CHANGE && shown != 0 ? "%+.*f" : "%.*f", table->decimals, shown);
		if (n >= CELL_BYTES)
			n = CELL_BYTES - 1;
		if (n > block->widths[i])
			block->widths[i] = n;
	}
}

/* Escaped, as the tables of a report have them. */
static int name_line(const struct table *table, struct line *line)
{
	const struct sdw_report_row *row = &line->row->row;
	struct sdw_table names = {0};
	struct sdw_table_line *made;
	int err;

	if (table->is_by_owner) { /* their numbers differ in each run */
		line->name = sdw_escape_text(row->name, SDW_ESCAPE_TERMINAL);
		line->where = sdw_escape_text(row->file, SDW_ESCAPE_TERMINAL);
		return line->name && line->where ? 0 : -ENOMEM;
	}
	err = sdw_table_add(&names, row, &made);
	if (!err) {
		line->name = made->name;
		line->where = made->where;
		made->name = made->where = NULL;
	}
	sdw_table_free(&names);
	return err;
}

static int fill(struct table *table)
{
	int err = 0;

	choose_unit(table);
	for (int i = 0; i < COLUMNS; i++)
		table->self.widths[i] = table->total.widths[i] = (int)strlen(headings[i]);
	for (size_t i = 0; i < table->count && !err; i++) {
		struct line *line = &table->lines[i];

		fill_cells(table, &table->self, &line->self, &line->row->self);
		fill_cells(table, &table->total, &line->total, &line->row->total);
		err = name_line(table, line);
	}
	return err;
}

/* Columns of a block of figures. */
static int block_width(const struct block *block)
{
	int width = block->widths[BASE] + block->widths[NEW] + block->widths[CHANGE] + 2;

	return block->has_error ? width + 1 + block->widths[ERROR] : width;
}

static void lay_out(struct table *table)
{
	uint32_t width = table->diff->options->report.width;
	size_t used, room, half;

	width = width ? width : DEFAULT_WIDTH;
	table->self.has_error = true;
	table->total.has_error = width >= WIDE;
	table->name = strlen(name_headings[table->diff->options->report.by][0]);
	table->where = strlen(name_headings[table->diff->options->report.by][1]);
	for (size_t i = 0; i < table->count; i++) {
		size_t name = sdw_utf8_width(table->lines[i].name);
		size_t where = sdw_utf8_width(table->lines[i].where);

		table->name = name > table->name ? name : table->name;
		table->where = where > table->where ? where : table->where;
	}
	used = GAP + (size_t)block_width(&table->self) + GAP;
	if (!table->is_by_owner)
		used += (size_t)block_width(&table->total) + GAP;
	room = width > used + GAP + 20 ? width - used - GAP : 20;
	if (table->name + table->where <= room)
		return;
	half = room / 2;
	if (table->name <= half)
		table->where = room - table->name;
	else if (table->where <= room - half)
		table->name = room - table->where;
	else
		table->name = half, table->where = room - half;
}

static void print_block_heading(const struct block *block, FILE *file)
{
	for (int i = 0; i < (block->has_error ? COLUMNS : ERROR); i++)
		fprintf(file, "%s%*s", i ? " " : "", block->widths[i], headings[i]);
	fprintf(file, "%*s", GAP, "");
}

static void print_heading(const struct table *table, FILE *file)
{
	const struct sdw_report_options *report = &table->diff->options->report;
	const char *name = name_headings[report->by][0], *where = name_headings[report->by][1];
	char title[32];

	fputs(report->colour ? BOLD : "", file);
	snprintf(title, sizeof(title), "SELF %s", table->unit);
	if (table->is_by_owner)
		fprintf(file, "%*s%s\n", GAP, "", table->unit);
	else
		fprintf(file, "%*s%-*s%*sTOTAL %s\n", GAP, "", block_width(&table->self), title,
			GAP, "", table->unit);
	fprintf(file, "%*s", GAP, "");
	print_block_heading(&table->self, file);
	if (!table->is_by_owner)
		print_block_heading(&table->total, file);
	if (*where)
		fprintf(file, "%-*s%*s%s", (int)table->name, name, GAP, "", where);
	else
		fputs(name, file);
	fprintf(file, "%s\n", report->colour ? RESET : "");
}

static void print_cells(const struct table *table, const struct block *block,
			const struct cells *cells, const struct sdw_diff_figure *figure, FILE *file)
{
	bool colour = table->diff->options->report.colour;
	const char *begin = !figure->is_changed ? DIM : figure->change > 0 ? MORE : LESS;

	for (int i = 0; i < (block->has_error ? COLUMNS : ERROR); i++) {
		bool marked = colour && i == CHANGE;

		fprintf(file, "%s%s%*s%s", i ? " " : "", marked ? begin : "", block->widths[i],
			cells->text[i], marked ? RESET : "");
	}
	fprintf(file, "%*s", GAP, "");
}

static int print_line(const struct table *table, const struct line *line, FILE *file)
{
	const struct sdw_diff_figure *sorted = sdw_diff_sorted_figure(table->diff, line->row);
	char *name = sdw_utf8_fit(line->name, table->name, line->name[0] == '/');
	char *where = sdw_utf8_fit(line->where, table->where, 1);
	int err = name && where ? 0 : -ENOMEM;

	if (!err) {
		fputs(sorted->is_changed ? "  " : "~ ", file);
		print_cells(table, &table->self, &line->self, &line->row->self, file);
		if (!table->is_by_owner)
			print_cells(table, &table->total, &line->total, &line->row->total, file);
		fputs(name, file);
		if (*where)
			fprintf(file, "%*s%s", (int)(table->name - sdw_utf8_width(name)) + GAP, "",
				where);
		fputc('\n', file);
	}
	free(name);
	free(where);
	return err;
}

static void print_side(const char *title, const struct sdw_diff_side *side, FILE *file)
{
	const struct sdw_recording *recording = &side->view.recording;
	double seconds = (double)side->rows.all.weight / 1e9;

	fprintf(file, "%s  ", title);
	sdw_escape_write(file, recording->command, SDW_ESCAPE_TERMINAL);
	fprintf(file, "\n      %.2f s, %" PRIu64 " samples", side->seconds, side->rows.all.samples);
	if (strcmp(recording->unit, "ns") == 0 && seconds > 0)
		fprintf(file, " of %.2f s of ", seconds);
	else
		fprintf(file, " of %" PRIu64 " ", side->rows.all.weight);
	sdw_escape_write(file, recording->event, SDW_ESCAPE_TERMINAL);
	if (recording->filter && *recording->filter) {
		fputs(", only ", file);
		sdw_escape_write(file, recording->filter, SDW_ESCAPE_TERMINAL);
	}
	fputc('\n', file);
}

static void print_header(const struct sdw_diff *diff, FILE *file)
{
	static const char *const words[] = {
		[SDW_REPORT_FUNCTION] = "functions",   [SDW_REPORT_LINE] = "lines",
		[SDW_REPORT_FILE] = "files",	       [SDW_REPORT_MODULE] = "modules",
		[SDW_REPORT_THREAD] = "threads",       [SDW_REPORT_PROCESS] = "processes",
		[SDW_REPORT_CONTAINER] = "containers",
	};
	static const char *const in[] = {" in self", " in total", ""};
	const struct sdw_report_options *report = &diff->options->report;
	int figure = sdw_diff_is_by_owner(diff) ? 2 : report->sort == SDW_REPORT_TOTAL;
	char text[400];
	int n;

	print_side("BASE", &diff->base, file);
	print_side("NEW ", &diff->new, file);
	n = snprintf(text, sizeof(text), "%zu of %zu %s changed%s by more than sampling explains",
		     diff->changed, diff->rows.count, words[report->by], in[figure]);
	snprintf(text + n, sizeof(text) - (size_t)n,
		 " (of those that are said to, at most %.0f %% by chance). ~: within the error of "
		 "sampling. +-: 95 %% of the samplings of the same two runs lie so near.",
		 SDW_DIFF_FALSE_SHARE * 100);
	sdw_options_print_wrapped(file, 0, 0, text);
	if (diff->matched.moved) {
		snprintf(text, sizeof(text),
			 "%zu function%s found in another file of the same name than in BASE.",
			 diff->matched.moved, diff->matched.moved == 1 ? " was" : "s were");
		sdw_options_print_wrapped(file, 0, 0, text);
	}
	fputc('\n', file);
}

static bool is_small(const struct sdw_diff_side *side, const struct sdw_report_amount *amount)
{
	return (double)amount->samples < LEAST_SHARE * (double)side->rows.all.samples;
}

/* Of rows that did not change only those that have something; all if all were asked for. */
static int choose_rows(struct table *table)
{
	const struct sdw_diff *diff = table->diff;
	uint32_t limit = diff->options->report.limit;

	table->lines = calloc(diff->rows.count + 1, sizeof(*table->lines));
	if (!table->lines)
		return -ENOMEM;
	for (size_t i = 0; i < diff->rows.count && (!limit || table->count < limit); i++) {
		const struct sdw_diff_row *row = &diff->rows.items[i];

		if (limit && !sdw_diff_sorted_figure(diff, row)->is_changed &&
		    is_small(&diff->base, &row->total.base_amount) &&
		    is_small(&diff->new, &row->total.new_amount))
			continue;
		table->lines[table->count++].row = row;
	}
	return 0;
}

int sdw_diff_print(const struct sdw_diff *diff, FILE *file)
{
	struct table table = {.diff = diff};
	int err = choose_rows(&table);

	table.is_by_owner = sdw_diff_is_by_owner(diff);
	if (!err)
		err = fill(&table);
	if (err)
		goto out;
	lay_out(&table);
	print_header(diff, file);
	if (table.count)
		print_heading(&table, file);
	for (size_t i = 0; i < table.count && !err; i++)
		err = print_line(&table, &table.lines[i], file);
	if (diff->rows.count > table.count)
		fprintf(file, "... and %zu more (--limit=0: all)\n",
			diff->rows.count - table.count);
out:
	for (size_t i = 0; table.lines && i < table.count; i++) {
		free(table.lines[i].name);
		free(table.lines[i].where);
	}
	free(table.lines);
	return err;
}
