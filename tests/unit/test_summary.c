// SPDX-License-Identifier: MIT
/* What a recording says of itself: the line while it runs, the lines and the JSON at its end. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "ui/progress.h"
#include "ui/summary.h"

static const struct sdw_config config = {
	.event = {.name = "cpu-clock", .is_clock = true},
	.frequency = 1000,
};

static struct sdw_summary whole(void)
{
	return (struct sdw_summary){
		.config = &config,
		.trace = "dir/trace",
		.totals =
			{
				.duration_ns = 2500000000,
				.overflows = 2000,
				.status = {[SDW_STATUS_COMPLETE] = 2000},
				.processes = 1,
				.threads = 3,
				.complete = true,
			},
	};
}

static void assert_lines(const struct sdw_summary *summary, const char *expected)
{
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	sdw_summary_print(summary, to);
	fclose(to);
	assert_string_equal(text, expected);
	free(text);
}

static void test_a_clean_recording_takes_three_lines(void **state)
{
	struct sdw_summary summary = whole();

	(void)state;
	assert_lines(&summary,
		     "2000 samples in 2.50 s of 1 process, 3 threads; event cpu-clock, 1000 Hz\n"
		     "lost: 0 of 2000 overflows\n"
		     "trace: dir/trace\n");
}

static void test_every_status_and_loss_that_occurred_has_its_line(void **state)
{
	struct sdw_summary summary = whole();

	(void)state;
	summary.totals.status[SDW_STATUS_COMPLETE] = 1900;
	summary.totals.status[SDW_STATUS_NO_FRAME] = 50;
	summary.totals.lost[SDW_LOST_RING_FULL] = 50;
	summary.totals.complete = false;
	summary.unwind = (struct sdw_unwind_statistics){
		.samples = 1950, .template_samples = 1755, .verified = 1950, .differed = 1};
	assert_lines(
		&summary,
		"1950 samples in 2.50 s of 1 process, 3 threads; event cpu-clock, 1000 Hz\n"
		"        1900  complete          every Python frame was read\n"
		"          50  no_frame          the thread has a Python thread state but runs no "
		"Python code, as when an interpreter starts or ends\n"
		"lost: 50 of 2000 overflows (2.5 %)\n"
		"          50  ring_full         the ring buffer of the processor was full\n"
		"native stacks: 90.0 % of 1950 by templates alone; 1 of 1950 unwound both ways "
		"differ\n"
		"the recording did not end in order: the trace is incomplete\n"
		"trace: dir/trace\n");
	assert_true(sdw_totals_loss(&summary.totals) == 0.025);
}

static void test_tasks_that_nobody_asked_for_are_no_loss(void **state)
{
	struct sdw_summary summary = whole();

	(void)state;
	summary.totals.overflows += 6000;
	summary.totals.lost[SDW_LOST_OUTSIDE_TARGET] = 6000;
	assert_lines(
		&summary,
		"2000 samples in 2.50 s of 1 process, 3 threads; event cpu-clock, 1000 Hz\n"
		"lost: 0 of 2000 overflows\n"
		"        6000  outside_target    the task is not part of the target, or the processor was idle\n"
		"trace: dir/trace\n");
	assert_true(sdw_totals_loss(&summary.totals) == 0);
}

static void test_what_could_never_come_is_shown_but_was_not_dropped(void **state)
{
	struct sdw_summary summary = whole();

	(void)state;
	summary.totals.overflows += 500;
	summary.totals.lost[SDW_LOST_NOT_DELIVERED] = 500;
	assert_true(sdw_totals_loss(&summary.totals) == 0.2);
	assert_true(sdw_totals_dropped(&summary.totals) == 0);
	summary.totals.overflows += 700;
	summary.totals.lost[SDW_LOST_OUTSIDE_NAMESPACE] = 700;
	assert_true(sdw_totals_dropped(&summary.totals) == 0);
	summary.totals.overflows += 2000;
	summary.totals.lost[SDW_LOST_RING_FULL] = 2000;
	assert_true(sdw_totals_dropped(&summary.totals) == 0.5);
}

static void test_json_has_every_counter(void **state)
{
	struct sdw_summary summary = whole();
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	(void)state;
	summary.trace = "a\"b\n";
	summary.totals.lost[SDW_LOST_NOT_DELIVERED] = 7;
	assert_int_equal(sdw_summary_print_json(&summary, to), 0);
	fclose(to);
	assert_string_equal(
		text,
		"{\"trace\":\"a\\\"b\\n\",\"duration_s\":2.5,\"event\":\"cpu-clock\","
		"\"period_or_freq\":1000,\"frequency\":1000,\"period\":1000000,\"overflows\":2000,"
		"\"samples\":2000,\"status\":{\"complete\":2000,\"no_python\":0,\"pending\":0,"
		"\"no_thread_state\":0,\"no_frame\":0,\"truncated\":0,\"unreadable\":0,\"broken\":0,"
		"\"kernel_thread\":0},\"lost\":{\"ring_full\":0,\"not_delivered\":7,\"no_scratch\":0,"
		"\"outside_target\":0,\"outside_namespace\":0,\"consumer\":0,\"merged\":0,"
		"\"cut\":0,\"lttng\":0},\"processes\":1,\"threads\":3,\"complete\":true,\"unwind\":{\"samples\":0,\"template_samples\":0,"
		"\"template_steps\":0,\"library_steps\":0,\"verified\":0,\"differed\":0}}\n");
	free(text);
}

static void test_json_that_cannot_be_written_is_an_error(void **state)
{
	struct sdw_summary summary = whole();
	FILE *full = fopen("/dev/full", "w");

	(void)state;
	assert_non_null(full);
	assert_int_equal(sdw_summary_print_json(&summary, full), -ENOSPC);
	fclose(full);
}

static void test_progress_fits_the_terminal(void **state)
{
	struct sdw_session_state now = {
		.elapsed_ns = 83000000000, .samples = 83000, .lost = 12, .processes = 2};
	char text[160];

	(void)state;
	assert_int_equal(sdw_progress_format(&now, 998, 80, text, sizeof(text)), 51);
	assert_string_equal(text, "recording 1:23  998 samples/s  12 lost  2 processes");
	assert_int_equal(sdw_progress_format(&now, 998, 20, text, sizeof(text)), 19);
	assert_string_equal(text, "recording 1:23  998");
	assert_int_equal(sdw_progress_format(&now, 998, 1, text, sizeof(text)), 0);
	assert_int_equal(sdw_progress_format(&now, 998, 80, text, 10), 9);
	assert_string_equal(text, "recording");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_clean_recording_takes_three_lines),
		cmocka_unit_test(test_every_status_and_loss_that_occurred_has_its_line),
		cmocka_unit_test(test_tasks_that_nobody_asked_for_are_no_loss),
		cmocka_unit_test(test_what_could_never_come_is_shown_but_was_not_dropped),
		cmocka_unit_test(test_json_has_every_counter),
		cmocka_unit_test(test_json_that_cannot_be_written_is_an_error),
		cmocka_unit_test(test_progress_fits_the_terminal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
