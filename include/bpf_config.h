/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * bpf_config.h - what user space tells the BPF programs before they are loaded, sizes of their
 * tables, and the counters they keep.
 */
#ifndef SDW_BPF_CONFIG_H
#define SDW_BPF_CONFIG_H

#ifndef __bpf__ /* there vmlinux.h has these */
#include <linux/types.h>
#endif

#include "counters.h"

#define SDW_MAX_PROCESSES 65536u /* alive, or ended less than a second ago */
#define SDW_MAX_LAYOUTS	  64u
/* per processor, powers of two */
#define SDW_THREAD_SLOTS 256u
#define SDW_CODE_SLOTS	 4096u /* of SDW_CODE_WAYS code objects each */
#define SDW_CODE_WAYS	 4u
#define SDW_STACK_SLOTS	 65536u

#define SDW_CGROUP_V2  0xffffffffu /* for cgroup_subsystem */
#define SDW_MAX_GROUPS 1024u	   /* control groups recorded at once */

/* Constant while the programs are loaded. */
struct sdw_bpf_config {
	__u32 processors;	 /* processors that have scratch, tables and a ring */
	__u32 stack_bytes;	 /* of native stack to copy at most; 0: none */
	__u32 kernel_stacks;	 /* 1: send kernel addresses too */
	__u32 only_known;	 /* 1: only processes that are in the table are targets */
	__u32 follow_forks;	 /* 1: children of known processes become known */
	__u32 namespace_inode;	 /* of the profiler's pid namespace; 0: the initial one */
	__u32 own_pid;		 /* the profiler itself: never a target of -a */
	__u32 cgroup_filter;	 /* 1: only tasks in the table of control groups are targets */
	__u32 cgroup_subsystem;	 /* hierarchy of that table: a controller's number, or ... */
	__u32 signal_too;	 /* 1: the kernel goes on to send the event's signal */
	__u64 tracepoint_period; /* tracepoints: hits per sample */
	__u64 wake_bytes;	 /* waiting in a ring: from there on the consumer is woken */
};

/* Of one processor, written by it alone. */
struct sdw_cpu_counters {
	__u64 overflows; /* programs begun */
	__u64 samples;	 /* sent */
	__u64 idle;	 /* on an idle processor; in lost[SDW_LOST_OUTSIDE_TARGET] too */
	__u64 lost[SDW_LOST_COUNT];
	__u64 code_lost;      /* code records that found the ring full: sent again later */
	__u64 life_lost;      /* life records that found the ring full */
	__u64 processes_full; /* processes that found no room in the table */
	__u64 tracepoint_hits;
};

#endif
