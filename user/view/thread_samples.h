/* SPDX-License-Identifier: MIT */
/* thread_samples.h - the samples of a profile, thread by thread, hottest thread first. */
#ifndef SDW_THREAD_SAMPLES_H
#define SDW_THREAD_SAMPLES_H

#include "view/profile.h"

struct sdw_thread_samples {
	uint32_t thread; /* its id */
	uint64_t weight; /* of all its samples */
	/* when it was first seen, and its last sample; ns since the recording began */
	uint64_t begin_ns, end_ns;
	const uint32_t *samples; /* their places in profile->samples, in order of time */
	size_t count;
};

struct sdw_samples_by_thread {
	struct sdw_thread_samples *items; /* those that have samples */
	size_t count;
	uint32_t *samples;
};

/* Returns 0 or -ENOMEM; to be freed in either case. */
int sdw_samples_by_thread_make(struct sdw_samples_by_thread *threads,
			       const struct sdw_profile *profile);
void sdw_samples_by_thread_free(struct sdw_samples_by_thread *threads);

#endif
