// SPDX-License-Identifier: MIT
/* test_profile.c - a profile holds what it was sent, adds samples up, and refuses what breaks the
 * schema. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/strings.h"
#include "view/profile.h"

#define send(profile, what, ...) ((profile)->sink.ops->what(&(profile)->sink, &(__VA_ARGS__)))

static int setup(void **state)
{
	static struct sdw_profile profile;

	*state = &profile;
	return sdw_profile_init(&profile, false);
}

static int teardown(void **state)
{
	sdw_profile_free(*state);
	return 0;
}

/* One process with two threads, and the stacks main and main > work. */
static void send_definitions(struct sdw_profile *p)
{
	char comm[] = "python3", name[] = "work";

	assert_int_equal(
		0, send(p, process, (struct sdw_process_event){.id = 1, .pid = 10, .comm = comm}));
	for (uint32_t id = 1; id <= 2; id++)
		assert_int_equal(
			0, send(p, thread,
				(struct sdw_thread_event){
					.id = id, .process = 1, .tid = 9 + id, .name = comm}));
	assert_int_equal(
		0, send(p, code, (struct sdw_code_event){.id = 1, .name = "main", .file = "a.py"}));
	assert_int_equal(0, send(p, code,
				 (struct sdw_code_event){
					 .id = 2, .name = name, .file = "a.py", .first_line = 7}));
	memset(comm, 'x', sizeof(comm) - 1); /* the profile must not point at the sender's memory */
	memset(name, 'x', sizeof(name) - 1);
	for (uint32_t id = 1; id <= 2; id++) {
		assert_int_equal(
			0, send(p, frame,
				(struct sdw_frame_event){.id = id, .code = id, .line = 7 + id}));
		assert_int_equal(
			0, send(p, stack,
				(struct sdw_stack_event){.id = id, .parent = id - 1, .frame = id}));
	}
}

static void sample(struct sdw_profile *p, uint64_t time_ns, uint32_t thread, uint32_t stack,
		   uint8_t status)
{
	assert_int_equal(0, send(p, sample,
				 (struct sdw_sample_event){.time_ns = time_ns,
							   .thread = thread,
							   .stack = stack,
							   .weight = 1000,
							   .status = status}));
}

static void test_definitions_are_found_by_their_ids(void **state)
{
	struct sdw_profile *p = *state;

	send_definitions(p);
	assert_int_equal(p->processes.count, 2);
	assert_string_equal(p->processes.items[1].comm, "python3");
	assert_int_equal(p->threads.items[2].tid, 11);
	assert_string_equal(p->codes.items[2].name, "work");
	assert_int_equal(p->codes.items[2].first_line, 7);
	assert_int_equal(p->frames.items[2].line, 9);
	assert_int_equal(p->stacks.items[2].parent, 1);
	assert_int_equal(p->stacks.items[2].depth, 2);
	assert_ptr_equal(p->codes.items[1].file, p->codes.items[2].file);
}

static void test_samples_add_up_by_thread_stack_and_status(void **state)
{
	struct sdw_profile *p = *state;
	const struct sdw_profile_bucket *b = NULL;

	send_definitions(p);
	sample(p, 100, 1, 2, SDW_STATUS_COMPLETE);
	sample(p, 200, 2, 2, SDW_STATUS_COMPLETE);
	sample(p, 300, 1, 2, SDW_STATUS_COMPLETE);
	sample(p, 400, 1, 2, SDW_STATUS_TRUNCATED);
	sample(p, 500, 1, 0, SDW_STATUS_NO_PYTHON);
	assert_int_equal(p->buckets.count, 4);
	b = &p->buckets.items[0];
	assert_int_equal(b->thread, 1);
	assert_int_equal(b->stack, 2);
	assert_int_equal(b->samples, 2);
	assert_int_equal(b->weight, 2000);
	assert_int_equal(b->first_ns, 100);
	assert_int_equal(b->last_ns, 300);
	assert_int_equal(p->buckets.items[2].status, SDW_STATUS_TRUNCATED);
	assert_int_equal(p->samples.count, 0);
}

static void test_many_stacks_each_keep_their_own_count(void **state)
{
	struct sdw_profile *p = *state;
	enum { STACKS = 20000 };

	send_definitions(p);
	for (uint32_t id = 3; id <= STACKS; id++)
		assert_int_equal(
			0, send(p, stack,
				(struct sdw_stack_event){.id = id, .parent = id - 1, .frame = 2}));
	for (uint32_t round = 0; round < 3; round++) {
		for (uint32_t id = round; id <= STACKS; id++)
			sample(p, 1, 1, id, SDW_STATUS_COMPLETE);
	}
	assert_int_equal(p->buckets.count, STACKS + 1);
	for (uint32_t id = 0; id <= STACKS; id++) {
		assert_int_equal(p->buckets.items[id].stack, id);
		assert_int_equal(p->buckets.items[id].samples, id < 2 ? id + 1 : 3);
	}
	assert_int_equal(p->stacks.items[STACKS].depth, STACKS);
}

