// SPDX-License-Identifier: MIT
/* test_comparison.c - pairs, causes of what is alone, delays, agreement of stacks. */
#include "analyze/comparison.h"
#include "profile_builder.h"

#define MS 1000000ull

/* The samples of both paths, as a recording would have them. */
struct paths {
	struct sdw_path_sample bpf[64], signal[64];
	struct sdw_path_samples as_bpf, as_signal;
};

static struct sdw_path_sample *add(struct sdw_path_sample *items, struct sdw_path_samples *samples,
				   uint64_t key, uint32_t thread, uint64_t time_ns, uint32_t stack)
{
	struct sdw_path_sample *sample = &items[samples->count++];

	assert_true(samples->count <= 64);
	samples->items = items;
	*sample = (struct sdw_path_sample){
		.key = key, .thread = thread, .time_ns = time_ns, .stack = stack};
	return sample;
}

static struct sdw_path_sample *add_bpf(struct paths *paths, uint64_t key, uint32_t thread,
				       uint64_t time_ns, uint32_t stack)
{
	return add(paths->bpf, &paths->as_bpf, key, thread, time_ns, stack);
}

static struct sdw_path_sample *add_signal(struct paths *paths, uint64_t key, uint32_t thread,
					  uint64_t time_ns, uint64_t delay_ns, uint32_t stack)
{
	struct sdw_path_sample *sample =
		add(paths->signal, &paths->as_signal, key, thread, time_ns, stack);

	sample->handler_ns = time_ns + delay_ns;
	return sample;
}

static void make_pairs(struct sdw_pairs *pairs, struct paths *paths, uint64_t bpf_lost,
		       uint64_t signal_lost)
{
	assert_int_equal(
		sdw_pairs_make(pairs, &paths->as_bpf, &paths->as_signal, bpf_lost, signal_lost), 0);
}

/* Asserts the one count that is not 0; every sample that is alone has exactly one cause. */
static void expect_alone(const struct sdw_pairs *pairs, enum sdw_alone cause, uint64_t count)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < SDW_ALONE_COUNT; i++)
		sum += pairs->alone[i];
	assert_int_equal(pairs->alone[cause], count);
	assert_int_equal(sum, pairs->bpf_only + pairs->signal_only);
}

static void test_pairs_by_key_in_any_order_and_across_threads(void **state)
{
	struct paths paths = {0};
	struct sdw_pairs pairs;

	(void)state;
	add_bpf(&paths, 8, 2, 30, 1);
	add_bpf(&paths, 9, 1, 10, 2);
	add_bpf(&paths, 7, 1, 20, 3);
	add_signal(&paths, 7, 1, 20, 5, 30);
	add_signal(&paths, 8, 3, 30, 5, 10); /* in the wrong thread */
	add_signal(&paths, 9, 1, 10, 5, 20);
	make_pairs(&pairs, &paths, 0, 0);
	assert_int_equal(pairs.count, 3);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(pairs.items[i].signal->stack, pairs.items[i].bpf->stack * 10);
	expect_alone(&pairs, 0, 0);
	sdw_pairs_free(&pairs);
}

static void test_a_key_is_used_once_and_none_is_no_key(void **state)
{
	struct paths paths = {0};
	struct sdw_pairs pairs;

	(void)state;
	add_bpf(&paths, 0, 1, 10, 1);
	add_bpf(&paths, 5, 1, 20, 1);
	add_signal(&paths, 0, 1, 10, 1, 1);
	add_signal(&paths, 5, 1, 20, 1, 1);
	add_signal(&paths, 5, 1, 21, 1, 1);
	make_pairs(&pairs, &paths, 0, 0);
	assert_int_equal(pairs.count, 1);
	assert_int_equal(pairs.bpf_only, 1);
	assert_int_equal(pairs.signal_only, 2);
	assert_int_equal(pairs.alone[SDW_ALONE_BEFORE_AGENT], 1);
	assert_int_equal(pairs.alone[SDW_ALONE_BPF_UNEXPLAINED], 2);
	sdw_pairs_free(&pairs);
}

