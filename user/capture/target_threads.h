/* SPDX-License-Identifier: MIT */
/*
 * target_threads.h - which processes and threads a -p means at this moment, by /proc.
 * A snapshot: what begins or ends while it is taken may be in it or not.
 */
#ifndef SDW_TARGET_THREADS_H
#define SDW_TARGET_THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct sdw_pid_list {
	pid_t *items; /* ascending, each once */
	size_t count, room;
};

void sdw_pid_list_free(struct sdw_pid_list *list);
bool sdw_pid_list_contains(const struct sdw_pid_list *list, pid_t pid);

/*
 * Adds the living ones of `pids` to `list` and, with children, all their descendants.
 * Returns 0 or -errno; processes that are gone are no error.
 */
int sdw_target_processes_list(const pid_t *pids, size_t count, bool children,
			      struct sdw_pid_list *list);

/* The threads of these processes. Returns 0 or -errno. */
int sdw_target_threads_list(const struct sdw_pid_list *processes, struct sdw_pid_list *threads);

/*
 * Checks that `pid` can be a target: 0; -ESRCH no such process, -EINVAL a thread that is not a
 * process (its process is put into *process), -ECHILD a process that has ended but was not waited
 * for.
 */
int sdw_target_check(pid_t pid, pid_t *process);

#endif
