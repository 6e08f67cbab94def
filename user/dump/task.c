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

#define STATUS_BYTES 4096 /* of a status file: 1.5 KB in Linux 6.18 */

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

/* The number after `key` at the start of a line; the last one, of a list. */
static uint64_t number_of(const char *text, const char *key)
{
	const char *at = strstr(text, key), *end, *last;

	if (!at)
		return 0;
	at += strlen(key);
	end = at + strcspn(at, "\n");
	for (last = end; last > at && last[-1] >= '0' && last[-1] <= '9';)
		last--;
	return strtoull(last, NULL, 10);
}

static int read_status(pid_t pid, struct sdw_task *task)
{
	char text[STATUS_BYTES];
	const char *state;
	int got = read_file(pid, task->tid, "status", text, sizeof(text));

	if (got < 0)
		return got;
	/* the kernel escapes a newline in the first line, the name: no other line is the target's
	 */
	state = strstr(text, "\nState:\t");
	if (!state)
		return -ESRCH;
	task->state = state[8];
	task->inner_tid = (pid_t)number_of(text, "\nNSpid:\t");
	if (!task->inner_tid)
		task->inner_tid = task->tid;
	task->switches = number_of(text, "\nvoluntary_ctxt_switches:\t") +
			 number_of(text, "\nnonvoluntary_ctxt_switches:\t");
	return 0;
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
