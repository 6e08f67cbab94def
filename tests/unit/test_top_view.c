// SPDX-License-Identifier: MIT
/* What keys do to a view of `top`, and which rows it then has. */
#include "top_builder.h"

/* Hottest first: c 5, b 3, a 2 of self; a 10, b 8, c 5 of total. */
static uint32_t abc(struct top_builder *builder)
{
	uint32_t thread;

	top_start(builder, "ns", 5);
	thread = top_thread(builder, top_process(builder, 10, "python3"), 11, "main");
	top_samples(builder, thread, "Alpha.a@/src/a.py:1:2", 2);
	top_samples(builder, thread, "Alpha.a@/src/a.py:1:2;Beta.b@/src/b.py:5:6", 3);
	top_samples(builder, thread,
		    "Alpha.a@/src/a.py:1:2;Beta.b@/src/b.py:5:7;Gamma.c@/src/c.py:9:9", 5);
	top_update(builder, 250);
	top_list(builder);
	return thread;
}

static void press(struct top_builder *builder, const char *keys)
{
	for (; *keys; keys++)
		sdw_top_view_key(&builder->view, &builder->list, (uint32_t)(unsigned char)*keys);
	top_list(builder);
}

static void press_key(struct top_builder *builder, enum sdw_top_key key)
{
	sdw_top_view_key(&builder->view, &builder->list, key);
	top_list(builder);
}

static void assert_names(const struct top_builder *builder, const char *names)
{
	char text[512] = "";

	for (size_t i = 0; i < builder->list.count; i++) {
		strcat(text, i ? " " : "");
		strcat(text, builder->list.items[i].name);
	}
	assert_string_equal(text, names);
}

static void test_sorting_goes_through_the_columns_and_back(void **state)
{
	struct top_builder builder;
	uint32_t thread = abc(&builder);

	(void)state;
	assert_names(&builder, "Gamma.c Beta.b Alpha.a");
	press(&builder, "s");
	assert_int_equal(builder.view.sort, SDW_TOP_SORT_TOTAL_NOW);
	assert_names(&builder, "Alpha.a Beta.b Gamma.c");
	/* six seconds later only a is hot now; since the start c still is */
	for (uint64_t ms = 500; ms <= 6000; ms += 250)
		top_update(&builder, ms);
	top_samples(&builder, thread, "Alpha.a@/src/a.py:1:2", 1);
	top_update(&builder, 6250);
	press(&builder, ">");
	assert_int_equal(builder.view.sort, SDW_TOP_SORT_SELF_START);
	assert_names(&builder, "Gamma.c Alpha.a Beta.b");
	press(&builder, "s");
	assert_names(&builder, "Alpha.a Beta.b Gamma.c");
	press(&builder, "s");
	assert_int_equal(builder.view.sort, SDW_TOP_SORT_SELF_NOW);
	assert_string_equal(builder.list.items[0].name, "Alpha.a");
	press(&builder, "<");
	assert_int_equal(builder.view.sort, SDW_TOP_SORT_TOTAL_START);
	press(&builder, "S");
	assert_int_equal(builder.view.sort, SDW_TOP_SORT_SELF_START);
	top_end(&builder);
}

static void test_filter_takes_text_of_names_files_and_lines_whatever_its_case(void **state)
{
	struct top_builder builder;

	(void)state;
	abc(&builder);
	press(&builder, "/bet");
	assert_true(builder.view.editing);
	assert_names(&builder, "Beta.b");
	assert_int_equal(builder.list.unfiltered, 3);
	press_key(&builder, SDW_TOP_KEY_ENTER);
	assert_false(builder.view.editing);
	assert_names(&builder, "Beta.b");
	press(&builder, "/");
	press_key(&builder, SDW_TOP_KEY_BACK);
	press_key(&builder, SDW_TOP_KEY_BACK);
	press_key(&builder, SDW_TOP_KEY_BACK);
	assert_names(&builder, "Gamma.c Beta.b Alpha.a");
	press_key(&builder, SDW_TOP_KEY_BACK); /* of nothing nothing is taken */
	press(&builder, "SRC/C.PY");
	assert_names(&builder, "Gamma.c");
	press_key(&builder, SDW_TOP_KEY_ESCAPE);
	assert_names(&builder, "Gamma.c Beta.b Alpha.a");
	press(&builder, "/:9");
	assert_names(&builder, "Gamma.c");
	press(&builder, "nothing like it");
	assert_names(&builder, "");
	press_key(&builder, SDW_TOP_KEY_ENTER);
	press_key(&builder, SDW_TOP_KEY_DOWN); /* in an empty list */
	press_key(&builder, SDW_TOP_KEY_ENTER);
	assert_int_equal(builder.view.drilled, 0);
	press_key(&builder, SDW_TOP_KEY_ESCAPE);
	assert_names(&builder, "Gamma.c Beta.b Alpha.a");
	top_end(&builder);
}

