// SPDX-License-Identifier: MIT
/*
 * floor.c - what an overflow costs when nothing is done in it.
 *
 * In:  floor HZ PID: opens the clock event that the profiler opens, on every thread of PID and what
 * they make later, with a BPF program that returns at once, until SIGINT. Out: one JSON object: the
 * nanoseconds the event counted and the overflows that they make.
 */
#include <dirent.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "empty_program.h"

#define MAX_THREADS 256

static int open_event(pid_t tid, uint64_t period, int program)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = period,
		.inherit = 1,
		.disabled = 1,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (ioctl(fd, PERF_EVENT_IOC_SET_BPF, program) || ioctl(fd, PERF_EVENT_IOC_ENABLE, 0)) {
		int err = -errno;

		close(fd);
		return err;
	}
	return fd;
}

/* Opens an event on each thread of the process; returns their number or -errno. */
static int open_all(pid_t pid, uint64_t period, int program, int *fds)
{
	char path[64];
	struct dirent *entry;
	int count = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	if (!dir)
		return -errno;
	while (count < MAX_THREADS && (entry = readdir(dir))) {
		pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (tid <= 0)
			continue;
		fds[count] = open_event(tid, period, program);
		if (fds[count] < 0) {
			count = fds[count];
			break;
		}
		count++;
	}
	closedir(dir);
	return count;
}

int main(int argc, char **argv)
{
	long hz = argc == 3 ? strtol(argv[1], NULL, 10) : 0;
	uint64_t period, total = 0;
	int program, count, caught, fds[MAX_THREADS];
	sigset_t signals;

	if (hz <= 0) {
		fprintf(stderr, "usage: floor HZ PID\n");
		return 2;
	}
	period = 1000000000u / (uint64_t)hz;
	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	program = load_empty_program();
	if (program < 0) {
		fprintf(stderr, "floor: cannot load a BPF program: %s\n", strerror(errno));
		return 1;
	}
	count = open_all((pid_t)strtol(argv[2], NULL, 10), period, program, fds);
	if (count <= 0) {
		fprintf(stderr, "floor: cannot open events on %s: %s\n", argv[2], strerror(-count));
		return 1;
	}
	sigwait(&signals, &caught);
	for (int i = 0; i < count; i++) {
		uint64_t value = 0;

		if (read(fds[i], &value, sizeof(value)) == sizeof(value))
			total += value;
		close(fds[i]);
	}
	printf("{\"counted_ns\": %llu, \"overflows\": %llu}\n", (unsigned long long)total,
	       (unsigned long long)(total / period));
	return 0;
}
