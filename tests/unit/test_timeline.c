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

/* A table's columns are as long as it says. */
static void expect_columns(struct json_object *table, int64_t length)
{
	assert_int_equal(number(table, "length"), length);
	json_object_object_foreach(table, key, column)
	{
		if (json_object_is_type(column, json_type_array))
			assert_int_equal(json_object_array_length(column), length);
		else
			assert_true(strcmp(key, "length") == 0 || strncmp(key, "weight", 6) == 0);
	}
}

/* The name of the function of a stack's innermost frame. */
static const char *name_of(struct json_object *all, int64_t stack)
{
	struct json_object *shared = get(all, "shared");
	int64_t frame = item(get(shared, "stackTable"), "frame", (size_t)stack);
	int64_t function = item(get(shared, "frameTable"), "func", (size_t)frame);
	int64_t name = item(get(shared, "funcTable"), "name", (size_t)function);

	return json_object_get_string(at(get(shared, "stringArray"), (size_t)name));
}

static void test_firefox_tables_are_whole_and_lead_from_sample_to_source(void **state)
{
	static const char *const tables[] = {"frameTable", "funcTable",	 "resourceTable",
					     "sources",	   "stackTable", "nativeSymbols"};
	static const int64_t lengths[] = {5, 5, 1, 2, 5, 0};
	struct json_object *all, *shared, *stacks;
	int64_t stack, frame, function;
	struct builder b;

	(void)state;
	two_threads(&b, "ns");
	all = export(&b, sdw_export_firefox);
	shared = get(all, "shared");
	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++)
		expect_columns(get(shared, tables[i]), lengths[i]);
	stacks = get(shared, "stackTable");
	stack = item(get(at(get(all, "threads"), 0), "samples"), "stack", 0);
	assert_string_equal(name_of(all, stack), "memcpy");
	stack = item(stacks, "prefix", (size_t)stack);
	assert_string_equal(name_of(all, stack), "f");
	frame = item(stacks, "frame", (size_t)stack);
	function = item(get(shared, "frameTable"), "func", (size_t)frame);
	assert_int_equal(item(get(shared, "frameTable"), "line", (size_t)frame), 9);
	assert_int_equal(item(get(shared, "funcTable"), "lineNumber", (size_t)function), 7);
	frame = item(get(shared, "funcTable"), "source", (size_t)function);
	frame = item(get(shared, "sources"), "filename", (size_t)frame);
	assert_string_equal(json_object_get_string(at(get(shared, "stringArray"), (size_t)frame)),
			    "/srv/a.py");
	stack = item(stacks, "prefix", (size_t)stack);
	assert_string_equal(name_of(all, stack), "<module>");
	assert_null(at(get(stacks, "prefix"), (size_t)stack));
	json_object_put(all);
}

static void test_firefox_threads_have_times_and_say_whose_they_are(void **state)
{
	struct json_object *all, *thread, *samples;
	struct builder b;

	(void)state;
	two_threads(&b, "ns");
	all = export(&b, sdw_export_firefox);
	assert_int_equal(number(get(all, "meta"), "preprocessedProfileVersion"), 60);
	assert_true(json_object_get_double(get(get(all, "meta"), "startTime")) == 1.7e12);
	thread = at(get(all, "threads"), 0);
	assert_string_equal(text(thread, "name"), "main\"");
	assert_string_equal(text(thread, "pid"), "12");
	assert_int_equal(number(thread, "tid"), 12);
	assert_true(json_object_get_boolean(get(thread, "isMainThread")));
	samples = get(thread, "samples");
	expect_columns(samples, 4);
	assert_true(json_object_get_double(at(get(samples, "time"), 3)) == 6.0);
	assert_string_equal(name_of(all, item(samples, "stack", 3)), "[no_python]");
	thread = at(get(all, "threads"), 1);
	assert_false(json_object_get_boolean(get(thread, "isMainThread")));
	assert_true(json_object_get_double(get(thread, "registerTime")) == 3.0);
	json_object_put(all);
}

static void test_firefox_tells_images_of_one_pid_apart(void **state)
{
	struct json_object *all;
	struct builder b;

	(void)state;
	builder_start(&b, "ns");
	for (int i = 0; i < 2; i++)
		builder_sample(&b,
			       builder_thread(&b, builder_process(&b, 12, i ? "python3" : "bash"),
					      12, "main"),
			       builder_stack(&b, "f@a.py:1:2"), 1, 1, SDW_STATUS_COMPLETE);
	all = export(&b, sdw_export_firefox);
	assert_string_equal(text(at(get(all, "threads"), 0), "pid"), "12");
	assert_string_equal(text(at(get(all, "threads"), 1), "pid"), "12.2");
	assert_string_equal(text(at(get(all, "threads"), 1), "processName"), "python3");
	json_object_put(all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_speedscope_gives_each_thread_its_life_and_its_weights),
		cmocka_unit_test(test_speedscope_frames_are_root_first_at_the_line_being_run),
		cmocka_unit_test(test_speedscope_counts_events_where_there_is_no_clock),
		cmocka_unit_test(test_firefox_tables_are_whole_and_lead_from_sample_to_source),
		cmocka_unit_test(test_firefox_threads_have_times_and_say_whose_they_are),
		cmocka_unit_test(test_firefox_tells_images_of_one_pid_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
