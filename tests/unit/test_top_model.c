// SPDX-License-Identifier: MIT
/* What samples add up to in `top`: now, since the start, by function, line, thread, caller. */
#include "top_builder.h"

static void assert_amounts(const struct top_builder *builder, const char *name, uint64_t self_now,
			   uint64_t total_now, uint64_t self_start, uint64_t total_start)
{
	const struct sdw_top_item *item = top_find(builder, name);

	if (!item)
		fail_msg("no row '%s'", name);
	assert_int_equal(item->amounts[SDW_TOP_SORT_SELF_NOW], self_now);
	assert_int_equal(item->amounts[SDW_TOP_SORT_TOTAL_NOW], total_now);
	assert_int_equal(item->amounts[SDW_TOP_SORT_SELF_START], self_start);
	assert_int_equal(item->amounts[SDW_TOP_SORT_TOTAL_START], total_start);
}

static uint32_t one_thread(struct top_builder *builder)
{
	top_start(builder, "ns", 5);
	return top_thread(builder, top_process(builder, 10, "python3"), 10, "main");
}

static void test_self_is_the_innermost_total_the_whole_stack(void **state)
{
	struct top_builder builder;
	uint32_t thread = one_thread(&builder);

	(void)state;
	top_samples(&builder, thread, "main@a.py:1:2;work@a.py:5:6", 3);
	top_samples(&builder, thread, "main@a.py:1:3", 1);
	top_update(&builder, 250);
	top_list(&builder);
	assert_int_equal(builder.list.count, 2);
	assert_string_equal(builder.list.items[0].name, "work");
	assert_amounts(&builder, "work", 3, 3, 3, 3);
	assert_amounts(&builder, "main", 1, 4, 1, 4);
	assert_int_equal(builder.list.whole[SDW_TOP_NOW], 4);
	top_end(&builder);
}

static void test_what_python_calls_in_c_is_its_own_unless_all_frames_count(void **state)
{
	struct top_builder builder;
	uint32_t thread = one_thread(&builder);

	(void)state;
	top_samples(&builder, thread, "n _start@/bin/python3;main@a.py:1:2;n memcpy@/lib/libc.so.6",
		    5);
	top_update(&builder, 250);
	top_list(&builder);
	assert_int_equal(builder.list.count, 1);
	assert_amounts(&builder, "main", 5, 5, 5, 5);
	builder.view.frames = SDW_TOP_ALL;
	top_list(&builder);
	assert_int_equal(builder.list.count, 3);
	assert_amounts(&builder, "memcpy", 5, 5, 5, 5);
	assert_amounts(&builder, "main", 0, 5, 0, 5);
	top_end(&builder);
}

static void test_stack_without_python_keeps_its_rows(void **state)
{
	struct top_builder builder;
	uint32_t thread = one_thread(&builder);

	(void)state;
	top_samples(&builder, thread, "n start@/bin/x;n loop@/bin/x", 2);
	top_update(&builder, 250);
	top_list(&builder);
	assert_amounts(&builder, "loop", 2, 2, 2, 2);
	assert_amounts(&builder, "start", 0, 2, 0, 2);
	top_end(&builder);
}

static void test_recursion_counts_once_in_total_and_as_caller(void **state)
{
	struct top_builder builder;
	uint32_t thread = one_thread(&builder);

	(void)state;
	top_samples(&builder, thread, "main@a.py:1:2;fib@a.py:5:6;fib@a.py:5:6;fib@a.py:5:6", 7);
	top_update(&builder, 250);
	top_list(&builder);
	assert_amounts(&builder, "fib", 7, 7, 7, 7);
	builder.view.selected = 0;
	sdw_top_view_key(&builder.view, &builder.list, SDW_TOP_KEY_ENTER);
	top_list(&builder);
	assert_int_equal(builder.list.count, 2);
	assert_amounts(&builder, "fib", 7, 7, 7, 7);
	assert_amounts(&builder, "main", 7, 7, 7, 7);
	assert_int_equal(builder.list.whole[SDW_TOP_START], 7);
	top_end(&builder);
}

