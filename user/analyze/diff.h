/* SPDX-License-Identifier: MIT */
/*
 * diff.h - what changed between two recordings, and how much of it sampling alone explains.
 *
 * In:  two profiles of the same event. Out: rows (functions, lines, ...) with the figures of both,
 * the difference, its sampling error, and whether it is more than that; the largest change first.
 *
 * Samples are taken to be independent: the number that hit a function is binomial in those of the
 * recording. A share of p in n samples has the standard error sqrt(p (1 - p) / n); with one hit and
 * one miss added to each (Agresti and Caffo 2000), so that it is not 0 where nothing was hit. What
 * differs from run to run for other reasons is not in it.
 */
#ifndef SDW_DIFF_H
#define SDW_DIFF_H

#include "analyze/diff_match.h"
#include "view/report_rows.h"

#define SDW_DIFF_CONFIDENCE 1.959964 /* standard errors: 95 % of a normal distribution */
/* Of the rows that are said to have changed, at most this part did not, on average. */
#define SDW_DIFF_FALSE_SHARE 0.05
/* Fewer samples than this in both together never tell a change. */
#define SDW_DIFF_LEAST_SAMPLES 6

/* What figures are compared: recordings can differ in length. */
enum sdw_diff_of {
	SDW_DIFF_SHARE,	 /* parts of all samples, 0 to 1 */
	SDW_DIFF_RATE,	 /* amount per second recorded: of a service under the same load */
	SDW_DIFF_AMOUNT, /* amounts as they are: of two runs that did the same work */
};

struct sdw_diff_options {
	struct sdw_report_options report; /* by, sort, limit, width, colour, python_only */
	enum sdw_diff_of of;
};

struct sdw_diff_figure {
	struct sdw_report_amount base_amount, new_amount;
	double base, new; /* shares, seconds a second, seconds, or events a second, or events */
	double change;	  /* new - base */
	double error;	  /* the standard error of the change */
	bool is_changed;  /* the change is more than sampling explains */
};

struct sdw_diff_row {
	struct sdw_report_row row; /* only what it is; as NEW has it where it is in both */
	struct sdw_diff_figure self, total;
};

/* One of the two recordings. */
struct sdw_diff_side {
	struct sdw_profile view; /* of `both`: its definitions, this side's samples; owns nothing */
	struct sdw_report_rows rows;
	double seconds; /* recorded */
};

struct sdw_diff {
	const struct sdw_diff_options *options;
	/* definitions of both, those of BASE first, named as NEW has them; samples of both */
	struct sdw_profile both;
	uint32_t base_threads; /* threads below this number are BASE's */
	struct sdw_diff_side base, new;
	struct sdw_diff_matched matched;
	SDW_PROFILE_ARRAY(struct sdw_diff_row)
	rows;		/* changed ones first, then by size of change */
	size_t changed; /* by options->report.sort */
	bool is_clock;	/* amounts are times */
};

/*
 * Compares. Renames functions in `base` (diff_match.h); both profiles must outlive the diff.
 * Returns 0, -EINVAL when they are of different events, or -ENOMEM; to be freed in either case.
 */
int sdw_diff_make(struct sdw_diff *diff, struct sdw_profile *base, const struct sdw_profile *new,
		  const struct sdw_diff_options *options);
void sdw_diff_free(struct sdw_diff *diff);

/* Are rows threads, processes or containers, and not what they ran? Self and total are the same. */
bool sdw_diff_is_by_owner(const struct sdw_diff *diff);

/* The figure that rows are sorted by. */
const struct sdw_diff_figure *sdw_diff_sorted_figure(const struct sdw_diff *diff,
						     const struct sdw_diff_row *row);

/* Prints a table. Returns 0 or -ENOMEM. */
int sdw_diff_print(const struct sdw_diff *diff, FILE *file);

/* Prints one JSON object and a newline; its keys are told in diff_json.c. */
int sdw_diff_print_json(const struct sdw_diff *diff, FILE *file);

#endif
