// SPDX-License-Identifier: MIT
/* test_time_slots.c - when samples were taken: nothing lost, nothing twice, never too much. */
#include "profile_builder.h"
#include "view/time_slots.h"

static uint32_t start(struct builder *b)
{
	builder_start(b, "ns");
	return builder_thread(b, builder_process(b, 12, "python3"), 13, "worker");
}

/* The entries of each bucket add up to it, and are in order. */
static void expect_whole(const struct sdw_profile *profile, const struct sdw_time_slots *times)
{
	size_t at = 0;

	for (size_t i = 0; i < profile->buckets.count; i++) {
		uint64_t samples = 0, weight = 0;

		for (; at < times->entries.count && times->entries.items[at].bucket == i; at++) {
			assert_true(times->entries.items[at].slot < times->slots);
			samples += times->entries.items[at].samples;
			weight += times->entries.items[at].weight;
		}
		assert_int_equal(samples, profile->buckets.items[i].samples);
		assert_int_equal(weight, profile->buckets.items[i].weight);
	}
	assert_int_equal(at, times->entries.count);
}

static void test_samples_are_in_the_slot_of_their_time(void **state)
{
	struct sdw_time_slots times;
	uint32_t thread, f, g;
	struct builder b;

	(void)state;
	thread = start(&b);
	f = builder_stack(&b, "f@a.py:1:2");
	g = builder_stack(&b, "g@a.py:5:6");
	builder_sample(&b, thread, f, 3, 1000000, SDW_STATUS_COMPLETE); /* at 1, 2, 3 ms */
	builder_sample(&b, thread, g, 10, 1000000, SDW_STATUS_COMPLETE);
	b.now_ns = 1000000000 + 2499000000u;
	builder_sample(&b, thread, f, 1, 1000000, SDW_STATUS_COMPLETE); /* the end: 2500 ms */
	builder_end(&b, 0);
	assert_int_equal(sdw_time_slots_make(&times, &b.profile), 0);
	assert_int_equal(times.slots, SDW_TIME_SLOTS);
	assert_int_equal(times.begin_ns, 1000000000);
	assert_int_equal(times.slot_ns, 2500000000u / 512 + 1);
	expect_whole(&b.profile, &times);
	assert_int_equal(times.entries.items[0].slot, 0);
	assert_int_equal(times.entries.items[0].samples, 3);
	assert_int_equal(times.entries.items[1].slot, 511);
	sdw_time_slots_free(&times);
	sdw_profile_free(&b.profile);
}

static void test_many_stacks_have_longer_slots(void **state)
{
	struct sdw_time_slots times;
	struct builder b;
	uint32_t thread;

	(void)state;
	thread = start(&b);
	/* 2000 stacks, each all the time: 512 slots would have a million entries */
	for (unsigned int i = 0; i < 2000; i++)
		builder_push(&b, 0, builder_code(&b, SDW_CODE_PYTHON, "f", "a.py", i), i);
	for (unsigned int round = 0; round < 512; round++)
		for (unsigned int i = 0; i < 2000; i++) {
			struct sdw_sample_event event = {.time_ns = 1000000000 + round * 4882813ull,
							 .thread = thread,
							 .stack = i + 1,
							 .weight = 1};

			SEND(&b, sample, &event);
		}
	builder_end(&b, 0);
	assert_int_equal(sdw_time_slots_make(&times, &b.profile), 0);
	assert_int_equal(times.slots, 128);
	assert_int_equal(times.entries.count, 128 * 2000);
	expect_whole(&b.profile, &times);
	sdw_time_slots_free(&times);
	sdw_profile_free(&b.profile);
}

static void test_a_profile_without_samples_has_no_times(void **state)
{
	struct sdw_time_slots times;
	struct builder b;

	(void)state;
	start(&b);
	builder_end(&b, 0);
	assert_int_equal(sdw_time_slots_make(&times, &b.profile), 0);
	assert_int_equal(times.slots, 0);
	sdw_time_slots_free(&times);
	sdw_profile_free(&b.profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_samples_are_in_the_slot_of_their_time),
		cmocka_unit_test(test_many_stacks_have_longer_slots),
		cmocka_unit_test(test_a_profile_without_samples_has_no_times),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
