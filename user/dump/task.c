// SPDX-License-Identifier: MIT
/* task.c - reads status, comm and syscall of a thread; all of it is text of the kernel. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dump/task.h"

/* Returns the number of bytes, NUL-terminated, or -errno. */
static int read_file(pid_t pid, pid_t tid, const char *name, char *text, size_t size)
{
	char path[64];
	ssize_t got;
	int fd, err = 0;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", pid, tid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	got = read(fd, text, size - 1);
	if (got < 0)
		err = -errno;
	close(fd);
	text[got > 0 ? got : 0] = '\0';
	return err ? err : (int)got;
}

/* The last number of a line. */
static uint64_t last_number(const char *line)
{
	const char *end = line + strcspn(line, "\n"), *last = end;

	while (last > line && last[-1] >= '0' && last[-1] <= '9')
		last--;
	return strtoull(last, NULL, 10);
}

static bool begins(const char *line, const char *key)
{
	return strncmp(line, key, strlen(key)) == 0;
}

/* The kernel escapes a newline in the first line, the name: no other line is the target's. */
static void take_status_line(const char *line, struct sdw_task *task)
{
	if (begins(line, "State:\t"))
		task->state = line[strlen("State:\t")];
	else if (begins(line, "NSpid:\t"))
		task->inner_tid = (pid_t)last_number(line);
	else if (begins(line, "voluntary_ctxt_switches:\t") ||
		 begins(line, "nonvoluntary_ctxt_switches:\t"))
		task->switches += last_number(line);
}

/* Line by line: its owner may be in tens of thousands of groups, which all are in one. */
static int read_status(pid_t pid, struct sdw_task *task)
{
	char path[64], *line = NULL;
	size_t room = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", pid, task->tid);
	file = fopen(path, "re");
	if (!file)
		return errno == ENOENT ? -ESRCH : -errno;
	task->inner_tid = task->tid;
	while (getline(&line, &room, file) > 0)
		take_status_line(line, task);
	free(line);
	fclose(file);
	return task->state == '?' ? -ESRCH : 0;
}

/* "running", or "NUMBER ARGUMENT*6 SP PC", or "-1 SP PC" of one that is not in a system call. */
static int read_syscall(pid_t pid, struct sdw_task *task)
{
	uint64_t *a = task->arguments;
	char text[256];
	int got = read_file(pid, task->tid, "syscall", text, sizeof(text));

	if (got < 0)
		return got == -EPERM ? -EACCES : got;
	if (sscanf(text, "-1 0x%" SCNx64 " 0x%" SCNx64, &task->sp, &task->pc) == 2) {
		task->syscall = SDW_NO_SYSCALL;
		task->asleep = true;
	} else if (sscanf(text,
			  "%ld 0x%" SCNx64 " 0x%" SCNx64 " 0x%" SCNx64 " 0x%" SCNx64 " 0x%" SCNx64
			  " 0x%" SCNx64 " 0x%" SCNx64 " 0x%" SCNx64,
			  &task->syscall, a, a + 1, a + 2, a + 3, a + 4, a + 5, &task->sp,
			  &task->pc) == 9) {
		task->asleep = true;
	}
	if (!task->sp) { /* a kernel thread */
		task->asleep = false;
		task->syscall = SDW_NO_SYSCALL;
	}
	if (task->state == 'R' || task->state == 'Z' || task->state == 'X')
		task->asleep = false;
	return 0;
}

int sdw_task_read(pid_t pid, pid_t tid, struct sdw_task *task)
{
	int err;

	*task = (struct sdw_task){.tid = tid, .syscall = SDW_NO_SYSCALL, .state = '?'};
	err = read_file(pid, tid, "comm", task->comm, sizeof(task->comm));
	if (err < 0)
		return err;
	if (err && task->comm[err - 1] == '\n') /* it may have others inside */
		task->comm[err - 1] = '\0';
	err = read_status(pid, task);
	return err ?: read_syscall(pid, task);
}

bool sdw_task_is_unmoved(const struct sdw_task *before, const struct sdw_task *after)
{
	return before->asleep && after->asleep && before->switches == after->switches &&
	       before->sp == after->sp && before->pc == after->pc &&
	       before->syscall == after->syscall;
}
