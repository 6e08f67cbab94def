// SPDX-License-Identifier: MIT
/*
 * forwarding.c - what it costs to bring one overflow to a handler, and to set that up.
 *
 *	forwarding cost OVERFLOWS ROUNDS    an overflow is a page fault (period 1): exactly as many
 *	    as asked for. By turns without an event, with an empty BPF program, with SIGIO, SIGIO
 *that the handler arms again, and SIGTRAP, each with an empty handler. forwarding setup TIMES
 *
 * Out: one JSON object; times in microseconds, of the thread's CPU clock for the cost, of the
 * processor's time stamp counter for the set-up, which takes too little for a clock.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#include "empty_program.h"

#define PAGE	   4096u
#define MAX_ROUNDS 1000
#define MAX_TIMES  1000000

enum way { NONE, FLOOR, SIGIO_PLAIN, SIGIO_REARM, SIGTRAP_SYNC, WAYS };

static const char *const way_names[WAYS] = {"none", "floor", "sigio", "sigio_rearm", "sigtrap"};

/* What the handler needs. */
static volatile uint64_t hits;
static volatile int event_fd = -1;
static volatile sig_atomic_t rearm;

static void on_signal(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)info;
	(void)context;
	hits++;
	if (rearm)
		ioctl(event_fd, PERF_EVENT_IOC_REFRESH, 1);
}

static void set_handler(int number)
{
	struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART};

	sigaction(number, &action, NULL);
}

static uint64_t cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static int open_event(uint64_t config, uint64_t period, enum way way)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = config,
		.sample_period = period,
		.wakeup_events = 1,
		.disabled = 1,
		.exclude_kernel = 1,
	};

	if (way == SIGTRAP_SYNC) {
		attr.sigtrap = 1;
		attr.remove_on_exec = 1;
	}
	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static int send_to_thread(int fd)
{
	struct f_owner_ex owner = {F_OWNER_TID, (pid_t)syscall(SYS_gettid)};
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || fcntl(fd, F_SETOWN_EX, &owner) < 0)
		return -1;
	return fcntl(fd, F_SETFL, flags | O_ASYNC);
}

static int arm(int fd, enum way way, int program)
{
	if (way == FLOOR && ioctl(fd, PERF_EVENT_IOC_SET_BPF, program) < 0)
		return -1;
	if ((way == SIGIO_PLAIN || way == SIGIO_REARM) && send_to_thread(fd) < 0)
		return -1;
	rearm = way == SIGIO_REARM;
	return way == SIGIO_REARM ? ioctl(fd, PERF_EVENT_IOC_REFRESH, 1)
				  : ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
}

/* Touches fresh pages; microseconds of CPU time each took, or < 0. */
static double touch(size_t pages)
{
	volatile char *memory = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t begin, end;

	if (memory == MAP_FAILED)
		return -1;
	madvise((void *)memory, pages * PAGE, MADV_NOHUGEPAGE);
	begin = cpu_ns();
	for (size_t i = 0; i < pages; i++)
		memory[i * PAGE] = 1;
	end = cpu_ns();
	munmap((void *)memory, pages * PAGE);
	return (double)(end - begin) / (double)pages / 1e3;
}

/* One run of one way; < 0: errno says why not. */
static double run(enum way way, size_t pages, int program, uint64_t *seen)
{
	uint64_t before = hits;
	double each;

	if (way == NONE)
		return touch(pages);
	event_fd = open_event(PERF_COUNT_SW_PAGE_FAULTS, 1, way);
	if (event_fd < 0)
		return -1;
	each = arm(event_fd, way, program) < 0 ? -1 : touch(pages);
	ioctl(event_fd, PERF_EVENT_IOC_DISABLE, 0);
	close(event_fd);
	event_fd = -1;
	*seen += hits - before;
	return each;
}

static int measure_cost(size_t overflows, size_t rounds)
{
	static double each[WAYS][MAX_ROUNDS];
	uint64_t seen[WAYS] = {0};
	int program = load_empty_program();
	size_t pages = overflows / rounds;

	set_handler(SIGIO);
	set_handler(SIGTRAP);
	if (touch(pages) < 0)
		return -1;
	for (size_t i = 0; i < rounds; i++) {
		for (unsigned int turn = 0; turn < WAYS; turn++) {
			enum way way = (turn + i) % WAYS;

			if (way == FLOOR && program < 0)
				continue;
			each[way][i] = run(way, pages, program, &seen[way]);
			if (each[way][i] < 0)
				return -1;
		}
	}
	printf("{\"overflows\": %zu, \"rounds\": %zu", pages * rounds, rounds);
	for (unsigned int way = 0; way < WAYS; way++) {
		if (way == FLOOR && program < 0)
			continue;
		printf(", \"%s\": {\"signals\": %llu, \"us\": [", way_names[way],
		       (unsigned long long)seen[way]);
		for (size_t i = 0; i < rounds; i++)
			printf("%s%.4f", i ? ", " : "", each[way][i]);
		fputs("]}", stdout);
	}
	puts("}");
	return 0;
}

