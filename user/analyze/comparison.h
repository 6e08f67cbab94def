/* SPDX-License-Identifier: MIT */
/*
 * comparison.h - the two paths on the same overflows: everything that `sidewinder compare` says of
 * one recording.
 *
 * In:  a profile that holds the stacks, and the samples of both paths (pairs.h).
 * Out: pairs, causes of what is alone, delays and agreement, by how the signal came.
 */
#ifndef SDW_COMPARISON_H
#define SDW_COMPARISON_H

#include "analyze/agreement.h"
#include "analyze/delays.h"
#include "analyze/pairs.h"

/* X(NAME, "name", "meaning"): how the signal of a pair came; the first one that holds. */
#define SDW_DELIVERY_LIST(X)                                                                     \
	X(USER, "user_mode", "at once: the overflow hit user mode")                              \
	X(KERNEL, "kernel_mode", "when the kernel returned to the program: the overflow hit it") \
	X(BLOCKED, "blocked", "when the thread let it: it had the signal blocked")               \
	X(WRONG_THREAD, "wrong_thread", "in another thread than the one that was interrupted")

#define SDW_ENUM_DELIVERY(name, text, meaning) SDW_DELIVERY_##name,
enum sdw_delivery { SDW_DELIVERY_LIST(SDW_ENUM_DELIVERY) SDW_DELIVERY_COUNT };
#undef SDW_ENUM_DELIVERY

/* How many could be compared, and how many of these say the same. */
struct sdw_agreed {
	uint64_t compared, agreed;
};

struct sdw_delivered {
	uint64_t pairs;
	struct sdw_delays delays; /* from the overflow to the handler */
	/*
	 * By enum sdw_difference. Functions: where both paths read the whole stack and one has such
	 * frames; lines: where the Python functions are the same.
	 */
	struct sdw_agreed agreed[SDW_DIFFERENCE_COUNT];
};

struct sdw_comparison {
	struct sdw_pairs pairs;
	struct sdw_delivered by_delivery[SDW_DELIVERY_COUNT], all;
	struct sdw_agreement agreement;
	uint64_t bpf, signal; /* samples of each path */
	uint64_t bpf_lost, signal_lost;
	uint64_t not_delivered; /* periods that passed without an overflow: neither path's loss */
	uint64_t overflows;	/* each once: seen by a path, or counted by BPF as lost */
	uint64_t late;		/* the handler ran when the next overflow was due already */
	uint64_t late_after_ns; /* what that means: a period, or where that is no time 1 ms */
	uint64_t handler_first; /* clocks that disagree: the handler before the overflow, taken as 0
				 */
	uint64_t incomplete;	/* pairs of which a path has no whole Python stack, not compared */
	struct sdw_path_samples bpf_samples, signal_samples; /* taken from a profile; else empty */
};

/*
 * Compares. `bpf` and `signal` become sorted, and must stay, as must the profile, until the
 * comparison is freed, in either case. Returns 0 or -ENOMEM.
 */
int sdw_comparison_make(struct sdw_comparison *comparison, const struct sdw_profile *profile,
			struct sdw_path_samples *bpf, struct sdw_path_samples *signal,
			uint64_t bpf_lost, uint64_t signal_lost);

/*
 * The same of a recording with --path=both, in a profile that kept its samples. Returns 0, -ENOMEM,
 * or -ENODATA: it is not such a recording.
 */
int sdw_comparison_make_of_profile(struct sdw_comparison *comparison,
				   const struct sdw_profile *profile);
void sdw_comparison_free(struct sdw_comparison *comparison);

/* From 0 to 1; 1 where nothing could be compared. */
double sdw_agreed_share(const struct sdw_agreed *agreed);

const char *sdw_delivery_name(unsigned int delivery);
const char *sdw_delivery_meaning(unsigned int delivery);

#endif
