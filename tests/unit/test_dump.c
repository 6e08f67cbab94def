// SPDX-License-Identifier: MIT
/* test_dump.c - numbers as text, and what /proc says of a thread that sleeps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <grp.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "dump/native_stack.h"
#include "dump/number.h"
#include "dump/task.h"
#include "dump/walker.h"

static char *float_text(double value)
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	sdw_number_print_float(value, file);
	fclose(file);
	return text;
}

static char *int_text(const struct sdw_python_int *number)
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	sdw_number_print_int(number, file);
	fclose(file);
	return text;
}

static void test_floats_are_as_python_has_them(void **state)
{
	static const struct {
		double value;
		const char *text;
	} cases[] = {
		{0.0, "0.0"},
		{-0.0, "-0.0"},
		{1.0, "1.0"},
		{-2.5, "-2.5"},
		{0.1, "0.1"},
		{1.0 / 3, "0.3333333333333333"},
		{100.0, "100.0"},
		{123456789.125, "123456789.125"},
		{1e15, "1000000000000000.0"},
		{1e16, "1e+16"},
		{1234567890123456.0, "1234567890123456.0"},
		{1.5e300, "1.5e+300"},
		{1e-4, "0.0001"},
		{1.25e-4, "0.000125"},
		{1e-5, "1e-05"},
		{5e-324, "5e-324"},
		{1.7976931348623157e308, "1.7976931348623157e+308"},
		{INFINITY, "inf"},
		{-INFINITY, "-inf"},
		{NAN, "nan"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *text = float_text(cases[i].value);

		assert_string_equal(text, cases[i].text);
		free(text);
	}
}

static void test_ints_of_any_size_are_exact_up_to_a_bound(void **state)
{
	struct sdw_python_int number = {0};
	char *text;

	(void)state;
	text = int_text(&number);
	assert_string_equal(text, "0");
	free(text);

	number = (struct sdw_python_int){.negative = true, .digits = 1, .digit = {7}};
	text = int_text(&number);
	assert_string_equal(text, "-7");
	free(text);

	/* 2 ** 100: bit 10 of the fourth digit */
	number = (struct sdw_python_int){.digits = 4, .digit = {0, 0, 0, 1 << 10}};
	text = int_text(&number);
	assert_string_equal(text, "1267650600228229401496703205376");
	free(text);

	/* 10 ** 9: the part below has only zeroes */
	number = (struct sdw_python_int){.digits = 1, .digit = {1000000000}};
	text = int_text(&number);
	assert_string_equal(text, "1000000000");
	free(text);

	/* the largest that is printed: 2 ** 960 - 1 has 289 digits */
	number = (struct sdw_python_int){.digits = SDW_MAX_INT_DIGITS};
	for (size_t i = 0; i < SDW_MAX_INT_DIGITS; i++)
		number.digit[i] = (1u << 30) - 1;
	text = int_text(&number);
	assert_int_equal(strlen(text), 289);
	assert_int_equal(strncmp(text, "9745314011", 10), 0);
	free(text);

	number.digits = SDW_MAX_INT_DIGITS + 1;
	text = int_text(&number);
	assert_string_equal(text, "<int of about 990 bits>");
	free(text);
}

static void test_a_sleeping_process_is_unmoved_and_says_in_which_call(void **state)
{
	const struct timespec long_time = {.tv_sec = 1000};
	struct sdw_task before, after;
	pid_t pid = fork();

	(void)state;
	if (!pid) {
		for (;;)
			nanosleep(&long_time, NULL);
	}
	do {
		assert_int_equal(sdw_task_read(pid, pid, &before), 0);
	} while (!before.asleep || before.state != 'S');
	assert_int_equal(sdw_task_read(pid, pid, &after), 0);
	assert_true(sdw_task_is_unmoved(&before, &after));
	assert_string_equal(sdw_syscall_name(after.syscall), "clock_nanosleep");
	assert_int_equal(after.inner_tid, pid);
	assert_true(after.sp && after.pc);
	after.switches++;
	assert_false(sdw_task_is_unmoved(&before, &after));
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(sdw_task_read(pid, pid, &after), -ESRCH);
}

/* Then /proc/PID/status is longer than a page, and what is wanted of it comes behind the groups. */
static void test_the_owner_may_be_in_many_groups(void **state)
{
	static gid_t groups[5000];
	struct sdw_task task = {0};
	pid_t pid;

	(void)state;
	for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++)
		groups[i] = (gid_t)(100000 + i);
	pid = fork();
	if (!pid) {
		if (setgroups(sizeof(groups) / sizeof(groups[0]), groups))
			_exit(1);
		for (;;)
			pause();
	}
	do {
		if (waitpid(pid, NULL, WNOHANG) == pid)
			skip(); /* only root may do that */
	} while (sdw_task_read(pid, pid, &task) || !task.asleep || task.state != 'S');
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(task.inner_tid, pid);
	assert_true(task.switches > 0);
}

static void test_nothing_is_read_after_the_deadline(void **state)
{
	struct sdw_dump_memory memory = {.deadline_ns = 1};
	struct sdw_image image = {0};
	struct sdw_dump_native native;
	struct sdw_dumper dumper;
	struct sdw_task task;
	pid_t child = fork();

	(void)state;
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	assert_true(child > 0);
	memory.pid = image.pid = image.perf_map.pid = (uint32_t)child;
	assert_int_equal(sdw_dumper_init(&dumper), 0);
	sdw_maps_init(&image.maps, image.pid, dumper.files);
	assert_int_equal(sdw_maps_read(&image.maps), 0);
	do
		assert_int_equal(sdw_task_read(child, child, &task), 0);
	while (!task.asleep || task.state != 'S' ||
	       strcmp(sdw_syscall_name(task.syscall), "pause") != 0);
	dumper.walker->memory = &memory;
	assert_int_equal(sdw_dump_native_read(&dumper, &image, &task, &native), -EFAULT);
	memory.deadline_ns = 0;
	assert_int_equal(sdw_dump_native_read(&dumper, &image, &task, &native), 0);
	assert_true(native.count > 0);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	sdw_unwinder_free(image.unwinder);
	sdw_maps_free(&image.maps);
	sdw_dumper_free(&dumper);
}

static void test_a_running_thread_is_not_asleep(void **state)
{
	struct sdw_task task;
	pid_t self = getpid();

	(void)state;
	assert_int_equal(sdw_task_read(self, self, &task), 0);
	assert_int_equal(task.state, 'R');
	assert_false(task.asleep);
	assert_false(sdw_task_is_unmoved(&task, &task));
	assert_null(sdw_syscall_name(SDW_NO_SYSCALL));
	assert_string_equal(sdw_syscall_name(SYS_futex), "futex");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_floats_are_as_python_has_them),
		cmocka_unit_test(test_ints_of_any_size_are_exact_up_to_a_bound),
		cmocka_unit_test(test_a_sleeping_process_is_unmoved_and_says_in_which_call),
		cmocka_unit_test(test_the_owner_may_be_in_many_groups),
		cmocka_unit_test(test_nothing_is_read_after_the_deadline),
		cmocka_unit_test(test_a_running_thread_is_not_asleep),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
