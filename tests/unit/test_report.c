// SPDX-License-Identifier: MIT
/* test_report.c - figures, rows, columns and keys of reports. */
#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>

#include "profile_builder.h"
#include "view/report.h"
#include "view/report_rows.h"

static uint32_t start_one_thread(struct builder *builder, const char *unit)
{
	builder_start(builder, unit);
	return builder_thread(builder, builder_process(builder, 12, "python3"), 13, "worker");
}

/* A program that most tests look at: 10 samples, 4 of them within a recursion. */
static void build_program(struct builder *b)
{
	uint32_t thread = start_one_thread(b, "ns");

	builder_sample(b, thread,
		       builder_stack(b, "<module>@/srv/app.py:1:9;rec@/srv/app.py:3:4;"
					"rec@/srv/app.py:3:5;n memcpy@/lib/libc.so.6"),
		       3, 1000000, SDW_STATUS_COMPLETE);
	builder_sample(b, thread, builder_stack(b, "<module>@/srv/app.py:1:9;rec@/srv/app.py:3:4"),
		       1, 1000000, SDW_STATUS_COMPLETE);
	builder_sample(b, thread,
		       builder_stack(b, "<module>@/srv/app.py:1:10;A.run@/srv/app.py:20:21;"
					"n memcpy@/lib/libc.so.6;k copy_page"),
		       4, 1000000, SDW_STATUS_COMPLETE);
	builder_sample(b, thread, 0, 2, 1000000, SDW_STATUS_NO_PYTHON);
	builder_end(b, 0);
}

static char *print(struct builder *builder, const struct sdw_report_options *options)
{
	char *text = NULL;

	CAPTURE(text, 0, sdw_report_print(&builder->profile, options, out));
	return text;
}

static void expect_table(struct builder *builder, const struct sdw_report_options *options,
			 const char *expected)
{
	char *text = print(builder, options);

	assert_string_equal(text, expected);
	free(text);
	sdw_profile_free(&builder->profile);
}

static void test_functions_have_self_and_total_and_recursion_counts_once(void **state)
{
	const struct sdw_report_options options = {.no_header = true};
	struct builder b;

	(void)state;
	build_program(&b);
	expect_table(&b, &options,
		     " SELF      %  TOTAL      %  FUNCTION     FILE:LINE\n"
		     "    4  40.0%      4  40.0%  copy_page    [kernel]\n"
		     "    3  30.0%      7  70.0%  memcpy       libc.so.6\n"
		     "    2  20.0%      2  20.0%  [no_python]\n"
		     "    1  10.0%      4  40.0%  rec          /srv/app.py:3\n"
		     "    0   0.0%      8  80.0%  <module>     /srv/app.py:1\n"
		     "    0   0.0%      4  40.0%  A.run        /srv/app.py:20\n");
}

static void test_sort_by_total_and_limit(void **state)
{
	const struct sdw_report_options options = {
		.no_header = true, .sort = SDW_REPORT_TOTAL, .limit = 2};
	struct builder b;

	(void)state;
	build_program(&b);
	expect_table(&b, &options,
		     " SELF      %  TOTAL      %  FUNCTION  FILE:LINE\n"
		     "    0   0.0%      8  80.0%  <module>  /srv/app.py:1\n"
		     "    3  30.0%      7  70.0%  memcpy    libc.so.6\n");
}

static void test_python_only_gives_native_time_to_the_python_caller(void **state)
{
	const struct sdw_report_options options = {.no_header = true, .python_only = true};
	struct builder b;

	(void)state;
	build_program(&b);
	expect_table(&b, &options,
		     " SELF      %  TOTAL      %  FUNCTION     FILE:LINE\n"
		     "    4  40.0%      4  40.0%  A.run        /srv/app.py:20\n"
		     "    4  40.0%      4  40.0%  rec          /srv/app.py:3\n"
		     "    2  20.0%      2  20.0%  [no_python]\n"
		     "    0   0.0%      8  80.0%  <module>     /srv/app.py:1\n");
}

