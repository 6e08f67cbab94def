/* SPDX-License-Identifier: MIT */
/*
 * delays.h - a distribution of delays: percentiles of all of them, and a histogram to draw.
 *
 *	struct sdw_delays delays = {0};
 *	sdw_delays_add(&delays, ns);  ...  sdw_delays_sort(&delays);
 *	p99 = sdw_delays_percentile(&delays, 99);
 *	sdw_delays_free(&delays);
 */
#ifndef SDW_DELAYS_H
#define SDW_DELAYS_H

#include <stddef.h>
#include <stdint.h>

/* Ten classes a decade, from 100 ns to 10 s; what is below or above is in the first or last. */
#define SDW_DELAY_CLASSES     80
#define SDW_DELAYS_PER_DECADE 10
#define SDW_DELAY_LEAST_NS    100.0

struct sdw_delays {
	uint64_t *items; /* ns */
	size_t count, room;
};

/* Returns 0 or -ENOMEM. */
int sdw_delays_add(struct sdw_delays *delays, uint64_t ns);

/* To be called before the percentiles are asked for. */
void sdw_delays_sort(struct sdw_delays *delays);

/* The least delay that `percent` (0 to 100) of all do not exceed; 0 where there is none. */
uint64_t sdw_delays_percentile(const struct sdw_delays *delays, double percent);

/* Counts the delays in each class. */
void sdw_delays_histogram(const struct sdw_delays *delays, uint64_t classes[SDW_DELAY_CLASSES]);

/* Where a class begins, in ns. */
double sdw_delay_class_begin(unsigned int index);

void sdw_delays_free(struct sdw_delays *delays);

#endif