static void test_letters_are_text_while_the_filter_is_edited(void **state)
{
	struct top_builder builder;

	(void)state;
	abc(&builder);
	press(&builder, "/qh?t");
	assert_false(builder.view.quit);
	assert_false(builder.view.help);
	assert_int_equal(builder.view.by, SDW_TOP_BY_FUNCTION);
	assert_string_equal(builder.view.filter, "qh?t");
	top_end(&builder);
}

static void test_filter_takes_any_character_and_is_never_cut_within_one(void **state)
{
	struct top_builder builder;

	(void)state;
	abc(&builder);
	press(&builder, "/");
	press_key(&builder, (enum sdw_top_key)0xe9);
	press_key(&builder, (enum sdw_top_key)0x20ac);
	press_key(&builder, (enum sdw_top_key)0x1f40d);
	press_key(&builder, (enum sdw_top_key)0xd800); /* a surrogate is no character */
	press_key(&builder, (enum sdw_top_key)0x07);
	assert_string_equal(builder.view.filter, "\xc3\xa9\xe2\x82\xac\xf0\x9f\x90\x8d");
	press_key(&builder, SDW_TOP_KEY_BACK);
	assert_string_equal(builder.view.filter, "\xc3\xa9\xe2\x82\xac");
	for (int i = 0; i < 100; i++)
		press_key(&builder, (enum sdw_top_key)0x1f40d);
	assert_int_equal(strlen(builder.view.filter), 5 + 14 * 4);
	top_end(&builder);
}

static void test_callers_of_callers_and_back(void **state)
{
	struct top_builder builder;

	(void)state;
	abc(&builder);
	press_key(&builder, SDW_TOP_KEY_ENTER); /* c is selected: it is on top */
	assert_string_equal(sdw_top_drilled(&builder.model, &builder.view).name, "Gamma.c");
	assert_names(&builder, "Beta.b");
	assert_int_equal(builder.list.items[0].line, 7);
	press_key(&builder, SDW_TOP_KEY_ENTER);
	assert_names(&builder, "Alpha.a");
	assert_int_equal(builder.list.items[0].amounts[SDW_TOP_SORT_SELF_NOW], 8);
	press_key(&builder, SDW_TOP_KEY_ENTER);
	assert_names(&builder, "root of the stack");
	press_key(&builder, SDW_TOP_KEY_ENTER); /* has no callers */
	assert_int_equal(builder.view.drilled, 3);
	press_key(&builder, SDW_TOP_KEY_BACK);
	assert_names(&builder, "Alpha.a");
	press_key(&builder, SDW_TOP_KEY_ESCAPE);
	press_key(&builder, SDW_TOP_KEY_BACK);
	assert_names(&builder, "Gamma.c Beta.b Alpha.a");
	press_key(&builder, SDW_TOP_KEY_BACK); /* nowhere further */
	assert_names(&builder, "Gamma.c Beta.b Alpha.a");
	top_end(&builder);
}

static void test_recursive_function_can_be_followed_without_end(void **state)
{
	struct top_builder builder;
	uint32_t thread;

	(void)state;
	top_start(&builder, "ns", 5);
	thread = top_thread(&builder, top_process(&builder, 10, "python3"), 11, "main");
	top_samples(&builder, thread, "fib@a.py:1:2;fib@a.py:1:2", 3);
	top_update(&builder, 250);
	top_list(&builder);
	for (int i = 0; i < 100; i++)
		press_key(&builder, SDW_TOP_KEY_ENTER);
	assert_int_equal(builder.view.drilled, SDW_TOP_MAX_DRILL);
	for (int i = 0; i < 100; i++)
		press_key(&builder, SDW_TOP_KEY_BACK);
	assert_int_equal(builder.view.drilled, 0);
	top_end(&builder);
}