static void test_overflows_while_a_signal_is_pending_are_coalesced(void **state)
{
	struct paths paths = {0};
	struct sdw_pairs pairs;

	(void)state;
	add_bpf(&paths, 1, 1, 1 * MS, 1);
	add_bpf(&paths, 2, 1, 2 * MS, 1);
	add_bpf(&paths, 3, 1, 3 * MS, 1);
	add_bpf(&paths, 4, 1, 5 * MS, 1);
	add_signal(&paths, 1, 1, 1 * MS, 3 * MS, 1);
	add_signal(&paths, 4, 1, 5 * MS, 1, 1);
	make_pairs(&pairs, &paths, 0, 0);
	assert_int_equal(pairs.count, 2);
	expect_alone(&pairs, SDW_ALONE_COALESCED, 2);
	sdw_pairs_free(&pairs);
}

static void test_what_comes_before_the_first_signal_of_a_thread_is_before_the_agent(void **state)
{
	struct paths paths = {0};
	struct sdw_pairs pairs;

	(void)state;
	for (uint64_t i = 1; i <= 5; i++)
		add_bpf(&paths, i, 1, i * MS, 1);
	add_signal(&paths, 5, 1, 5 * MS, 1, 1);
	make_pairs(&pairs, &paths, 0, 0);
	expect_alone(&pairs, SDW_ALONE_BEFORE_AGENT, 4);
	sdw_pairs_free(&pairs);
}

static void test_a_thread_without_any_signal_is_named(void **state)
{
	struct paths paths = {0};
	struct sdw_pairs pairs;

	(void)state;
	add_bpf(&paths, 1, 1, 1 * MS, 1);
	add_signal(&paths, 1, 1, 1 * MS, 1, 1);
	add_bpf(&paths, 2, 2, 1 * MS, 1);
	add_bpf(&paths, 3, 2, 2 * MS, 1);
	make_pairs(&pairs, &paths, 0, 0);
	expect_alone(&pairs, SDW_ALONE_NO_SIGNAL, 2);
	sdw_pairs_free(&pairs);
}

static void test_an_ending_thread_has_overflows_in_the_kernel_and_few_in_user_mode(void **state)
{
	struct paths paths = {0};
	struct sdw_pairs pairs;

	(void)state;
	add_bpf(&paths, 1, 1, 1 * MS, 1);
	add_signal(&paths, 1, 1, 1 * MS, 1, 1);
	add_bpf(&paths, 2, 1, 2 * MS, 1);
	for (uint64_t i = 3; i < 20; i++)
		add_bpf(&paths, i, 1, i * MS, 1)->kernel_mode = true;
	make_pairs(&pairs, &paths, 0, 0);
	expect_alone(&pairs, SDW_ALONE_THREAD_ENDED, 18);
	sdw_pairs_free(&pairs);
}

static void test_signals_that_stop_for_no_reason_are_not_explained_away(void **state)
{
	struct paths paths = {0};
	struct sdw_pairs pairs;

	(void)state;
	for (uint64_t i = 1; i < 20; i++)
		add_bpf(&paths, i, 1, i * MS, 1);
	add_signal(&paths, 1, 1, 1 * MS, 1, 1);
	add_signal(&paths, 3, 1, 3 * MS, 1, 1);
	make_pairs(&pairs, &paths, 0, 0);
	expect_alone(&pairs, SDW_ALONE_SIGNAL_UNEXPLAINED, 17);
	sdw_pairs_free(&pairs);
}