static void test_samples_are_kept_one_by_one_when_asked_for(void **state)
{
	struct sdw_profile p;

	(void)state;
	assert_int_equal(0, sdw_profile_init(&p, true));
	send_definitions(&p);
	sample(&p, 100, 1, 2, SDW_STATUS_COMPLETE);
	sample(&p, 200, 1, 2, SDW_STATUS_COMPLETE);
	assert_int_equal(p.samples.count, 2);
	assert_int_equal(p.samples.items[1].time_ns, 200);
	assert_int_equal(p.samples.items[1].weight, 1000);
	sdw_profile_free(&p);
}

/* LTTng's are in order of when they were written; views rely on when they were taken. */
static void test_samples_are_brought_in_order_of_time(void **state)
{
	struct sdw_profile p;

	(void)state;
	assert_int_equal(0, sdw_profile_init(&p, true));
	send_definitions(&p);
	sample(&p, 300, 1, 2, SDW_STATUS_COMPLETE);
	sample(&p, 100, 1, 2, SDW_STATUS_COMPLETE);
	sample(&p, 200, 1, 2, SDW_STATUS_COMPLETE);
	assert_int_equal(p.buckets.items[0].first_ns, 100);
	assert_int_equal(p.buckets.items[0].last_ns, 300);
	sdw_profile_sort(&p);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(p.samples.items[i].time_ns, 100 * (i + 1));
	sdw_profile_free(&p);
}

/* Where BPF took samples, those of the signals are beside them; where not, they are the samples. */
static void test_samples_of_signals_count_where_there_are_no_others(void **state)
{
	struct sdw_signal_sample_event event = {
		.time_ns = 5, .thread = 1, .stack = 2, .weight = 1000, .pair = 3};

	(void)state;
	for (uint8_t path = SDW_PATH_SIGNAL; path <= SDW_PATH_BOTH; path++) {
		struct sdw_profile p;
		size_t counted = path == SDW_PATH_SIGNAL;

		assert_int_equal(0, sdw_profile_init(&p, true));
		assert_int_equal(0, send(&p, recording, (struct sdw_recording){.path = path}));
		send_definitions(&p);
		assert_int_equal(0, send(&p, signal_sample, event));
		assert_int_equal(p.signal_samples.count, 1);
		assert_int_equal(p.signal_samples.items[0].pair, 3);
		assert_int_equal(p.samples.count, counted);
		assert_int_equal(p.buckets.count, counted);
		event.stack = 3;
		assert_int_equal(-EINVAL, send(&p, signal_sample, event));
		event.stack = 2;
		sdw_profile_free(&p);
	}
}

static void test_losses_and_the_last_totals_are_kept(void **state)
{
	struct sdw_profile *p = *state;
	struct sdw_totals totals = {.overflows = 7, .lost[SDW_LOST_RING_FULL] = 7};

	assert_int_equal(0, send(p, lost,
				 (struct sdw_lost_event){.time_ns = 9,
							 .begin_ns = 5,
							 .count = 7,
							 .reason = SDW_LOST_RING_FULL}));
	assert_int_equal(0, send(p, totals, totals));
	totals = (struct sdw_totals){.overflows = 8, .complete = true};
	assert_int_equal(0, send(p, totals, totals));
	assert_int_equal(p->lost.count, 1);
	assert_int_equal(p->lost.items[0].count, 7);
	assert_int_equal(p->totals.overflows, 8);
	assert_int_equal(p->totals.lost[SDW_LOST_RING_FULL], 0);
	assert_true(p->totals.complete);
}

static void test_the_recording_is_copied(void **state)
{
	struct sdw_profile *p = *state;
	char command[] = "python3 app.py";
	struct sdw_recording recording = {.version = "0",
					  .hostname = "h",
					  .command = command,
					  .event = "cpu-clock",
					  .unit = "ns",
					  .period = 1000000};

	assert_string_equal(p->recording.command, "");
	assert_int_equal(0, send(p, recording, recording));
	memset(command, 'x', sizeof(command) - 1);
	assert_string_equal(p->recording.command, "python3 app.py");
	assert_int_equal(p->recording.period, 1000000);
}

static void test_what_breaks_the_schema_is_refused(void **state)
{
	struct sdw_profile *p = *state;

	send_definitions(p);
	assert_int_equal(-EINVAL, send(p, process, (struct sdw_process_event){.id = 3}));
	assert_int_equal(-EINVAL,
			 send(p, process, (struct sdw_process_event){.id = 2, .parent = 2}));
	assert_int_equal(-EINVAL, send(p, thread, (struct sdw_thread_event){.id = 3}));
	assert_int_equal(-EINVAL, send(p, code, (struct sdw_code_event){.id = 3, .kind = 99}));
	assert_int_equal(-EINVAL, send(p, frame, (struct sdw_frame_event){.id = 3, .code = 3}));
	assert_int_equal(-EINVAL, send(p, stack, (struct sdw_stack_event){.id = 3, .parent = 3}));
	assert_int_equal(-EINVAL, send(p, stack, (struct sdw_stack_event){.id = 2, .frame = 1}));
	assert_int_equal(-EINVAL, send(p, sample, (struct sdw_sample_event){.thread = 3}));
	assert_int_equal(-EINVAL, send(p, sample, (struct sdw_sample_event){.thread = 0}));
	assert_int_equal(-EINVAL,
			 send(p, sample, (struct sdw_sample_event){.thread = 1, .stack = 3}));
	assert_int_equal(-EINVAL,
			 send(p, sample,
			      (struct sdw_sample_event){.thread = 1, .status = SDW_STATUS_COUNT}));
	assert_int_equal(-EINVAL, send(p, lost, (struct sdw_lost_event){.reason = SDW_LOST_COUNT}));
	assert_int_equal(p->processes.count, 2);
	assert_int_equal(p->stacks.count, 3);
	assert_int_equal(p->buckets.count, 0);
}

