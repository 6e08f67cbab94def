// SPDX-License-Identifier: MIT
/* overflow_pairs.c - the last samples of each thread, and which of them have their signal. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/map64.h"
#include "capture/overflow_pairs.h"

#define HISTORY	      128u     /* samples of a thread that wait for their signal */
#define DEFAULT_BOUND 1000000u /* ns, where the period is not known */

struct numbered {
	uint64_t time_ns, number;
	bool paired;
};

struct thread {
	struct numbered samples[HISTORY];
	uint32_t next;
};

struct sdw_overflow_pairs {
	struct sdw_map64 threads; /* tid -> struct thread * */
	uint64_t bound_ns, last;
};

int sdw_overflow_pairs_create(uint64_t period_ns, struct sdw_overflow_pairs **pairs)
{
	struct sdw_overflow_pairs *new = calloc(1, sizeof(*new));

	if (!new)
		return -ENOMEM;
	new->bound_ns = period_ns ? period_ns / 2 : DEFAULT_BOUND;
	*pairs = new;
	return 0;
}

void sdw_overflow_pairs_free(struct sdw_overflow_pairs *pairs)
{
	if (!pairs)
		return;
	for (size_t i = 0; i < pairs->threads.room; i++) {
		if (pairs->threads.slots[i].key)
			free((void *)(uintptr_t)pairs->threads.slots[i].value);
	}
	sdw_map64_free(&pairs->threads);
	free(pairs);
}

static struct thread *find(const struct sdw_overflow_pairs *pairs, uint32_t tid)
{
	const uint64_t *value = sdw_map64_find(&pairs->threads, tid);

	return value ? (struct thread *)(uintptr_t)*value : NULL;
}

uint64_t sdw_overflow_pairs_sample(struct sdw_overflow_pairs *pairs, uint32_t tid, uint64_t time_ns)
{
	struct thread *thread = find(pairs, tid);

	if (!thread) {
		thread = calloc(1, sizeof(*thread));
		if (!thread || sdw_map64_set(&pairs->threads, tid, (uintptr_t)thread)) {
			free(thread);
			return 0;
		}
	}
	thread->samples[thread->next++ % HISTORY] =
		(struct numbered){.time_ns = time_ns, .number = ++pairs->last};
	return pairs->last;
}

void sdw_overflow_pairs_forget(struct sdw_overflow_pairs *pairs, uint32_t tid)
{
	free(find(pairs, tid));
	sdw_map64_remove(&pairs->threads, tid);
}

uint64_t sdw_overflow_pairs_signal(struct sdw_overflow_pairs *pairs, uint32_t tid,
				   uint64_t overflow_ns)
{
	struct thread *thread = find(pairs, tid);
	struct numbered *best = NULL;
	uint64_t best_distance = pairs->bound_ns;

	for (uint32_t i = 0; thread && i < HISTORY; i++) {
		struct numbered *sample = &thread->samples[i];
		uint64_t distance = sample->time_ns > overflow_ns ? sample->time_ns - overflow_ns
								  : overflow_ns - sample->time_ns;

		if (sample->number && !sample->paired && distance < best_distance) {
			best = sample;
			best_distance = distance;
		}
	}
	if (!best)
		return 0;
	best->paired = true;
	return best->number;
}
