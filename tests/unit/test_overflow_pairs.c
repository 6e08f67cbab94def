// SPDX-License-Identifier: MIT
/* test_overflow_pairs.c - which sample and which signal are taken to be of one overflow. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "capture/overflow_pairs.h"

#define PERIOD 1000000u

static int setup(void **state)
{
	return sdw_overflow_pairs_create(PERIOD, (struct sdw_overflow_pairs **)state);
}

static int teardown(void **state)
{
	sdw_overflow_pairs_free(*state);
	return 0;
}

static void test_each_signal_finds_the_sample_of_its_thread(void **state)
{
	struct sdw_overflow_pairs *pairs = *state;

	for (uint64_t i = 1; i <= 1000; i++) {
		/* BPF's clock is read a moment before or after the kernel's for its record */
		uint64_t time_ns = i * PERIOD, other_ns = i % 2 ? time_ns + 700 : time_ns - 700;

		assert_int_equal(sdw_overflow_pairs_sample(pairs, 7, time_ns), 2 * i - 1);
		assert_int_equal(sdw_overflow_pairs_sample(pairs, 8, time_ns + 1), 2 * i);
		assert_int_equal(sdw_overflow_pairs_signal(pairs, 8, other_ns), 2 * i);
		assert_int_equal(sdw_overflow_pairs_signal(pairs, 7, other_ns), 2 * i - 1);
	}
}

static void test_a_late_signal_finds_its_old_sample(void **state)
{
	struct sdw_overflow_pairs *pairs = *state;

	for (uint64_t i = 1; i <= 100; i++)
		assert_int_equal(sdw_overflow_pairs_sample(pairs, 7, i * PERIOD), i);
	assert_int_equal(sdw_overflow_pairs_signal(pairs, 7, 3 * PERIOD + 100), 3);
}

static void test_a_sample_has_one_signal(void **state)
{
	struct sdw_overflow_pairs *pairs = *state;

	assert_int_equal(sdw_overflow_pairs_sample(pairs, 7, PERIOD), 1);
	assert_int_equal(sdw_overflow_pairs_signal(pairs, 7, PERIOD), 1);
	assert_int_equal(sdw_overflow_pairs_signal(pairs, 7, PERIOD), 0);
}

static void test_a_signal_without_its_sample_takes_no_other(void **state)
{
	struct sdw_overflow_pairs *pairs = *state;

	assert_int_equal(sdw_overflow_pairs_signal(pairs, 7, PERIOD), 0);
	assert_int_equal(sdw_overflow_pairs_sample(pairs, 7, PERIOD), 1);
	assert_int_equal(sdw_overflow_pairs_sample(pairs, 8, 2 * PERIOD), 2);
	assert_int_equal(sdw_overflow_pairs_signal(pairs, 7, 2 * PERIOD), 0);
}

static void test_a_thread_that_ended_has_no_samples(void **state)
{
	struct sdw_overflow_pairs *pairs = *state;

	assert_int_equal(sdw_overflow_pairs_sample(pairs, 7, PERIOD), 1);
	sdw_overflow_pairs_forget(pairs, 7);
	sdw_overflow_pairs_forget(pairs, 9);
	assert_int_equal(sdw_overflow_pairs_signal(pairs, 7, PERIOD), 0);
	assert_int_equal(sdw_overflow_pairs_sample(pairs, 7, PERIOD), 2);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_each_signal_finds_the_sample_of_its_thread),
		TEST(test_a_late_signal_finds_its_old_sample),
		TEST(test_a_sample_has_one_signal),
		TEST(test_a_signal_without_its_sample_takes_no_other),
		TEST(test_a_thread_that_ended_has_no_samples),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
