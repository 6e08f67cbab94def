// SPDX-License-Identifier: MIT
/* test_diff.c - differences of two profiles: which rows are one, figures, errors, what is marked.
 */
#include <errno.h>
#include <json-c/json.h>
#include <math.h>
#include <stdio.h>

#include "analyze/diff.h"
#include "profile_builder.h"

struct pair {
	struct builder base, new;
	uint32_t base_thread, new_thread;
};

static void start(struct pair *pair)
{
	builder_start(&pair->base, "ns");
	builder_start(&pair->new, "ns");
	pair->base_thread = builder_thread(&pair->base, builder_process(&pair->base, 12, "python3"),
					   13, "worker");
	pair->new_thread = builder_thread(&pair->new, builder_process(&pair->new, 97, "python3"),
					  98, "worker");
}

static void base(struct pair *pair, const char *stack, unsigned int count)
{
	builder_sample(&pair->base, pair->base_thread, builder_stack(&pair->base, stack), count,
		       1000000, SDW_STATUS_COMPLETE);
}

static void changed(struct pair *pair, const char *stack, unsigned int count)
{
	builder_sample(&pair->new, pair->new_thread, builder_stack(&pair->new, stack), count,
		       1000000, SDW_STATUS_COMPLETE);
}

static void make(struct pair *pair, struct sdw_diff *diff, const struct sdw_diff_options *options)
{
	builder_end(&pair->base, 0);
	builder_end(&pair->new, 0);
	assert_int_equal(sdw_diff_make(diff, &pair->base.profile, &pair->new.profile, options), 0);
}

static void end(struct pair *pair, struct sdw_diff *diff)
{
	sdw_diff_free(diff);
	sdw_profile_free(&pair->base.profile);
	sdw_profile_free(&pair->new.profile);
}

static const struct sdw_diff_row *row_of(const struct sdw_diff *diff, const char *name)
{
	for (size_t i = 0; i < diff->rows.count; i++)
		if (strcmp(diff->rows.items[i].row.name, name) == 0)
			return &diff->rows.items[i];
	return NULL;
}

static void test_shares_their_change_and_its_error(void **state)
{
	const struct sdw_diff_options options = {0};
	const struct sdw_diff_row *row;
	struct sdw_diff diff;
	struct pair pair;

	(void)state;
	start(&pair);
	base(&pair, "main@a.py:1:2;f@a.py:10:11", 100);
	base(&pair, "main@a.py:1:3;g@a.py:20:21", 300);
	changed(&pair, "main@a.py:1:2;f@a.py:10:11", 600);
	changed(&pair, "main@a.py:1:3;g@a.py:20:21", 200);
	make(&pair, &diff, &options);
	assert_int_equal(diff.rows.count, 3);
	row = row_of(&diff, "f");
	assert_int_equal(row->self.base_amount.samples, 100);
	assert_int_equal(row->self.new_amount.samples, 600);
	assert_float_equal(row->self.base, 0.25, 1e-12);
	assert_float_equal(row->self.new, 0.75, 1e-12);
	assert_float_equal(row->self.change, 0.5, 1e-12);
	/* (101/402)(301/402)/402 + (601/802)(201/802)/802 */
	assert_float_equal(row->self.error,
			   sqrt(101.0 * 301 / pow(402, 3) + 601.0 * 201 / pow(802, 3)), 1e-12);
	assert_true(row->self.is_changed);
	row = row_of(&diff, "main");
	assert_int_equal(row->self.new_amount.samples, 0);
	assert_float_equal(row->total.new, 1, 1e-12);
	assert_false(row->total.is_changed);
	assert_int_equal(diff.changed, 2);
	assert_ptr_equal(&diff.rows.items[2], row);
	end(&pair, &diff);
}

