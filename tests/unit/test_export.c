// SPDX-License-Identifier: MIT
/* test_export.c - what folded and JSON lines say, to the letter, and which names could spoil them.
 */
#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profile_builder.h"
#include "view/escape.h"
#include "view/export.h"
#include "view/output_file.h"

static const struct sdw_export_options plain = {0};

static void expect_folded(struct builder *builder, const struct sdw_export_options *options,
			  const char *expected)
{
	char *text = NULL;

	CAPTURE(text, 0, sdw_export_folded(&builder->profile, options, out));
	assert_string_equal(text, expected);
	free(text);
	sdw_profile_free(&builder->profile);
}

static uint32_t start_one_thread(struct builder *builder, const char *unit)
{
	builder_start(builder, unit);
	return builder_thread(builder, builder_process(builder, 12, "python3"), 13, "worker");
}

static void test_folded_writes_each_kind_of_frame_its_own_way(void **state)
{
	struct builder b;
	uint32_t thread = start_one_thread(&b, "ns");

	(void)state;
	builder_sample(&b, thread,
		       builder_stack(&b, "<module>@/srv/app.py:1:30;A.run@/srv/app.py:7:9;"
					 "n memcpy@/usr/lib/libc.so.6;k ksys_read"),
		       3, 1000000, SDW_STATUS_COMPLETE);
	builder_sample(&b, thread, builder_stack(&b, "x [truncated];f@a.py:1:2"), 1, 1000000,
		       SDW_STATUS_TRUNCATED);
	expect_folded(&b, &plain,
		      "<module> (app.py:30);A.run (app.py:9);memcpy (libc.so.6);ksys_read [k] 3\n"
		      "[truncated];f (a.py:2) 1\n");
}

static void test_folded_adds_up_threads_unless_they_are_asked_for(void **state)
{
	const struct sdw_export_options both = {.processes = true, .threads = true};
	struct builder b;
	uint32_t first = start_one_thread(&b, "ns"), second = builder_thread(&b, 1, 14, "io;x");
	uint32_t stack = builder_stack(&b, "f@a.py:1:2");

	(void)state;
	builder_sample(&b, first, stack, 3, 1, SDW_STATUS_COMPLETE);
	builder_sample(&b, second, stack, 4, 1, SDW_STATUS_COMPLETE);
	builder_sample(&b, second, stack, 1, 1, SDW_STATUS_UNREADABLE);
	{
		char *text = NULL;

		CAPTURE(text, 0, sdw_export_folded(&b.profile, &plain, out));
		assert_string_equal(text, "f (a.py:2) 8\n");
		free(text);
	}
	expect_folded(&b, &both,
		      "process 12 python3;thread 13 worker;f (a.py:2) 3\n"
		      "process 12 python3;thread 14 io\\x3bx;f (a.py:2) 5\n");
}

static void test_folded_keeps_samples_without_a_stack_as_a_marker_each_status(void **state)
{
	struct builder b;
	uint32_t thread = start_one_thread(&b, "ns");

	(void)state;
	builder_sample(&b, thread, 0, 2, 1, SDW_STATUS_NO_PYTHON);
	builder_sample(&b, thread, 0, 5, 1, SDW_STATUS_PENDING);
	builder_sample(&b, thread, 0, 1, 1, SDW_STATUS_NO_PYTHON);
	expect_folded(&b, &plain, "[no_python] 3\n[pending] 5\n");
}

static void test_folded_counts_weights_where_the_event_has_them(void **state)
{
	struct builder b;
	uint32_t thread = start_one_thread(&b, "events");
	uint32_t stack = builder_stack(&b, "f@a.py:1:2");

	(void)state;
	builder_sample(&b, thread, stack, 2, 5000, SDW_STATUS_COMPLETE);
	builder_sample(&b, thread, stack, 1, 70, SDW_STATUS_COMPLETE);
	expect_folded(&b, &plain, "f (a.py:2) 10070\n");
}

