/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * vmlinux.h - the few kernel types that the BPF programs touch, written by hand.
 *
 * libbpf moves every access to where the running kernel has the field (preserve_access_index), so only
 * names and types matter here, not order or offsets. tests/unit/test_vmlinux.c holds each field
 * against the BTF of the running kernel.
 */
#ifndef SDW_VMLINUX_H
#define SDW_VMLINUX_H

typedef unsigned char __u8;
typedef signed short __s16;
typedef unsigned short __u16;
typedef signed int __s32;
typedef unsigned int __u32;
typedef signed long long __s64;
typedef unsigned long long __u64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;
typedef _Bool bool;

#define true  1
#define false 0

#define NULL ((void *)0)

/* include/uapi/linux/bpf.h */
enum bpf_map_type {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_ARRAY_OF_MAPS = 12,
	BPF_MAP_TYPE_RINGBUF = 27,
};

enum {
	BPF_ANY = 0,
	BPF_NOEXIST = 1,
	BPF_RB_NO_WAKEUP = 1,
	BPF_RB_FORCE_WAKEUP = 2,
	BPF_RB_AVAIL_DATA = 0,
};

/* The names of helpers, to ask whether the running kernel has them. */
enum bpf_func_id {
	BPF_FUNC_get_current_task_btf = 158,
	BPF_FUNC_task_pt_regs = 175,
	BPF_FUNC_loop = 181,
};

/* x86-64 user registers: fixed by the ABI of perf_event programs, hence not relocated. */
struct sdw_user_registers {
	unsigned long r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di, orig_ax;
	unsigned long ip, cs, flags, sp, ss;
};

/* include/uapi/linux/bpf_perf_event.h: the context of a perf_event program */
struct bpf_perf_event_data {
	struct sdw_user_registers regs;
	__u64 sample_period;
	__u64 addr;
};

struct bpf_raw_tracepoint_args {
	__u64 args[0];
};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct pt_regs {
	unsigned long ip;
};

struct ns_common {
	unsigned int inum;
};

struct pid_namespace {
	struct ns_common ns;
};

struct upid {
	int nr;
	struct pid_namespace *ns;
};

struct pid {
	unsigned int level;
	struct upid numbers[1];
};

typedef struct {
	int counter;
} atomic_t;

struct signal_struct {
	atomic_t live;
};

struct kernfs_node {
	__u64 id;
};

struct cgroup;

struct cgroup_subsys_state {
	struct cgroup *cgroup;
	struct cgroup_subsys_state *parent;
};

struct cgroup {
	struct cgroup_subsys_state self;
	struct kernfs_node *kn;
};

struct css_set {
	struct cgroup_subsys_state *subsys[1];
	struct cgroup *dfl_cgrp;
};

struct mm_struct {
	unsigned long start_stack;
};

struct thread_struct {
	unsigned long fsbase;
};

struct task_struct {
	unsigned int flags;
	int pid;
	int tgid;
	void *stack;
	struct mm_struct *mm;
	struct task_struct *group_leader;
	unsigned long long start_time;
	struct pid *thread_pid;
	struct signal_struct *signal;
	struct css_set *cgroups;
	struct thread_struct thread;
	char comm[16];
};

#pragma clang attribute pop

#endif
