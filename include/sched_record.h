/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * sched_record.h - what the scheduler does, as bpf/sched/sched.bpf.c sends it: one record per
 * event, through the ring of the processor on which it happened.
 */
#ifndef SDW_SCHED_RECORD_H
#define SDW_SCHED_RECORD_H

#ifndef __bpf__ /* there vmlinux.h has these */
#include <linux/types.h>
#endif

#define SDW_SCHED_COMM_BYTES 16	 /* TASK_COMM_LEN */
#define SDW_SCHED_FILE_BYTES 128 /* of the program that exec starts, with its NUL; cut there */

enum sdw_sched_kind {
	SDW_SCHED_SWITCH, /* tasks: prev, next */
	SDW_SCHED_WAKING, /* the task that is woken */
	SDW_SCHED_FORK,	  /* parent, child */
	SDW_SCHED_EXEC,	  /* the task; `file` follows */
	SDW_SCHED_EXIT,	  /* the task */
	SDW_SCHED_KIND_COUNT,
};

/* Numbers are those of the profiler's pid namespace; -1: not visible there. */
struct sdw_sched_task {
	char comm[SDW_SCHED_COMM_BYTES];
	__s32 tid;
	__s32 pid;
	__s32 priority; /* as LTTng has it: the kernel's number less 100, 20 is nice 0 */
};

struct sdw_sched_record {
	__u64 time_ns; /* CLOCK_MONOTONIC */
	__u32 kind;    /* enum sdw_sched_kind */
	__s32 value;   /* switch: state of prev; waking: target processor; exec: old tid */
	struct sdw_sched_task tasks[2];
};

struct sdw_sched_exec {
	struct sdw_sched_record record;
	char file[SDW_SCHED_FILE_BYTES];
};

#endif