static void test_folded_names_stay_in_their_line_and_frame(void **state)
{
	static const char *const names[] = {"semi;colon",
					    "two words 7",
					    "new\nline",
					    "tab\tand # h",
					    "7",
					    "ctl\x01\x1b[31m",
					    "bad\xff utf",
					    "caf\xc3\xa9_\xf0\xa0\x80\x80",
					    ""};
	struct builder b;
	uint32_t thread = start_one_thread(&b, "ns");

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		builder_sample(&b, thread,
			       builder_push(&b, 0,
					    builder_code(&b, SDW_CODE_PYTHON, names[i],
							 i == 4 ? "" : "odd; file 12.py", 1),
					    2),
			       1, 1, SDW_STATUS_COMPLETE);
	expect_folded(&b, &plain,
		      "semi\\x3bcolon (odd\\x3b file 12.py:2) 1\n"
		      "two words 7 (odd\\x3b file 12.py:2) 1\n"
		      "new\\x0aline (odd\\x3b file 12.py:2) 1\n"
		      "tab\\x09and # h (odd\\x3b file 12.py:2) 1\n"
		      "7 (?:2) 1\n"
		      "ctl\\x01\\x1b[31m (odd\\x3b file 12.py:2) 1\n"
		      "bad\\xff utf (odd\\x3b file 12.py:2) 1\n"
		      "caf\xc3\xa9_\xf0\xa0\x80\x80 (odd\\x3b file 12.py:2) 1\n"
		      "? (odd\\x3b file 12.py:2) 1\n");
}

/* The JSON objects of the lines of `text`; every line must be one. */
static struct json_object *parse_lines(char *text)
{
	struct json_object *list = json_object_new_array();
	char *rest = NULL;

	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		struct json_object *object = json_tokener_parse(line);

		assert_non_null(object);
		json_object_array_add(list, object);
	}
	return list;
}

static void test_jsonl_has_the_keys_that_programs_read(void **state)
{
	struct builder b;
	uint32_t thread = start_one_thread(&b, "ns");
	char *text = NULL;

	(void)state;
	builder_sample(&b, thread,
		       builder_stack(&b, "<module>@/srv/app.py:1:30;n memcpy@/usr/lib/libc.so.6;"
					 "k ksys_read@[kernel];x [native stack cut]"),
		       2, 1000000, SDW_STATUS_COMPLETE);
	builder_sample(&b, thread, 0, 1, 1000000, SDW_STATUS_NO_PYTHON);
	CAPTURE(text, 0, sdw_export_jsonl(&b.profile, &plain, out));
	assert_string_equal(
		text,
		"{\"pid\":12,\"tid\":13,\"comm\":\"python3\",\"thread\":\"worker\",\"w\":2,"
		"\"weight\":2000000,\"t\":0.001000000,\"frames\":["
		"[\"p\",\"<module>\",\"/srv/app.py\",30],[\"n\",\"memcpy\",\"libc.so.6\",0],"
		"[\"k\",\"ksys_read\",\"\",0],[\"x\",\"native stack cut\",\"\",0]],"
		"\"state\":\"complete\"}\n"
		"{\"pid\":12,\"tid\":13,\"comm\":\"python3\",\"thread\":\"worker\",\"w\":1,"
		"\"weight\":1000000,\"t\":0.003000000,\"frames\":[],\"state\":\"no_python\"}\n");
	free(text);
	sdw_profile_free(&b.profile);
}

static void test_jsonl_samples_come_one_by_one_in_order_of_time(void **state)
{
	const struct sdw_export_options samples = {.samples = true};
	struct builder b;
	uint32_t thread = start_one_thread(&b, "ns");
	uint32_t f = builder_stack(&b, "f@a.py:1:2"), g = builder_stack(&b, "g@a.py:5:6");
	static const char *const expected[] = {"f", "g", "f"};
	struct json_object *list;
	char *text = NULL;

	(void)state;
	builder_sample(&b, thread, f, 1, 1, SDW_STATUS_COMPLETE);
	builder_sample(&b, thread, g, 1, 1, SDW_STATUS_COMPLETE);
	builder_sample(&b, thread, f, 1, 1, SDW_STATUS_COMPLETE);
	CAPTURE(text, 0, sdw_export_jsonl(&b.profile, &samples, out));
	list = parse_lines(text);
	assert_int_equal(json_object_array_length(list), 3);
	for (size_t i = 0; i < 3; i++) {
		struct json_object *line = json_object_array_get_idx(list, i), *frame;

		frame = json_object_array_get_idx(json_object_object_get(line, "frames"), 0);
		assert_string_equal(json_object_get_string(json_object_array_get_idx(frame, 1)),
				    expected[i]);
		assert_int_equal(json_object_get_int(json_object_object_get(line, "w")), 1);
	}
	json_object_put(list);
	free(text);
	sdw_profile_free(&b.profile);
}