/* Nanoseconds of a tick of the time stamp counter. */
static double tick_ns(void)
{
	struct timespec begin, end;
	uint64_t ticks = __rdtsc();
	double ns;

	clock_gettime(CLOCK_MONOTONIC_RAW, &begin);
	do {
		clock_gettime(CLOCK_MONOTONIC_RAW, &end);
		ns = (double)(end.tv_sec - begin.tv_sec) * 1e9 +
		     (double)(end.tv_nsec - begin.tv_nsec);
	} while (ns < 3e8);
	return ns / (double)(__rdtsc() - ticks);
}

enum step { OPEN_SIGIO, ENABLE, REFRESH, CLOSE, OPEN_SIGTRAP, OPEN_BPF, STEPS };

static const char *const step_names[STEPS] = {"sigio", "enable",  "rearm",
					      "close", "sigtrap", "bpf"};

static int by_value(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

/* One set-up of each kind, with a period so long that nothing overflows. */
static int set_up_once(double *us[STEPS], size_t i, double ns, int program)
{
	const uint64_t far = 3600000000000u;
	uint64_t at[STEPS + 4];
	int fd;

	at[0] = __rdtsc();
	set_handler(SIGIO);
	fd = open_event(PERF_COUNT_SW_TASK_CLOCK, far, SIGIO_PLAIN);
	if (fd < 0 || send_to_thread(fd) < 0)
		return -1;
	at[1] = __rdtsc();
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	at[2] = __rdtsc();
	ioctl(fd, PERF_EVENT_IOC_REFRESH, 1);
	at[3] = __rdtsc();
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	close(fd);
	at[4] = __rdtsc();
	for (unsigned int step = OPEN_SIGIO; step <= CLOSE; step++)
		us[step][i] = (double)(at[step + 1] - at[step]) * ns / 1e3;
	at[0] = __rdtsc();
	set_handler(SIGTRAP);
	fd = open_event(PERF_COUNT_SW_TASK_CLOCK, far, SIGTRAP_SYNC);
	at[1] = __rdtsc();
	us[OPEN_SIGTRAP][i] = (double)(at[1] - at[0]) * ns / 1e3;
	if (fd < 0)
		return -1;
	close(fd);
	if (program < 0)
		return 0;
	at[0] = __rdtsc();
	fd = open_event(PERF_COUNT_SW_TASK_CLOCK, far, FLOOR);
	if (fd < 0 || ioctl(fd, PERF_EVENT_IOC_SET_BPF, program) < 0)
		return -1;
	at[1] = __rdtsc();
	us[OPEN_BPF][i] = (double)(at[1] - at[0]) * ns / 1e3;
	close(fd);
	return 0;
}

static int measure_setup(size_t times)
{
	int program = load_empty_program();
	double ns = tick_ns(), *us[STEPS];

	for (unsigned int step = 0; step < STEPS; step++) {
		us[step] = calloc(times, sizeof(*us[step]));
		if (!us[step])
			return -1;
	}
	for (size_t i = 0; i < times; i++)
		if (set_up_once(us, i, ns, program) < 0)
			return -1;
	printf("{\"times\": %zu", times);
	for (unsigned int step = 0; step < STEPS; step++) {
		if (step == OPEN_BPF && program < 0)
			continue;
		qsort(us[step], times, sizeof(*us[step]), by_value);
		printf(", \"%s\": {\"p10\": %.3f, \"median\": %.3f, \"p90\": %.3f}",
		       step_names[step], us[step][times / 10], us[step][times / 2],
		       us[step][times * 9 / 10]);
		free(us[step]);
	}
	puts("}");
	return 0;
}

int main(int argc, char **argv)
{
	size_t count = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
	size_t rounds = argc > 3 ? strtoul(argv[3], NULL, 10) : 0;
	bool cost = argc == 4 && strcmp(argv[1], "cost") == 0;
	bool setup = argc == 3 && strcmp(argv[1], "setup") == 0;
	int err;

	if (cost && rounds && rounds <= MAX_ROUNDS && count >= rounds) {
		err = measure_cost(count, rounds);
	} else if (setup && count && count <= MAX_TIMES) {
		err = measure_setup(count);
	} else {
		fputs("usage: forwarding cost OVERFLOWS ROUNDS | forwarding setup TIMES\n", stderr);
		return 2;
	}
	if (err)
		fprintf(stderr, "forwarding: cannot measure: %s\n", strerror(errno));
	return err ? 1 : 0;
}
