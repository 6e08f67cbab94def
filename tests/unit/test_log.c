// SPDX-License-Identifier: MIT
/* test_log.c - messages are one line, in which no name of a target acts on the terminal. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"

/* What a message with `name` in it looks like on standard error. */
static const char *logged(const char *name)
{
	static char text[8192];
	int pipes[2], saved = dup(STDERR_FILENO);
	ssize_t bytes;

	assert_int_equal(pipe(pipes), 0);
	dup2(pipes[1], STDERR_FILENO);
	sdw_error("no '%s'", name);
	dup2(saved, STDERR_FILENO);
	close(saved);
	close(pipes[1]);
	bytes = read(pipes[0], text, sizeof(text) - 1);
	close(pipes[0]);
	assert_true(bytes > 0);
	text[bytes] = '\0';
	return text;
}

static void test_nothing_acts_on_the_terminal(void **state)
{
	(void)state;
	assert_string_equal(logged("r\xc3\xa9sum\xc3\xa9 \xe2\x82\xac \xf0\x9f\x90\x8d"),
			    "sidewinder: error: no 'r\xc3\xa9sum\xc3\xa9 \xe2\x82\xac "
			    "\xf0\x9f\x90\x8d'\n");
	assert_string_equal(logged("\x1b[2J\n\r\x7f"), "sidewinder: error: no "
						       "'\\x1b[2J\\x0a\\x0d\\x7f'\n");
	assert_string_equal(logged("\xc2\x9b"
				   "2J"),
			    "sidewinder: error: no '\\xc2\\x9b2J'\n"); /* CSI of C1 */
	assert_string_equal(logged("\xe2\x80\xae.\xe2\x81\xa6.\xd8\x9c.\xe2\x80\xa8"),
			    "sidewinder: error: no '\\xe2\\x80\\xae.\\xe2\\x81\\xa6.\\xd8\\x9c."
			    "\\xe2\\x80\\xa8'\n");
	assert_string_equal(logged("\xff\x9b\xc3"), "sidewinder: error: no '\\xff\\x9b\\xc3'\n");
}

static void test_a_long_message_is_cut_and_one_line(void **state)
{
	char name[4000];
	const char *text;

	(void)state;
	memset(name, '\x1b', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	text = logged(name);
	assert_true(strlen(text) < 2200);
	assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
	assert_null(strchr(text, '\x1b'));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_acts_on_the_terminal),
		cmocka_unit_test(test_a_long_message_is_cut_and_one_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