static void test_lines_are_those_that_run(void **state)
{
	struct top_builder builder;
	uint32_t thread = one_thread(&builder);

	(void)state;
	top_samples(&builder, thread, "main@a.py:1:2", 1);
	top_samples(&builder, thread, "main@a.py:1:3", 2);
	top_update(&builder, 250);
	builder.view.by = SDW_TOP_BY_LINE;
	top_list(&builder);
	assert_int_equal(builder.list.count, 2);
	assert_int_equal(builder.list.items[0].line, 3);
	assert_int_equal(builder.list.items[0].amounts[SDW_TOP_SORT_SELF_NOW], 2);
	assert_int_equal(builder.list.items[1].line, 2);
	top_end(&builder);
}

static void test_now_forgets_what_is_older_than_the_window_and_start_does_not(void **state)
{
	struct top_builder builder;
	uint32_t thread = one_thread(&builder);

	(void)state;
	top_samples(&builder, thread, "old@a.py:1:2;leaf@a.py:9:9", 4);
	for (uint64_t ms = 250; ms <= 3000; ms += 250)
		top_update(&builder, ms);
	top_samples(&builder, thread, "new@a.py:5:6;leaf@a.py:9:9", 2);
	for (uint64_t ms = 3250; ms < 5250; ms += 250)
		top_update(&builder, ms);
	top_list(&builder);
	assert_amounts(&builder, "old", 0, 4, 0, 4);
	assert_amounts(&builder, "leaf", 6, 6, 6, 6);
	top_update(&builder, 5250); /* the first slot began at 0 and ended at 250 ms */
	top_list(&builder);
	assert_amounts(&builder, "old", 0, 0, 0, 4);
	assert_amounts(&builder, "leaf", 2, 2, 6, 6);
	assert_int_equal(builder.model.counts.sums[SDW_TOP_NOW].samples, 2);
	assert_int_equal(builder.model.counts.sums[SDW_TOP_NOW].duration_ns, 5 * SECOND);
	assert_int_equal(builder.model.counts.sums[SDW_TOP_START].samples, 6);
	assert_int_equal(builder.model.counts.sums[SDW_TOP_START].duration_ns, 5250000000);
	/* long after, nothing is left of now, and every figure is back at nothing */
	for (uint64_t s = 6; s < 30; s++)
		top_update(&builder, s * 1000);
	top_list(&builder);
	assert_amounts(&builder, "leaf", 0, 0, 6, 6);
	for (size_t i = 0; i < SDW_CODE_KIND_COUNT; i++)
		assert_int_equal(builder.model.counts.sums[SDW_TOP_NOW].kinds[i], 0);
	for (size_t i = 0; i < builder.model.counts.edges.count; i++)
		assert_int_equal(builder.model.counts.edges.items[i].amount[SDW_TOP_NOW], 0);
	top_end(&builder);
}

static void test_memory_does_not_grow_with_time(void **state)
{
	struct top_builder builder;
	uint32_t thread = one_thread(&builder);
	size_t edges = 0;

	(void)state;
	for (uint64_t ms = 250; ms < 400000; ms += 250) {
		top_samples(&builder, thread, "main@a.py:1:2;work@a.py:5:6", 3);
		top_update(&builder, ms);
		if (!edges)
			edges = builder.model.counts.edges.room;
	}
	assert_int_equal(builder.model.counts.edges.room, edges);
	assert_int_equal(builder.model.counts.sums[SDW_TOP_NOW].samples, 60);
	assert_int_equal(builder.model.counts.sums[SDW_TOP_START].samples, 1599 * 3);
	top_end(&builder);
}

