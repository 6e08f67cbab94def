// SPDX-License-Identifier: MIT
/* time_slots.c - see time_slots.h. */
#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "view/time_slots.h"

struct order {
	const struct sdw_profile *profile;
	uint32_t *buckets; /* numbers, in the order of compare_keys() */
};

static int compare_numbers(uint64_t a, uint64_t b)
{
	return a == b ? 0 : a < b ? -1 : 1;
}

static int compare_keys(const struct sdw_profile_bucket *a, const struct sdw_profile_bucket *b)
{
	int order = compare_numbers(a->thread, b->thread);

	if (!order)
		order = compare_numbers(a->stack, b->stack);
	return order ? order : compare_numbers(a->status, b->status);
}

static int compare_buckets(const void *left, const void *right, void *context)
{
	const struct sdw_profile *profile = context;

	return compare_keys(&profile->buckets.items[*(const uint32_t *)left],
			    &profile->buckets.items[*(const uint32_t *)right]);
}

static int sort_buckets(struct order *order)
{
	const struct sdw_profile *profile = order->profile;

	order->buckets = calloc(profile->buckets.count + 1, sizeof(*order->buckets));
	if (!order->buckets)
		return -ENOMEM;
	for (size_t i = 0; i < profile->buckets.count; i++)
		order->buckets[i] = (uint32_t)i;
	qsort_r(order->buckets, profile->buckets.count, sizeof(*order->buckets), compare_buckets,
		(void *)profile);
	return 0;
}

/* Number of the bucket that a sample was added to: there is one. */
static uint32_t bucket_of(const struct order *order, const struct sdw_sample_event *sample)
{
	const struct sdw_profile_bucket wanted = {
		.thread = sample->thread, .stack = sample->stack, .status = sample->status};
	size_t low = 0, high = order->profile->buckets.count;

	while (low + 1 < high) {
		size_t middle = low + (high - low) / 2;

		if (compare_keys(&order->profile->buckets.items[order->buckets[middle]], &wanted) >
		    0)
			high = middle;
		else
			low = middle;
	}
	return order->buckets[low];
}

/* The whole recording, or of a part that was asked for from its first to its last sample. */
static void cut(struct sdw_time_slots *times, const struct sdw_profile *profile)
{
	const struct sdw_recording *recording = &profile->recording;
	uint64_t first = profile->samples.items[0].time_ns;
	uint64_t last = profile->samples.items[profile->samples.count - 1].time_ns;

	if (!recording->filter || !*recording->filter) {
		first = recording->start_ns < first ? recording->start_ns : first;
		if (profile->totals.duration_ns < UINT64_MAX - recording->start_ns &&
		    recording->start_ns + profile->totals.duration_ns > last)
			last = recording->start_ns + profile->totals.duration_ns;
	}
	times->begin_ns = first;
	times->slots = SDW_TIME_SLOTS;
	times->slot_ns = (last - first) / times->slots + 1;
}

static int compare_entries(const void *left, const void *right)
{
	const struct sdw_time_entry *a = left, *b = right;
	int order = compare_numbers(a->bucket, b->bucket);

	return order ? order : compare_numbers(a->slot, b->slot);
}

/* Adds up what is in the same slot of the same bucket. */
static void merge(struct sdw_time_slots *times)
{
	struct sdw_time_entry *entries = times->entries.items;
	size_t kept = 0;

	for (size_t i = 0; i < times->entries.count; i++) {
		if (!kept || compare_entries(&entries[kept - 1], &entries[i]) != 0) {
			entries[kept++] = entries[i];
			continue;
		}
		entries[kept - 1].samples += entries[i].samples;
		entries[kept - 1].weight += entries[i].weight;
	}
	times->entries.count = kept;
}

static int add_samples(struct sdw_time_slots *times, const struct order *order)
{
	const struct sdw_profile *profile = order->profile;
	int err = sdw_array_reserve(&times->entries, profile->samples.count);

	for (size_t i = 0; i < profile->samples.count && !err; i++) {
		const struct sdw_sample_event *sample = &profile->samples.items[i];

		times->entries.items[times->entries.count++] = (struct sdw_time_entry){
			.bucket = bucket_of(order, sample),
			.slot = (uint32_t)((sample->time_ns - times->begin_ns) / times->slot_ns),
			.samples = 1,
			.weight = sample->weight,
		};
	}
	return err;
}

int sdw_time_slots_make(struct sdw_time_slots *times, const struct sdw_profile *profile)
{
	struct order order = {.profile = profile};
	int err;

	*times = (struct sdw_time_slots){0};
	if (!profile->samples.count)
		return 0;
	cut(times, profile);
	err = sort_buckets(&order);
	if (!err)
		err = add_samples(times, &order);
	free(order.buckets);
	if (err)
		return err;
	qsort(times->entries.items, times->entries.count, sizeof(*times->entries.items),
	      compare_entries);
	merge(times);
	while (times->entries.count > SDW_TIME_ENTRIES && times->slots > SDW_TIME_LEAST_SLOTS) {
		for (size_t i = 0; i < times->entries.count; i++)
			times->entries.items[i].slot /= 2;
		times->slots /= 2;
		times->slot_ns *= 2;
		merge(times);
	}
	if (times->entries.count > SDW_TIME_ENTRIES)
		times->slots = 0;
	return 0;
}

void sdw_time_slots_free(struct sdw_time_slots *times)
{
	free(times->entries.items);
	*times = (struct sdw_time_slots){0};
}