static void test_jsonl_gives_names_back_unchanged(void **state)
{
	static const char *const names[] = {
		"semi;colon",	   "new\nline",	     "a\"b'c\\d",
		"ctl\x01\x1b[31m", "</script>&amp;", "za\xc5\xbc_\xe6\xbc\xa2_\xf0\xa0\x9c\x8e",
		"\\udc80"};
	struct builder b;
	uint32_t thread = start_one_thread(&b, "ns");
	struct json_object *list;
	char *text = NULL;

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		builder_sample(
			&b, thread,
			builder_push(&b, 0,
				     builder_code(&b, SDW_CODE_PYTHON, names[i], names[i], 1), 2),
			1, 1, SDW_STATUS_COMPLETE);
	CAPTURE(text, 0, sdw_export_jsonl(&b.profile, &plain, out));
	list = parse_lines(text);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct json_object *frame = json_object_array_get_idx(
			json_object_object_get(json_object_array_get_idx(list, i), "frames"), 0);

		for (size_t j = 1; j <= 2; j++)
			assert_string_equal(
				json_object_get_string(json_object_array_get_idx(frame, j)),
				names[i]);
	}
	json_object_put(list);
	free(text);
	sdw_profile_free(&b.profile);
}

static void expect_escaped(const char *text, enum sdw_escape_mode mode, const char *expected)
{
	char *escaped = sdw_escape_text(text, mode);

	assert_string_equal(escaped, expected);
	free(escaped);
}

static void test_nothing_that_steers_a_terminal_comes_through(void **state)
{
	(void)state;
	expect_escaped("\x1b[2J\x07\x7f", SDW_ESCAPE_TERMINAL, "\\x1b[2J\\x07\\x7f");
	expect_escaped("\xc2\x9b"
		       "31m",
		       SDW_ESCAPE_TERMINAL, "\\x9b31m"); /* 8-bit CSI */
	expect_escaped("a\xe2\x80\xae"
		       "b",
		       SDW_ESCAPE_TERMINAL, "a\\u202eb");
	expect_escaped("\x9b"
		       "31m\xc3",
		       SDW_ESCAPE_TERMINAL, "\\x9b31m\\xc3");
	expect_escaped("\xc0\x9b\xed\xa0\x80", SDW_ESCAPE_TERMINAL, "\\xc0\\x9b\\xed\\xa0\\x80");
	expect_escaped("\xe6\xbc\xa2 \xf0\x9f\x90\x8d", SDW_ESCAPE_TERMINAL,
		       "\xe6\xbc\xa2 \xf0\x9f\x90\x8d");
}

static void test_a_script_element_cannot_be_ended_by_a_name(void **state)
{
	(void)state;
	expect_escaped("</script><!--&\xe2\x80\xa8", SDW_ESCAPE_SCRIPT,
		       "\\u003c/script\\u003e\\u003c!--\\u0026\\u2028");
	expect_escaped("\"\\\n\xff", SDW_ESCAPE_SCRIPT, "\\\"\\\\\\u000a\\\\xff");
}

static void test_names_too_long_are_cut_with_an_ellipsis_at_whole_characters(void **state)
{
	static const struct {
		const char *text, *expected;
		size_t width;
		int is_path;
	} cases[] = {
		{"short", "short", 5, 0},
		{"abcdefghijkl", "ab\xe2\x80\xa6ijkl", 7, 0},
		{"/usr/lib/json/decoder.py", "\xe2\x80\xa6/decoder.py", 12, 1},
		{"\xe6\xbc\xa2\xe6\xbc\xa2\xe6\xbc\xa2\xe6\xbc\xa2", "\xe2\x80\xa6\xe6\xbc\xa2", 4,
		 1},
		{"abc", "\xe2\x80\xa6", 1, 0},
		{"abc", "", 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *text = sdw_utf8_fit(cases[i].text, cases[i].width, cases[i].is_path);

		assert_string_equal(text, cases[i].expected);
		assert_true(sdw_utf8_width(text) <= cases[i].width);
		free(text);
	}
}

/* A directory for one test, with nothing in it. */
static void make_directory(char *path)
{
	strcpy(path, "/tmp/sdw-test-XXXXXX");
	assert_non_null(mkdtemp(path));
}

static void test_an_output_file_is_private_and_replaces_the_old_one_only_when_whole(void **state)
{
	char directory[64], path[128], text[16] = {0};
	struct sdw_output_file output;
	struct stat status;
	FILE *file;

	(void)state;
	make_directory(directory);
	snprintf(path, sizeof(path), "%s/out", directory);
	file = fopen(path, "w");
	fputs("old", file);
	fclose(file);
	assert_int_equal(sdw_output_file_open(&output, path), 0);
	fputs("new", output.stream);
	assert_int_equal(sdw_output_file_close(&output, -ECANCELED), -ECANCELED);
	file = fopen(path, "r");
	assert_string_equal(fgets(text, sizeof(text), file), "old");
	fclose(file);
	assert_int_equal(sdw_output_file_open(&output, path), 0);
	fputs("new", output.stream);
	assert_int_equal(sdw_output_file_close(&output, 0), 0);
	file = fopen(path, "r");
	assert_string_equal(fgets(text, sizeof(text), file), "new");
	fclose(file);
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 07777, 0600);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(directory), 0); /* nothing else was left there */
}

