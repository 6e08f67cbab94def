// SPDX-License-Identifier: MIT
/*
 * perf_events.c - opens, binds, switches and counts the perf events of a recording.
 *
 * Exactly one event must count each thread. A thread that is made while events are being opened may
 * have inherited one or not, and nothing tells; so the list of threads is read again afterwards,
 * and if there is a new one everything is closed and opened afresh.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/array.h"
#include "base/log.h"
#include "capture/cgroup_target.h"
#include "capture/perf_events.h"
#include "capture/perf_events_internal.h"
#include "capture/target_threads.h"

#define MAX_ATTEMPTS 20

struct sdw_events {
	int *items; /* file descriptors */
	size_t count, room;
	struct perf_event_attr attr;
	uint64_t fixed_period;
	int prog_fd;
	unsigned long flags; /* for perf_event_open() */
	bool enabled_by_exec;
	bool need_filter;
};

uint64_t sdw_events_fixed_period(const struct sdw_config *config)
{
	if (!config->frequency)
		return config->period;
	return config->event.is_clock ? 1000000000 / config->frequency : 0;
}

void sdw_events_fill_attr(const struct sdw_config *config, struct perf_event_attr *attr)
{
	uint64_t period = sdw_events_fixed_period(config);

	*attr = (struct perf_event_attr){
		.size = sizeof(*attr),
		.type = config->event.type,
		.config = config->event.config,
		.disabled = 1,
	};
	if (period) {
		attr->sample_period = period;
	} else {
		attr->freq = 1;
		attr->sample_freq = config->frequency;
	}
	/*
	 * A processor's clock is counted by the time it was enabled, as its own count is short by
	 * up to a tenth of the idle time, and of a group's too large by what stopping its timer
	 * costs (both seen with 6.18). That has idle time in it: no exclude_idle, the program sees
	 * the idle overflows too, and counts them as outside the target. A group's event is enabled
	 * while one of its tasks runs.
	 */
	if (config->all || config->groups) {
		if (config->event.is_clock)
			attr->read_format = PERF_FORMAT_TOTAL_TIME_ENABLED;
		return;
	}
	/*
	 * For a task both clocks tick alike; but into its count cpu-clock takes what stopping its
	 * own timer costs, some microseconds at each context switch, which would look like lost
	 * overflows.
	 */
	if (attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_CPU_CLOCK)
		attr->config = PERF_COUNT_SW_TASK_CLOCK;
	attr->inherit = 1;
	attr->inherit_thread = !config->children;
	attr->enable_on_exec = config->command != NULL;
}

