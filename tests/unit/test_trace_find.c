// SPDX-License-Identifier: MIT
/* test_trace_find.c - which trace a command takes when none, or a wrong one, is named. */
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "view/trace_find.h"

/* Goes into a new directory, with these directories in it, the later ones newer. */
static int enter(void **state)
{
	static const char *const names[] = {"sidewinder-b", "sidewinder-z", "sidewinder-a",
					    "other"};
	char *path = strdup("/tmp/sdw-test-XXXXXX");

	if (!path || !mkdtemp(path) || chdir(path))
		return -1;
	for (int i = 0; i < 4; i++) {
		const struct timespec times[2] = {{.tv_sec = 1000 + i}, {.tv_sec = 1000 + i}};

		if (mkdir(names[i], 0700) || utimensat(AT_FDCWD, names[i], times, 0))
			return -1;
	}
	close(open("sidewinder-file", O_CREAT | O_WRONLY, 0600)); /* newest of all, and no trace */
	*state = path;
	return 0;
}

static int leave(void **state)
{
	int failed = rmdir("sidewinder-b") | rmdir("sidewinder-z") | rmdir("sidewinder-a") |
		     rmdir("other") | unlink("sidewinder-file") | chdir("/") | rmdir(*state);

	free(*state);
	return failed;
}

static void expect_found(const char *given, const char *expected)
{
	char *path;

	assert_int_equal(sdw_trace_find(given, &path), 0);
	assert_string_equal(path, expected);
	free(path);
}

static void test_the_newest_directory_by_that_name_is_taken(void **state)
{
	const struct timespec now[2] = {{.tv_sec = 2000}, {.tv_sec = 2000}};

	(void)state;
	expect_found(NULL, "sidewinder-a");
	assert_int_equal(utimensat(AT_FDCWD, "sidewinder-b", now, 0), 0);
	expect_found(NULL, "sidewinder-b");
}

static void test_a_trace_that_is_named_is_taken_whatever_its_name(void **state)
{
	(void)state;
	expect_found("other", "other");
}

static void test_what_is_no_trace_is_told_apart(void **state)
{
	struct sdw_profile profile;
	char *path;

	(void)state;
	assert_int_equal(sdw_trace_find("nowhere", &path), -ENOENT);
	assert_null(path);
	assert_int_equal(sdw_trace_find("sidewinder-file", &path), -ENOTDIR);
	assert_null(path);
	assert_int_equal(sdw_trace_load("other", false, &profile), -ENOENT);
}

static void test_without_any_trace_it_is_not_found(void **state)
{
	char *path;

	(void)state;
	assert_int_equal(chdir("other"), 0);
	assert_int_equal(sdw_trace_find(NULL, &path), -ENOENT);
	assert_null(path);
	assert_int_equal(chdir(".."), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_newest_directory_by_that_name_is_taken),
		cmocka_unit_test(test_a_trace_that_is_named_is_taken_whatever_its_name),
		cmocka_unit_test(test_what_is_no_trace_is_told_apart),
		cmocka_unit_test(test_without_any_trace_it_is_not_found),
	};

	return cmocka_run_group_tests(tests, enter, leave);
}