static void test_shares_of_kinds_lock_and_collector(void **state)
{
	struct top_builder builder;
	uint32_t thread = one_thread(&builder);
	const struct sdw_top_sums *sums = &builder.model.counts.sums[SDW_TOP_NOW];
	struct sdw_sample_event event = {.thread = thread, .weight = 1000000};

	(void)state;
	top_samples(&builder, thread, "main@a.py:1:2", 4);
	event.stack = top_stack(&builder, "main@a.py:1:2;n read@/lib/libc.so.6");
	top_sample_of(&builder, event, 2);
	event.flags = SDW_SAMPLE_KERNEL_MODE;
	top_sample_of(&builder, event, 3);
	event.flags = SDW_SAMPLE_GC | SDW_SAMPLE_HOLDS_GIL;
	event.stack = 0;
	event.status = SDW_STATUS_NO_PYTHON;
	top_sample_of(&builder, event, 1);
	top_update(&builder, 250);
	assert_int_equal(sums->amount, 10);
	assert_int_equal(sums->kinds[SDW_CODE_PYTHON], 4);
	assert_int_equal(sums->kinds[SDW_CODE_NATIVE], 2);
	assert_int_equal(sums->kinds[SDW_CODE_KERNEL], 3);
	assert_int_equal(sums->kinds[SDW_CODE_MARKER], 1);
	assert_int_equal(sums->gil, 5);
	assert_int_equal(sums->gc, 1);
	assert_int_equal(sums->weight, 10000000);
	top_list(&builder);
	assert_amounts(&builder, "no_python", 1, 1, 1, 1);
	top_end(&builder);
}

static void test_threads_and_processes_have_their_shares_and_what_held_the_lock(void **state)
{
	struct top_builder builder;
	uint32_t main_thread = one_thread(&builder), other;
	struct sdw_sample_event event = {.weight = 1000000};

	(void)state;
	other = top_thread(&builder, top_process(&builder, 20, "worker"), 21, "pool");
	top_samples(&builder, main_thread, "main@a.py:1:2", 3);
	event.thread = other;
	event.stack = top_stack(&builder, "main@a.py:1:2");
	top_sample_of(&builder, event, 1);
	top_update(&builder, 250);
	builder.view.by = SDW_TOP_BY_THREAD;
	top_list(&builder);
	assert_int_equal(builder.list.count, 2);
	assert_amounts(&builder, "main", 3, 3, 3, 3);
	assert_amounts(&builder, "pool", 1, 0, 1, 0);
	assert_int_equal(top_find(&builder, "pool")->tid, 21);
	assert_int_equal(top_find(&builder, "pool")->pid, 20);
	builder.view.by = SDW_TOP_BY_PROCESS;
	top_list(&builder);
	assert_amounts(&builder, "worker", 1, 0, 1, 0);
	top_end(&builder);
}

static void test_what_one_thread_or_process_does_now(void **state)
{
	struct top_builder builder;
	uint32_t first = one_thread(&builder), second, other;
	struct sdw_top_counts part = {0};

	(void)state;
	second = top_thread(&builder, 1, 12, "pool");
	other = top_thread(&builder, top_process(&builder, 20, "worker"), 20, "worker");
	top_samples(&builder, first, "main@a.py:1:2;a@a.py:5:6", 3);
	top_samples(&builder, second, "main@a.py:1:2;b@a.py:8:9", 4);
	top_samples(&builder, other, "main@a.py:1:2;a@a.py:5:6", 5);
	top_update(&builder, 250);
	top_samples(&builder, second, "main@a.py:1:2;a@a.py:5:6", 1);
	top_update(&builder, 500);
	builder.view.owner = second;
	for (int i = 0; i < 2; i++) { /* counted anew each time */
		assert_int_equal(sdw_top_model_count_owner(&builder.model, true, second, &part), 0);
		assert_int_equal(
			sdw_top_list_make(&builder.list, &builder.model, &part, &builder.view), 0);
		assert_int_equal(builder.list.whole[SDW_TOP_NOW], 5);
		assert_amounts(&builder, "main", 0, 5, 0, 0);
		assert_amounts(&builder, "b", 4, 4, 0, 0);
		assert_amounts(&builder, "a", 1, 1, 0, 0);
	}
	assert_int_equal(sdw_top_model_count_owner(&builder.model, false, 1, &part), 0);
	assert_int_equal(sdw_top_list_make(&builder.list, &builder.model, &part, &builder.view), 0);
	assert_amounts(&builder, "a", 4, 4, 0, 0);
	assert_amounts(&builder, "b", 4, 4, 0, 0);
	builder.view.drill[builder.view.drilled++] = top_find(&builder, "a")->function;
	assert_int_equal(sdw_top_list_make(&builder.list, &builder.model, &part, &builder.view), 0);
	assert_amounts(&builder, "main", 4, 4, 0, 0);
	/* the counts of all are as they were */
	builder.view.drilled = builder.view.owner = 0;
	top_list(&builder);
	assert_amounts(&builder, "a", 9, 9, 9, 9);
	assert_amounts(&builder, "main", 0, 13, 0, 13);
	sdw_top_counts_free(&part);
	top_end(&builder);
}