int sdw_perf_event_open(struct perf_event_attr *attr, pid_t pid, int cpu, unsigned long flags)
{
	int fd =
		(int)syscall(SYS_perf_event_open, attr, pid, cpu, -1, flags | PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* The soft limit is a default for programs that use select(); ours goes up to the hard one. */
static bool raise_file_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur == limit.rlim_max)
		return false;
	limit.rlim_cur = limit.rlim_max;
	return setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

/* Opens one event and binds it. Returns 0 or -errno. */
static int open_one(struct sdw_events *events, pid_t pid, int cpu)
{
	int fd, err;

	err = sdw_array_reserve(events, 1);
	if (err)
		return err;
	fd = sdw_perf_event_open(&events->attr, pid, cpu, events->flags);
	if (fd == -EINVAL && events->attr.inherit_thread) {
		/* before 5.13 */
		events->attr.inherit_thread = 0;
		events->need_filter = true;
		fd = sdw_perf_event_open(&events->attr, pid, cpu, events->flags);
	}
	if (fd == -EMFILE && raise_file_limit())
		fd = sdw_perf_event_open(&events->attr, pid, cpu, events->flags);
	if (fd < 0)
		return fd;
	if (events->prog_fd >= 0 && ioctl(fd, PERF_EVENT_IOC_SET_BPF, events->prog_fd) < 0) {
		err = -errno;
		sdw_error("cannot bind the BPF program to the event: %s", strerror(-err));
		close(fd);
		return err;
	}
	events->items[events->count++] = fd;
	return 0;
}

static void close_all(struct sdw_events *events)
{
	while (events->count)
		close(events->items[--events->count]);
}

static int open_threads(struct sdw_events *events, const struct sdw_pid_list *threads)
{
	size_t i;
	int err;

	for (i = 0; i < threads->count; i++) {
		err = open_one(events, threads->items[i], -1);
		if (err == -EMFILE || err == -ENFILE)
			sdw_error(
				"too few open files: %zu events are needed, one a thread; raise the "
				"limit with: ulimit -n %zu",
				threads->count, threads->count + 1000);
		if (err && err != -ESRCH)
			return err;
	}
	return 0;
}

/* Are all of `now` in `before`? */
static bool is_subset(const struct sdw_pid_list *now, const struct sdw_pid_list *before)
{
	size_t i;

	for (i = 0; i < now->count; i++)
		if (!sdw_pid_list_contains(before, now->items[i]))
			return false;
	return true;
}

static int list_threads(const struct sdw_config *config, const pid_t *pids, size_t count,
			struct sdw_pid_list *threads)
{
	struct sdw_pid_list processes = {0};
	int err;

	sdw_pid_list_free(threads);
	err = sdw_target_processes_list(pids, count, config->children, &processes);
	if (!err)
		err = sdw_target_threads_list(&processes, threads);
	sdw_pid_list_free(&processes);
	return err;
}

static int open_tasks(struct sdw_events *events, const struct sdw_config *config, const pid_t *pids,
		      size_t count)
{
	struct sdw_pid_list before = {0}, after = {0};
	bool steady = false;
	int attempt, err = 0;

	for (attempt = 0; attempt < MAX_ATTEMPTS && !steady; attempt++) {
		close_all(events);
		err = list_threads(config, pids, count, &before);
		if (!err)
			err = open_threads(events, &before);
		if (!err)
			err = list_threads(config, pids, count, &after);
		if (err)
			break;
		steady = is_subset(&after, &before);
	}
	if (!err && !steady)
		sdw_warn(
			"threads begin faster than they can be found: some that began just now are "
			"not recorded");
	if (!err && !events->count)
		err = -ESRCH;
	sdw_pid_list_free(&before);
	sdw_pid_list_free(&after);
	return err;
}

/* who: -1: all tasks; with PERF_FLAG_PID_CGROUP in events->flags those of this directory's group.
 */
static int open_processors(struct sdw_events *events, int who)
{
	long cpu, processors = sysconf(_SC_NPROCESSORS_CONF);
	int err;

	for (cpu = 0; cpu < processors; cpu++) {
		err = open_one(events, who, (int)cpu);
		if (err == -EMFILE || err == -ENFILE)
			sdw_error(
				"too few open files: one a processor is needed; raise the limit with: "
				"ulimit -n %ld",
				processors + 1000);
		if (err && err != -ENODEV) /* offline */
			return err;
	}
	return events->count ? 0 : -ENODEV;
}

/* A group's event is in force on a processor while one of the group's tasks runs there. */
static int open_groups(struct sdw_events *events, const struct sdw_cgroup_targets *groups)
{
	int err = 0;

	events->flags = PERF_FLAG_PID_CGROUP;
	for (size_t i = 0; i < groups->count && !err; i++)
		err = open_processors(events, groups->items[i].directory);
	return err;
}

/*
 * One event for all: the program of a tracepoint runs at every hit of every task, wherever its
 * event is, and picks the target's itself. Inherited events would take it away when the first of
 * them ends.
 */
static int open_tracepoint(struct sdw_events *events)
{
	long cpu, processors = sysconf(_SC_NPROCESSORS_CONF);
	int err = -ENODEV;

	events->attr.inherit = 0;
	events->attr.inherit_thread = 0;
	events->attr.enable_on_exec = 0;
	events->enabled_by_exec = false;
	events->fixed_period = 0; /* its count is of one processor: no truth to hold ours against */
	for (cpu = 0; cpu < processors && err == -ENODEV; cpu++)
		err = open_one(events, -1, (int)cpu);
	return err;
}

int sdw_events_open(const struct sdw_config *config, const pid_t *pids, size_t count,
		    int bpf_prog_fd, struct sdw_events **result)
{
	struct sdw_events *events = calloc(1, sizeof(*events));
	int err;

	if (!events)
		return -ENOMEM;
	sdw_events_fill_attr(config, &events->attr);
	events->fixed_period = sdw_events_fixed_period(config);
	events->prog_fd = bpf_prog_fd;
	events->enabled_by_exec = events->attr.enable_on_exec;
	if (config->event.type == PERF_TYPE_TRACEPOINT)
		err = open_tracepoint(events);
	else if (sdw_config_counts_processors(config))
		err = open_processors(events, -1);
	else if (config->groups)
		err = open_groups(events, config->groups);
	else
		err = open_tasks(events, config, pids, count);
	if (err) {
		if (err == -ESRCH && count)
			sdw_error("pid %d%s: ended before it could be recorded", pids[0],
				  count > 1 ? " and the others" : "");
		else if (err != -EMFILE && err != -ENFILE)
			sdw_error("cannot open the event %s: %s", config->event.name,
				  strerror(-err));
		sdw_events_free(events);
		return err;
	}
	*result = events;
	return 0;
}

static int switch_all(struct sdw_events *events, unsigned long request)
{
	size_t i;

	for (i = 0; i < events->count; i++)
		if (ioctl(events->items[i], request, 0) < 0)
			return -errno;
	return 0;
}

int sdw_events_enable(struct sdw_events *events)
{
	return events->enabled_by_exec ? 0 : switch_all(events, PERF_EVENT_IOC_ENABLE);
}

int sdw_events_disable(struct sdw_events *events)
{
	if (events->attr.type == PERF_TYPE_TRACEPOINT) {
		close_all(events);
		return 0;
	}
	return switch_all(events, PERF_EVENT_IOC_DISABLE);
}

/* Of one event: its count, or for a processor's clock how long it was enabled. */
static int read_count(const struct sdw_events *events, size_t index, uint64_t *count)
{
	bool by_time = events->attr.read_format & PERF_FORMAT_TOTAL_TIME_ENABLED;
	uint64_t words[2] = {};
	ssize_t size = by_time ? sizeof(words) : sizeof(words[0]);
	ssize_t got = read(events->items[index], words, (size_t)size);

	*count = words[by_time];
	/* of a group that never ran on the processor the time is since boot; see fill_attr() */
	if (by_time && events->flags & PERF_FLAG_PID_CGROUP && words[0] < words[1])
		*count = words[0];
	if (got == size)
		return 0;
	return got < 0 ? -errno : -EIO;
}

int sdw_events_count(const struct sdw_events *events, uint64_t *count)
{
	uint64_t one;
	size_t i;
	int err = 0;

	*count = 0;
	for (i = 0; i < events->count && !err; i++) {
		err = read_count(events, i, &one);
		*count += one;
	}
	return err;
}

uint64_t sdw_events_expected_overflows(const struct sdw_events *events)
{
	uint64_t one, overflows = 0;
	size_t i;

	if (!events->fixed_period)
		return 0;
	for (i = 0; i < events->count; i++)
		if (!read_count(events, i, &one))
			overflows += one / events->fixed_period;
	return overflows;
}

bool sdw_events_need_filter(const struct sdw_events *events)
{
	return events->need_filter;
}

size_t sdw_events_number(const struct sdw_events *events)
{
	return events->count;
}

void sdw_events_free(struct sdw_events *events)
{
	if (!events)
		return;
	close_all(events);
	free(events->items);
	free(events);
}
