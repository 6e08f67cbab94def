// SPDX-License-Identifier: MIT
/* What a command line of `sidewinder top` asks for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "cmd/top_options.h"

static struct sdw_top_arguments arguments;

/* Parses the words, split at blanks. */
static enum sdw_options_result parse(const char *line)
{
	static char text[512];
	static char *argv[32];
	int argc = 0;

	assert_true(strlen(line) < sizeof(text));
	strcpy(text, line);
	for (char *word = strtok(text, " "); word && argc < 31; word = strtok(NULL, " "))
		argv[argc++] = word;
	argv[argc] = NULL;
	sdw_top_options_free(&arguments);
	return sdw_top_options_parse(argc, argv, &arguments);
}

static void test_defaults_are_those_of_the_help_text(void **state)
{
	(void)state;
	assert_int_equal(parse("top -p 4711"), SDW_OPTIONS_GO_ON);
	assert_int_equal(arguments.capture.config.pids[0], 4711);
	assert_false(arguments.capture.config.all);
	assert_int_equal(arguments.capture.config.frequency, 1000);
	assert_true(arguments.capture.config.duration_s == 0);
	assert_null(arguments.capture.config.output);
	assert_true(arguments.window_s == 5);
	assert_true(arguments.refresh_s == 1);
	assert_int_equal(arguments.limit, 30);
	assert_false(arguments.once);
	assert_int_equal(arguments.view.by, SDW_TOP_BY_FUNCTION);
	assert_int_equal(arguments.view.sort, SDW_TOP_SORT_SELF_NOW);
	assert_int_equal(arguments.view.frames, SDW_TOP_PYTHON);
	assert_string_equal(arguments.view.filter, "");
	assert_int_equal(parse("top"), SDW_OPTIONS_GO_ON); /* the whole machine */
	assert_true(arguments.capture.config.all);
}

static void test_print_ends_by_itself_a_command_with_its_own_end(void **state)
{
	(void)state;
	assert_int_equal(parse("top --once -p 1"), SDW_OPTIONS_GO_ON);
	assert_true(arguments.capture.config.duration_s == 5);
	assert_int_equal(parse("top --json -a -d 2"), SDW_OPTIONS_GO_ON);
	assert_true(arguments.once);
	assert_true(arguments.capture.config.duration_s == 2);
	assert_int_equal(arguments.limit, 0);
	assert_int_equal(parse("top --json -n 7 python3 app.py --once"), SDW_OPTIONS_GO_ON);
	assert_true(arguments.capture.config.duration_s == 0);
	assert_int_equal(arguments.limit, 7);
	assert_string_equal(arguments.capture.config.command[2], "--once");
}

static void test_what_to_show_at_first(void **state)
{
	(void)state;
	assert_int_equal(parse("top -a -b thread -s total-start -N --filter json -w 10"),
			 SDW_OPTIONS_GO_ON);
	assert_int_equal(arguments.view.by, SDW_TOP_BY_THREAD);
	assert_int_equal(arguments.view.sort, SDW_TOP_SORT_TOTAL_START);
	assert_int_equal(arguments.view.frames, SDW_TOP_ALL);
	assert_string_equal(arguments.view.filter, "json");
	assert_true(arguments.window_s == 10);
}

static void test_what_does_not_go_together_is_wrong_use(void **state)
{
	static const char *const lines[] = {
		"top -a -p 1",
		"top --children",
		"top -p 0",
		"top -a -w 0.5",
		"top -a -w 61",
		"top -a --refresh 0.1",
		"top -a --by module",
		"top -a --sort self",
		"top -p 1 --command-output x",
		"top -p 1 --force",
		"top -F 100 -c 100 a",
		"top -a --filter 0123456789012345678901234567890123456789012345678901234567890123",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		print_message("%s\n", lines[i]);
		assert_int_equal(parse(lines[i]), SDW_OPTIONS_WRONG);
	}
	sdw_top_options_free(&arguments);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults_are_those_of_the_help_text),
		cmocka_unit_test(test_print_ends_by_itself_a_command_with_its_own_end),
		cmocka_unit_test(test_what_to_show_at_first),
		cmocka_unit_test(test_what_does_not_go_together_is_wrong_use),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