static void test_amounts_are_weights_where_samples_differ_in_it(void **state)
{
	struct top_builder builder;
	struct sdw_sample_event event = {0};

	(void)state;
	top_start(&builder, "events", 5);
	event.thread = top_thread(&builder, top_process(&builder, 1, "p"), 1, "p");
	event.stack = top_stack(&builder, "main@a.py:1:2");
	event.weight = 1000;
	top_sample_of(&builder, event, 1);
	event.weight = 50;
	top_sample_of(&builder, event, 1);
	top_update(&builder, 250);
	top_list(&builder);
	assert_amounts(&builder, "main", 1050, 1050, 1050, 1050);
	assert_int_equal(builder.model.counts.sums[SDW_TOP_NOW].samples, 2);
	top_end(&builder);
}

static void test_callers_are_told_by_line_and_where_nobody_called(void **state)
{
	struct top_builder builder;
	uint32_t thread = one_thread(&builder);

	(void)state;
	top_samples(&builder, thread, "a@a.py:1:2;leaf@a.py:9:9", 5);
	top_samples(&builder, thread, "a@a.py:1:3;leaf@a.py:9:9", 2);
	top_samples(&builder, thread, "leaf@a.py:9:9", 1);
	top_update(&builder, 250);
	top_list(&builder);
	assert_string_equal(builder.list.items[0].name, "leaf");
	sdw_top_view_key(&builder.view, &builder.list, SDW_TOP_KEY_ENTER);
	top_list(&builder);
	assert_int_equal(builder.list.count, 3);
	assert_string_equal(builder.list.items[0].name, "a");
	assert_int_equal(builder.list.items[0].line, 2);
	assert_int_equal(builder.list.items[0].amounts[SDW_TOP_SORT_SELF_NOW], 5);
	assert_int_equal(builder.list.items[1].line, 3);
	assert_string_equal(builder.list.items[2].name, "root of the stack");
	assert_int_equal(builder.list.whole[SDW_TOP_NOW], 8);
	top_end(&builder);
}

static void test_copy_stays_while_the_model_goes_on(void **state)
{
	struct top_builder builder;
	uint32_t thread = one_thread(&builder);
	struct sdw_top_counts copy = {0};

	(void)state;
	top_samples(&builder, thread, "main@a.py:1:2", 3);
	top_update(&builder, 250);
	assert_int_equal(sdw_top_counts_copy(&copy, &builder.model.counts), 0);
	top_samples(&builder, thread, "main@a.py:1:2;later@a.py:7:8", 9);
	top_update(&builder, 500);
	assert_int_equal(sdw_top_list_make(&builder.list, &builder.model, &copy, &builder.view), 0);
	assert_int_equal(builder.list.count, 1);
	assert_amounts(&builder, "main", 3, 3, 3, 3);
	top_list(&builder);
	assert_amounts(&builder, "main", 3, 12, 3, 12);
	sdw_top_counts_free(&copy);
	top_end(&builder);
}

