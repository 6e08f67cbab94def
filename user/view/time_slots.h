/* SPDX-License-Identifier: MIT */
/*
 * time_slots.h - when the samples of each bucket were taken, coarse enough to be sent with a page.
 *
 * In:  a profile with its samples (keep_samples). Out: the recording cut into slots of equal
 * length, and for each bucket how many of its samples, of what weight, are in which slot. The slots
 * get longer until there are no more than SDW_TIME_ENTRIES entries.
 */
#ifndef SDW_TIME_SLOTS_H
#define SDW_TIME_SLOTS_H

#include "view/profile.h"

#define SDW_TIME_SLOTS	     512     /* at most */
#define SDW_TIME_LEAST_SLOTS 16	     /* fewer tell nothing of time */
#define SDW_TIME_ENTRIES     400000u /* some 3 MB of a page */

struct sdw_time_entry {
	uint32_t bucket, slot;
	uint64_t samples, weight;
};

struct sdw_time_slots {
	uint64_t begin_ns, slot_ns; /* CLOCK_MONOTONIC; length of a slot */
	uint32_t slots;		    /* 0: not to be told (no samples kept, or too many stacks) */
	SDW_PROFILE_ARRAY(struct sdw_time_entry) entries; /* by bucket, then by slot */
};

/* Returns 0 or -ENOMEM; to be freed in either case. */
int sdw_time_slots_make(struct sdw_time_slots *times, const struct sdw_profile *profile);
void sdw_time_slots_free(struct sdw_time_slots *times);

#endif
