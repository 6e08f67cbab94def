/* SPDX-License-Identifier: MIT */
/*
 * report_table.h - lays figures, names and places into columns.
 *
 * In:  lines with untrusted text. Out: text that fits the width, in which no name steers the
 * terminal.
 */
#ifndef SDW_REPORT_TABLE_H
#define SDW_REPORT_TABLE_H

#include "view/report_rows.h"

#define SDW_TABLE_FIGURES 2 /* at most: self and total */

struct sdw_table_line {
	struct sdw_report_amount figures[SDW_TABLE_FIGURES];
	double shares[SDW_TABLE_FIGURES];
	char *name;    /* escaped, owned */
	char *where;   /* escaped, owned; "" where there is none */
	uint8_t kind;  /* enum sdw_code_kind */
	bool is_title; /* name and where only, spanning the figures */
};

struct sdw_table {
	const struct sdw_report_rows *rows; /* weighted or not */
	const char *headings[SDW_TABLE_FIGURES];
	const char *name_heading, *where_heading;
	unsigned int figures; /* columns of them */
	SDW_PROFILE_ARRAY(struct sdw_table_line) lines;
};

/*
 * Appends a line. name and where are raw; `line` is put after `where` unless it is 0. Returns 0 or
 * -ENOMEM. On success *out, if not NULL, is the new line, valid until the next is added.
 */
int sdw_table_add(struct sdw_table *table, const struct sdw_report_row *row,
		  struct sdw_table_line **out);

/* Prints heading and lines. Returns 0 or -ENOMEM. */
int sdw_table_print(const struct sdw_table *table, uint32_t width, bool colour, FILE *file);
void sdw_table_free(struct sdw_table *table);

#endif
