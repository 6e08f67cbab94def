// SPDX-License-Identifier: MIT
/*
 * live_task.c - a thread of a process that still has its memory.
 *
 * A main thread may end before the others (pthread_exit). It is a zombie then: /proc/PID/maps is
 * empty, its memory cannot be read, and /proc/TID of another thread must be asked.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include <unistd.h>

#include "target/maps.h"

/* A zombie has no executable. */
static bool has_memory(uint32_t task)
{
	char path[64], target[8];

	snprintf(path, sizeof(path), "/proc/%u/exe", task);
	return readlink(path, target, sizeof(target)) >= 0;
}

uint32_t sdw_live_task(uint32_t pid)
{
	const struct dirent *entry;
	uint32_t found = pid;
	char path[64];
	DIR *tasks;

	if (has_memory(pid))
		return pid;
	snprintf(path, sizeof(path), "/proc/%u/task", pid);
	tasks = opendir(path);
	if (!tasks)
		return pid;
	while (found == pid && (entry = readdir(tasks))) {
		uint32_t task = (uint32_t)strtoul(entry->d_name, NULL, 10);

		if (task && has_memory(task))
			found = task;
	}
	closedir(tasks);
	return found;
}
