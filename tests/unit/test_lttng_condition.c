// SPDX-License-Identifier: MIT
/* test_lttng_condition.c - when a snapshot is asked for: a rate that rises, a function seen. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "sink/lttng_condition.h"

#define SECOND 1000000000ull

static void test_only_what_can_be_is_taken(void **state)
{
	static const char *const wrong[] = {"",	       "rate",	  "rate>",     "rate>x", "rate>0",
					    "rate>-1", "rate>5x", "function=", "cpu>90"};
	struct sdw_lttng_condition condition;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_int_equal(sdw_lttng_condition_parse(&condition, wrong[i]), -EINVAL);
	assert_int_equal(sdw_lttng_condition_parse(&condition, "rate>1.5"), 0);
	assert_int_equal(sdw_lttng_condition_parse(&condition, NULL), 0);
	assert_false(sdw_lttng_condition_sample(&condition, SECOND, 1));
}

/* Sends a second of samples at a rate; how often did it begin to hold? */
static int second_of(struct sdw_lttng_condition *condition, uint64_t begin, unsigned int samples)
{
	int held = 0;

	for (unsigned int i = 0; i < samples; i++)
		held += sdw_lttng_condition_sample(condition, begin + i * SECOND / samples, 0);
	return held;
}

static void test_a_rate_holds_once_until_it_was_below(void **state)
{
	struct sdw_lttng_condition condition;

	(void)state;
	assert_int_equal(sdw_lttng_condition_parse(&condition, "rate>100"), 0);
	assert_int_equal(second_of(&condition, 10 * SECOND, 50), 0);
	assert_int_equal(second_of(&condition, 11 * SECOND, 200), 0);
	assert_int_equal(second_of(&condition, 12 * SECOND, 200), 1);
	assert_int_equal(second_of(&condition, 13 * SECOND, 200), 0);
	assert_int_equal(second_of(&condition, 14 * SECOND, 50), 0);
	assert_int_equal(second_of(&condition, 15 * SECOND, 50), 0);
	assert_int_equal(second_of(&condition, 16 * SECOND, 200), 0);
	assert_int_equal(second_of(&condition, 17 * SECOND, 200), 1);
}

static void test_a_function_anywhere_in_the_stack(void **state)
{
	struct sdw_lttng_condition condition;

	(void)state;
	assert_int_equal(sdw_lttng_condition_parse(&condition, "function=*.retry"), 0);
	for (uint32_t id = 1; id <= 3; id++) {
		const struct sdw_code_event code = {.id = id,
						    .name = id == 2 ? "Client.retry" : "main"};
		const struct sdw_frame_event frame = {.id = id, .code = id};
		const struct sdw_stack_event stack = {.id = id, .parent = id - 1, .frame = id};

		assert_int_equal(sdw_lttng_condition_code(&condition, &code), 0);
		assert_int_equal(sdw_lttng_condition_frame(&condition, &frame), 0);
		assert_int_equal(sdw_lttng_condition_stack(&condition, &stack), 0);
	}
	assert_false(sdw_lttng_condition_sample(&condition, SECOND, 0));
	assert_false(sdw_lttng_condition_sample(&condition, SECOND, 1));
	assert_true(sdw_lttng_condition_sample(&condition, 2 * SECOND, 3)); /* called by it */
	assert_false(sdw_lttng_condition_sample(&condition, 11 * SECOND, 2));
	assert_true(sdw_lttng_condition_sample(&condition, 12 * SECOND, 2));
	sdw_lttng_condition_free(&condition);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_only_what_can_be_is_taken),
		cmocka_unit_test(test_a_rate_holds_once_until_it_was_below),
		cmocka_unit_test(test_a_function_anywhere_in_the_stack),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
