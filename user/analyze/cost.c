// SPDX-License-Identifier: MIT
/* cost.c - see cost.h. */
#include <stdlib.h>
#include <string.h>

#include "analyze/cost.h"

#define SDW_NAME(name, text, words)  text,
#define SDW_WORDS(name, text, words) words,

const char *sdw_way_name(unsigned int way)
{
	static const char *const names[] = {SDW_WAY_LIST(SDW_NAME)};

	return way < SDW_WAY_COUNT ? names[way] : "?";
}

const char *sdw_way_words(unsigned int way)
{
	static const char *const words[] = {SDW_WAY_LIST(SDW_WORDS)};

	return way < SDW_WAY_COUNT ? words[way] : "?";
}

static int by_value(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

struct sdw_spread sdw_spread_of(const double *numbers, size_t count)
{
	double sorted[SDW_COST_MAX_ROUNDS];

	if (count > SDW_COST_MAX_ROUNDS)
		count = SDW_COST_MAX_ROUNDS;
	if (!count)
		return (struct sdw_spread){0};
	memcpy(sorted, numbers, count * sizeof(*sorted));
	qsort(sorted, count, sizeof(*sorted), by_value);
	return (struct sdw_spread){
		.median = count % 2 ? sorted[count / 2]
				    : (sorted[count / 2 - 1] + sorted[count / 2]) / 2,
		.least = sorted[0],
		.most = sorted[count - 1],
	};
}

struct sdw_spread sdw_cost_cpu_s(const struct sdw_cost *cost, enum sdw_way way)
{
	double numbers[SDW_COST_MAX_ROUNDS];

	for (unsigned int i = 0; i < cost->rounds; i++)
		numbers[i] = cost->runs[way][i].cpu_s;
	return sdw_spread_of(numbers, cost->rounds);
}

struct sdw_spread sdw_cost_added_us(const struct sdw_cost *cost, enum sdw_way way)
{
	double numbers[SDW_COST_MAX_ROUNDS];
	unsigned int count = 0;

	for (unsigned int i = 0; i < cost->rounds; i++) {
		const struct sdw_cost_run *run = &cost->runs[way][i];
		double more = run->cpu_s - cost->runs[SDW_WAY_NONE][i].cpu_s;

		if (run->samples)
			numbers[count++] = 1e6 * more / (double)run->samples;
	}
	return sdw_spread_of(numbers, count);
}

double sdw_cost_added_quickest_us(const struct sdw_cost *cost, enum sdw_way way)
{
	const struct sdw_cost_run *quickest = &cost->runs[way][0];
	double bare = sdw_cost_cpu_s(cost, SDW_WAY_NONE).least;

	for (unsigned int i = 1; i < cost->rounds; i++)
		if (cost->runs[way][i].cpu_s < quickest->cpu_s)
			quickest = &cost->runs[way][i];
	return quickest->samples ? 1e6 * (quickest->cpu_s - bare) / (double)quickest->samples : 0;
}

struct sdw_spread sdw_cost_setup_us(const struct sdw_cost *cost, enum sdw_way way)
{
	double numbers[SDW_COST_MAX_ROUNDS];

	for (unsigned int i = 0; i < cost->rounds; i++)
		numbers[i] = 1e6 * (cost->empty[way][i].cpu_s - cost->empty[SDW_WAY_NONE][i].cpu_s);
	return sdw_spread_of(numbers, cost->rounds);
}

struct sdw_spread sdw_cost_profiler_us(const struct sdw_cost *cost, enum sdw_way way)
{
	double numbers[SDW_COST_MAX_ROUNDS];

	for (unsigned int i = 0; i < cost->rounds; i++)
		numbers[i] = 1e6 * cost->empty[way][i].profiler_s;
	return sdw_spread_of(numbers, cost->rounds);
}

double sdw_cost_bytes(const struct sdw_cost *cost, enum sdw_way way)
{
	double numbers[SDW_COST_MAX_ROUNDS];
	unsigned int count = 0;

	for (unsigned int i = 0; i < cost->rounds; i++) {
		const struct sdw_cost_run *run = &cost->runs[way][i];

		if (run->samples)
			numbers[count++] = (double)run->bytes / (double)run->samples;
	}
	return sdw_spread_of(numbers, count).median;
}
