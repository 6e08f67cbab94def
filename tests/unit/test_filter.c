// SPDX-License-Identifier: MIT
/* test_filter.c - which samples and losses a view is left with when only a part is asked for. */
#include "profile_builder.h"
#include "view/filter.h"
#include "view/report_header.h"

#define START_NS 1000000000ull
#define WEB_ID	 "1111111111111111111111111111111111111111111111111111111111111111"
#define API_ID	 "2222222222222222222222222222222222222222222222222222222222222222"

/* The builder's events go through the filter. */
struct filtered {
	struct builder builder;
	struct sdw_filter_sink sink;
};

static void start(struct filtered *filtered, const struct sdw_filter *filter)
{
	const struct sdw_recording recording = {
		.event = "cpu-clock", .unit = "ns", .frequency = 1000, .start_ns = START_NS};
	struct builder *b = &filtered->builder;

	*b = (struct builder){.now_ns = START_NS};
	assert_int_equal(sdw_profile_init(&b->profile, true), 0);
	assert_int_equal(sdw_filter_sink_init(&filtered->sink, filter, &b->profile.sink), 0);
	b->sink = &filtered->sink.sink;
	SEND(b, recording, &recording);
}

static void end(struct filtered *filtered)
{
	sdw_filter_sink_free(&filtered->sink);
	sdw_profile_free(&filtered->builder.profile);
}

static void sample_at(struct builder *b, double seconds, uint32_t thread, uint32_t stack)
{
	struct sdw_sample_event event = {.time_ns = START_NS + (uint64_t)(seconds * 1e9),
					 .thread = thread,
					 .stack = stack,
					 .weight = 1000000};

	SEND(b, sample, &event);
}

/* Two processes with a thread each, and a second one, "io", in the first. */
static void send_all(struct builder *b)
{
	uint32_t app = builder_process(b, 12, "app"), other = builder_process(b, 40, "other");
	uint32_t main_thread = builder_thread(b, app, 12, "app");
	uint32_t io = builder_thread(b, app, 13, "io-1");
	uint32_t second = builder_thread(b, other, 40, "other");
	uint32_t load = builder_stack(b, "<module>@a.py:1:30;JSON.load@j.py:7:9");
	uint32_t below = builder_stack(b, "<module>@a.py:1:30;JSON.load@j.py:7:9;scan@j.py:20:21");
	uint32_t save = builder_stack(b, "<module>@a.py:1:31;save@a.py:5:6");

	sample_at(b, 0.5, main_thread, load);
	sample_at(b, 1.0, main_thread, below);
	sample_at(b, 1.5, io, save);
	sample_at(b, 1.6, io, 0);
	sample_at(b, 2.0, second, load);
	sample_at(b, 2.5, second, save);
}

static void send_end(struct builder *b)
{
	const struct sdw_lost_event early = {.begin_ns = START_NS,
					     .time_ns = START_NS + 900000000,
					     .count = 5,
					     .reason = SDW_LOST_RING_FULL};
	const struct sdw_lost_event late = {.begin_ns = START_NS + 900000000,
					    .time_ns = START_NS + 2000000000,
					    .count = 3,
					    .reason = SDW_LOST_RING_FULL};
	struct sdw_totals totals = {.duration_ns = 3000000000, .overflows = 14, .complete = true};

	totals.status[SDW_STATUS_COMPLETE] = 6;
	totals.lost[SDW_LOST_RING_FULL] = 8;
	SEND(b, lost, &early);
	SEND(b, lost, &late);
	SEND(b, totals, &totals);
}

static void expect_samples(const struct sdw_filter *filter, size_t expected)
{
	struct filtered filtered;

	start(&filtered, filter);
	send_all(&filtered.builder);
	send_end(&filtered.builder);
	assert_int_equal(filtered.sink.samples, 6);
	assert_int_equal(filtered.builder.profile.samples.count, expected);
	end(&filtered);
}

static void test_time_is_from_the_start_and_its_end_is_not_included(void **state)
{
	(void)state;
	expect_samples(&(struct sdw_filter){.from_s = 1.0}, 5);
	expect_samples(&(struct sdw_filter){.until_s = 2.0}, 4);
	expect_samples(&(struct sdw_filter){.from_s = 1.0, .until_s = 2.0}, 3);
	expect_samples(&(struct sdw_filter){.from_s = 1e300}, 0);
}

static void test_threads_and_processes_go_by_name_number_or_pattern(void **state)
{
	(void)state;
	expect_samples(&(struct sdw_filter){.thread = "io-1"}, 2);
	expect_samples(&(struct sdw_filter){.thread = "13"}, 2);
	expect_samples(&(struct sdw_filter){.thread = "io*"}, 2);
	expect_samples(&(struct sdw_filter){.thread = "io"}, 0);
	expect_samples(&(struct sdw_filter){.process = "app"}, 4);
	expect_samples(&(struct sdw_filter){.process = "40"}, 2);
	expect_samples(&(struct sdw_filter){.process = "app", .thread = "12"}, 2);
	expect_samples(&(struct sdw_filter){.process = "other", .thread = "12"}, 0);
}

