// SPDX-License-Identifier: MIT
/* What a command line of `sidewinder record` asks for. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include <linux/perf_event.h>

#include "cmd/record_options.h"

/* Parses the words, split at blanks. */
static enum sdw_options_result parse(const char *line, struct sdw_config *config)
{
	static char text[512];
	static char *argv[32];
	int argc = 0;
	char *word;

	assert_true(strlen(line) < sizeof(text));
	strcpy(text, line);
	for (word = strtok(text, " "); word && argc < 31; word = strtok(NULL, " "))
		argv[argc++] = word;
	argv[argc] = NULL;
	return sdw_record_options_parse(argc, argv, config);
}

static void test_defaults_are_those_of_the_help_text(void **state)
{
	struct sdw_config config;

	(void)state;
	assert_int_equal(parse("record python3 app.py -c 3", &config), SDW_OPTIONS_GO_ON);
	assert_string_equal(config.event.name, "cycles");
	assert_true(config.event.by_default);
	assert_int_equal(config.frequency, 1000);
	assert_int_equal(config.period, 0);
	assert_true(config.duration_s == 0);
	assert_false(config.all);
	assert_int_equal(config.pid_count, 0);
	assert_true(config.children);
	assert_string_equal(config.command[0], "python3");
	assert_string_equal(config.command[2], "-c");
	assert_string_equal(config.command[3], "3");
	assert_null(config.command[4]);
	assert_int_equal(config.native, SDW_NATIVE_DWARF);
	assert_false(config.kernel);
	assert_int_equal(config.stack_bytes, 65536);
	assert_true(config.templates);
	assert_false(config.verify_unwind);
	assert_int_equal(config.ring_bytes, 8388608);
	assert_int_equal(config.max_memory, 1073741824);
	assert_null(config.output);
	assert_true(config.max_loss == 0.05);
	sdw_record_options_free(&config);
}

static void test_pids_come_one_by_one_or_as_a_list_each_once(void **state)
{
	struct sdw_config config;

	(void)state;
	assert_int_equal(parse("record -p 5,6 --pid 7 -p 6,1,2,3,4,8,9", &config),
			 SDW_OPTIONS_GO_ON);
	assert_int_equal(config.pid_count, 9);
	assert_int_equal(config.pids[0], 5);
	assert_int_equal(config.pids[2], 7);
	assert_int_equal(config.pids[8], 9);
	assert_null(config.command);
	sdw_record_options_free(&config);
}

static void assert_children(const char *line, bool children)
{
	struct sdw_config config;

	assert_int_equal(parse(line, &config), SDW_OPTIONS_GO_ON);
	assert_int_equal(config.children, children);
	sdw_record_options_free(&config);
}

static void test_children_are_followed_for_commands_or_when_asked_for(void **state)
{
	(void)state;
	assert_children("record -p 1", false);
	assert_children("record -p 1 --children", true);
	assert_children("record -p 1 --children --no-children", false);
	assert_children("record -- a", true);
	assert_children("record --no-children -- a", false);
	assert_children("record -a", true);
}

static void test_tracepoint_counts_each_other_events_a_thousand_a_second(void **state)
{
	struct sdw_config config;

	(void)state;
	assert_int_equal(parse("record -e page-faults a", &config), SDW_OPTIONS_GO_ON);
	assert_int_equal(config.frequency, 1000);
	assert_int_equal(config.period, 0);
	assert_false(config.event.by_default);
	assert_int_equal(parse("record -e page-faults -c 1 a", &config), SDW_OPTIONS_GO_ON);
	assert_int_equal(config.frequency, 0);
	assert_int_equal(config.period, 1);
}

static void test_what_does_not_go_together_is_wrong_use(void **state)
{
	static const char *const lines[] = {
		"record",
		"record --",
		"record -a -p 1",
		"record -a true",
		"record -p 1 true",
		"record -a --children",
		"record -p 0",
		"record -p -1",
		"record -p 1,",
		"record -p ,1",
		"record -p 1;2",
		"record -p 99999999999",
		"record -F 100 -c 100 a",
		"record -F 0 a",
		"record -F 2000000 a",
		"record -c 0 a",
		"record -e cpu-clock -c 9999 a",
		"record -e nothing a",
		"record -d 0 a",
		"record --ring-bytes 65537 a",
		"record --ring-bytes 4K a",
		"record --stack-bytes 65K a",
		"record --max-memory 1M a",
		"record --max-loss 101 a",
		"record --native fp a",
		"record --verify-unwind --native none a",
		"record --verify-unwind --no-templates a",
		"record --output= a",
	};
	struct sdw_config config;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		print_message("%s\n", lines[i]);
		assert_int_equal(parse(lines[i], &config), SDW_OPTIONS_WRONG);
		sdw_record_options_free(&config);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults_are_those_of_the_help_text),
		cmocka_unit_test(test_pids_come_one_by_one_or_as_a_list_each_once),
		cmocka_unit_test(test_children_are_followed_for_commands_or_when_asked_for),
		cmocka_unit_test(test_tracepoint_counts_each_other_events_a_thousand_a_second),
		cmocka_unit_test(test_what_does_not_go_together_is_wrong_use),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
