/* SPDX-License-Identifier: MIT */
/*
 * diff_match.h - finds the functions of one recording in another, of the program after a change.
 *
 * In:  two profiles. Out: the first one's functions and lines are named as the second one has them.
 *
 * A function that was moved within its file by what was written above it is still that function,
 * and its lines are as far from its first one as before. One that is in another file of the same
 * name (another release's folder, another version's library) is it too, if only one fits.
 */
#ifndef SDW_DIFF_MATCH_H
#define SDW_DIFF_MATCH_H

#include "view/profile.h"

struct sdw_diff_matched {
	size_t found; /* functions of both */
	size_t moved; /* of these, in another file */
};

/*
 * Renames in `base` what is also in `other`. The names are then those of `other`, which must
 * outlive `base`. Returns 0 or -ENOMEM.
 */
int sdw_diff_match(struct sdw_profile *base, const struct sdw_profile *other,
		   struct sdw_diff_matched *matched);

#endif
