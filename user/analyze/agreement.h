/* SPDX-License-Identifier: MIT */
/*
 * agreement.h - do two stacks of a profile say the same?
 *
 * In:  ids of stacks. Functions are the same where kind, name, file and first line are: the two
 * paths see a function by themselves, and it can have two ids.
 * Out: agreement of the Python functions, of their lines, and of the native functions, each by
 * itself; kernel frames and markers are left out. What differs is counted by where it begins.
 */
#ifndef SDW_AGREEMENT_H
#define SDW_AGREEMENT_H

#include <stdbool.h>

#include "base/map64.h"
#include "view/frame_text.h"
#include "view/profile.h"

/* Counted by where a stack differs first: of functions from the root, of lines from the top. */
enum sdw_difference { SDW_DIFFERENCE_PYTHON, SDW_DIFFERENCE_LINE, SDW_DIFFERENCE_NATIVE };
#define SDW_DIFFERENCE_COUNT 3

struct sdw_verdict {
	bool has_python, has_native; /* at least one of the two has such frames */
	bool same_python;	     /* functions, from root to top */
	bool same_lines;	     /* every line of the Python frames too */
	bool same_native;
	/* frames (ids) at which it begins, of each; 0: the stack ends before */
	uint32_t at[SDW_DIFFERENCE_COUNT][2];
};

/* One way in which stacks differ, and how often. */
struct sdw_disagreement {
	enum sdw_difference what;
	uint32_t bpf, signal; /* frame ids, 0: the stack of this path ends before */
	uint64_t count;
};

struct sdw_agreement {
	const struct sdw_profile *profile;
	uint32_t *same_code;	/* by id of a code: the first one that is the same function */
	struct sdw_map64 known; /* pair of stacks -> index into verdicts + 1 */
	struct {
		struct sdw_verdict *items;
		size_t count, room;
	} verdicts;
	struct sdw_map64 by_difference; /* -> index into disagreements + 1 */
	struct {
		struct sdw_disagreement *items;
		size_t count, room;
	} disagreements;
	struct sdw_stack_frames frames[2];
};

/* Returns 0 or -ENOMEM; to be freed in either case. `profile` must outlive it. */
int sdw_agreement_init(struct sdw_agreement *agreement, const struct sdw_profile *profile);
void sdw_agreement_free(struct sdw_agreement *agreement);

/* Compares two stacks; a pair that came before costs a look-up. Returns 0 or -ENOMEM. */
int sdw_agreement_of(struct sdw_agreement *agreement, uint32_t bpf, uint32_t signal,
		     struct sdw_verdict *verdict);

/* Counts how a verdict differs in one respect. Returns 0 or -ENOMEM. */
int sdw_agreement_count(struct sdw_agreement *agreement, const struct sdw_verdict *verdict,
			enum sdw_difference what);

/* Puts the commonest disagreement first. */
void sdw_agreement_sort(struct sdw_agreement *agreement);

#endif
