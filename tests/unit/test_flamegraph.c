// SPDX-License-Identifier: MIT
/*
 * test_flamegraph.c - the page as a file: one piece, with data that no name can break out of.
 *
 * With "--page FILE", "--many FILE" or "--change FILE" it writes the page of a small profile with
 * known shares, of 100,000 stacks, or of a known difference, for the tests that run pages in a
 * browser (tests/browser).
 */
#include <json-c/json.h>
#include <stdio.h>

#include "analyze/diff.h"
#include "profile_builder.h"
#include "view/export.h"

#define HOSTILE "</script><script>window.broken = 1</script><img src=x onerror='window.broken = 2'>"

/* 1000 samples: 900 in the first thread, 60 in the second, 40 in another process. */
static void build_known(struct builder *b)
{
	uint32_t first, second, third, main_, heavy, light, spin, memcpy_, copy, hostile;
	uint32_t at, other;

	builder_start(b, "ns");
	first = builder_thread(b, builder_process(b, 12, "python3"), 12, "python3");
	second = builder_thread(b, 1, 13, "worker");
	third = builder_thread(b, builder_process(b, 20, "child"), 20, "child");
	main_ = builder_code(b, SDW_CODE_PYTHON, "main", "/srv/app.py", 1);
	heavy = builder_code(b, SDW_CODE_PYTHON, "App.heavy", "/srv/app.py", 40);
	light = builder_code(b, SDW_CODE_PYTHON, "App.light", "/srv/app.py", 50);
	spin = builder_code(b, SDW_CODE_PYTHON, "spin", "/srv/lib/spin.py", 3);
	memcpy_ = builder_code(b, SDW_CODE_NATIVE, "memcpy", "/usr/lib/libc.so.6", 0);
	copy = builder_code(b, SDW_CODE_KERNEL, "copy_page", "", 0);
	hostile = builder_code(b, SDW_CODE_PYTHON, HOSTILE, "/srv/<b>.py", 7);
	at = builder_push(b, 0, main_, 9);
	other = builder_push(b, at, heavy, 41);
	builder_sample(b, first, builder_push(b, other, spin, 4), 600, 1000000,
		       SDW_STATUS_COMPLETE);
	other = builder_push(b, at, heavy, 42);
	other = builder_push(b, builder_push(b, other, memcpy_, 0), copy, 0);
	builder_sample(b, first, other, 100, 1000000, SDW_STATUS_COMPLETE);
	other = builder_push(b, builder_push(b, at, light, 51), spin, 4);
	builder_sample(b, first, other, 200, 1000000, SDW_STATUS_COMPLETE);
	builder_sample(b, second, builder_push(b, 0, heavy, 41), 60, 1000000, SDW_STATUS_COMPLETE);
	builder_sample(b, third, builder_push(b, at, hostile, 8), 30, 1000000, SDW_STATUS_COMPLETE);
	builder_sample(b, third, 0, 10, 1000000, SDW_STATUS_NO_PYTHON);
	builder_end(b, 7);
}

/* 100,000 stacks of 30 frames that share their outer parts. */
static void build_many(struct builder *b)
{
	uint32_t thread, codes[300], path[30] = {0};
	char name[32], file[32];

	builder_start(b, "ns");
	thread = builder_thread(b, builder_process(b, 12, "python3"), 12, "python3");
	for (unsigned int i = 0; i < 300; i++) {
		snprintf(name, sizeof(name), "function_%u", i);
		snprintf(file, sizeof(file), "/srv/file_%u.py", i % 20);
		codes[i] = builder_code(b, SDW_CODE_PYTHON, name, file, i + 1);
	}
	for (unsigned int i = 0; i < 100000; i++) {
		unsigned int depth = 30;

		for (unsigned int j = i; depth > 1 && j % 3 == 0 && j; j /= 3)
			depth--;
		depth = i ? depth - 3 : 0; /* what changes from the stack before */
		for (; depth < 30; depth++)
			path[depth] = builder_push(b, depth ? path[depth - 1] : 0,
						   codes[(i * 7 + depth * 31) % 300], depth + 1);
		builder_sample(b, thread, path[29], 1, 1000000, SDW_STATUS_COMPLETE);
	}
	builder_end(b, 0);
}

static char *make_page(struct builder *builder)
{
	char *text = NULL;

	CAPTURE(text, 0, sdw_export_flamegraph(&builder->profile, out));
	sdw_profile_free(&builder->profile);
	return text;
}

/* The data element's text, cut out of `page`. */
static char *data_of(char *page)
{
	static const char start[] = "<script type=\"application/json\" id=\"data\">";
	char *data = strstr(page, start), *end;

	assert_non_null(data);
	data += strlen(start);
	end = strstr(data, "</script>");
	assert_non_null(end);
	*end = 0;
	return data;
}