static void test_lines_are_those_being_executed(void **state)
{
	const struct sdw_report_options options = {
		.no_header = true, .python_only = true, .by = SDW_REPORT_LINE};
	struct builder b;

	(void)state;
	build_program(&b);
	expect_table(&b, &options,
		     " SELF      %  TOTAL      %  FUNCTION     FILE:LINE RUNNING\n"
		     "    4  40.0%      4  40.0%  A.run        /srv/app.py:21\n"
		     "    3  30.0%      3  30.0%  rec          /srv/app.py:5\n"
		     "    2  20.0%      2  20.0%  [no_python]\n"
		     "    1  10.0%      4  40.0%  rec          /srv/app.py:4\n"
		     "    0   0.0%      4  40.0%  <module>     /srv/app.py:9\n"
		     "    0   0.0%      4  40.0%  <module>     /srv/app.py:10\n");
}

static void test_files_and_modules(void **state)
{
	struct sdw_report_options options = {.no_header = true, .by = SDW_REPORT_FILE};
	struct builder b;
	char *text;

	(void)state;
	build_program(&b);
	text = print(&b, &options);
	assert_string_equal(text, " SELF      %  TOTAL      %  FILE\n"
				  "    4  40.0%      4  40.0%  [kernel]\n"
				  "    3  30.0%      7  70.0%  /lib/libc.so.6\n"
				  "    2  20.0%      2  20.0%  [no_python]\n"
				  "    1  10.0%      8  80.0%  /srv/app.py\n");
	free(text);
	options.by = SDW_REPORT_MODULE;
	expect_table(&b, &options,
		     " SELF      %  TOTAL      %  MODULE\n"
		     "    4  40.0%      4  40.0%  [kernel]\n"
		     "    3  30.0%      7  70.0%  /lib/libc.so.6\n"
		     "    2  20.0%      2  20.0%  [no_python]\n"
		     "    1  10.0%      8  80.0%  app.py\n");
}

