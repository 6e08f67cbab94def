// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * registers.bpf.c - the user-mode registers of every thread, for stacks of those that sleep.
 *
 * A task iterator: runs once for each thread when its file is read; nobody is stopped. Needs
 * bpf_task_pt_regs (5.15). What it says of a thread that runs in user mode is of the past.
 */
#include <vmlinux.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

#include "task_registers.h"

#define PF_KTHREAD 0x00200000u

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct seq_file;

/* kernel/bpf/bpf_iter.c, task_iter.c */
struct bpf_iter_meta {
	struct seq_file *seq;
};

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

struct task_struct___switches {
	unsigned long nvcsw, nivcsw;
};

#pragma clang attribute pop

SEC("iter/task")
int sdw_registers_of_task(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct task_struct___switches *switches = (void *)task;
	struct sdw_task_registers record = {};
	struct sdw_user_registers saved;

	if (!task || !BPF_CORE_READ(task, mm) || BPF_CORE_READ(task, flags) & PF_KTHREAD)
		return 0;
	if (bpf_probe_read_kernel(&saved, sizeof(saved), (void *)bpf_task_pt_regs(task)))
		return 0;
	record.tid = (__u32)BPF_CORE_READ(task, pid);
	record.switches = BPF_CORE_READ(switches, nvcsw) + BPF_CORE_READ(switches, nivcsw);
	record.registers.ip = saved.ip;
	record.registers.sp = saved.sp;
	record.registers.bp = saved.bp;
	record.registers.bx = saved.bx;
	record.registers.r12 = saved.r12;
	record.registers.r13 = saved.r13;
	record.registers.r14 = saved.r14;
	record.registers.r15 = saved.r15;
	bpf_seq_write(ctx->meta->seq, &record, sizeof(record));
	return 0;
}

char sdw_license[] SEC("license") = "Dual MIT/GPL";
