// SPDX-License-Identifier: MIT
/* Idle time as /proc/stat has it. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <time.h>
#include <unistd.h>

#include "capture/idle_time.h"

static void test_idle_and_waiting_of_each_processor(void **state)
{
	(void)state;
	assert_int_equal(sdw_idle_time_parse("cpu  99 99 99 99 99 99 99 0 0 0\n"
					     "cpu0 10 20 30 400 5 0 0 0 0 0\n"
					     "cpu11 1 2 3 50 6 0 0 0 0 0\n"
					     "intr 1 2 3\n"),
			 (uint64_t)(400 + 5 + 50 + 6) * (1000000000 / sysconf(_SC_CLK_TCK)));
}

static void test_what_is_no_processor_counts_nothing(void **state)
{
	(void)state;
	assert_int_equal(sdw_idle_time_parse(""), 0);
	assert_int_equal(sdw_idle_time_parse("cpu0 1 2\ncpux 1 2 3 4 5\ncpu0"), 0);
}

static void test_the_running_kernel_has_it(void **state)
{
	struct timespec boot;

	(void)state;
	assert_int_equal(clock_gettime(CLOCK_BOOTTIME, &boot), 0);
	assert_true(sdw_idle_time_ns() <= (uint64_t)(boot.tv_sec + 1) * 1000000000 *
						  (uint64_t)sysconf(_SC_NPROCESSORS_CONF));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_idle_and_waiting_of_each_processor),
		cmocka_unit_test(test_what_is_no_processor_counts_nothing),
		cmocka_unit_test(test_the_running_kernel_has_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