static void test_more_threads_than_are_kept_are_one_row(void **state)
{
	struct top_builder builder;
	struct sdw_thread_event thread = {.name = "t"};
	struct sdw_sample_event event = {.weight = 1};

	(void)state;
	top_start(&builder, "ns", 5);
	thread.process = top_process(&builder, 1, "p");
	event.stack = top_stack(&builder, "main@a.py:1:2");
	for (thread.id = 1; thread.id < 70000; thread.id++) {
		thread.tid = thread.id;
		TOP_SEND(&builder, thread, &thread);
	}
	event.thread = 5;
	top_sample_of(&builder, event, 2);
	event.thread = 69999;
	top_sample_of(&builder, event, 1);
	event.thread = 69998;
	top_sample_of(&builder, event, 3);
	top_update(&builder, 250);
	builder.view.by = SDW_TOP_BY_THREAD;
	top_list(&builder);
	assert_int_equal(builder.list.count, 2);
	assert_string_equal(builder.list.items[0].name, "more than is kept");
	assert_int_equal(builder.list.items[0].amounts[SDW_TOP_SORT_SELF_NOW], 4);
	assert_int_equal(builder.list.items[1].tid, 5);
	top_end(&builder);
}

static void test_more_stacks_at_once_than_are_kept_are_one_row(void **state)
{
	struct top_builder builder;
	uint32_t thread = one_thread(&builder), count = 0;
	struct sdw_sample_event event = {.thread = thread, .weight = 1000000};
	struct sdw_frame_event frame = {.code = top_code(&builder, SDW_CODE_PYTHON, "f", "a", 1)};

	(void)state;
	for (; count < builder.model.cells_at_most + 10; count++) {
		struct sdw_stack_event stack = {.id = count + 1, .frame = count + 1};

		frame.id = count + 1;
		frame.line = count + 1;
		TOP_SEND(&builder, frame, &frame);
		TOP_SEND(&builder, stack, &stack);
		event.stack = stack.id;
		top_sample_of(&builder, event, 1);
	}
	top_update(&builder, 250);
	top_list(&builder);
	assert_int_equal(builder.list.count, 2);
	assert_amounts(&builder, "f", count - 10, count - 10, count - 10, count - 10);
	assert_amounts(&builder, "more than is kept", 10, 10, 10, 10);
	assert_int_equal(builder.model.counts.sums[SDW_TOP_NOW].samples, count);
	for (uint64_t ms = 500; ms < 10000; ms += 250)
		top_update(&builder, ms);
	top_list(&builder);
	assert_amounts(&builder, "more than is kept", 0, 0, 10, 10);
	top_end(&builder);
}

static void test_what_breaks_the_schema_is_refused(void **state)
{
	struct top_builder builder;
	uint32_t thread = one_thread(&builder);
	struct sdw_sample_event event = {.thread = thread, .stack = 1};
	struct sdw_lost_event lost = {.reason = SDW_LOST_COUNT};

	(void)state;
	assert_int_not_equal(builder.model.sink.ops->sample(&builder.model.sink, &event), 0);
	event.stack = 0;
	event.status = SDW_STATUS_COUNT;
	assert_int_not_equal(builder.model.sink.ops->sample(&builder.model.sink, &event), 0);
	assert_int_not_equal(builder.model.sink.ops->lost(&builder.model.sink, &lost), 0);
	top_end(&builder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_self_is_the_innermost_total_the_whole_stack),
		cmocka_unit_test(test_what_python_calls_in_c_is_its_own_unless_all_frames_count),
		cmocka_unit_test(test_stack_without_python_keeps_its_rows),
		cmocka_unit_test(test_recursion_counts_once_in_total_and_as_caller),
		cmocka_unit_test(test_lines_are_those_that_run),
		cmocka_unit_test(test_now_forgets_what_is_older_than_the_window_and_start_does_not),
		cmocka_unit_test(test_memory_does_not_grow_with_time),
		cmocka_unit_test(test_shares_of_kinds_lock_and_collector),
		cmocka_unit_test(
			test_threads_and_processes_have_their_shares_and_what_held_the_lock),
		cmocka_unit_test(test_what_one_thread_or_process_does_now),
		cmocka_unit_test(test_amounts_are_weights_where_samples_differ_in_it),
		cmocka_unit_test(test_callers_are_told_by_line_and_where_nobody_called),
		cmocka_unit_test(test_copy_stays_while_the_model_goes_on),
		cmocka_unit_test(test_more_threads_than_are_kept_are_one_row),
		cmocka_unit_test(test_more_stacks_at_once_than_are_kept_are_one_row),
		cmocka_unit_test(test_what_breaks_the_schema_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
