// SPDX-License-Identifier: MIT
/* target_threads.c - lists of processes and threads, read from /proc. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "capture/target_threads.h"

struct parent_link {
	pid_t pid, parent;
};

struct parent_links {
	struct parent_link *items;
	size_t count, room;
};

void sdw_pid_list_free(struct sdw_pid_list *list)
{
	free(list->items);
	*list = (struct sdw_pid_list){0};
}

/* Index of the first item that is not less than pid. */
static size_t lower_bound(const struct sdw_pid_list *list, pid_t pid)
{
	size_t low = 0, high = list->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (list->items[middle] < pid)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool sdw_pid_list_contains(const struct sdw_pid_list *list, pid_t pid)
{
	size_t at = lower_bound(list, pid);

	return at < list->count && list->items[at] == pid;
}

/* Returns 1 if it was new, 0 if not, or -ENOMEM. /proc lists ascending, so it is mostly an append.
 */
static int add_pid(struct sdw_pid_list *list, pid_t pid)
{
	size_t at = lower_bound(list, pid);

	if (at < list->count && list->items[at] == pid)
		return 0;
	if (sdw_array_reserve(list, 1))
		return -ENOMEM;
	memmove(list->items + at + 1, list->items + at, (list->count - at) * sizeof(*list->items));
	list->items[at] = pid;
	list->count++;
	return 1;
}

static bool parse_pid(const char *name, pid_t *pid)
{
	char *end;
	long number;

	if (!isdigit((unsigned char)*name))
		return false;
	errno = 0;
	number = strtol(name, &end, 10);
	if (*end || errno || number <= 0 || number > INT32_MAX)
		return false;
	*pid = (pid_t)number;
	return true;
}

/* State and parent from /proc/PID/stat; comm may hold anything, so after the last ')'. 0 or -errno.
 */
static int read_stat(pid_t pid, char *state, pid_t *parent)
{
	char path[64], text[1024], *after;
	ssize_t size;
	int fd, err;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	size = read(fd, text, sizeof(text) - 1);
	err = size < 0 ? -errno : 0;
	close(fd);
	if (err)
		return err;
	text[size] = '\0';
	after = strrchr(text, ')');
	if (!after || sscanf(after + 1, " %c %d", state, parent) != 2)
		return -EINVAL;
	return 0;
}

/* Every process and its parent. Returns 0 or -errno. */
static int read_links(struct parent_links *links)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	int err = 0;

	if (!proc)
		return -errno;
	while (!err && (entry = readdir(proc))) {
		struct parent_link link;
		char state;

		if (!parse_pid(entry->d_name, &link.pid) ||
		    read_stat(link.pid, &state, &link.parent))
			continue;
		err = sdw_array_reserve(links, 1);
		if (!err)
			links->items[links->count++] = link;
	}
	closedir(proc);
	return err;
}

static int add_descendants(struct sdw_pid_list *list)
{
	struct parent_links links = {0};
	int err, added = 1;
	size_t i;

	err = read_links(&links);
	while (!err && added) {
		added = 0;
		for (i = 0; i < links.count && !err; i++) {
			int n;

			if (!sdw_pid_list_contains(list, links.items[i].parent))
				continue;
			n = add_pid(list, links.items[i].pid);
			if (n < 0)
				err = n;
			else
				added += n;
		}
	}
	free(links.items);
	return err;
}

int sdw_target_processes_list(const pid_t *pids, size_t count, bool children,
			      struct sdw_pid_list *list)
{
	size_t i;

	for (i = 0; i < count; i++) {
		pid_t parent;
		char state;
		int n;

		if (read_stat(pids[i], &state, &parent))
			continue;
		n = add_pid(list, pids[i]);
		if (n < 0)
			return n;
	}
	return children ? add_descendants(list) : 0;
}

int sdw_target_threads_list(const struct sdw_pid_list *processes, struct sdw_pid_list *threads)
{
	size_t i;

	for (i = 0; i < processes->count; i++) {
		struct dirent *entry;
		char path[64];
		int n = 0;
		DIR *task;

		snprintf(path, sizeof(path), "/proc/%d/task", processes->items[i]);
		task = opendir(path);
		if (!task && (errno == ENOENT || errno == ESRCH))
			continue;
		if (!task)
			return -errno;
		while (n >= 0 && (entry = readdir(task))) {
			pid_t tid;

			if (parse_pid(entry->d_name, &tid))
				n = add_pid(threads, tid);
		}
		closedir(task);
		if (n < 0)
			return n;
	}
	return 0;
}

/* The thread group of a pid, which may be a thread's: /proc/TID exists for these too. */
static int read_group(pid_t pid, pid_t *group)
{
	char path[64], line[256];
	FILE *file;
	int err = -EINVAL;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	file = fopen(path, "re");
	if (!file)
		return -errno;
	while (err && fgets(line, sizeof(line), file))
		if (sscanf(line, "Tgid: %d", group) == 1)
			err = 0;
	fclose(file);
	return err;
}

int sdw_target_check(pid_t pid, pid_t *process)
{
	pid_t parent = 0;
	char state = '\0';
	int err;

	err = read_group(pid, process);
	if (!err)
		err = read_stat(pid, &state, &parent);
	if (err)
		return err == -ENOENT ? -ESRCH : err;
	if (*process != pid)
		return -EINVAL;
	/* a zombie whose other threads still run has them in /proc/PID/task */
	if (state == 'Z' || state == 'X') {
		struct sdw_pid_list leader = {.items = &pid, .count = 1}, threads = {0};

		err = sdw_target_threads_list(&leader, &threads);
		if (!err && threads.count < 2)
			err = -ECHILD;
		sdw_pid_list_free(&threads);
	}
	return err;
}
