// SPDX-License-Identifier: MIT
/* How the command to record begins and ends. */
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
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>

#include "capture/launch.h"

static char directory[] = "/tmp/sdw-test-XXXXXX";

/* A file in the directory of this test, with these contents and rights. */
static const char *make_file(const char *name, const char *text, mode_t mode)
{
	static char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, mode);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	return path;
}

static int run_shell(const char *script)
{
	char *command[] = {(char *)"sh", (char *)"-c", (char *)script, NULL};
	struct sdw_launch launch;
	int status = -1;

	assert_int_equal(sdw_launch_start(&launch, command, NULL), 0);
	assert_int_equal(sdw_launch_run(&launch), 0);
	assert_int_equal(sdw_launch_reap(&launch, true, &status), 1);
	sdw_launch_free(&launch);
	return status;
}

static void test_exit_status_is_passed_on(void **state)
{
	(void)state;
	assert_int_equal(run_shell("exit 0"), 0);
	assert_int_equal(run_shell("exit 7"), 7);
	assert_int_equal(run_shell("exit 255"), 255);
}

static void test_death_by_signal_is_128_and_its_number(void **state)
{
	(void)state;
	assert_int_equal(run_shell("kill -KILL $$"), 137);
	assert_int_equal(run_shell("kill -TERM $$"), 143);
}

static void test_command_does_not_inherit_ignored_or_blocked_signals(void **state)
{
	sigset_t set, before;

	(void)state;
	signal(SIGINT, SIG_DFL); /* a shell has its background jobs ignore it */
	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, &before);
	assert_int_equal(run_shell("kill -PIPE $$"), 128 + SIGPIPE);
	assert_int_equal(run_shell("kill -INT $$"), 128 + SIGINT);
	sigprocmask(SIG_SETMASK, &before, NULL);
}

static void test_command_runs_only_when_it_is_let_go(void **state)
{
	char *command[] = {(char *)"touch", NULL, NULL};
	struct sdw_launch launch;
	char path[128];
	int status;

	(void)state;
	snprintf(path, sizeof(path), "%s/ran", directory);
	command[1] = path;
	assert_int_equal(sdw_launch_start(&launch, command, NULL), 0);
	assert_int_equal(sdw_launch_reap(&launch, false, &status), 0);
	sdw_launch_free(&launch);
	assert_int_equal(access(path, F_OK), -1);

	assert_int_equal(sdw_launch_start(&launch, command, NULL), 0);
	assert_int_equal(sdw_launch_run(&launch), 0);
	assert_int_equal(sdw_launch_reap(&launch, true, &status), 1);
	sdw_launch_free(&launch);
	assert_int_equal(status, 0);
	assert_int_equal(access(path, F_OK), 0);
}

static void test_pidfd_is_readable_once_the_command_ended(void **state)
{
	char *command[] = {(char *)"true", NULL};
	struct pollfd ended = {.events = POLLIN};
	struct sdw_launch launch;
	int status;

	(void)state;
	assert_int_equal(sdw_launch_start(&launch, command, NULL), 0);
	ended.fd = launch.pidfd;
	assert_int_equal(poll(&ended, 1, 0), 0);
	assert_int_equal(sdw_launch_run(&launch), 0);
	assert_int_equal(poll(&ended, 1, 10000), 1);
	assert_int_equal(sdw_launch_reap(&launch, false, &status), 1);
	sdw_launch_free(&launch);
}

static void test_check_finds_what_exec_would_refuse(void **state)
{
	(void)state;
	assert_int_equal(sdw_launch_check("sh"), 0);
	assert_int_equal(sdw_launch_check("/bin/sh"), 0);
	assert_int_equal(sdw_launch_check("no-such-program"), -ENOENT);
	assert_int_equal(sdw_launch_check(""), -ENOENT);
	assert_int_equal(sdw_launch_check("/nonexistent/program"), -ENOENT);
	assert_int_equal(sdw_launch_check("/etc/passwd"), -EACCES);
	assert_int_equal(sdw_launch_check("/etc"), -EACCES);
	assert_int_equal(sdw_launch_failure_status(-ENOENT), 127);
	assert_int_equal(sdw_launch_failure_status(-EACCES), 126);
}

static void test_check_searches_all_of_path(void **state)
{
	char path[256], *saved = strdup(getenv("PATH"));

	(void)state;
	make_file("program", "data", 0600);
	snprintf(path, sizeof(path), "/nonexistent:%s:/bin", directory);
	setenv("PATH", path, 1);
	assert_int_equal(sdw_launch_check("sh"), 0);
	assert_int_equal(sdw_launch_check("program"), -EACCES);
	setenv("PATH", saved, 1);
	free(saved);
}

static void test_error_of_exec_comes_back(void **state)
{
	char *command[] = {NULL, NULL};
	struct sdw_launch launch;
	int status;

	(void)state;
	command[0] = (char *)make_file("script", "#!/nonexistent/interpreter\n", 0700);
	assert_int_equal(sdw_launch_check(command[0]), 0);
	assert_int_equal(sdw_launch_start(&launch, command, NULL), 0);
	assert_int_equal(sdw_launch_run(&launch), -ENOENT);
	assert_int_equal(sdw_launch_reap(&launch, true, &status), 1);
	assert_int_equal(status, 127);
	sdw_launch_free(&launch);
}

static int make_directory(void **state)
{
	(void)state;
	return mkdtemp(directory) ? 0 : -1;
}

static int remove_directory(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", directory);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exit_status_is_passed_on),
		cmocka_unit_test(test_death_by_signal_is_128_and_its_number),
		cmocka_unit_test(test_command_does_not_inherit_ignored_or_blocked_signals),
		cmocka_unit_test(test_command_runs_only_when_it_is_let_go),
		cmocka_unit_test(test_pidfd_is_readable_once_the_command_ended),
		cmocka_unit_test(test_check_finds_what_exec_would_refuse),
		cmocka_unit_test(test_check_searches_all_of_path),
		cmocka_unit_test(test_error_of_exec_comes_back),
	};

	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
