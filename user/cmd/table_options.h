/* SPDX-License-Identifier: MIT */
/* table_options.h - the options of the tables of a trace, alike in report and diff. */
#ifndef SDW_TABLE_OPTIONS_H
#define SDW_TABLE_OPTIONS_H

#include "base/options.h"
#include "view/report.h"

#define SDW_TABLE_NO_LIMIT_SAID UINT32_MAX /* of struct sdw_report_options, before the options */

/* What the options say besides struct sdw_report_options. */
struct sdw_table_arguments {
	bool native;
	bool json;
	bool no_pager;
};

/* Of --by and --sort. */
extern const struct sdw_option_word sdw_table_by_words[], sdw_table_sort_words[];

/* Entries of an option table; `rows` of `target` is a struct sdw_report_options. */
/* clang-format off */
/* NOLINTBEGIN(bugprone-macro-parentheses): a member's path cannot stand in parentheses */
#define SDW_TABLE_ROW_OPTIONS(target, rows, arguments)                                             \
	{SDW_OPTION_FLAG, 'N', "native", NULL, SDW_OPTION_FIELD(target, arguments.native),         \
	 .help = "native and kernel functions too; without it what they took counts as their "     \
		 "Python caller's own"},                                                           \
	{SDW_OPTION_NUMBER, 'n', "limit", "ROWS", SDW_OPTION_FIELD(target, rows.limit), .min = 0,  \
	 .help = "at most so many rows (default 30, with --json all; 0: all)"}

#define SDW_TABLE_OUTPUT_OPTIONS(target, arguments)                                                \
	{SDW_OPTION_FLAG, 0, "json", NULL, SDW_OPTION_FIELD(target, arguments.json),               \
	 .help = "one JSON object, for programs"},                                                 \
	{SDW_OPTION_FLAG, 0, "no-pager", NULL, SDW_OPTION_FIELD(target, arguments.no_pager),       \
	 .help = "print at once, however long it is"}
/* NOLINTEND(bugprone-macro-parentheses) */
/* clang-format on */

/* After the options were read: what they say of the rows, or leave to the default. */
void sdw_table_take_arguments(struct sdw_report_options *rows,
			      const struct sdw_table_arguments *arguments);

#endif