static void test_a_module_is_the_package_that_was_installed(void **state)
{
	static const char *const cases[][2] = {
		{"/usr/lib/python3/dist-packages/django/db/models/query.py", "django"},
		{"/v/lib/python3.12/site-packages/six.py", "six"},
		{"/usr/lib/python3.11/json/decoder.py", "json"},
		{"/usr/lib/python3.13t/threading.py", "threading"},
		{"/v/lib/python3.12/site-packages/a/_vendor/site-packages/b/c.py", "b"},
		{"/home/x/python3/app.py", "app"},
		{"/srv/app.py", "app.py"},
		{"<frozen importlib._bootstrap>", "<frozen importlib._bootstrap>"},
		{"", "?"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *name = sdw_report_module_name(cases[i][0]);

		assert_string_equal(name, cases[i][1]);
		free(name);
	}
}

static void test_threads_and_processes(void **state)
{
	struct sdw_report_options options = {.no_header = true, .by = SDW_REPORT_THREAD};
	uint32_t first, second, third, stack;
	struct builder b;
	char *text;

	(void)state;
	first = start_one_thread(&b, "ns");
	second = builder_thread(&b, 1, 14, "io");
	third = builder_thread(&b, builder_process(&b, 20, "child"), 20, "child");
	stack = builder_stack(&b, "f@a.py:1:2");
	builder_sample(&b, first, stack, 2, 1, SDW_STATUS_COMPLETE);
	builder_sample(&b, second, stack, 1, 1, SDW_STATUS_COMPLETE);
	builder_sample(&b, third, stack, 5, 1, SDW_STATUS_COMPLETE);
	text = print(&b, &options);
	assert_string_equal(text, "SAMPLES      %  THREAD  TID OF PROCESS\n"
				  "      5  62.5%  child   20 of child 20\n"
				  "      2  25.0%  worker  13 of python3 12\n"
				  "      1  12.5%  io      14 of python3 12\n");
	free(text);
	options.by = SDW_REPORT_PROCESS;
	expect_table(&b, &options,
		     "SAMPLES      %  PROCESS  PID\n"
		     "      5  62.5%  child    20\n"
		     "      3  37.5%  python3  12\n");
}

static void test_processes_of_one_container_share_a_row(void **state)
{
	static const char id[] = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
	struct sdw_report_options options = {.by = SDW_REPORT_CONTAINER, .no_header = true};
	uint32_t threads[5], stack;
	char *text;
	struct builder b;

	(void)state;
	builder_start(&b, "ns");
	threads[0] = builder_thread(&b, builder_process(&b, 12, "python3"), 12, "python3");
	threads[1] = builder_thread(&b, builder_contained(&b, 20, "py", id, "web", "shop/web-1"),
				    20, "py");
	threads[2] = builder_thread(&b, builder_contained(&b, 21, "py", id, "web", "shop/web-1"),
				    21, "py");
	threads[3] =
		builder_thread(&b, builder_contained(&b, 30, "py", "nightly", "", ""), 30, "py");
	threads[4] = builder_thread(&b, builder_process(&b, 13, "sh"), 13, "sh");
	stack = builder_stack(&b, "f@a.py:1:2");
	for (uint32_t i = 0; i < 5; i++)
		builder_sample(&b, threads[i], stack, 1 + i, 1, SDW_STATUS_COMPLETE);
	text = print(&b, &options);
	assert_string_equal(text, "SAMPLES      %  CONTAINER       ID AND POD\n"
				  "      6  40.0%  (no container)\n"
				  "      5  33.3%  web             0123456789ab of pod shop/web-1\n"
				  "      4  26.7%  nightly         nightly\n");
	free(text);
	options.by = SDW_REPORT_PROCESS;
	options.limit = 3;
	expect_table(&b, &options,
		     "SAMPLES      %  PROCESS  PID\n"
		     "      5  33.3%  sh       13\n"
		     "      4  26.7%  py       30 (1 in nightly)\n"
		     "      3  20.0%  py       21 (1 in web)\n");
}

static void test_functions_are_the_same_only_if_kind_name_file_and_first_line_agree(void **state)
{
	static const char *const stacks[] = {
		"run@/x/twin.py:1:2", "run@/y/twin.py:1:2", "run@/x/twin.py:5:6",
		"n run@/x/twin.py",   "run@/x/twin.py:1:3", /* another line of the first */
	};
	const struct sdw_report_options options = {0};
	struct sdw_report_rows rows;
	struct builder b;
	uint32_t thread = start_one_thread(&b, "ns");

	(void)state;
	for (size_t i = 0; i < sizeof(stacks) / sizeof(*stacks); i++)
		builder_sample(&b, thread, builder_stack(&b, stacks[i]), 1, 1, SDW_STATUS_COMPLETE);
	assert_int_equal(sdw_report_rows_make(&rows, &b.profile, &options), 0);
	assert_int_equal(rows.order_count, 4);
	assert_int_equal(rows.rows.items[rows.order[0]].self.samples, 2);
	assert_string_equal(rows.rows.items[rows.order[0]].file, "/x/twin.py");
	sdw_report_rows_free(&rows);
	sdw_profile_free(&b.profile);
}

static void test_callers_and_callees_of_a_function(void **state)
{
	struct sdw_report_options options = {
		.no_header = true, .edges = SDW_REPORT_CALLERS, .function = "memcpy"};
	struct builder b;
	char *text = NULL;

	(void)state;
	build_program(&b);
	text = print(&b, &options);
	assert_string_equal(text, "CALLED      %  FUNCTION  FILE:LINE\n"
				  "memcpy    libc.so.6\n"
				  "     4  57.1%  A.run     /srv/app.py:20\n"
				  "     3  42.9%  rec       /srv/app.py:3\n");
	free(text);
	options.edges = SDW_REPORT_CALLEES;
	options.function = "run"; /* a method of any class */
	text = print(&b, &options);
	assert_string_equal(text, "CALLS      %  FUNCTION  FILE:LINE\n"
				  "A.run     /srv/app.py:20\n"
				  "    4 100.0%  memcpy    libc.so.6\n");
	free(text);
	options.function = "un";
	text = NULL;
	CAPTURE(text, -ENOENT, sdw_report_print(&b.profile, &options, out));
	assert_string_equal(text, "");
	free(text);
	options.function = "rec";
	expect_table(&b, &options,
		     "CALLS      %  FUNCTION  FILE:LINE\n"
		     "rec       /srv/app.py:3\n"
		     "    3  75.0%  memcpy    libc.so.6\n"
		     "    3  75.0%  rec       /srv/app.py:3\n"
		     "    1  25.0%  [itself]\n");
}

static void test_weights_decide_where_the_event_has_them(void **state)
{
	const struct sdw_report_options options = {.no_header = true};
	struct builder b;
	uint32_t thread = start_one_thread(&b, "events");

	(void)state;
	builder_sample(&b, thread, builder_stack(&b, "often@a.py:1:2"), 9, 1000,
		       SDW_STATUS_COMPLETE);
	builder_sample(&b, thread, builder_stack(&b, "heavy@a.py:5:6"), 1, 3591000,
		       SDW_STATUS_COMPLETE);
	expect_table(&b, &options,
		     " SELF      %  TOTAL      %  FUNCTION  FILE:LINE\n"
		     "3.59M  99.8%  3.59M  99.8%  heavy     a.py:5\n"
		     " 9000   0.2%   9000   0.2%  often     a.py:1\n");
}

static void test_the_header_tells_the_sum_of_the_weights(void **state)
{
	const struct sdw_report_options options = {.limit = 1};
	struct builder b;
	uint32_t thread = start_one_thread(&b, "events");
	char *text;

	(void)state;
	builder_sample(&b, thread, builder_stack(&b, "f@a.py:1:2"), 3, 5000, SDW_STATUS_COMPLETE);
	builder_end(&b, 0);
	text = print(&b, &options);
	assert_non_null(strstr(text, "2.50 s, 3 samples of 15000 cache-misses, 0 lost\n"));
	free(text);
	sdw_profile_free(&b.profile);
}

static void test_the_header_tells_what_is_missing(void **state)
{
	const struct sdw_report_options options = {.limit = 1};
	struct builder b;
	char *text;

	(void)state;
	build_program(&b);
	builder_end(&b, 5);
	text = print(&b, &options);
	assert_non_null(strstr(text,
			       "python3 app.py\n"
			       "cpu-clock at 1000 Hz, 2.50 s, 10 samples, 5 lost (33%)\n"
			       "  lost 5 ring_full: the ring buffer of the processor was full\n"
			       "  2 no_python: the process runs no CPython that is supported\n"
			       "\n SELF"));
	free(text);
	sdw_profile_free(&b.profile);
}

static void test_a_recording_that_was_killed_says_so_and_counts_what_came(void **state)
{
	const struct sdw_report_options options = {0};
	struct sdw_lost_event lost = {.count = 7, .reason = SDW_LOST_RING_FULL};
	struct builder b;
	uint32_t thread = start_one_thread(&b, "ns");
	char *text;

	(void)state;
	builder_sample(&b, thread, builder_stack(&b, "f@a.py:1:2"), 20, 1, SDW_STATUS_COMPLETE);
	SEND(&b, lost, &lost);
	text = print(&b, &options);
	assert_non_null(strstr(text, "0.02 s, 20 samples, 7 lost"));
	assert_non_null(strstr(text, "did not end in order"));
	free(text);
	sdw_profile_free(&b.profile);
}

static void test_an_empty_recording_is_no_fault(void **state)
{
	const struct sdw_report_options options = {.no_header = true};
	struct builder b;

	(void)state;
	start_one_thread(&b, "ns");
	expect_table(&b, &options, "no samples\n");
}

static void test_long_names_end_in_the_width_with_an_ellipsis(void **state)
{
	struct sdw_report_options options = {.no_header = true};
	static const uint32_t widths[] = {0, 60, 100, 200};
	struct builder b;
	uint32_t thread = start_one_thread(&b, "ns");
	char name[301], *text, *rest;

	(void)state;
	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = 0;
	builder_sample(
		&b, thread,
		builder_push(&b, 0,
			     builder_code(&b, SDW_CODE_PYTHON, name,
					  "/a/very/long/path/that/does/not/fit/tail_mod.py", 5),
			     6),
		1, 1, SDW_STATUS_COMPLETE);
	for (size_t i = 0; i < sizeof(widths) / sizeof(*widths); i++) {
		options.width = widths[i];
		text = print(&b, &options);
		assert_non_null(strstr(text, "n\xe2\x80\xa6n"));
		assert_non_null(strstr(text, "tail_mod.py:5\n"));
		for (char *line = strtok_r(text, "\n", &rest); line;
		     line = strtok_r(NULL, "\n", &rest)) /* an ellipsis: 3 bytes, 1 column */
			assert_true(strlen(line) <= (widths[i] ? widths[i] : 80) + 4);
		free(text);
	}
	sdw_profile_free(&b.profile);
}

static void test_no_name_reaches_the_terminal_raw(void **state)
{
	const struct sdw_report_options options = {.colour = false};
	struct builder b;
	uint32_t thread;
	char *text;

	(void)state;
	builder_start(&b, "ns");
	b.profile.recording.command = "sh -c \x1b]0;x\x07";
	thread = builder_thread(&b,
				builder_contained(&b, 1, "\x1b[31mcomm", "\x1b[1m", "\n", "\x07"),
				2, "t\x1b[1m");
	builder_sample(
		&b, thread,
		builder_push(&b, 0,
			     builder_code(&b, SDW_CODE_PYTHON, "ctl\x01\x1b[31m", "f\n\x1b", 1), 1),
		1, 1, SDW_STATUS_COMPLETE);
	for (int by = SDW_REPORT_FUNCTION; by <= SDW_REPORT_CONTAINER; by++) {
		struct sdw_report_options each = options;

		each.by = (enum sdw_report_by)by;
		text = print(&b, &each);
		for (const char *at = text; *at; at++)
			assert_true(*at == '\n' || (unsigned char)*at >= 0x20);
		free(text);
	}
	sdw_profile_free(&b.profile);
}

static void test_colour_is_only_there_when_asked_for(void **state)
{
	struct sdw_report_options options = {.colour = true};
	struct builder b;
	char *text;

	(void)state;
	build_program(&b);
	text = print(&b, &options);
	assert_non_null(strstr(text, "\x1b["));
	free(text);
	options.colour = false;
	text = print(&b, &options);
	assert_null(strchr(text, '\x1b'));
	free(text);
	sdw_profile_free(&b.profile);
}

static struct json_object *parse_report(struct builder *builder,
					const struct sdw_report_options *options)
{
	struct json_object *object;
	char *text = NULL;

	CAPTURE(text, 0, sdw_report_print_json(&builder->profile, options, out));
	assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1); /* one line */
	object = json_tokener_parse(text);
	assert_non_null(object);
	free(text);
	return object;
}