static void test_a_full_device_is_told_and_not_replaced(void **state)
{
	struct sdw_output_file output;
	struct stat status;

	(void)state;
	assert_int_equal(sdw_output_file_open(&output, "/dev/full"), 0);
	fputs("text", output.stream);
	assert_int_equal(sdw_output_file_close(&output, 0), -ENOSPC);
	assert_int_equal(stat("/dev/full", &status), 0);
	assert_true(S_ISCHR(status.st_mode));
}

static void test_an_output_that_cannot_be_made_is_told_at_once(void **state)
{
	struct sdw_output_file output;

	(void)state;
	assert_int_equal(sdw_output_file_open(&output, "/nowhere/at/all"), -ENOENT);
	assert_int_equal(sdw_output_file_open(&output, "/tmp"), -EISDIR);
}

static void test_a_link_of_another_user_is_not_followed(void **state)
{
	char directory[64], link[128], victim[128];
	struct sdw_output_file output;
	struct stat status;

	(void)state;
	if (geteuid())
		skip(); /* nobody else can be given a link */
	make_directory(directory);
	snprintf(link, sizeof(link), "%s/link", directory);
	snprintf(victim, sizeof(victim), "%s/victim", directory);
	assert_int_equal(symlink(victim, link), 0);
	assert_int_equal(lchown(link, 65534, 65534), 0);
	assert_int_equal(sdw_output_file_open(&output, link), -ELOOP);
	assert_int_equal(stat(victim, &status), -1);
	unlink(link);
	rmdir(directory);
}

static void test_json_of_a_library_does_not_act_on_a_terminal(void **state)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	(void)state;
	assert_non_null(out);
	sdw_escape_json_line(out, "{\n  \"a\": \"\xc3\xa9\xc2\x9b\x7f\xe2\x80\xae\\u001b\"\n}");
	fclose(out);
	assert_string_equal(text, "{\n  \"a\": \"\xc3\xa9\\u009b\\u007f\\u202e\\u001b\"\n}\n");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_json_of_a_library_does_not_act_on_a_terminal),
		cmocka_unit_test(test_folded_writes_each_kind_of_frame_its_own_way),
		cmocka_unit_test(test_folded_adds_up_threads_unless_they_are_asked_for),
		cmocka_unit_test(test_folded_keeps_samples_without_a_stack_as_a_marker_each_status),
		cmocka_unit_test(test_folded_counts_weights_where_the_event_has_them),
		cmocka_unit_test(test_folded_names_stay_in_their_line_and_frame),
		cmocka_unit_test(test_jsonl_has_the_keys_that_programs_read),
		cmocka_unit_test(test_jsonl_samples_come_one_by_one_in_order_of_time),
		cmocka_unit_test(test_jsonl_gives_names_back_unchanged),
		cmocka_unit_test(test_nothing_that_steers_a_terminal_comes_through),
		cmocka_unit_test(test_a_script_element_cannot_be_ended_by_a_name),
		cmocka_unit_test(test_names_too_long_are_cut_with_an_ellipsis_at_whole_characters),
		cmocka_unit_test(
			test_an_output_file_is_private_and_replaces_the_old_one_only_when_whole),
		cmocka_unit_test(test_a_full_device_is_told_and_not_replaced),
		cmocka_unit_test(test_an_output_that_cannot_be_made_is_told_at_once),
		cmocka_unit_test(test_a_link_of_another_user_is_not_followed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