static void test_counted_losses_explain_as_many_as_they_count(void **state)
{
	struct paths paths = {0};
	struct sdw_pairs pairs;

	(void)state;
	for (uint64_t i = 1; i <= 5; i++) {
		if (i != 2)
			add_bpf(&paths, i, 1, i * MS, 1);
		if (i != 3 && i != 4)
			add_signal(&paths, i, 1, i * MS, 1, 1);
	}
	make_pairs(&pairs, &paths, 9, 1);
	assert_int_equal(pairs.count, 2);
	assert_int_equal(pairs.alone[SDW_ALONE_AGENT_LOST], 1);
	assert_int_equal(pairs.alone[SDW_ALONE_SIGNAL_UNEXPLAINED], 1);
	assert_int_equal(pairs.alone[SDW_ALONE_BPF_LOST], 1);
	assert_int_equal(pairs.alone[SDW_ALONE_BPF_UNEXPLAINED], 0);
	sdw_pairs_free(&pairs);
}

static void test_nothing_at_all_is_no_pair(void **state)
{
	struct paths paths = {0};
	struct sdw_pairs pairs;

	(void)state;
	make_pairs(&pairs, &paths, 3, 3);
	assert_int_equal(pairs.count, 0);
	expect_alone(&pairs, 0, 0);
	sdw_pairs_free(&pairs);
}

static void test_percentiles_are_delays_that_were_there(void **state)
{
	struct sdw_delays delays = {0};

	(void)state;
	assert_int_equal(sdw_delays_percentile(&delays, 50), 0);
	for (uint64_t i = 100; i > 0; i--)
		assert_int_equal(sdw_delays_add(&delays, i * 10), 0);
	sdw_delays_sort(&delays);
	assert_int_equal(sdw_delays_percentile(&delays, 0), 10);
	assert_int_equal(sdw_delays_percentile(&delays, 50), 500);
	assert_int_equal(sdw_delays_percentile(&delays, 99), 990);
	assert_int_equal(sdw_delays_percentile(&delays, 99.5), 1000);
	assert_int_equal(sdw_delays_percentile(&delays, 100), 1000);
	sdw_delays_free(&delays);
}

static void test_the_histogram_has_every_delay_in_its_class(void **state)
{
	const uint64_t values[] = {0, 99, 100, 130, 999, 1010, 1000000, UINT64_MAX};
	uint64_t classes[SDW_DELAY_CLASSES], sum = 0;
	struct sdw_delays delays = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++)
		assert_int_equal(sdw_delays_add(&delays, values[i]), 0);
	sdw_delays_histogram(&delays, classes);
	for (unsigned int i = 0; i < SDW_DELAY_CLASSES; i++)
		sum += classes[i];
	assert_int_equal(sum, 8);
	assert_int_equal(classes[0], 3); /* up to 100 ns */
	assert_int_equal(classes[1], 1); /* 126 to 158 ns */
	assert_int_equal(classes[9], 1);
	assert_int_equal(classes[10], 1); /* 1000 to 1259 ns */
	assert_int_equal(classes[SDW_DELAY_CLASSES - 1], 1);
	assert_true(sdw_delay_class_begin(10) > 999.9 && sdw_delay_class_begin(10) < 1000.1);
	sdw_delays_free(&delays);
}

#define MAIN	 "main@app.py:1:12;"
#define MAIN_LIB "n main@/lib/a.so;"

static struct sdw_verdict judge(struct builder *b, const char *bpf, const char *signal)
{
	uint32_t left = builder_stack(b, bpf), right = builder_stack(b, signal);
	struct sdw_agreement agreement;
	struct sdw_verdict verdict;

	assert_int_equal(sdw_agreement_init(&agreement, &b->profile), 0);
	assert_int_equal(sdw_agreement_of(&agreement, left, right, &verdict), 0);
	/* and from what is remembered */
	assert_int_equal(sdw_agreement_of(&agreement, left, right, &verdict), 0);
	sdw_agreement_free(&agreement);
	return verdict;
}

static void test_functions_of_two_ids_are_the_same(void **state)
{
	struct sdw_verdict verdict;
	struct builder b;

	(void)state;
	builder_start(&b, "ns");
	verdict = judge(&b, MAIN "f@app.py:3:4;n memcpy@/lib/libc.so.6",
			MAIN "f@app.py:3:4;n memcpy@/lib/libc.so.6");
	assert_true(verdict.has_python && verdict.has_native);
	assert_true(verdict.same_python && verdict.same_lines && verdict.same_native);
	sdw_profile_free(&b.profile);
}

