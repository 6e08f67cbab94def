// SPDX-License-Identifier: MIT
/*
 * test_heatmap.c - each line's share, which sources are shown, and that nothing acts in the page.
 *
 * With "--heat FILE" it writes the page of a known profile, whose source is FILE.py beside it, for
 * tests/browser.
 */
#include <json-c/json.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profile_builder.h"
#include "view/export.h"
#include "view/source_file.h"

static struct json_object *get(struct json_object *object, const char *key)
{
	struct json_object *value = NULL;

	assert_true(json_object_object_get_ex(object, key, &value));
	return value;
}

/* The data of a page; its text goes to *page where that is wanted, to be freed. */
static struct json_object *export(struct builder *builder, char **page)
{
	static const char begin[] = "<script type=\"application/json\" id=\"data\">";
	struct json_object *object;
	char *text = NULL, *data, *end;

	CAPTURE(text, 0, sdw_export_heatmap(&builder->profile, out));
	sdw_profile_free(&builder->profile);
	data = strstr(text, begin);
	assert_non_null(data);
	data += strlen(begin);
	end = strstr(data, "</script>");
	assert_non_null(end);
	*end = 0;
	object = json_tokener_parse(data);
	assert_non_null(object);
	*end = '<';
	if (page)
		*page = text;
	else
		free(text);
	return object;
}

static struct json_object *file_at(struct json_object *all, size_t index)
{
	assert_in_range(index, 0, json_object_array_length(get(all, "files")) - 1);
	return json_object_array_get_idx(get(all, "files"), index);
}

static void expect_file(struct json_object *all, size_t index, const char *path, const char *json)
{
	struct json_object *file = file_at(all, index);

	assert_string_equal(json_object_get_string(get(file, "path")), path);
	assert_string_equal(json_object_to_json_string_ext(get(file, "lines"), 0), json);
}

static void test_lines_have_self_and_total_and_the_hottest_file_is_first(void **state)
{
	struct json_object *all;
	struct builder b;
	uint32_t thread;

	(void)state;
	builder_start(&b, "ns");
	thread = builder_thread(&b, builder_process(&b, 12, "python3"), 12, "main");
	/* the line of f that recurs counts once; memcpy is its own */
	builder_sample(&b, thread,
		       builder_stack(&b, "<module>@/no/a.py:1:30;f@/no/b.py:7:9;f@/no/b.py:7:9;"
					 "n memcpy@/lib/libc.so.6"),
		       5, 1, SDW_STATUS_COMPLETE);
	builder_sample(&b, thread, builder_stack(&b, "<module>@/no/a.py:1:30"), 2, 1,
		       SDW_STATUS_COMPLETE);
	builder_sample(&b, thread, builder_stack(&b, "<module>@/no/a.py:1:31;f@/no/b.py:7:8"), 1, 1,
		       SDW_STATUS_COMPLETE);
	builder_sample(&b, thread, 0, 2, 1, SDW_STATUS_NO_PYTHON);
	all = export(&b, NULL);
	assert_int_equal(json_object_get_int(get(all, "all")), 10);
	expect_file(all, 0, "/no/b.py", "[8,1,1,9,5,5]");
	expect_file(all, 1, "/no/a.py", "[30,2,7,31,0,1]");
	assert_int_equal(json_object_get_int(get(file_at(all, 0), "self")), 6);
	assert_int_equal(json_object_get_int(get(file_at(all, 0), "total")), 6);
	assert_int_equal(json_object_get_int(get(file_at(all, 1), "total")), 8);
	assert_string_equal(json_object_get_string(get(file_at(all, 0), "problem")),
			    "it is not here");
	json_object_put(all);
}