static void test_what_chance_explains_is_not_marked(void **state)
{
	const struct sdw_diff_options options = {0};
	struct sdw_diff diff;
	struct pair pair;

	(void)state;
	start(&pair);
	base(&pair, "same@a.py:1:2", 500);
	changed(&pair, "same@a.py:1:2", 5000);
	base(&pair, "near@a.py:10:11", 500); /* 50 % and 51 %: 1.7 +- 3.3 */
	changed(&pair, "near@a.py:10:11", 5204);
	base(&pair, "few@a.py:20:21", 4);
	make(&pair, &diff, &options);
	assert_int_equal(diff.changed, 0);
	assert_false(row_of(&diff, "few")->self.is_changed);
	end(&pair, &diff);
}

/* Each of 400 rows differs by 2 standard errors or less: 20 would be marked one by one. */
static void test_many_rows_are_judged_together(void **state)
{
	const struct sdw_diff_options options = {0};
	struct sdw_diff diff;
	struct pair pair;
	char stack[64];

	(void)state;
	start(&pair);
	for (unsigned int i = 0; i < 400; i++) {
		/* sqrt(100 + 100) is 14.1 */
		unsigned int more = i % 20 ? i % 20 : 29;

		snprintf(stack, sizeof(stack), "f%u@a.py:%u:%u", i, i + 1, i + 1);
		base(&pair, stack, 100);
		changed(&pair, stack, i % 2 ? 100 + more : 100 - more);
	}
	make(&pair, &diff, &options);
	assert_int_equal(diff.changed, 0);
	end(&pair, &diff);
}

static void test_rates_and_amounts(void **state)
{
	struct sdw_diff_options options = {.of = SDW_DIFF_AMOUNT};
	struct sdw_diff diff;
	struct pair pair;

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		start(&pair);
		base(&pair, "f@a.py:1:2", 1000);
		changed(&pair, "f@a.py:1:2", 500);
		make(&pair, &diff, &options);
		/* seconds, and seconds a second of 2.5 */
		assert_float_equal(diff.rows.items[0].self.base, i ? 0.4 : 1, 1e-12);
		assert_float_equal(diff.rows.items[0].self.change, i ? -0.2 : -0.5, 1e-12);
		assert_float_equal(diff.rows.items[0].self.error,
				   sqrt(1001 + 501) * 0.001 / (i ? 2.5 : 1), 1e-12);
		assert_true(diff.rows.items[0].self.is_changed);
		end(&pair, &diff);
		options.of = SDW_DIFF_RATE;
	}
}

static void test_a_function_that_moved_is_the_same(void **state)
{
	struct sdw_diff_options options = {.report.by = SDW_REPORT_LINE};
	const struct sdw_diff_row *row;
	struct sdw_diff diff;
	struct pair pair;

	(void)state;
	start(&pair);
	base(&pair, "f@/v1/a.py:10:12", 50);
	changed(&pair, "f@/v1/a.py:30:32", 70);
	/* of several of one name the equal one first, then in order */
	base(&pair, "<lambda>@/v1/a.py:100:100", 1);
	base(&pair, "<lambda>@/v1/a.py:200:200", 2);
	changed(&pair, "<lambda>@/v1/a.py:150:150", 10);
	changed(&pair, "<lambda>@/v1/a.py:200:200", 20);
	make(&pair, &diff, &options);
	assert_int_equal(diff.rows.count, 3);
	row = row_of(&diff, "f");
	assert_int_equal(row->row.line, 32);
	assert_int_equal(row->self.base_amount.samples, 50);
	assert_int_equal(row->self.new_amount.samples, 70);
	for (size_t i = 0; i < diff.rows.count; i++) {
		row = &diff.rows.items[i];
		if (row->row.line == 150)
			assert_int_equal(row->self.base_amount.samples, 1);
		if (row->row.line == 200)
			assert_int_equal(row->self.base_amount.samples, 2);
	}
	assert_int_equal(diff.matched.moved, 0);
	end(&pair, &diff);
}