static void expect_contained(const char *container, size_t expected)
{
	const struct sdw_filter filter = {.container = (char *)(uintptr_t)container};
	struct filtered filtered;
	struct builder *b = &filtered.builder;
	uint32_t threads[4], stack;

	start(&filtered, &filter);
	threads[0] = builder_thread(b, builder_process(b, 5, "host"), 5, "host");
	threads[1] =
		builder_thread(b, builder_contained(b, 6, "py", WEB_ID, "web", "shop/a"), 6, "py");
	threads[2] =
		builder_thread(b, builder_contained(b, 7, "py", API_ID, "api", "shop/b"), 7, "py");
	threads[3] = builder_thread(b, builder_contained(b, 8, "py", "plain", "", ""), 8, "py");
	stack = builder_stack(b, "<module>@a.py:1:30");
	for (size_t i = 0; i < 4; i++) {
		for (size_t count = 0; count < 1u << i; count++)
			sample_at(b, 0.5, threads[i], stack);
	}
	send_end(b);
	assert_int_equal(filtered.builder.profile.samples.count, expected);
	end(&filtered);
}

static void test_a_container_goes_by_name_pod_or_the_beginning_of_its_id(void **state)
{
	(void)state;
	expect_contained("web", 2);
	expect_contained("1111", 2);
	expect_contained(API_ID, 4);
	expect_contained("shop/*", 6);
	expect_contained("shop/b", 4);
	expect_contained("plain", 8);
	expect_contained("we", 0);
	expect_contained("*", 14); /* not of what is in none */
	expect_contained("", 0);
}

static void test_a_function_counts_wherever_it_is_in_the_stack(void **state)
{
	(void)state;
	expect_samples(&(struct sdw_filter){.function = "JSON.load"}, 3);
	expect_samples(&(struct sdw_filter){.function = "load"}, 3);
	expect_samples(&(struct sdw_filter){.function = "scan"}, 1);
	expect_samples(&(struct sdw_filter){.function = "s*"}, 3);
	expect_samples(&(struct sdw_filter){.function = "<module>"}, 5); /* not without a stack */
	expect_samples(&(struct sdw_filter){.function = "JSON"}, 0);
}

static void test_what_is_left_still_adds_up(void **state)
{
	const struct sdw_filter filter = {.from_s = 1.0, .until_s = 2.5, .process = "app"};
	struct filtered filtered;
	const struct sdw_totals *totals = &filtered.builder.profile.totals;
	char *header = NULL;

	(void)state;
	start(&filtered, &filter);
	send_all(&filtered.builder);
	send_end(&filtered.builder);
	assert_int_equal(totals->status[SDW_STATUS_COMPLETE], 3);
	assert_int_equal(totals->lost[SDW_LOST_RING_FULL], 3); /* the later interval only */
	assert_int_equal(totals->overflows, 6);
	assert_int_equal(totals->duration_ns, 1500000000);
	CAPTURE(header, 0, (sdw_report_header_print(&filtered.builder.profile, out), 0));
	assert_non_null(strstr(header, "cpu-clock at 1000 Hz, 1.50 s, 3 samples, 3 lost (50%)\n"
				       "only from 1 s, until 2.5 s, process app\n"));
	free(header);
	end(&filtered);
}

static void test_without_a_time_every_loss_stays(void **state)
{
	const struct sdw_filter filter = {.thread = "io-1"};
	struct filtered filtered;

	(void)state;
	start(&filtered, &filter);
	send_all(&filtered.builder);
	send_end(&filtered.builder);
	assert_int_equal(filtered.builder.profile.totals.lost[SDW_LOST_RING_FULL], 8);
	assert_int_equal(filtered.builder.profile.totals.overflows, 10);
	end(&filtered);
}

/* By signal alone: the same choice, the same sum. */
static void test_samples_of_signals_are_chosen_alike(void **state)
{
	const struct sdw_filter filter = {.function = (char *)"save"};
	const struct sdw_recording recording = {.path = SDW_PATH_SIGNAL, .start_ns = START_NS};
	struct filtered filtered;
	struct builder *b = &filtered.builder;
	struct sdw_totals totals = {.overflows = 2};

	(void)state;
	start(&filtered, &filter);
	SEND(b, recording, &recording);
	send_all(b);
	for (uint32_t stack = 1; stack < b->profile.stacks.count; stack++) {
		struct sdw_signal_sample_event event = {
			.time_ns = START_NS + 1, .thread = 1, .stack = stack};

		SEND(b, signal_sample, &event);
	}
	assert_int_equal(b->profile.signal_samples.count, 1);
	SEND(b, totals, &totals);
	assert_int_equal(b->profile.totals.status[SDW_STATUS_COMPLETE], b->profile.samples.count);
	end(&filtered);
}

static void test_a_filter_is_set_by_any_of_its_parts(void **state)
{
	(void)state;
	assert_false(sdw_filter_is_set(&(struct sdw_filter){0}));
	assert_true(sdw_filter_is_set(&(struct sdw_filter){.until_s = 1}));
	assert_true(sdw_filter_is_set(&(struct sdw_filter){.function = "f"}));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_time_is_from_the_start_and_its_end_is_not_included),
		cmocka_unit_test(test_threads_and_processes_go_by_name_number_or_pattern),
		cmocka_unit_test(test_a_container_goes_by_name_pod_or_the_beginning_of_its_id),
		cmocka_unit_test(test_a_function_counts_wherever_it_is_in_the_stack),
		cmocka_unit_test(test_what_is_left_still_adds_up),
		cmocka_unit_test(test_without_a_time_every_loss_stays),
		cmocka_unit_test(test_samples_of_signals_are_chosen_alike),
		cmocka_unit_test(test_a_filter_is_set_by_any_of_its_parts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
