/* SPDX-License-Identifier: MIT */
/*
 * truth.h - how far a path's profile is from what the program really did.
 *
 * In:  a JSON file {"function": share, ...}, or {"shares": {...}}: measured by the program itself,
 * or nominal; in percent, seconds, or whatever: only the ratios count.
 * Out: shares of the samples by the innermost of these functions in each stack, and their distance
 * from the truth.
 */
#ifndef SDW_TRUTH_H
#define SDW_TRUTH_H

#include "analyze/pairs.h"
#include "view/profile.h"

struct sdw_truth_function {
	char *name;   /* as the profile has it; qualified, or the part after the last point */
	double share; /* 0 to 1; of all functions together 1 */
};

struct sdw_truth {
	struct sdw_truth_function *items;
	size_t count, room;
};

struct sdw_truth_result {
	uint64_t *samples;	   /* by function, as the truth has them */
	uint64_t counted, outside; /* in one of the functions, in none */
	double l2;  /* root of the sum of the squared differences of the shares, in percent */
	double rms; /* the same divided by the root of the number of functions */
};

/* Reads the file; says what is wrong with it. Returns 0 or -errno; to be freed in either case. */
int sdw_truth_read(const char *path, struct sdw_truth *truth);
void sdw_truth_free(struct sdw_truth *truth);

/* Returns 0 or -ENOMEM; to be freed in either case. */
int sdw_truth_compare(const struct sdw_truth *truth, const struct sdw_profile *profile,
		      const struct sdw_path_samples *samples, struct sdw_truth_result *result);
void sdw_truth_result_free(struct sdw_truth_result *result);

#endif