static void test_selected_row_is_followed_and_on_top_the_hottest_is_meant(void **state)
{
	struct top_builder builder;
	uint32_t thread = abc(&builder);

	(void)state;
	press_key(&builder, SDW_TOP_KEY_DOWN); /* Beta.b */
	top_samples(&builder, thread, "Alpha.a@/src/a.py:1:2", 20);
	top_update(&builder, 500);
	top_list(&builder);
	assert_names(&builder, "Alpha.a Gamma.c Beta.b");
	assert_int_equal(builder.view.selected, 2);
	press_key(&builder, SDW_TOP_KEY_HOME);
	top_samples(&builder, thread, "Alpha.a@/src/a.py:1:2;Beta.b@/src/b.py:5:6", 40);
	top_update(&builder, 750);
	top_list(&builder);
	assert_names(&builder, "Beta.b Alpha.a Gamma.c");
	assert_int_equal(builder.view.selected, 0);
	press_key(&builder, SDW_TOP_KEY_END);
	press_key(&builder, SDW_TOP_KEY_DOWN); /* not beyond the end */
	assert_int_equal(builder.view.selected, 2);
	press(&builder, "kk");
	press_key(&builder, SDW_TOP_KEY_UP);
	assert_int_equal(builder.view.selected, 0);
	builder.view.page = 2;
	press_key(&builder, SDW_TOP_KEY_PAGE_DOWN);
	assert_int_equal(builder.view.selected, 2);
	press_key(&builder, SDW_TOP_KEY_PAGE_UP);
	assert_int_equal(builder.view.selected, 0);
	press(&builder, "Gg");
	assert_int_equal(builder.view.selected, 0);
	top_end(&builder);
}

static void test_views_pause_help_and_quit(void **state)
{
	struct top_builder builder;

	(void)state;
	abc(&builder);
	press(&builder, "l");
	assert_int_equal(builder.view.by, SDW_TOP_BY_LINE);
	assert_int_equal(builder.list.count, 4);
	press(&builder, "t");
	assert_names(&builder, "main");
	press_key(&builder, SDW_TOP_KEY_ENTER); /* a thread has no callers, it has functions */
	assert_int_equal(builder.view.drilled, 0);
	assert_int_equal(builder.view.owner, 1);
	assert_true(builder.view.owner_is_thread);
	assert_int_equal(builder.view.by, SDW_TOP_BY_FUNCTION);
	press(&builder, "lss");
	assert_int_equal(builder.view.sort, SDW_TOP_SORT_SELF_NOW); /* now is all there is */
	press(&builder, "S");
	assert_int_equal(builder.view.sort, SDW_TOP_SORT_TOTAL_NOW);
	press(&builder, "s");
	press_key(&builder, SDW_TOP_KEY_BACK);
	assert_int_equal(builder.view.owner, 0);
	assert_names(&builder, "main");
	press(&builder, " "); /* of a paused moment it is not kept who did what */
	press_key(&builder, SDW_TOP_KEY_ENTER);
	assert_int_equal(builder.view.owner, 0);
	press(&builder, " ");
	press(&builder, "p");
	assert_names(&builder, "python3");
	press(&builder, "fn");
	assert_int_equal(builder.view.frames, SDW_TOP_ALL);
	press(&builder, "n ");
	assert_int_equal(builder.view.frames, SDW_TOP_PYTHON);
	assert_int_equal(builder.view.state, SDW_TOP_PAUSED);
	press(&builder, " ");
	assert_int_equal(builder.view.state, SDW_TOP_LIVE);
	press(&builder, "h");
	assert_true(builder.view.help);
	press(&builder, "jjk"); /* scroll it */
	assert_true(builder.view.help);
	press(&builder, "l"); /* any other key closes it, and does nothing else */
	assert_false(builder.view.help);
	assert_int_equal(builder.view.by, SDW_TOP_BY_FUNCTION);
	press(&builder, "?q");
	assert_true(builder.view.quit);
	builder.view.state = SDW_TOP_ENDED;
	builder.view.help = false;
	press(&builder, " "); /* what has ended does not go on */
	assert_int_equal(builder.view.state, SDW_TOP_ENDED);
	top_end(&builder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sorting_goes_through_the_columns_and_back),
		cmocka_unit_test(test_filter_takes_text_of_names_files_and_lines_whatever_its_case),
		cmocka_unit_test(test_letters_are_text_while_the_filter_is_edited),
		cmocka_unit_test(test_filter_takes_any_character_and_is_never_cut_within_one),
		cmocka_unit_test(test_callers_of_callers_and_back),
		cmocka_unit_test(test_recursive_function_can_be_followed_without_end),
		cmocka_unit_test(test_selected_row_is_followed_and_on_top_the_hottest_is_meant),
		cmocka_unit_test(test_views_pause_help_and_quit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