static void expect_json(struct json_object *object, const char *expected)
{
	assert_string_equal(
		json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN |
							       JSON_C_TO_STRING_NOSLASHESCAPE),
		expected);
}

static void test_json_has_stable_keys(void **state)
{
	const struct sdw_report_options options = {.limit = 2};
	struct json_object *object, *rows;
	struct builder b;

	(void)state;
	build_program(&b);
	object = parse_report(&b, &options);
	expect_json(json_object_object_get(object, "recording"),
		    "{\"command\":\"python3 app.py\",\"event\":\"cpu-clock\",\"unit\":\"ns\","
		    "\"period\":0,\"frequency\":1000,\"duration_s\":2.5,\"complete\":true,"
		    "\"samples\":10,\"weight\":10000000,\"status\":{\"complete\":8,\"no_python\":2,"
		    "\"pending\":0,\"no_thread_state\":0,\"no_frame\":0,\"truncated\":0,"
		    "\"unreadable\":0,\"broken\":0,\"kernel_thread\":0},\"lost\":{\"ring_full\":0,"
		    "\"not_delivered\":0,\"no_scratch\":0,\"outside_target\":0,"
		    "\"outside_namespace\":0,\"consumer\":0,\"merged\":0,\"cut\":0,\"lttng\":0}}");
	rows = json_object_object_get(object, "rows");
	assert_int_equal(json_object_array_length(rows), 2);
	expect_json(json_object_array_get_idx(rows, 1),
		    "{\"kind\":\"native\",\"name\":\"memcpy\",\"file\":\"/lib/libc.so.6\","
		    "\"line\":0,\"self\":{\"samples\":3,\"weight\":3000000,\"share\":0.3},"
		    "\"total\":{\"samples\":7,\"weight\":7000000,\"share\":0.7}}");
	json_object_put(object);
	sdw_profile_free(&b.profile);
}

