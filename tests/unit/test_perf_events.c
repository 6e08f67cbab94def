// SPDX-License-Identifier: MIT
/*
 * That every thread of a target is counted exactly once: by page faults, whose number the kernel
 * also tells through getrusage().
 */
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
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "capture/launch.h"
#include "capture/perf_events.h"
#include "capture/perf_events_internal.h"
#include "capture/target_threads.h"

#define THREADS 4
#define PAGES	500 /* touched by each thread, and by the child */
/*
 * Less than a thread makes. Faults of the target between the start of counting and its own first
 * look (threads that still begin), and after its last; and those that the kernel takes for it
 * (futexes), which are in its usage but are no events.
 */
#define SLACK 200

static struct sdw_config page_faults(void)
{
	return (struct sdw_config){
		.event = {.name = "page-faults",
			  .type = PERF_TYPE_SOFTWARE,
			  .config = PERF_COUNT_SW_PAGE_FAULTS},
		.period = 1,
	};
}

/* A target: does one step for each byte it reads, and answers with a number. */
struct target {
	pid_t pid;
	int ask, answer;
};

static void touch_pages(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), i;
	volatile char *memory;

	memory = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		      0);
	madvise((void *)memory, PAGES * page, MADV_NOHUGEPAGE);
	for (i = 0; i < PAGES; i++)
		memory[i * page] = 1;
}

static void *touch_when_told(void *barrier)
{
	pthread_barrier_wait(barrier);
	touch_pages();
	return NULL;
}

static long faults(int who)
{
	struct rusage usage;

	getrusage(who, &usage);
	return usage.ru_minflt + usage.ru_majflt;
}