static void test_a_file_elsewhere_is_the_same_if_only_one_fits(void **state)
{
	struct sdw_diff_options options = {0};
	struct sdw_diff diff;
	struct pair pair;

	(void)state;
	start(&pair);
	base(&pair, "f@/srv/1/app.py:10:12", 50);
	changed(&pair, "f@/srv/2/app.py:11:13", 70);
	base(&pair, "n compute@/lib/libpython3.12.so", 5);
	changed(&pair, "n compute@/lib/libpython3.13.so", 6);
	/* two fit: nothing is guessed */
	base(&pair, "run@/srv/1/x/run.py:1:1", 1);
	changed(&pair, "run@/srv/2/y/run.py:1:1", 1);
	changed(&pair, "run@/srv/2/z/run.py:1:1", 1);
	/* every file has one: it has to be where others of the file are */
	base(&pair, "<module>@/srv/1/app.py:1:1", 7);
	changed(&pair, "<module>@/srv/2/app.py:1:1", 8);
	/* or in a folder of the same name */
	base(&pair, "<module>@/srv/1/x/__init__.py:1:1", 1);
	changed(&pair, "<module>@/srv/1/y/__init__.py:1:1", 1);
	make(&pair, &diff, &options);
	assert_string_equal(row_of(&diff, "f")->row.file, "/srv/2/app.py");
	assert_int_equal(row_of(&diff, "f")->self.base_amount.samples, 50);
	assert_int_equal(row_of(&diff, "compute")->self.base_amount.samples, 5);
	assert_int_equal(row_of(&diff, "compute")->self.new_amount.samples, 6);
	assert_int_equal(diff.matched.moved, 3);
	assert_int_equal(diff.rows.count, 3 + 3 + 2);
	end(&pair, &diff);
}

static void test_threads_are_compared_by_name(void **state)
{
	struct sdw_diff_options options = {.report.by = SDW_REPORT_THREAD};
	struct sdw_diff diff;
	struct pair pair;

	(void)state;
	start(&pair);
	base(&pair, "f@a.py:1:2", 50);
	changed(&pair, "f@a.py:1:2", 70);
	pair.new_thread = builder_thread(&pair.new, 1, 99, "worker");
	changed(&pair, "f@a.py:1:2", 30);
	make(&pair, &diff, &options);
	assert_int_equal(diff.rows.count, 1);
	assert_int_equal(diff.rows.items[0].self.base_amount.samples, 50);
	assert_int_equal(diff.rows.items[0].self.new_amount.samples, 100);
	end(&pair, &diff);
}

static void test_other_events_are_refused(void **state)
{
	const struct sdw_diff_options options = {0};
	struct builder base_builder, new_builder;
	struct sdw_diff diff;

	(void)state;
	builder_start(&base_builder, "ns");
	builder_start(&new_builder, "events");
	assert_int_equal(
		sdw_diff_make(&diff, &base_builder.profile, &new_builder.profile, &options),
		-EINVAL);
	sdw_diff_free(&diff);
	sdw_profile_free(&base_builder.profile);
	sdw_profile_free(&new_builder.profile);
}

static void build_printed(struct pair *pair)
{
	start(pair);
	base(pair, "main@/srv/app.py:1:2;parse@/srv/app.py:10:11", 600);
	base(pair, "main@/srv/app.py:1:3;render@/srv/app.py:20:21", 400);
	changed(pair, "main@/srv/app.py:1:2;parse@/srv/app.py:12:13", 1600);
	changed(pair, "main@/srv/app.py:1:3;render@/srv/app.py:22:23", 400);
	changed(pair, "main@/srv/app.py:1:3;rare\033[2J@/srv/app.py:30:31", 2);
}

