// SPDX-License-Identifier: MIT
/* test_timeline.c - exports with a time axis: what their readers find, thread by thread. */
#include <json-c/json.h>

#include "profile_builder.h"
#include "view/export.h"

static struct json_object *get(struct json_object *object, const char *key)
{
	struct json_object *value = NULL;

	assert_true(json_object_object_get_ex(object, key, &value));
	return value;
}

static struct json_object *at(struct json_object *array, size_t index)
{
	assert_in_range(index, 0, json_object_array_length(array) - 1);
	return json_object_array_get_idx(array, index);
}

static const char *text(struct json_object *object, const char *key)
{
	return json_object_get_string(get(object, key));
}

static int64_t number(struct json_object *object, const char *key)
{
	return json_object_get_int64(get(object, key));
}

static int64_t item(struct json_object *object, const char *key, size_t index)
{
	return json_object_get_int64(at(get(object, key), index));
}

static struct json_object *export(struct builder *builder,
				  int (*write)(const struct sdw_profile *profile, FILE *file))
{
	struct json_object *object;
	char *json = NULL;

	CAPTURE(json, 0, write(&builder->profile, out));
	sdw_profile_free(&builder->profile);
	object = json_tokener_parse(json);
	assert_non_null(object);
	free(json);
	return object;
}

/* Two threads that take turns, the second from 3 ms on; a sample a millisecond. */
static void two_threads(struct builder *b, const char *unit)
{
	uint32_t process, first, second, stack;

	builder_start(b, unit);
	process = builder_process(b, 12, "python3");
	first = builder_thread(b, process, 12, "main\"");
	stack = builder_stack(b, "<module>@/srv/a.py:1:30;f@/srv/a.py:7:9;n memcpy@/lib/libc.so.6");
	builder_sample(b, first, stack, 3, 1000000, SDW_STATUS_COMPLETE);
	second = builder_thread(b, process, 13, "worker");
	b->profile.threads.items[second].first_ns = b->now_ns;
	builder_sample(b, second, builder_stack(b, "g@/srv/b.py:2:4"), 2, 1000000,
		       SDW_STATUS_COMPLETE);
	builder_sample(b, first, 0, 1, 1000000, SDW_STATUS_NO_PYTHON);
	builder_end(b, 0);
}

static void expect_frame(struct json_object *frames, int64_t index, const char *name,
			 const char *file, int64_t line)
{
	struct json_object *frame = at(frames, (size_t)index), *value = NULL;

	assert_string_equal(text(frame, "name"), name);
	if (file)
		assert_string_equal(text(frame, "file"), file);
	else
		assert_false(json_object_object_get_ex(frame, "file", &value));
	if (line)
		assert_int_equal(number(frame, "line"), line);
	else
		assert_false(json_object_object_get_ex(frame, "line", &value));
}

static void test_speedscope_gives_each_thread_its_life_and_its_weights(void **state)
{
	struct json_object *all, *profiles, *main_thread, *worker;
	struct builder b;

	(void)state;
	two_threads(&b, "ns");
	all = export(&b, sdw_export_speedscope);
	profiles = get(all, "profiles");
	assert_int_equal(json_object_array_length(profiles), 2);
	main_thread = at(profiles, 0); /* the hottest is first, and shown first */
	worker = at(profiles, 1);
	assert_int_equal(number(all, "activeProfileIndex"), 0);
	assert_string_equal(text(main_thread, "name"), "main\" 12 of python3 12");
	assert_string_equal(text(main_thread, "type"), "sampled");
	assert_string_equal(text(main_thread, "unit"), "nanoseconds");
	assert_int_equal(number(main_thread, "startValue"), 0);
	assert_int_equal(number(main_thread, "endValue"), 6000000);
	assert_int_equal(json_object_array_length(get(main_thread, "weights")), 4);
	assert_int_equal(item(main_thread, "weights", 3), 1000000);
	assert_string_equal(text(worker, "name"), "worker 13 of python3 12");
	assert_int_equal(number(worker, "startValue"), 3000000);
	assert_int_equal(number(worker, "endValue"), 5000000);
	assert_int_equal(json_object_array_length(get(worker, "samples")), 2);
	json_object_put(all);
}

static void test_speedscope_frames_are_root_first_at_the_line_being_run(void **state)
{
	struct json_object *all, *frames, *samples, *stack;
	struct builder b;

	(void)state;
	two_threads(&b, "ns");
	all = export(&b, sdw_export_speedscope);
	frames = get(get(all, "shared"), "frames");
	samples = get(at(get(all, "profiles"), 0), "samples");
	stack = at(samples, 0);
	assert_int_equal(json_object_array_length(stack), 3);
	expect_frame(frames, json_object_get_int64(at(stack, 0)), "<module>", "/srv/a.py", 30);
	expect_frame(frames, json_object_get_int64(at(stack, 1)), "f", "/srv/a.py", 9);
	expect_frame(frames, json_object_get_int64(at(stack, 2)), "memcpy", "/lib/libc.so.6", 0);
	expect_frame(frames, json_object_get_int64(at(at(samples, 3), 0)), "[no_python]", NULL, 0);
	json_object_put(all);
}

static void test_speedscope_counts_events_where_there_is_no_clock(void **state)
{
	struct json_object *all, *thread;
	struct builder b;

	(void)state;
	two_threads(&b, "events");
	all = export(&b, sdw_export_speedscope);
	thread = at(get(all, "profiles"), 0);
	assert_string_equal(text(thread, "unit"), "none");
	assert_int_equal(number(thread, "startValue"), 0);
	assert_int_equal(number(thread, "endValue"), 4000000);
	json_object_put(all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_speedscope_gives_each_thread_its_life_and_its_weights),
		cmocka_unit_test(test_speedscope_frames_are_root_first_at_the_line_being_run),
		cmocka_unit_test(test_speedscope_counts_events_where_there_is_no_clock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