static void test_kernel_frames_and_markers_are_not_compared(void **state)
{
	struct sdw_verdict verdict;
	struct builder b;

	(void)state;
	builder_start(&b, "ns");
	verdict = judge(&b, MAIN "k do_syscall_64;k vfs_read", "x [truncated];" MAIN);
	assert_true(verdict.has_python && !verdict.has_native);
	assert_true(verdict.same_python && verdict.same_lines && verdict.same_native);
	sdw_profile_free(&b.profile);
}

static void test_lines_differ_by_themselves(void **state)
{
	struct sdw_verdict verdict;
	struct builder b;

	(void)state;
	builder_start(&b, "ns");
	verdict = judge(&b, "main@app.py:1:12;f@app.py:3:4", "main@app.py:1:12;f@app.py:3:5");
	assert_true(verdict.same_python && !verdict.same_lines);
	assert_int_equal(sdw_frame_line(&b.profile, verdict.at[SDW_DIFFERENCE_LINE][0]), 4);
	assert_int_equal(sdw_frame_line(&b.profile, verdict.at[SDW_DIFFERENCE_LINE][1]), 5);
	sdw_profile_free(&b.profile);
}

static void test_native_frames_differ_by_themselves(void **state)
{
	struct sdw_verdict verdict;
	struct builder b;

	(void)state;
	builder_start(&b, "ns");
	verdict = judge(&b, MAIN_LIB MAIN "n read@/lib/libc.so.6", MAIN_LIB MAIN);
	assert_true(verdict.same_python && verdict.same_lines && !verdict.same_native);
	assert_string_equal(sdw_frame_code(&b.profile, verdict.at[SDW_DIFFERENCE_NATIVE][0])->name,
			    "read");
	assert_int_equal(verdict.at[SDW_DIFFERENCE_NATIVE][1], 0);
	sdw_profile_free(&b.profile);
}

static void test_a_name_in_another_file_is_another_function(void **state)
{
	struct sdw_verdict verdict;
	struct builder b;

	(void)state;
	builder_start(&b, "ns");
	verdict = judge(&b, MAIN "f@app.py:3:4", MAIN "f@other.py:3:4");
	assert_true(!verdict.same_python && !verdict.same_lines);
	verdict = judge(&b, MAIN "f@app.py:3:4", MAIN "f@app.py:2:4");
	assert_false(verdict.same_python);
	verdict = judge(&b, "", "");
	assert_true(!verdict.has_python && !verdict.has_native && verdict.same_python);
	sdw_profile_free(&b.profile);
}

/* Twelve overflows of one thread; see the assertions of the test below. */
static void fill(struct builder *b, struct paths *paths)
{
	uint32_t one = builder_stack(b, MAIN "f@app.py:3:4"), two, other;

	two = builder_stack(b, MAIN "f@app.py:3:5");
	other = builder_stack(b, MAIN "g@app.py:7:8");
	for (uint64_t i = 1; i <= 10; i++) {
		add_bpf(paths, i, 1, i * 10 * MS, one);
		add_signal(paths, i, 1, i * 10 * MS, i * 1000, i == 2 ? two : one);
	}
	paths->bpf[4].kernel_mode = true;
	paths->signal[5].blocked = true;
	paths->signal[5].stack = other;
	paths->signal[5].handler_ns += 2 * MS;
	paths->signal[6].wrong_thread = true;
	paths->signal[6].stack = other;
	paths->bpf[7].status = SDW_STATUS_PENDING;
	paths->bpf[7].stack = 0;
	paths->signal[8].handler_ns = 0; /* a clock that is wrong */
	add_bpf(paths, 11, 1, 200 * MS, one);
}

