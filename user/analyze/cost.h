/* SPDX-License-Identifier: MIT */
/*
 * cost.h - what sampling costs a program: figures of runs that alternated.
 *
 * In:  runs of one command without sampling, with overflows for which nothing is done, and with
 * each path alone, by turns; the CPU time of the command in each. Out: medians and spread. What a
 * sample adds is taken within a round, against the run without.
 */
#ifndef SDW_COST_H
#define SDW_COST_H

#include <stddef.h>
#include <stdint.h>

/* X(NAME, "name", "words") */
#define SDW_WAY_LIST(X)                                            \
	X(NONE, "none", "not sampled")                             \
	X(FLOOR, "floor", "an overflow for which nothing is done") \
	X(BPF, "bpf", "the BPF path alone")                        \
	X(SIGNAL, "signal", "the signal path alone")

#define SDW_ENUM_WAY(name, text, words) SDW_WAY_##name,
enum sdw_way { SDW_WAY_LIST(SDW_ENUM_WAY) SDW_WAY_COUNT };
#undef SDW_ENUM_WAY

#define SDW_COST_MAX_ROUNDS 101

struct sdw_cost_run {
	double cpu_s;	   /* of the command and all that it waited for, user and system */
	double profiler_s; /* CPU time of the profiler until the command could start */
	uint64_t samples;  /* of a floor: the overflows */
	uint64_t bytes;	   /* of trace */
};

struct sdw_spread {
	double median, least, most;
};

struct sdw_cost {
	unsigned int rounds;
	struct sdw_cost_run runs[SDW_WAY_COUNT][SDW_COST_MAX_ROUNDS];
	/* the same of a command that ends at once: what it took more is the set-up */
	struct sdw_cost_run empty[SDW_WAY_COUNT][SDW_COST_MAX_ROUNDS];
};

/* CPU time of the command, seconds. */
struct sdw_spread sdw_cost_cpu_s(const struct sdw_cost *cost, enum sdw_way way);

/* CPU time that a sample added, microseconds; 0 for SDW_WAY_NONE. */
struct sdw_spread sdw_cost_added_us(const struct sdw_cost *cost, enum sdw_way way);

/*
 * The same from the quickest run of each way: what a shared machine does to a run only ever adds.
 */
double sdw_cost_added_quickest_us(const struct sdw_cost *cost, enum sdw_way way);

/* Set-up before the first sample, microseconds: in the program, and in the profiler. */
struct sdw_spread sdw_cost_setup_us(const struct sdw_cost *cost, enum sdw_way way);
struct sdw_spread sdw_cost_profiler_us(const struct sdw_cost *cost, enum sdw_way way);

/* Of trace, a sample; 0 where nothing was written. */
double sdw_cost_bytes(const struct sdw_cost *cost, enum sdw_way way);

/* Median of `count` numbers (at most SDW_COST_MAX_ROUNDS), and the least and the most. */
struct sdw_spread sdw_spread_of(const double *numbers, size_t count);

const char *sdw_way_name(unsigned int way);
const char *sdw_way_words(unsigned int way);

#endif
