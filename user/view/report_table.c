// SPDX-License-Identifier: MIT
/* report_table.c - see report_table.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "view/escape.h"
#include "view/report_table.h"

#define DEFAULT_WIDTH 80
#define LEAST_WIDTH   40
#define SHARE_COLUMNS 6 /* "100.0%" */
#define GAP	      2

#define BOLD  "\033[1m"
#define DIM   "\033[2m"
#define RESET "\033[0m"

struct layout {
	int amount;   /* columns of one amount */
	size_t name;  /* columns of names */
	size_t where; /* and of places */
};

/* Markers stand in brackets wherever they came from with or without. */
static char *name_text(const struct sdw_report_row *row)
{
	const char *name = sdw_text_or_unknown(row->name);
	char *marked = NULL, *text;

	if (row->kind == SDW_CODE_MARKER && name[0] != '[') {
		if (asprintf(&marked, "[%s]", name) < 0)
			return NULL;
		name = marked;
	}
	text = sdw_escape_text(name, SDW_ESCAPE_TERMINAL);
	if (text && row->pod && sdw_is_long_id(text))
		text[SDW_SHORT_ID] = '\0'; /* the id of a container without a name */
	free(marked);
	return text;
}

static char *where_text(const struct sdw_report_row *row)
{
	char *file = NULL, *text = NULL;
	int n;

	if (!row->file || (!*row->file && !row->line))
		return strdup("");
	/* of a library its name is what tells; of Python the folder as well */
	file = sdw_escape_text(row->kind == SDW_CODE_NATIVE ? sdw_base_name(row->file)
							    : sdw_text_or_unknown(row->file),
			       SDW_ESCAPE_TERMINAL);
	if (!file)
		return NULL;
	if (!row->line)
		return file;
	n = asprintf(&text, "%s:%" PRIu32, file, row->line);
	free(file);
	return n < 0 ? NULL : text;
}

/* "0123456789ab of pod shop/web": runtimes show twelve digits of an id. */
static char *container_text(const struct sdw_report_row *row)
{
	char *id, *pod, *text = NULL;

	id = sdw_escape_text(row->file, SDW_ESCAPE_TERMINAL);
	pod = sdw_escape_text(row->pod, SDW_ESCAPE_TERMINAL);
	if (id && pod &&
	    asprintf(&text, "%.*s%s%s", sdw_is_long_id(row->file) ? SDW_SHORT_ID : INT32_MAX, id,
		     *pod ? " of pod " : "", pod) < 0)
		text = NULL;
	free(id);
	free(pod);
	return text;
}

/* " (1 in web)" of a process that is number 1 there; "" of one that is in no container. */
static char *inside_text(const struct sdw_profile_process *process)
{
	char room[SDW_CONTAINER_TEXT_BYTES], number[16] = "", *text = NULL;
	char *container = sdw_escape_text(sdw_container_text(process, room), SDW_ESCAPE_TERMINAL);
	bool other = process->inner_pid != process->pid;

	if (other)
		snprintf(number, sizeof(number), "%" PRIu32, process->inner_pid);
	if (!container || (!other && !*container))
		return container;
	if (asprintf(&text, " (%s%s%s)", number,
		     !*container ? " inside"
		     : other	 ? " in "
				 : "in ",
		     container) < 0)
		text = NULL;
	free(container);
	return text;
}

static char *owner_text(const struct sdw_report_row *row)
{
	char *comm, *inside, *text = NULL;
	int n;

	if (row->pod)
		return container_text(row);
	comm = sdw_escape_text(row->file, SDW_ESCAPE_TERMINAL);
	inside = inside_text(row->process);
	if (!comm || !inside)
		n = -1;
	else if (!row->tid) /* a process: its name is in the other column */
		n = asprintf(&text, "%" PRIu32 "%s", row->pid, inside);
	else
		n = asprintf(&text, "%" PRIu32 " of %s %" PRIu32 "%s", row->tid, comm, row->pid,
			     inside);
	free(comm);
	free(inside);
	return n < 0 ? NULL : text;
}

int sdw_table_add(struct sdw_table *table, const struct sdw_report_row *row,
		  struct sdw_table_line **out)
{
	struct sdw_table_line *line;
	int err = sdw_array_reserve(&table->lines, 1);

	if (err)
		return err;
	line = &table->lines.items[table->lines.count];
	*line = (struct sdw_table_line){.kind = row->kind};
	line->name = name_text(row);
	line->where = row->kind == SDW_CODE_KIND_COUNT ? owner_text(row) : where_text(row);
	table->lines.count++; /* now freed with the table, whatever it has */
	if (!line->name || !line->where)
		return -ENOMEM;
	if (out)
		*out = line;
	return 0;
}

/* Weights of hardware events are large: three digits and a unit tell enough. */
static int format_amount(char *text, size_t room, const struct sdw_table *table,
			 const struct sdw_report_amount *amount)
{
	static const char units[] = {'k', 'M', 'G', 'T', 'P', 'E'};
	uint64_t value = sdw_report_value(table->rows, amount);
	double scaled = (double)value / 1000;
	size_t unit = 0;

	if (!table->rows->weighted || value < 10000)
		return snprintf(text, room, "%" PRIu64, value);
	for (; scaled >= 1000 && unit + 1 < sizeof(units); unit++)
		scaled /= 1000;
	return snprintf(text, room, "%.*f%c",
			scaled < 10    ? 2
			: scaled < 100 ? 1
				       : 0,
			scaled, units[unit]);
}

