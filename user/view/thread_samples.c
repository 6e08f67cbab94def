// SPDX-License-Identifier: MIT
/* thread_samples.c - see thread_samples.h. A counting sort: samples of a thread keep their order.
 */
#include <errno.h>
#include <stdlib.h>

#include "view/thread_samples.h"

static int compare_threads(const void *left, const void *right)
{
	const struct sdw_thread_samples *a = left, *b = right;

	if (a->weight != b->weight)
		return a->weight > b->weight ? -1 : 1;
	return a->thread < b->thread ? -1 : a->thread > b->thread;
}

static uint64_t since(uint64_t time_ns, uint64_t start_ns)
{
	return time_ns > start_ns ? time_ns - start_ns : 0;
}

/* Adds up each thread; all[] is by id. */
static void count_samples(struct sdw_thread_samples *all, const struct sdw_profile *profile)
{
	uint64_t start_ns = profile->recording.start_ns;

	for (size_t i = 0; i < profile->samples.count; i++) {
		const struct sdw_sample_event *sample = &profile->samples.items[i];
		struct sdw_thread_samples *thread = &all[sample->thread];

		if (!thread->count++)
			thread->begin_ns = since(sample->time_ns, start_ns);
		thread->end_ns = since(sample->time_ns, start_ns);
		thread->weight += sample->weight;
	}
	for (size_t i = 0; i < profile->threads.count; i++) {
		uint64_t seen_ns = since(profile->threads.items[i].first_ns, start_ns);

		all[i].thread = (uint32_t)i;
		if (seen_ns < all[i].begin_ns)
			all[i].begin_ns = seen_ns;
	}
}

static void place_samples(struct sdw_samples_by_thread *threads, const struct sdw_profile *profile)
{
	struct sdw_thread_samples *all = threads->items;
	uint32_t *room = threads->samples;

	for (size_t i = 0; i < profile->threads.count; i++) {
		all[i].samples = room;
		room += all[i].count;
		all[i].count = 0;
	}
	for (size_t i = 0; i < profile->samples.count; i++) {
		struct sdw_thread_samples *thread = &all[profile->samples.items[i].thread];
		size_t at = (size_t)(thread->samples - threads->samples) + thread->count++;

		threads->samples[at] = (uint32_t)i;
	}
}

int sdw_samples_by_thread_make(struct sdw_samples_by_thread *threads,
			       const struct sdw_profile *profile)
{
	*threads = (struct sdw_samples_by_thread){0};
	threads->items = calloc(profile->threads.count + 1, sizeof(*threads->items));
	threads->samples = calloc(profile->samples.count + 1, sizeof(*threads->samples));
	if (!threads->items || !threads->samples)
		return -ENOMEM;
	count_samples(threads->items, profile);
	place_samples(threads, profile);
	qsort(threads->items, profile->threads.count, sizeof(*threads->items), compare_threads);
	for (size_t i = 0; i < profile->threads.count; i++) {
		if (threads->items[i].count) /* those without any have no weight: they are last */
			threads->items[threads->count++] = threads->items[i];
	}
	return 0;
}

void sdw_samples_by_thread_free(struct sdw_samples_by_thread *threads)
{
	free(threads->items);
	free(threads->samples);
	*threads = (struct sdw_samples_by_thread){0};
}