static void test_a_comparison_tells_the_deliveries_apart(void **state)
{
	struct sdw_comparison comparison;
	const struct sdw_delivered *by = comparison.by_delivery;
	const struct sdw_agreement *agreement = &comparison.agreement;
	struct paths paths = {0};
	struct builder b;

	(void)state;
	builder_start(&b, "ns"); /* 1 kHz */
	fill(&b, &paths);
	assert_int_equal(
		sdw_comparison_make(&comparison, &b.profile, &paths.as_bpf, &paths.as_signal, 4, 0),
		0);
	assert_int_equal(comparison.overflows, 15);
	assert_int_equal(comparison.bpf, 11);
	assert_int_equal(comparison.signal, 10);
	assert_int_equal(comparison.pairs.count, 10);
	assert_int_equal(comparison.pairs.alone[SDW_ALONE_THREAD_ENDED], 1);
	assert_int_equal(by[SDW_DELIVERY_USER].pairs, 7);
	assert_int_equal(by[SDW_DELIVERY_KERNEL].pairs, 1);
	assert_int_equal(by[SDW_DELIVERY_BLOCKED].pairs, 1);
	assert_int_equal(by[SDW_DELIVERY_WRONG_THREAD].pairs, 1);
	assert_int_equal(comparison.late_after_ns, 1 * MS);
	assert_int_equal(comparison.late, 1);
	assert_int_equal(comparison.handler_first, 1);
	assert_int_equal(comparison.incomplete, 1);
	assert_int_equal(by[SDW_DELIVERY_USER].agreed[SDW_DIFFERENCE_PYTHON].compared, 6);
	assert_int_equal(by[SDW_DELIVERY_USER].agreed[SDW_DIFFERENCE_PYTHON].agreed, 6);
	assert_int_equal(by[SDW_DELIVERY_USER].agreed[SDW_DIFFERENCE_LINE].agreed, 5);
	assert_int_equal(comparison.all.agreed[SDW_DIFFERENCE_PYTHON].compared, 9);
	assert_int_equal(comparison.all.agreed[SDW_DIFFERENCE_PYTHON].agreed, 7);
	assert_int_equal(comparison.all.agreed[SDW_DIFFERENCE_LINE].compared, 7);
	assert_int_equal(comparison.all.agreed[SDW_DIFFERENCE_NATIVE].compared, 0);
	assert_int_equal(agreement->disagreements.count, 2);
	assert_int_equal(agreement->disagreements.items[0].count, 2);
	assert_int_equal(agreement->disagreements.items[0].what, SDW_DIFFERENCE_PYTHON);
	assert_int_equal(agreement->disagreements.items[1].what, SDW_DIFFERENCE_LINE);
	assert_int_equal(sdw_delays_percentile(&comparison.all.delays, 100), 2 * MS + 6000);
	sdw_comparison_free(&comparison);
	sdw_profile_free(&b.profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pairs_by_key_in_any_order_and_across_threads),
		cmocka_unit_test(test_a_key_is_used_once_and_none_is_no_key),
		cmocka_unit_test(test_overflows_while_a_signal_is_pending_are_coalesced),
		cmocka_unit_test(
			test_what_comes_before_the_first_signal_of_a_thread_is_before_the_agent),
		cmocka_unit_test(test_a_thread_without_any_signal_is_named),
		cmocka_unit_test(
			test_an_ending_thread_has_overflows_in_the_kernel_and_few_in_user_mode),
		cmocka_unit_test(test_signals_that_stop_for_no_reason_are_not_explained_away),
		cmocka_unit_test(test_counted_losses_explain_as_many_as_they_count),
		cmocka_unit_test(test_nothing_at_all_is_no_pair),
		cmocka_unit_test(test_percentiles_are_delays_that_were_there),
		cmocka_unit_test(test_the_histogram_has_every_delay_in_its_class),
		cmocka_unit_test(test_functions_of_two_ids_are_the_same),
		cmocka_unit_test(test_kernel_frames_and_markers_are_not_compared),
		cmocka_unit_test(test_lines_differ_by_themselves),
		cmocka_unit_test(test_native_frames_differ_by_themselves),
		cmocka_unit_test(test_a_name_in_another_file_is_another_function),
		cmocka_unit_test(test_a_comparison_tells_the_deliveries_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