static size_t larger(size_t a, size_t b)
{
	return a > b ? a : b;
}

static struct layout lay_out(const struct sdw_table *table, uint32_t width)
{
	size_t name = strlen(table->name_heading), where = strlen(table->where_heading), room;
	struct layout layout = {.amount = 5};
	size_t used;

	for (unsigned int i = 0; i < table->figures; i++) {
		int heading = (int)strlen(table->headings[i]);

		layout.amount = heading > layout.amount ? heading : layout.amount;
	}
	for (size_t i = 0; i < table->lines.count; i++) {
		const struct sdw_table_line *line = &table->lines.items[i];
		char text[32];

		for (unsigned int j = 0; j < table->figures && !line->is_title; j++) {
			int n = format_amount(text, sizeof(text), table, &line->figures[j]);

			layout.amount = n > layout.amount ? n : layout.amount;
		}
		name = larger(name, sdw_utf8_width(line->name));
		where = larger(where, sdw_utf8_width(line->where));
	}
	width = width ? width : DEFAULT_WIDTH;
	used = table->figures * ((size_t)layout.amount + 1 + SHARE_COLUMNS + GAP) + GAP;
	room = larger(width, LEAST_WIDTH);
	room = room > used + 10 ? room - used : 10;
	if (name + where > room) { /* each gets half, or what the other leaves */
		size_t half = room / 2;

		if (name <= half)
			where = room - name;
		else if (where <= room - half)
			name = room - where;
		else
			name = half, where = room - half;
	}
	layout.name = name;
	layout.where = where;
	return layout;
}

static void pad(FILE *file, size_t columns)
{
	while (columns--)
		fputc(' ', file);
}

static const char *colour_of(uint8_t kind)
{
	switch (kind) {
	case SDW_CODE_NATIVE:
		return "\033[33m";
	case SDW_CODE_KERNEL:
		return "\033[35m";
	case SDW_CODE_MARKER:
		return DIM;
	default:
		return "";
	}
}

static int print_names(const struct sdw_table_line *line, const struct layout *layout, bool colour,
		       FILE *file)
{
	char *name = sdw_utf8_fit(line->name, layout->name, line->name[0] == '/');
	char *where = sdw_utf8_fit(line->where, layout->where, 1);
	int err = name && where ? 0 : -ENOMEM;

	if (!err) {
		bool plain = !colour || (!line->is_title && !*colour_of(line->kind));

		fprintf(file, "%s%s%s",
			plain		 ? ""
			: line->is_title ? BOLD
					 : colour_of(line->kind),
			name, plain ? "" : RESET);
		if (*where) { /* nothing trails at the end of a line */
			pad(file, layout->name - sdw_utf8_width(name) + GAP);
			fprintf(file, "%s%s%s", colour ? DIM : "", where, colour ? RESET : "");
		}
		fputc('\n', file);
	}
	free(name);
	free(where);
	return err;
}

static int print_line(const struct sdw_table *table, const struct sdw_table_line *line,
		      const struct layout *layout, bool colour, FILE *file)
{
	bool hot = colour && line->shares[0] >= 0.1;
	char text[32];

	for (unsigned int i = 0; i < table->figures && !line->is_title; i++) {
		format_amount(text, sizeof(text), table, &line->figures[i]);
		fprintf(file, "%s%*s %*.1f%%%s", hot && i == 0 ? BOLD : "", layout->amount, text,
			SHARE_COLUMNS - 1, line->shares[i] * 100, hot && i == 0 ? RESET : "");
		pad(file, GAP);
	}
	return print_names(line, layout, colour, file);
}

static void print_heading(const struct sdw_table *table, const struct layout *layout, bool colour,
			  FILE *file)
{
	fputs(colour ? BOLD : "", file);
	for (unsigned int i = 0; i < table->figures; i++) {
		fprintf(file, "%*s %*s", layout->amount, table->headings[i], SHARE_COLUMNS, "%");
		pad(file, GAP);
	}
	fputs(table->name_heading, file);
	if (*table->where_heading) {
		pad(file, larger(layout->name, strlen(table->name_heading)) -
				  strlen(table->name_heading) + GAP);
		fputs(table->where_heading, file);
	}
	fprintf(file, "%s\n", colour ? RESET : "");
}

int sdw_table_print(const struct sdw_table *table, uint32_t width, bool colour, FILE *file)
{
	struct layout layout = lay_out(table, width);
	int err = 0;

	print_heading(table, &layout, colour, file);
	for (size_t i = 0; i < table->lines.count && !err; i++) {
		if (i && table->lines.items[i].is_title)
			fputc('\n', file);
		err = print_line(table, &table->lines.items[i], &layout, colour, file);
	}
	return err;
}

void sdw_table_free(struct sdw_table *table)
{
	for (size_t i = 0; i < table->lines.count; i++) {
		free(table->lines.items[i].name);
		free(table->lines.items[i].where);
	}
	free(table->lines.items);
	table->lines.items = NULL;
	table->lines.count = table->lines.room = 0;
}