static void fork_and_touch(void)
{
	pid_t pid = fork();

	if (!pid) {
		touch_pages();
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

static _Noreturn void run_target(int ask, int answer)
{
	pthread_t early[THREADS], late[THREADS];
	pthread_barrier_t start_early, start_late;
	long before, number = 0;
	char byte;
	int i;

	pthread_barrier_init(&start_early, NULL, THREADS + 1);
	pthread_barrier_init(&start_late, NULL, THREADS + 1);
	for (i = 0; i < THREADS; i++)
		pthread_create(&early[i], NULL, touch_when_told, &start_early);
	if (write(answer, &number, sizeof(number)) < 0 || read(ask, &byte, 1) != 1)
		_exit(1);
	before = faults(RUSAGE_SELF);
	for (i = 0; i < THREADS; i++)
		pthread_create(&late[i], NULL, touch_when_told, &start_late);
	pthread_barrier_wait(&start_early);
	pthread_barrier_wait(&start_late);
	for (i = 0; i < THREADS; i++) {
		pthread_join(early[i], NULL);
		pthread_join(late[i], NULL);
	}
	fork_and_touch();
	number = faults(RUSAGE_SELF) - before;
	if (write(answer, &number, sizeof(number)) < 0 || read(ask, &byte, 1) < 0)
		_exit(1);
	_exit(0);
}

static struct target start_target(void)
{
	struct target target;
	int ask[2], answer[2];
	long ready;

	assert_int_equal(pipe(ask), 0);
	assert_int_equal(pipe(answer), 0);
	target.pid = fork();
	if (!target.pid) {
		close(ask[1]);
		run_target(ask[0], answer[1]);
	}
	close(ask[0]);
	close(answer[1]);
	target.ask = ask[1];
	target.answer = answer[0];
	assert_int_equal(read(target.answer, &ready, sizeof(ready)), sizeof(ready));
	return target;
}

/* Lets it work; returns the faults of the target itself, its forked child not included. */
static long let_work(const struct target *target)
{
	long number;

	assert_int_equal(write(target->ask, "g", 1), 1);
	assert_int_equal(read(target->answer, &number, sizeof(number)), sizeof(number));
	return number;
}

static void end_target(const struct target *target)
{
	int status;

	close(target->ask);
	assert_int_equal(waitpid(target->pid, &status, 0), target->pid);
	assert_int_equal(status, 0);
	close(target->answer);
}

static void require_events(void)
{
	struct sdw_config config = page_faults();
	struct perf_event_attr attr;
	int fd;

	sdw_events_fill_attr(&config, &attr);
	attr.inherit_thread = 0;
	fd = sdw_perf_event_open(&attr, 0, -1, 0);
	if (fd == -EACCES || fd == -EPERM || fd == -ENOSYS)
		skip();
	assert_true(fd >= 0);
	close(fd);
}

static void count_target(bool children, uint64_t *count, long *own)
{
	struct sdw_config config = page_faults();
	struct target target = start_target();
	struct sdw_events *events;

	config.children = children;
	assert_int_equal(sdw_events_open(&config, &target.pid, 1, -1, &events), 0);
	assert_int_equal(sdw_events_number(events), 1 + THREADS);
	assert_int_equal(sdw_events_enable(events), 0);
	*own = let_work(&target);
	assert_int_equal(sdw_events_disable(events), 0);
	assert_int_equal(sdw_events_count(events, count), 0);
	assert_int_equal(sdw_events_expected_overflows(events), *count);
	sdw_events_free(events);
	end_target(&target);
}

static void test_each_thread_early_or_late_is_counted_once(void **state)
{
	uint64_t count;
	long own;

	(void)state;
	require_events();
	count_target(false, &count, &own);
	assert_in_range(own, 2 * THREADS * PAGES, UINT32_MAX);
	assert_in_range(count, own - SLACK, own + SLACK);
}

static void test_forked_child_is_counted_when_followed(void **state)
{
	uint64_t count;
	long own;

	(void)state;
	require_events();
	count_target(true, &count, &own);
	assert_in_range(count, own + PAGES - SLACK, own + 2 * PAGES);
}

static void test_events_of_a_command_start_at_its_exec(void **state)
{
	char *command[] = {(char *)"true", NULL};
	struct sdw_config config = page_faults();
	struct sdw_launch launch;
	struct sdw_events *events;
	uint64_t count;
	int status;

	(void)state;
	require_events();
	config.command = command;
	config.children = true;
	assert_int_equal(sdw_launch_start(&launch, command, NULL), 0);
	assert_int_equal(sdw_events_open(&config, &launch.pid, 1, -1, &events), 0);
	assert_int_equal(sdw_events_enable(events), 0);
	usleep(10000);
	assert_int_equal(sdw_events_count(events, &count), 0);
	assert_int_equal(count, 0);
	assert_int_equal(sdw_launch_run(&launch), 0);
	assert_int_equal(sdw_launch_reap(&launch, true, &status), 1);
	assert_int_equal(sdw_events_count(events, &count), 0);
	assert_in_range(count, 20, 10000);
	sdw_events_free(events);
	sdw_launch_free(&launch);
}

static void test_process_that_is_gone_is_told(void **state)
{
	struct sdw_config config = page_faults();
	struct sdw_events *events;
	pid_t pid = fork();

	(void)state;
	if (!pid)
		_exit(0);
	waitpid(pid, NULL, 0);
	assert_int_equal(sdw_events_open(&config, &pid, 1, -1, &events), -ESRCH);
}

static void test_only_a_clock_has_a_fixed_period_by_frequency(void **state)
{
	struct sdw_config config = {.event = {.is_clock = true}, .frequency = 1000};

	(void)state;
	assert_int_equal(sdw_events_fixed_period(&config), 1000000);
	config.event.is_clock = false;
	assert_int_equal(sdw_events_fixed_period(&config), 0);
	config.frequency = 0;
	config.period = 12345;
	assert_int_equal(sdw_events_fixed_period(&config), 12345);
}

static void test_targets_are_checked_by_what_they_are(void **state)
{
	pid_t process = 0, pid = fork();

	(void)state;
	if (!pid)
		_exit(0);
	waitid(P_PID, (id_t)pid, NULL, WEXITED | WNOWAIT);
	assert_int_equal(sdw_target_check(pid, &process), -ECHILD);
	waitpid(pid, NULL, 0);
	assert_int_equal(sdw_target_check(pid, &process), -ESRCH);
	assert_int_equal(sdw_target_check(getpid(), &process), 0);
}

static void test_thread_is_no_target_but_names_its_process(void **state)
{
	struct target target = start_target();
	struct sdw_pid_list processes = {0}, threads = {0};
	pid_t process = 0;

	(void)state;
	assert_int_equal(sdw_target_processes_list(&target.pid, 1, false, &processes), 0);
	assert_int_equal(sdw_target_threads_list(&processes, &threads), 0);
	assert_int_equal(threads.count, 1 + THREADS);
	assert_true(sdw_pid_list_contains(&threads, target.pid));
	assert_int_equal(sdw_target_check(threads.items[1], &process), -EINVAL);
	assert_int_equal(process, target.pid);
	sdw_pid_list_free(&processes);
	sdw_pid_list_free(&threads);
	let_work(&target);
	end_target(&target);
}

static void test_descendants_are_found_when_asked_for(void **state)
{
	struct sdw_pid_list list = {0};
	struct target target = start_target();
	pid_t self = getpid();

	(void)state;
	assert_int_equal(sdw_target_processes_list(&self, 1, false, &list), 0);
	assert_int_equal(list.count, 1);
	assert_int_equal(sdw_target_processes_list(&self, 1, true, &list), 0);
	assert_int_equal(list.count, 2);
	assert_true(sdw_pid_list_contains(&list, target.pid));
	sdw_pid_list_free(&list);
	let_work(&target);
	end_target(&target);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_thread_early_or_late_is_counted_once),
		cmocka_unit_test(test_forked_child_is_counted_when_followed),
		cmocka_unit_test(test_events_of_a_command_start_at_its_exec),
		cmocka_unit_test(test_process_that_is_gone_is_told),
		cmocka_unit_test(test_only_a_clock_has_a_fixed_period_by_frequency),
		cmocka_unit_test(test_targets_are_checked_by_what_they_are),
		cmocka_unit_test(test_thread_is_no_target_but_names_its_process),
		cmocka_unit_test(test_descendants_are_found_when_asked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
