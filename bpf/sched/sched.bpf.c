// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * sched.bpf.c - what the scheduler does with the target's threads, for `record --sched`.
 *
 * A program of its own, loaded for that alone. The table of processes is the one of the sampling
 * programs; what of a target is prev, next, woken, or wakes another is sent. Raw tracepoints
 * (4.17) and ring buffers (5.8), read by CO-RE: nothing of tracefs.
 */
#include "task.bpf.h"

#include "sched_record.h"

#define MAX_REALTIME  100   /* MAX_RT_PRIO, include/linux/sched/prio.h */
#define STATE_REPORT  0x7f  /* TASK_REPORT, include/linux/sched.h */
#define STATE_IDLE    0x402 /* TASK_IDLE: uninterruptible, and not part of the load */
#define STATE_IS_IDLE 0x80  /* TASK_REPORT_IDLE */

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct task_struct___prio {
	int prio;
	int exit_state;
};

struct task_struct___old_state { /* before 5.14 */
	long state;
};

struct task_struct___state {
	unsigned int __state;
};

struct task_struct___cpu { /* since 5.16, and before where there is CONFIG_THREAD_INFO_IN_TASK */
	unsigned int cpu;
};

struct thread_info___cpu {
	unsigned int cpu;
};

struct task_struct___thread_info {
	struct thread_info___cpu thread_info;
};

struct linux_binprm___file {
	const char *filename;
};

#pragma clang attribute pop

const volatile struct sdw_bpf_config sdw_config = {.processors = 1};
const volatile __u32 sdw_sched_all; /* 1: every task is a target */

struct sdw_map_processes processes SEC(".maps"); /* that of the sampling programs */
struct sdw_map_rings rings SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* processors */
	__type(key, __u32);
	__type(value, __u64);
} sched_lost SEC(".maps");

static __always_inline __u32 number_here(struct task_struct *task, __u32 number)
{
	return sdw_config.namespace_inode && number ? number_in(task, sdw_config.namespace_inode)
						    : number;
}

/* Pid of a task; 0: the idle task, or not visible. */
static __always_inline __u32 pid_of(struct task_struct *task)
{
	return number_here(BPF_CORE_READ(task, group_leader), (__u32)BPF_CORE_READ(task, tgid));
}

static __always_inline bool is_target(__u32 pid)
{
	return sdw_sched_all || (pid && bpf_map_lookup_elem(&processes, &pid));
}

static __always_inline void describe(struct sdw_sched_task *to, struct task_struct *task, __u32 pid)
{
	struct task_struct___prio *scheduled = (void *)task;
	__u32 host_tid = (__u32)BPF_CORE_READ(task, pid), tid = number_here(task, host_tid);

	BPF_CORE_READ_STR_INTO(&to->comm, task, comm);
	to->tid = host_tid && !tid ? -1 : (__s32)tid;
	to->pid = host_tid && !pid ? -1 : (__s32)pid;
	to->priority = BPF_CORE_READ(scheduled, prio) - MAX_REALTIME;
}

static __always_inline void begin(struct sdw_sched_record *record, enum sdw_sched_kind kind)
{
	__builtin_memset(record, 0, sizeof(*record));
	record->time_ns = bpf_ktime_get_ns();
	record->kind = kind;
}

static __always_inline void send(void *record, __u64 size)
{
	__u32 cpu = bpf_get_smp_processor_id();
	__u64 *lost;

	if (!send_bytes(cpu, record, size, wake_flag(cpu)))
		return;
	lost = bpf_map_lookup_elem(&sched_lost, &cpu);
	if (lost)
		__sync_fetch_and_add(lost, 1);
}

/* As a trace has it: 0 for one that could go on, else one bit (kernel's task_state_index()). */
static __always_inline __s32 reported_state(struct task_struct *task, bool preempted, __u32 state)
{
	struct task_struct___prio *scheduled = (void *)task;
	__u32 exit_state = (__u32)BPF_CORE_READ(scheduled, exit_state), bits;

	if (preempted)
		return 0;
	bits = (state | exit_state) & STATE_REPORT;
	if ((state & STATE_IDLE) == STATE_IDLE)
		return STATE_IS_IDLE;
	return (__s32)bits;
}

