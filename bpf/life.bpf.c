// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * life.bpf.c - follows processes of the target through fork, exec and exit.
 *
 * A child gets a copy of what is known of its parent's interpreter at once, so that its first
 * sample has Python frames. An exec gives a new epoch, which makes everything known before void.
 * Entries of processes that ended are removed by the consumer, after it has seen their last
 * samples.
 */
#include "task.bpf.h"

static __always_inline void send_life(struct task_struct *task, const struct sdw_task_ids *ids,
				      __u32 what, __u32 epoch, __u32 parent, __u32 parent_epoch)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct sdw_cpu_counters *count;
	struct sdw_record_life *life;

	life = bpf_ringbuf_reserve(&life_ring, sizeof(*life), 0);
	if (!life) {
		count = bpf_map_lookup_elem(&counters, &cpu);
		if (count)
			__sync_fetch_and_add(&count->life_lost, 1);
		return;
	}
	life->record.type = SDW_RECORD_LIFE;
	life->record.size = sizeof(*life);
	life->record.time_ns = bpf_ktime_get_ns();
	life->record.pid = ids->pid;
	life->record.epoch = epoch;
	life->what = what;
	life->tid = ids->tid;
	life->parent_pid = parent;
	life->parent_epoch = parent_epoch;
	life->inner_pid = ids->inner_pid;
	life->inner_tid = ids->inner_tid;
	BPF_CORE_READ_STR_INTO(&life->comm, task, comm);
	bpf_ringbuf_submit(life, what == SDW_LIFE_THREAD_EXIT ? 0 : BPF_RB_FORCE_WAKEUP);
}

/* A child found no room in the table of processes. */
static __always_inline void count_full(void)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct sdw_cpu_counters *count = bpf_map_lookup_elem(&counters, &cpu);

	if (count)
		__sync_fetch_and_add(&count->processes_full, 1);
}

/*
 * Makes the entry of a process that ended void: the consumer, which removes such entries, has not
 * come to it, and its number is another process's now.
 */
static __always_inline void forget_former(__u32 pid)
{
	if (bpf_map_lookup_elem(&processes, &pid))
		bpf_map_delete_elem(&processes, &pid);
}

SEC("raw_tp/sched_process_fork")
int sdw_on_fork(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *parent = (void *)ctx->args[0], *child = (void *)ctx->args[1];
	struct sdw_process_slot slot = {}, *known;
	struct sdw_interpreter *interpreter;
	struct sdw_task_ids ids, parent_ids;
	__u32 parent_epoch;
	__u64 key;

	if (BPF_CORE_READ(parent, tgid) == BPF_CORE_READ(child, tgid))
		return 0; /* a thread */
	task_ids(child, &ids);
	if (!ids.pid)
		return 0;
	task_ids(parent, &parent_ids);
	known = bpf_map_lookup_elem(&processes, &parent_ids.pid);
	if (!known || !sdw_config.follow_forks) {
		forget_former(ids.pid);
		return 0;
	}
	slot.epoch = bpf_get_prandom_u32();
	parent_epoch = known->epoch; /* not read again: the entry may become another process's */
	if (bpf_map_update_elem(&processes, &ids.pid, &slot, BPF_ANY)) {
		count_full();
		return 0;
	}
	key = (__u64)parent_ids.pid << 32 | parent_epoch;
	interpreter = bpf_map_lookup_elem(&interpreters, &key);
	if (interpreter) {
		key = (__u64)ids.pid << 32 | slot.epoch;
		bpf_map_update_elem(&interpreters, &key, interpreter, BPF_ANY);
	}
	send_life(child, &ids, SDW_LIFE_FORK, slot.epoch, parent_ids.pid, parent_epoch);
	return 0;
}

SEC("raw_tp/sched_process_exec")
int sdw_on_exec(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *task = (void *)ctx->args[0];
	struct sdw_process_slot slot = {}, *known;
	struct sdw_task_ids ids;
	__u32 before;
	__u64 key;

	task_ids(task, &ids);
	known = bpf_map_lookup_elem(&processes, &ids.pid);
	if (!known)
		return 0;
	before = known->epoch;
	slot.epoch = bpf_get_prandom_u32();
	if (bpf_map_update_elem(&processes, &ids.pid, &slot, BPF_ANY))
		return 0;
	key = (__u64)ids.pid << 32 | before;
	bpf_map_delete_elem(&interpreters, &key);
	send_life(task, &ids, SDW_LIFE_EXEC, slot.epoch, ids.pid, before);
	return 0;
}

SEC("raw_tp/sched_process_exit")
int sdw_on_exit(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *task = (void *)ctx->args[0];
	struct sdw_process_slot *known;
	struct sdw_task_ids ids;
	bool last;

	task_ids(task, &ids);
	known = bpf_map_lookup_elem(&processes, &ids.pid);
	if (!known)
		return 0;
	last = BPF_CORE_READ(task, signal, live.counter) == 0;
	send_life(task, &ids, last ? SDW_LIFE_EXIT : SDW_LIFE_THREAD_EXIT, known->epoch, 0, 0);
	return 0;
}