static void test_the_table(void **state)
{
	const struct sdw_diff_options options = {.report.limit = 30};
	struct sdw_diff diff;
	struct pair pair;
	char *text = NULL;

	(void)state;
	build_printed(&pair);
	make(&pair, &diff, &options);
	CAPTURE(text, 0, sdw_diff_print(&diff, out));
	assert_string_equal(
		text,
		"BASE  python3 app.py\n"
		"      2.50 s, 1000 samples of 1.00 s of cpu-clock\n"
		"NEW   python3 app.py\n"
		"      2.50 s, 2002 samples of 2.00 s of cpu-clock\n"
		"2 of 4 functions changed in self by more than sampling explains (of those that\n"
		"are said to, at most 5 % by chance). ~: within the error of sampling. +-: 95 %\n"
		"of the samplings of the same two runs lie so near.\n"
		"\n"
		"  SELF %                TOTAL %\n"
		"  BASE  NEW CHANGE  +-   BASE   NEW CHANGE  FUNCTION  FILE:LINE\n"
		"  40.0 20.0  -20.0 3.5   40.0  20.0  -20.0  render    /srv/app.py:22\n"
		"  60.0 79.9  +19.9 3.5   60.0  79.9  +19.9  parse     /srv/app.py:12\n"
		"~  0.0  0.0    0.0 0.2  100.0 100.0    0.0  main      /srv/app.py:1\n"
		"... and 1 more (--limit=0: all)\n");
	free(text);
	end(&pair, &diff);
}

static void test_no_name_steers_the_terminal(void **state)
{
	const struct sdw_diff_options options = {0};
	struct sdw_diff diff;
	struct pair pair;
	char *text = NULL;

	(void)state;
	build_printed(&pair);
	make(&pair, &diff, &options);
	CAPTURE(text, 0, sdw_diff_print(&diff, out));
	assert_non_null(strstr(text, "rare\\x1b[2J"));
	assert_null(strchr(text, '\033'));
	free(text);
	end(&pair, &diff);
}

static double number_at(struct json_object *object, const char *key, const char *inner)
{
	struct json_object *at = json_object_object_get(object, key);

	return json_object_get_double(inner ? json_object_object_get(at, inner) : at);
}

static void test_the_object(void **state)
{
	const struct sdw_diff_options options = {.report.limit = 1};
	struct json_object *object, *rows, *row, *self;
	struct sdw_diff diff;
	struct pair pair;
	char *text = NULL;

	(void)state;
	build_printed(&pair);
	make(&pair, &diff, &options);
	CAPTURE(text, 0, sdw_diff_print_json(&diff, out));
	object = json_tokener_parse(text);
	assert_non_null(object);
	rows = json_object_object_get(object, "rows");
	assert_int_equal(json_object_array_length(rows), 1);
	row = json_object_array_get_idx(rows, 0);
	assert_string_equal(json_object_get_string(json_object_object_get(row, "name")), "render");
	assert_float_equal(number_at(row, "line", NULL), 22, 0);
	self = json_object_object_get(row, "self");
	assert_float_equal(number_at(self, "base", "samples"), 400, 0);
	assert_float_equal(number_at(self, "base", "value"), 0.4, 1e-9);
	assert_float_equal(number_at(self, "change", NULL), 400.0 / 2002 - 0.4, 1e-8);
	assert_float_equal(number_at(self, "high", NULL) - number_at(self, "low", NULL),
			   2 * 1.959964 * number_at(self, "error", NULL), 1e-8);
	assert_true(json_object_get_boolean(json_object_object_get(self, "changed")));
	assert_float_equal(number_at(object, "changed", NULL), 2, 0);
	assert_float_equal(number_at(object, "base", "samples"), 1000, 0);
	assert_float_equal(number_at(object, "new", "samples"), 2002, 0);
	json_object_put(object);
	free(text);
	end(&pair, &diff);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shares_their_change_and_its_error),
		cmocka_unit_test(test_what_chance_explains_is_not_marked),
		cmocka_unit_test(test_many_rows_are_judged_together),
		cmocka_unit_test(test_rates_and_amounts),
		cmocka_unit_test(test_a_function_that_moved_is_the_same),
		cmocka_unit_test(test_a_file_elsewhere_is_the_same_if_only_one_fits),
		cmocka_unit_test(test_threads_are_compared_by_name),
		cmocka_unit_test(test_other_events_are_refused),
		cmocka_unit_test(test_the_table),
		cmocka_unit_test(test_no_name_steers_the_terminal),
		cmocka_unit_test(test_the_object),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