/* Frames 3 to 6 and stacks 3 to 6: two expressions of one line, each with and without a callee. */
static void send_expressions(struct sdw_profile *p)
{
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(0, send(p, frame,
					 (struct sdw_frame_event){.id = 3 + i,
								  .code = 1,
								  .line = 50,
								  .column = (uint16_t)(1 + i),
								  .end_column = 9,
								  .end_line = 50}));
		assert_int_equal(0, send(p, stack,
					 (struct sdw_stack_event){
						 .id = 3 + i, .parent = 2, .frame = 3 + i}));
	}
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(0, send(p, stack,
					 (struct sdw_stack_event){
						 .id = 5 + i, .parent = 3 + i, .frame = 2}));
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(0, send(p, sample,
					 (struct sdw_sample_event){
						 .thread = 1, .stack = 3 + i, .weight = 10}));
}

static void test_expressions_of_a_line_are_one_frame(void **state)
{
	struct sdw_profile *p = *state;

	send_definitions(p);
	send_expressions(p);
	assert_int_equal(p->frames.count, 4);
	assert_int_equal(p->frames.items[3].line, 50);
	assert_int_equal(p->frames.items[3].column, 0);
	assert_int_equal(p->stacks.count, 5);
	assert_int_equal(p->stacks.items[4].parent, 3);
	assert_int_equal(p->stacks.items[4].frame, 2);
	assert_int_equal(p->stacks.items[4].depth, p->stacks.items[3].depth + 1);
	assert_int_equal(p->buckets.count, 2);
	assert_int_equal(p->buckets.items[0].stack, 3);
	assert_int_equal(p->buckets.items[0].samples, 2);
	assert_int_equal(p->buckets.items[1].stack, 4);
	/* ids are the trace's: 5 is the next frame, 7 the next stack; what was never told is
	 * refused */
	assert_int_equal(-EINVAL, send(p, frame, (struct sdw_frame_event){.id = 4, .code = 1}));
	assert_int_equal(-EINVAL, send(p, stack, (struct sdw_stack_event){.id = 5, .frame = 1}));
	assert_int_equal(-EINVAL,
			 send(p, sample, (struct sdw_sample_event){.thread = 1, .stack = 7}));
	assert_int_equal(0,
			 send(p, frame, (struct sdw_frame_event){.id = 5, .code = 1, .line = 51}));
	assert_int_equal(p->frames.items[4].line, 51);
}

static void test_expressions_are_kept_apart_if_asked_for(void **state)
{
	struct sdw_profile *p = *state;

	p->keep_columns = true;
	send_definitions(p);
	send_expressions(p);
	assert_int_equal(p->frames.count, 5);
	assert_int_equal(p->frames.items[4].column, 2);
	assert_int_equal(p->frames.items[4].end_column, 9);
	assert_int_equal(p->stacks.count, 7);
	assert_int_equal(p->buckets.count, 4);
}

static void test_equal_strings_are_kept_once_and_long_ones_whole(void **state)
{
	static char large[200000];
	struct sdw_strings strings = {0};
	const char *first, *again;
	char name[32];

	(void)state;
	memset(large, 'a', sizeof(large) - 1);
	first = sdw_strings_keep(&strings, large);
	assert_string_equal(first, large);
	assert_ptr_equal(first, sdw_strings_keep(&strings, large));
	for (int i = 0; i < 50000; i++) {
		snprintf(name, sizeof(name), "name %d", i % 25000);
		again = sdw_strings_keep(&strings, name);
		assert_string_equal(again, name);
	}
	assert_int_equal(strings.entries.count, 1 + 1 + 25000);
	assert_string_equal(sdw_strings_keep(&strings, ""), "");
	sdw_strings_free(&strings);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(test_definitions_are_found_by_their_ids),
		TEST(test_samples_add_up_by_thread_stack_and_status),
		TEST(test_many_stacks_each_keep_their_own_count),
		TEST(test_samples_are_kept_one_by_one_when_asked_for),
		cmocka_unit_test(test_samples_are_brought_in_order_of_time),
		cmocka_unit_test(test_samples_of_signals_count_where_there_are_no_others),
		TEST(test_losses_and_the_last_totals_are_kept),
		TEST(test_the_recording_is_copied),
		TEST(test_what_breaks_the_schema_is_refused),
		TEST(test_expressions_of_a_line_are_one_frame),
		TEST(test_expressions_are_kept_apart_if_asked_for),
		TEST(test_equal_strings_are_kept_once_and_long_ones_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
