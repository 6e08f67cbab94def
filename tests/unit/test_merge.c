// SPDX-License-Identifier: MIT
/* test_merge.c - several recordings into one: ids, hosts, clocks, totals, and what is missing. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "trace_events.h"
#include "view/merge.h"
#include "view/profile.h"

struct merged {
	struct sdw_profile profile;
	struct sdw_merge *merge;
};

static int set_up(void **state)
{
	static struct merged merged;

	*state = &merged;
	return sdw_profile_init(&merged.profile, true)
		       ? -1
		       : sdw_merge_create(&merged.profile.sink, &merged.merge);
}

static int tear_down(void **state)
{
	struct merged *merged = *state;

	sdw_merge_free(merged->merge);
	sdw_profile_free(&merged->profile);
	return 0;
}

/* A recording with one process, thread, function and stack, all with id 1, and one sample. */
static struct sdw_sink *add(struct merged *merged, const char *host, uint64_t boot_ns)
{
	struct sdw_sink *sink = sdw_merge_add(merged->merge);
	struct sdw_recording recording = plain_recording;

	recording.hostname = host;
	recording.start_unix_ns -= boot_ns; /* its clock began so much earlier */
	assert_non_null(sink);
	assert_int_equal(send(sink, recording, recording), 0);
	assert_int_equal(
		send(sink, process, (struct sdw_process_event){.id = 1, .pid = 7, .comm = "app"}),
		0);
	assert_int_equal(
		send(sink, thread,
		     (struct sdw_thread_event){.id = 1, .process = 1, .tid = 7, .name = "main"}),
		0);
	assert_int_equal(
		send(sink, code, (struct sdw_code_event){.id = 1, .name = "f", .file = "a.py"}), 0);
	assert_int_equal(send(sink, frame, (struct sdw_frame_event){.id = 1, .code = 1, .line = 3}),
			 0);
	assert_int_equal(send(sink, stack, (struct sdw_stack_event){.id = 1, .frame = 1}), 0);
	assert_int_equal(send(sink, sample,
			      (struct sdw_sample_event){
				      .time_ns = 5000000100, .thread = 1, .stack = 1, .weight = 5}),
			 0);
	return sink;
}

static void test_processes_of_two_hosts_stay_apart(void **state)
{
	struct merged *merged = *state;
	const struct sdw_profile *profile = &merged->profile;

	sdw_merge_add_host(merged->merge, "web1");
	sdw_merge_add_host(merged->merge, "web2");
	add(merged, "web1", 0);
	add(merged, "web2", 1000);
	assert_int_equal(profile->processes.count, 3);
	assert_string_equal(profile->processes.items[1].comm, "app@web1");
	assert_string_equal(profile->processes.items[2].comm, "app@web2");
	assert_int_equal(profile->threads.items[2].process, 2);
	assert_int_equal(profile->frames.items[2].code, 2);
	assert_string_equal(profile->recording.hostname, "web1; web2");
	assert_string_equal(profile->recording.command, "python3 app.py");
	/* the same moment of its own clock was 1000 ns earlier */
	assert_int_equal(profile->samples.items[0].time_ns, 5000000100);
	assert_int_equal(profile->samples.items[1].time_ns, 4999999100);
	assert_int_equal(profile->samples.items[1].thread, 2);
	assert_int_equal(profile->samples.items[1].stack, 2);
	assert_int_equal(profile->recording.start_ns, 4999999000);
}

static void test_of_one_host_names_stay_as_they_are(void **state)
{
	struct merged *merged = *state;

	add(merged, "web1", 0);
	add(merged, "web1", 0);
	assert_string_equal(merged->profile.processes.items[2].comm, "app");
	assert_string_equal(merged->profile.recording.hostname, "web1");
}

static void test_totals_are_those_of_all(void **state)
{
	struct merged *merged = *state;
	struct sdw_sink *first = add(merged, "web1", 0), *second = add(merged, "web1", 0);
	struct sdw_totals totals = {.duration_ns = 100,
				    .overflows = 3,
				    .processes = 1,
				    .threads = 1,
				    .status = {2},
				    .lost = {1},
				    .complete = true};

	assert_int_equal(send(first, totals, totals), 0);
	assert_false(merged->profile.totals.complete); /* the other one has not told */
	totals.duration_ns = 400;
	assert_int_equal(send(second, totals, totals), 0);
	assert_true(merged->profile.totals.complete);
	assert_int_equal(merged->profile.totals.overflows, 6);
	assert_int_equal(merged->profile.totals.status[0], 4);
	assert_int_equal(merged->profile.totals.lost[0], 2);
	assert_int_equal(merged->profile.totals.duration_ns, 400);
	assert_int_equal(merged->profile.totals.processes, 2);
}

static void test_what_was_not_defined_is_a_marker(void **state)
{
	struct merged *merged = *state;
	struct sdw_profile *profile = &merged->profile;
	struct sdw_sink *sink = add(merged, "web1", 0);
	const struct sdw_profile_stack *stack;

	/* its caller, 8, was lost */
	assert_int_equal(
		send(sink, stack, (struct sdw_stack_event){.id = 9, .parent = 8, .frame = 1}), 0);
	assert_int_equal(
		send(sink, sample,
		     (struct sdw_sample_event){.time_ns = 5000000200, .thread = 1, .stack = 9}),
		0);
	stack = &profile->stacks.items[profile->samples.items[1].stack];
	assert_int_equal(stack->depth, 2);
	assert_string_equal(profile->codes.items[profile->frames.items[stack->frame].code].name,
			    "f");
	stack = &profile->stacks.items[stack->parent];
	assert_int_equal(stack->parent, 0);
	assert_string_equal(profile->codes.items[profile->frames.items[stack->frame].code].name,
			    "[not in this trace]");
	assert_int_equal(profile->codes.items[profile->frames.items[stack->frame].code].kind,
			 SDW_CODE_MARKER);
	/* told again, as in a live session: nothing new */
	assert_int_equal(
		send(sink, stack, (struct sdw_stack_event){.id = 9, .parent = 8, .frame = 1}), 0);
	assert_int_equal(profile->stacks.count, 4);
}

static void test_samples_of_different_events_do_not_add_up(void **state)
{
	struct merged *merged = *state;
	struct sdw_recording recording = plain_recording;

	add(merged, "web1", 0);
	recording.event = "cycles";
	recording.unit = "events";
	assert_int_equal(send(sdw_merge_add(merged->merge), recording, recording), -EINVAL);
	assert_string_equal(
		sdw_merge_problem(merged->merge),
		"samples of cpu-clock and of cycles cannot be added up: one of them at a time");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_processes_of_two_hosts_stay_apart, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_of_one_host_names_stay_as_they_are, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_totals_are_those_of_all, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_what_was_not_defined_is_a_marker, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_samples_of_different_events_do_not_add_up,
						set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
