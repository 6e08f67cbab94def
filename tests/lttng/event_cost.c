// SPDX-License-Identifier: MIT
/*
 * event_cost.c - what one event of a handler costs: `event_cost lttng-handler.so`, in a session
 * that takes it. Prints nanoseconds of the quickest batch, by the time stamp counter.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <x86intrin.h>

#include "handler_events.h"

#define BATCH	  500
#define BATCHES	  40
#define MAX	  100
#define WAIT_MS	  10000
#define DRAIN_MS  40 /* in which a session's consumer takes a batch out of its buffer */
#define NS_PER_MS 1000000L

static void pause_ms(long ms)
{
	const struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * NS_PER_MS};

	nanosleep(&time, NULL);
}

static double ns_per_cycle(void)
{
	struct timespec begin, end;
	uint64_t from, to;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	from = __rdtsc();
	pause_ms(200);
	clock_gettime(CLOCK_MONOTONIC, &end);
	to = __rdtsc();
	return ((double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec)) /
	       (double)(to - from);
}

static uint64_t quickest_batch(const struct sdw_handler_provider *provider,
			       struct sdw_handler_sample *sample)
{
	uint64_t least = UINT64_MAX;

	for (int batch = 0; batch < BATCHES; batch++) {
		uint64_t begin = __rdtsc(), taken;

		for (int i = 0; i < BATCH; i++)
			provider->sample(0, sample);
		taken = __rdtsc() - begin;
		least = taken < least ? taken : least;
		pause_ms(DRAIN_MS);
	}
	return least;
}

int main(int argc, char **argv)
{
	static const uint16_t frames[] = {0, 24, MAX};
	static uint64_t code[MAX], address[MAX];
	static int32_t instruction[MAX];
	static uint8_t entries[MAX];
	void *library = argc == 2 ? dlopen(argv[1], RTLD_NOW) : NULL;
	const struct sdw_handler_provider *provider =
		library ? dlsym(library, SDW_HANDLER_SYMBOL) : NULL;
	struct sdw_handler_sample sample = {
		.code = code, .instruction = instruction, .entries = entries, .address = address};
	double scale = ns_per_cycle();

	if (!provider)
		return 2;
	for (int waited = 0; waited < WAIT_MS && !sample.taken; waited += 10) {
		provider->sample(0, &sample);
		pause_ms(10);
	}
	if (!sample.taken)
		return 1;
	provider->init_thread();
	for (size_t i = 0; i < sizeof(frames) / sizeof(*frames); i++) {
		for (int native = 0; native < 2 && (!native || frames[i]); native++) {
			sample.frames = frames[i];
			sample.addresses = native ? frames[i] : 0;
			printf("%u %d %.0f\n", frames[i], native,
			       (double)quickest_batch(provider, &sample) * scale / BATCH);
		}
	}
	return 0;
}