static void test_json_of_callers_has_shares_of_the_function(void **state)
{
	const struct sdw_report_options options = {.edges = SDW_REPORT_CALLERS,
						   .function = "A.run"};
	struct json_object *object;
	struct builder b;

	(void)state;
	build_program(&b);
	object = parse_report(&b, &options);
	expect_json(json_object_object_get(object, "functions"),
		    "[{\"kind\":\"python\",\"name\":\"A.run\",\"file\":\"/srv/app.py\",\"line\":20,"
		    "\"total\":{\"samples\":4,\"weight\":4000000,\"share\":0.4},\"callers\":["
		    "{\"kind\":\"python\",\"name\":\"<module>\",\"file\":\"/srv/app.py\","
		    "\"line\":1,\"samples\":4,\"weight\":4000000,\"share\":1}]}]");
	json_object_put(object);
	sdw_profile_free(&b.profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_functions_have_self_and_total_and_recursion_counts_once),
		cmocka_unit_test(test_sort_by_total_and_limit),
		cmocka_unit_test(test_python_only_gives_native_time_to_the_python_caller),
		cmocka_unit_test(test_lines_are_those_being_executed),
		cmocka_unit_test(test_files_and_modules),
		cmocka_unit_test(test_a_module_is_the_package_that_was_installed),
		cmocka_unit_test(test_processes_of_one_container_share_a_row),
		cmocka_unit_test(test_threads_and_processes),
		cmocka_unit_test(
			test_functions_are_the_same_only_if_kind_name_file_and_first_line_agree),
		cmocka_unit_test(test_callers_and_callees_of_a_function),
		cmocka_unit_test(test_weights_decide_where_the_event_has_them),
		cmocka_unit_test(test_the_header_tells_the_sum_of_the_weights),
		cmocka_unit_test(test_the_header_tells_what_is_missing),
		cmocka_unit_test(test_a_recording_that_was_killed_says_so_and_counts_what_came),
		cmocka_unit_test(test_an_empty_recording_is_no_fault),
		cmocka_unit_test(test_long_names_end_in_the_width_with_an_ellipsis),
		cmocka_unit_test(test_no_name_reaches_the_terminal_raw),
		cmocka_unit_test(test_colour_is_only_there_when_asked_for),
		cmocka_unit_test(test_json_has_stable_keys),
		cmocka_unit_test(test_json_of_callers_has_shares_of_the_function),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