static void test_the_data_is_json_that_gives_names_back(void **state)
{
	struct json_object *object, *codes, *found = NULL;
	struct builder b;
	char *page;

	(void)state;
	build_known(&b);
	page = make_page(&b);
	object = json_tokener_parse(data_of(page));
	assert_non_null(object);
	codes = json_object_object_get(object, "codes");
	for (size_t i = 0; i < json_object_array_length(codes); i++) {
		struct json_object *code = json_object_array_get_idx(codes, i);

		if (json_object_get_int(json_object_array_get_idx(code, 3)) == 7)
			found = code;
	}
	assert_string_equal(json_object_get_string(json_object_array_get_idx(found, 1)), HOSTILE);
	assert_int_equal(json_object_get_int(json_object_object_get(object, "samples")), 1000);
	assert_int_equal(json_object_get_int(json_object_object_get(object, "lost")), 7);
	json_object_put(object);
	free(page);
}

static void test_no_name_is_markup_in_the_page(void **state)
{
	struct builder b;
	char *page, *data;

	(void)state;
	build_known(&b);
	page = make_page(&b);
	data = data_of(page);
	assert_null(strpbrk(data, "<>&"));
	free(page);
}

static void test_the_page_asks_for_nothing_from_outside(void **state)
{
	struct builder b;
	char *page;

	(void)state;
	build_known(&b);
	page = make_page(&b);
	assert_null(strstr(page, "://"));
	assert_null(strstr(page, "@DATA@"));
	assert_null(strstr(page, "@NONCE@"));
	assert_non_null(strstr(page, "default-src 'none'"));
	assert_string_equal(page + strlen(page) - 8, "</html>\n");
	free(page);
}

static void copy_nonce(const char *page, char *nonce)
{
	const char *at = strstr(page, "'nonce-");

	assert_non_null(at);
	memcpy(nonce, at + 7, 32);
	nonce[32] = 0;
	assert_int_equal(strspn(nonce, "0123456789abcdef"), 32);
}

static void test_scripts_run_by_a_nonce_that_no_other_page_has(void **state)
{
	char first[33], second[33], *page;
	struct builder b;
	int count = 0;

	(void)state;
	build_known(&b);
	page = make_page(&b);
	copy_nonce(page, first);
	for (const char *at = page; (at = strstr(at, first)); at++)
		count++;
	assert_int_equal(count, 4); /* policy: script, style; and the two elements */
	free(page);
	build_known(&b);
	page = make_page(&b);
	copy_nonce(page, second);
	assert_string_not_equal(first, second);
	free(page);
}

static int write_page(void (*build)(struct builder *), const char *path)
{
	FILE *file = fopen(path, "w");
	struct builder b;
	int err;

	if (!file)
		return 1;
	build(&b);
	err = sdw_export_flamegraph(&b.profile, file);
	sdw_profile_free(&b.profile);
	return fclose(file) || err;
}

/* 1000 samples, and 2000 after the change: `heavy` from 30 to 65 %, `old` gone, `fresh` new. */
static void build_side(struct builder *b, bool is_new)
{
	unsigned int scale = is_new ? 2 : 1;
	uint32_t thread;

	builder_start(b, "ns");
	thread = builder_thread(b, builder_process(b, is_new ? 90 : 12, "python3"), 12, "python3");
	builder_sample(b, thread, builder_stack(b, "main@/srv/app.py:1:2;heavy@/srv/app.py:9:9"),
		       is_new ? 1300 : 300, 1000000, SDW_STATUS_COMPLETE);
	builder_sample(b, thread, builder_stack(b, "main@/srv/app.py:1:2;light@/srv/app.py:20:21"),
		       200 * scale, 1000000, SDW_STATUS_COMPLETE);
	builder_sample(b, thread,
		       builder_stack(b, is_new ? "main@/srv/app.py:1:2;fresh@/srv/app.py:40:41"
					       : "main@/srv/app.py:1:2;old@/srv/app.py:30:31"),
		       is_new ? 300 : 500, 1000000, SDW_STATUS_COMPLETE);
	builder_end(b, 0);
}

static int write_change(const char *path)
{
	const struct sdw_diff_options options = {0};
	FILE *file = fopen(path, "w");
	struct builder base, new;
	struct sdw_diff diff;
	int err;

	if (!file)
		return 1;
	build_side(&base, false);
	build_side(&new, true);
	err = sdw_diff_make(&diff, &base.profile, &new.profile, &options);
	if (!err)
		err = sdw_export_flamegraph_diff(&diff.both, diff.base_threads, &diff.base.view,
						 &diff.new.view, file);
	sdw_diff_free(&diff);
	sdw_profile_free(&base.profile);
	sdw_profile_free(&new.profile);
	return fclose(file) || err;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_data_is_json_that_gives_names_back),
		cmocka_unit_test(test_no_name_is_markup_in_the_page),
		cmocka_unit_test(test_the_page_asks_for_nothing_from_outside),
		cmocka_unit_test(test_scripts_run_by_a_nonce_that_no_other_page_has),
	};

	if (argc == 3 && strcmp(argv[1], "--page") == 0)
		return write_page(build_known, argv[2]);
	if (argc == 3 && strcmp(argv[1], "--many") == 0)
		return write_page(build_many, argv[2]);
	if (argc == 3 && strcmp(argv[1], "--change") == 0)
		return write_change(argv[2]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