static uint32_t push_expression(struct builder *b, uint32_t parent, uint32_t code, uint32_t line,
				uint16_t column, uint16_t end_column)
{
	struct sdw_frame_event frame = {.id = (uint32_t)b->profile.frames.count,
					.code = code,
					.line = line,
					.end_line = line,
					.column = column,
					.end_column = end_column};
	struct sdw_stack_event stack = {
		.id = (uint32_t)b->profile.stacks.count, .parent = parent, .frame = frame.id};

	SEND(b, frame, &frame);
	SEND(b, stack, &stack);
	return stack.id;
}

static void test_expressions_have_shares_of_their_own(void **state)
{
	struct json_object *all;
	uint32_t thread, f, g, at;
	struct builder b;

	(void)state;
	builder_start(&b, "ns");
	b.profile.keep_columns = true;
	thread = builder_thread(&b, builder_process(&b, 12, "python3"), 12, "main");
	f = builder_code(&b, SDW_CODE_PYTHON, "f", "/no/a.py", 7);
	g = builder_code(&b, SDW_CODE_PYTHON, "g", "/no/a.py", 20);
	at = push_expression(&b, 0, f, 8, 5, 9);
	builder_sample(&b, thread, at, 3, 1, SDW_STATUS_COMPLETE);
	builder_sample(&b, thread, push_expression(&b, 0, f, 8, 12, 30), 2, 1, SDW_STATUS_COMPLETE);
	builder_sample(&b, thread, push_expression(&b, at, g, 21, 1, 4), 4, 1, SDW_STATUS_COMPLETE);
	builder_sample(&b, thread, builder_push(&b, 0, g, 21), 1, 1, SDW_STATUS_COMPLETE);
	all = export(&b, NULL);
	expect_file(all, 0, "/no/a.py", "[8,5,9,21,5,5]");
	assert_string_equal(json_object_to_json_string_ext(get(file_at(all, 0), "spans"), 0),
			    "[8,5,8,9,3,7,8,12,8,30,2,2,21,1,21,4,4,4]");
	json_object_put(all);
}

static void write_source(const char *path, const char *text, size_t bytes)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, bytes, file), bytes);
	fclose(file);
}

static void test_a_source_cannot_act_in_the_page(void **state)
{
	static const char source[] = "# </script><script>alert(1)</script>\n"
				     "x = '<!--\xe2\x80\xa8'  # \xff @DATA@\n";
	char path[] = "/tmp/sidewinder-heatmap-XXXXXX.py", *page;
	int fd = mkstemps(path, 3);
	struct json_object *all;
	struct builder b;
	uint32_t thread;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	write_source(path, source, strlen(source));
	builder_start(&b, "ns");
	thread = builder_thread(&b, builder_process(&b, 12, "python3"), 12, "</script>");
	builder_sample(&b, thread,
		       builder_push(&b, 0, builder_code(&b, SDW_CODE_PYTHON, "f", path, 1), 2), 1,
		       1, SDW_STATUS_COMPLETE);
	all = export(&b, &page);
	unlink(path);
	assert_string_equal(json_object_get_string(get(file_at(all, 0), "text")),
			    "# </script><script>alert(1)</script>\n"
			    "x = '<!--\xe2\x80\xa8'  # \\xff @DATA@\n");
	assert_true(json_object_get_boolean(get(file_at(all, 0), "changed"))); /* after 2023 */
	assert_null(strstr(page, "alert(1)</script>"));
	assert_null(strstr(page, "src="));
	assert_null(strstr(page, "http:"));
	assert_null(strstr(page, "https:"));
	free(page);
	json_object_put(all);
}

static void expect_problem(const char *path, size_t limit, const char *problem)
{
	struct sdw_source_file source;

	sdw_source_file_read(&source, path, limit);
	if (problem)
		assert_string_equal(source.problem, problem);
	else
		assert_null(source.problem);
	assert_int_equal(source.text != NULL, problem == NULL);
	sdw_source_file_free(&source);
}

