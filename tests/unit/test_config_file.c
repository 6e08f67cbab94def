// SPDX-License-Identifier: MIT
/* test_config_file.c - defaults of options from a file: what a verb gets, what is refused and
 * where.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/config_file.h"
#include "cmd/help.h"

static char *argv[] = {"report", "--limit=7", "trace", NULL};

static int set_up(void **state)
{
	static char folder[64];

	snprintf(folder, sizeof(folder), "/tmp/sdw-config-XXXXXX");
	*state = folder;
	return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/config", (const char *)*state);
	unlink(path);
	return rmdir(*state);
}

static int read_text(void **state, const char *text, struct sdw_config_file *config)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/config", (const char *)*state);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
	return sdw_config_file_read(config, path, sdw_commands,
				    sdw_command_find(sdw_commands, "report"), 3, argv);
}

static void expect(void **state, const char *text, const char *expected)
{
	struct sdw_config_file config;
	char all[256] = "";

	assert_int_equal(read_text(state, text, &config), 0);
	for (int i = 0; i < config.argc; i++) {
		strcat(all, i ? " " : "");
		strcat(all, config.argv[i]);
	}
	assert_null(config.argv[config.argc]);
	assert_string_equal(all, expected);
	sdw_config_file_free(&config);
}

static void test_values_come_before_the_arguments(void **state)
{
	expect(state, "", "report --limit=7 trace");
	expect(state, "# report.limit = 3\n\n   \n", "report --limit=7 trace");
	expect(state, "report.limit = 3\n\treport.by=line  \nrecord.frequency = 50\n",
	       "report --limit=3 --by=line --limit=7 trace");
	expect(state, "report.native = yes\nreport.json = no", "report --native --limit=7 trace");
	expect(state, "report.thread = a = b\n", "report --thread=a = b --limit=7 trace");
	expect(state, "report.callers =\n", "report --callers= --limit=7 trace");
}

static void test_a_line_that_is_wrong_is_refused(void **state)
{
	static const char *const wrong[] = {
		"report",
		"limit = 3",
		"report.limit",
		"= 3",
		"reports.limit = 3",
		"report.limits = 3",
		"report.limit = three",
		"report.limit =",
		"report.native = 1",
		"report.by = everything",
		"record.frequency = -1",
		"record.event =",
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct sdw_config_file config;
		char text[128];

		snprintf(text, sizeof(text), "# first\n%s\n", wrong[i]);
		assert_int_equal(read_text(state, text, &config), -EINVAL);
		sdw_config_file_free(&config);
	}
}

static void test_no_file_is_no_defaults(void **state)
{
	struct sdw_config_file config;
	char path[128];

	snprintf(path, sizeof(path), "%s/none/config", (const char *)*state);
	assert_int_equal(sdw_config_file_read(&config, path, sdw_commands,
					      sdw_command_find(sdw_commands, "report"), 3, argv),
			 0);
	assert_int_equal(config.argc, 3);
	sdw_config_file_free(&config);
	assert_int_equal(sdw_config_file_read(&config, NULL, sdw_commands,
					      sdw_command_find(sdw_commands, "report"), 3, argv),
			 0);
	assert_int_equal(config.argc, 3);
	sdw_config_file_free(&config);
}

static void test_what_is_no_file_or_too_large_is_refused(void **state)
{
	struct sdw_config_file config;
	char path[128], *text;
	FILE *file;

	snprintf(path, sizeof(path), "%s/config", (const char *)*state);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(sdw_config_file_read(&config, path, sdw_commands,
					      sdw_command_find(sdw_commands, "report"), 3, argv),
			 -EINVAL);
	sdw_config_file_free(&config);
	unlink(path);
	text = calloc(1, 70000);
	assert_non_null(text);
	memset(text, '#', 69999);
	assert_int_equal(read_text(state, text, &config), -EFBIG);
	sdw_config_file_free(&config);
	free(text);
	/* what is behind a NUL must not be passed over without a word */
	file = fopen(path, "w");
	assert_non_null(file);
	assert_int_equal(fwrite("# a\n\0\nreport.nonsense = 1\n", 1, 26, file), 26);
	fclose(file);
	assert_int_equal(sdw_config_file_read(&config, path, sdw_commands,
					      sdw_command_find(sdw_commands, "report"), 3, argv),
			 -EILSEQ);
	sdw_config_file_free(&config);
}

static void expect_path(const char *folder, const char *home, const char *expected)
{
	char *path;

	folder ? setenv("XDG_CONFIG_HOME", folder, 1) : unsetenv("XDG_CONFIG_HOME");
	home ? setenv("HOME", home, 1) : unsetenv("HOME");
	path = sdw_config_file_path();
	if (expected)
		assert_string_equal(path, expected);
	else
		assert_null(path);
	free(path);
}

static void test_where_it_is(void **state)
{
	(void)state;
	expect_path("/etc/xdg", "/home/a", "/etc/xdg/sidewinder/config");
	expect_path(NULL, "/home/a", "/home/a/.config/sidewinder/config");
	expect_path("", "/home/a", "/home/a/.config/sidewinder/config");
	expect_path("relative", "/home/a", "/home/a/.config/sidewinder/config");
	expect_path(NULL, NULL, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_values_come_before_the_arguments, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_a_line_that_is_wrong_is_refused, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_no_file_is_no_defaults, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_what_is_no_file_or_too_large_is_refused,
						set_up, tear_down),
		cmocka_unit_test(test_where_it_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
