/* SPDX-License-Identifier: MIT */
/*
 * task.h - what the kernel says of one thread without stopping it: /proc/PID/task/TID.
 *
 * A thread that was asleep at two looks and has not been switched in between did not run: whatever
 * was read of its stack in the meantime belongs together.
 */
#ifndef SDW_DUMP_TASK_H
#define SDW_DUMP_TASK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define SDW_NO_SYSCALL (-1L)

struct sdw_task {
	pid_t tid;
	pid_t inner_tid; /* in its own pid namespace */
	char comm[20];	 /* as the kernel has it: any bytes, at most 15 */
	char state; /* R running, S sleeping, D uninterruptible, T stopped, t traced, Z ended */
	uint64_t switches; /* how often it gave up a processor, or lost it */
	bool asleep;	   /* the following is known */
	long syscall;	   /* number, or SDW_NO_SYSCALL: asleep elsewhere, e.g. for a page */
	uint64_t arguments[6];
	uint64_t sp, pc; /* of user mode */
};

/*
 * Returns 0, -ESRCH (the thread has ended) or -EACCES: of this process nothing may be read; comm
 * and state are known also then.
 */
int sdw_task_read(pid_t pid, pid_t tid, struct sdw_task *task);

/* True if the thread cannot have run between these two looks. */
bool sdw_task_is_unmoved(const struct sdw_task *before, const struct sdw_task *after);

/* The name of a system call in which threads wait, or NULL. */
const char *sdw_syscall_name(long number);

#endif