static void test_only_python_source_files_are_read(void **state)
{
	char folder[] = "/tmp/sidewinder-sources-XXXXXX", path[128];

	(void)state;
	expect_problem("<string>", 100, "it never was a file");
	expect_problem("", 100, "it never was a file");
	expect_problem("app.py", 100, "its name is relative");
	expect_problem("/etc/passwd", 1 << 20, "it is not Python by its name or first line");
	expect_problem("/dev/zero", 100, "it is not a file");
	assert_non_null(mkdtemp(folder));
	expect_problem(folder, 1 << 20, "it is not a file");
	snprintf(path, sizeof(path), "%s/fifo.py", folder);
	assert_int_equal(mkfifo(path, 0600), 0);
	expect_problem(path, 100, "it is not a file"); /* and nobody waits for a writer */
	unlink(path);
	snprintf(path, sizeof(path), "%s/program", folder);
	write_source(path, "#!/usr/bin/env python3\nx = 1\n", 29);
	expect_problem(path, 100, NULL);
	expect_problem(path, 28, "it is too long");
	write_source(path, "#!/bin/sh\npython3\n", 18);
	expect_problem(path, 100, "it is not Python by its name or first line");
	unlink(path);
	snprintf(path, sizeof(path), "%s/a.py", folder);
	write_source(path, "x\0y", 3);
	expect_problem(path, 100, "it is not text");
	unlink(path);
	rmdir(folder);
}

#define HEAT_SOURCE "# r\xc3\xa9sum\xc3\xa9\n\xc3\xa9 = f(a, g(b)) + h(c)\nx = (1 +\n     2)\n"

/* 100 samples: 50 in g(b), 20 in f(...) itself, 10 in h(c), 10 in line 3, 10 in a name. */
static int write_heat(const char *path)
{
	uint32_t thread, code;
	struct builder b;
	char source[256];
	FILE *file;
	int err;

	snprintf(source, sizeof(source), "%s.py", path);
	write_source(source, HEAT_SOURCE, strlen(HEAT_SOURCE));
	builder_start(&b, "ns");
	b.profile.keep_columns = true;
	thread = builder_thread(&b, builder_process(&b, 12, "python3"), 12, "main");
	code = builder_code(&b, SDW_CODE_PYTHON, "<module>", source, 1);
	/* bytes from 1: the first letter has two */
	builder_sample(&b, thread, push_expression(&b, 0, code, 2, 11, 15), 50, 1000000,
		       SDW_STATUS_COMPLETE);
	builder_sample(&b, thread, push_expression(&b, 0, code, 2, 6, 16), 20, 1000000,
		       SDW_STATUS_COMPLETE);
	builder_sample(&b, thread, push_expression(&b, 0, code, 2, 19, 23), 10, 1000000,
		       SDW_STATUS_COMPLETE);
	builder_sample(&b, thread, push_expression(&b, 0, code, 2, 13, 14), 1, 1000000,
		       SDW_STATUS_COMPLETE);
	builder_sample(&b, thread, push_expression(&b, 0, code, 3, 5, 8), 10, 1000000,
		       SDW_STATUS_COMPLETE);
	builder_sample(&b, thread, builder_push(&b, 0, code, 4), 8, 1000000, SDW_STATUS_COMPLETE);
	/* a line that the file has not: as far away as one can be */
	builder_sample(&b, thread, builder_push(&b, 0, code, UINT32_MAX), 1, 1000000,
		       SDW_STATUS_COMPLETE);
	builder_end(&b, 0);
	file = fopen(path, "w");
	if (!file)
		return 1;
	err = sdw_export_heatmap(&b.profile, file);
	sdw_profile_free(&b.profile);
	return fclose(file) || err;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines_have_self_and_total_and_the_hottest_file_is_first),
		cmocka_unit_test(test_expressions_have_shares_of_their_own),
		cmocka_unit_test(test_a_source_cannot_act_in_the_page),
		cmocka_unit_test(test_only_python_source_files_are_read),
	};

	if (argc == 3 && strcmp(argv[1], "--heat") == 0)
		return write_heat(argv[2]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
