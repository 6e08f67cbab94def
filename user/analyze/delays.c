// SPDX-License-Identifier: MIT
/* delays.c - see delays.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/delays.h"
#include "base/array.h"

int sdw_delays_add(struct sdw_delays *delays, uint64_t ns)
{
	int err = sdw_array_reserve(delays, 1);

	if (!err)
		delays->items[delays->count++] = ns;
	return err;
}

static int by_value(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return (a > b) - (a < b);
}

void sdw_delays_sort(struct sdw_delays *delays)
{
	if (delays->count)
		qsort(delays->items, delays->count, sizeof(*delays->items), by_value);
}

uint64_t sdw_delays_percentile(const struct sdw_delays *delays, double percent)
{
	double rank = ceil(percent / 100 * (double)delays->count);

	if (!delays->count)
		return 0;
	if (rank < 1)
		rank = 1;
	if (rank > (double)delays->count)
		rank = (double)delays->count;
	return delays->items[(size_t)rank - 1];
}

void sdw_delays_histogram(const struct sdw_delays *delays, uint64_t classes[SDW_DELAY_CLASSES])
{
	memset(classes, 0, SDW_DELAY_CLASSES * sizeof(*classes));
	for (size_t i = 0; i < delays->count; i++) {
		double ns = (double)delays->items[i];
		double at = ns <= SDW_DELAY_LEAST_NS
				    ? 0
				    : SDW_DELAYS_PER_DECADE * log10(ns / SDW_DELAY_LEAST_NS);

		classes[at < SDW_DELAY_CLASSES ? (size_t)at : SDW_DELAY_CLASSES - 1]++;
	}
}

double sdw_delay_class_begin(unsigned int index)
{
	return SDW_DELAY_LEAST_NS * pow(10, (double)index / SDW_DELAYS_PER_DECADE);
}

void sdw_delays_free(struct sdw_delays *delays)
{
	free(delays->items);
	*delays = (struct sdw_delays){0};
}
