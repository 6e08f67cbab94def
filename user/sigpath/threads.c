// SPDX-License-Identifier: MIT
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sigpath/threads.h"

bool sdw_thread_is_gone(uint32_t pid, uint32_t tid)
{
	return syscall(SYS_tgkill, pid, tid, 0) && errno == ESRCH;
}

/* The last number of the line "NSpid:": the thread's in its own namespace. 0: not known. */
static uint32_t inner_number(uint32_t pid, const char *tid)
{
	char path[64], line[256];
	uint32_t number = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%u/task/%.16s/status", pid, tid);
	file = fopen(path, "re");
	if (!file)
		return 0;
	while (fgets(line, sizeof(line), file)) {
		const char *last;

		if (strncmp(line, "NSpid:", 6))
			continue;
		last = strrchr(line, '\t');
		number = last ? (uint32_t)strtoul(last + 1, NULL, 10) : 0;
		break;
	}
	fclose(file);
	return number;
}

uint32_t sdw_thread_outer_tid(uint32_t pid, uint32_t inner_pid, uint32_t inner_tid)
{
	const struct dirent *entry;
	uint32_t found = 0;
	char path[64];
	DIR *tasks;

	if (inner_tid == inner_pid)
		return pid;
	if (pid == inner_pid) /* the same namespace, or as good as; it may be gone already */
		return inner_tid;
	snprintf(path, sizeof(path), "/proc/%u/task", pid);
	tasks = opendir(path);
	while (tasks && !found && (entry = readdir(tasks))) {
		if (inner_number(pid, entry->d_name) == inner_tid)
			found = (uint32_t)strtoul(entry->d_name, NULL, 10);
	}
	if (tasks)
		closedir(tasks);
	return found;
}