static __always_inline int send_switch(bool preempted, struct task_struct *prev,
				       struct task_struct *next, __u32 state)
{
	__u32 prev_pid = pid_of(prev), next_pid = pid_of(next);
	struct sdw_sched_record record;

	if (!is_target(prev_pid) && !is_target(next_pid))
		return 0;
	begin(&record, SDW_SCHED_SWITCH);
	record.value = reported_state(prev, preempted, state);
	describe(&record.tasks[0], prev, prev_pid);
	describe(&record.tasks[1], next, next_pid);
	send(&record, sizeof(record));
	return 0;
}

/* Since 5.18 the tracepoint tells the state, which a waker may have changed meanwhile. */
SEC("raw_tp/sched_switch")
int sdw_on_switch(struct bpf_raw_tracepoint_args *ctx)
{
	return send_switch(ctx->args[0], (void *)ctx->args[1], (void *)ctx->args[2],
			   (__u32)ctx->args[3]);
}

SEC("raw_tp/sched_switch")
int sdw_on_switch_before_5_18(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *prev = (void *)ctx->args[1];
	struct task_struct___old_state *old = (void *)prev;
	struct task_struct___state *new = (void *)prev;
	__u32 state;

	if (bpf_core_field_exists(new->__state))
		state = BPF_CORE_READ(new, __state);
	else
		state = (__u32)BPF_CORE_READ(old, state);
	return send_switch(ctx->args[0], prev, (void *)ctx->args[2], state);
}

SEC("raw_tp/sched_waking")
int sdw_on_waking(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *task = (void *)ctx->args[0];
	struct task_struct *waker = (void *)bpf_get_current_task();
	struct task_struct___thread_info *inner = (void *)task;
	struct task_struct___cpu *outer = (void *)task;
	struct sdw_sched_record record;
	__u32 pid = pid_of(task);

	if (!is_target(pid) && !is_target(pid_of(waker)))
		return 0;
	begin(&record, SDW_SCHED_WAKING);
	if (bpf_core_field_exists(inner->thread_info.cpu))
		record.value = (__s32)BPF_CORE_READ(inner, thread_info.cpu);
	else if (bpf_core_field_exists(outer->cpu))
		record.value = (__s32)BPF_CORE_READ(outer, cpu);
	describe(&record.tasks[0], task, pid);
	send(&record, sizeof(record));
	return 0;
}

SEC("raw_tp/sched_process_fork")
int sdw_on_sched_fork(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *parent = (void *)ctx->args[0], *child = (void *)ctx->args[1];
	__u32 parent_pid = pid_of(parent);
	struct sdw_sched_record record;

	if (!is_target(parent_pid))
		return 0;
	begin(&record, SDW_SCHED_FORK);
	describe(&record.tasks[0], parent, parent_pid);
	describe(&record.tasks[1], child, pid_of(child));
	send(&record, sizeof(record));
	return 0;
}

SEC("raw_tp/sched_process_exec")
int sdw_on_sched_exec(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *task = (void *)ctx->args[0];
	struct linux_binprm___file *program = (void *)ctx->args[2];
	__u32 pid = pid_of(task);
	struct sdw_sched_exec exec;

	if (!is_target(pid))
		return 0;
	begin(&exec.record, SDW_SCHED_EXEC);
	describe(&exec.record.tasks[0], task, pid);
	/* of a thread that is not the first one exec changes the number */
	exec.record.value =
		sdw_config.namespace_inode ? exec.record.tasks[0].tid : (__s32)ctx->args[1];
	__builtin_memset(exec.file, 0, sizeof(exec.file));
	bpf_probe_read_kernel_str(exec.file, sizeof(exec.file), BPF_CORE_READ(program, filename));
	send(&exec, sizeof(exec));
	return 0;
}

SEC("raw_tp/sched_process_exit")
int sdw_on_sched_exit(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *task = (void *)ctx->args[0];
	struct sdw_sched_record record;
	__u32 pid = pid_of(task);

	if (!is_target(pid))
		return 0;
	begin(&record, SDW_SCHED_EXIT);
	describe(&record.tasks[0], task, pid);
	send(&record, sizeof(record));
	return 0;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
