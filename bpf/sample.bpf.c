// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * sample.bpf.c - runs on each overflow and makes a sample of it.
 *
 * In:  the interrupted task and its registers.
 * Out: through the ring buffer of this processor: the sample, before it its stack if this processor
 * has not sent it yet, and what is new about process and thread. An overflow that does not get that
 * far is in exactly one counter (counters.h).
 */
#include "cgroup.bpf.h"
#include "task.bpf.h"
#include "walk.bpf.h"

/* ---- process and thread ---- */

#define NAME_CHECK_NS 100000000u /* how long a thread's name is taken to be the same */

/* When the current task began: by a plain load where the kernel allows it (5.11). */
static __always_inline __u64 start_of(struct task_struct *task)
{
	if (bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_get_current_task_btf))
		return bpf_get_current_task_btf()->start_time;
	return BPF_CORE_READ(task, start_time);
}

/*
 * A life record through this processor's own ring, in order with its samples. Not inlined: the
 * record would take stack in every path (512 bytes for all functions of a call chain).
 */
static __noinline void send_seen(__u32 cpu, struct sdw_scratch *scratch, __u32 what,
				 struct task_struct *task)
{
	struct task_struct *leader = BPF_CORE_READ(task, group_leader);
	struct sdw_record_life life = {};
	struct sdw_cpu_counters *count;

	fill_record(&life.record, SDW_RECORD_LIFE, sizeof(life), scratch);
	life.what = what;
	life.tid = scratch->tid;
	life.start_ns = start_of(task);
	life.inner_pid = number_in(leader, 0);
	life.inner_tid = number_in(task, 0);
	if (what == SDW_LIFE_SEEN)
		task = leader;
	BPF_CORE_READ_STR_INTO(&life.comm, task, comm);
	if (send_bytes(cpu, &life, sizeof(life),
		       what == SDW_LIFE_SEEN ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP)) {
		count = bpf_map_lookup_elem(&counters, &cpu);
		if (count)
			count->life_lost++;
	}
}

/* Fills in the epoch of the process, which is made known now if it was not. */
static __always_inline int take_process(__u32 cpu, struct sdw_scratch *scratch,
					struct sdw_cpu_counters *count, struct task_struct *task)
{
	struct sdw_process_slot fresh = {}, *slot;

	slot = bpf_map_lookup_elem(&processes, &scratch->pid);
	if (slot) {
		scratch->epoch = slot->epoch;
		return 0;
	}
	if (sdw_config.only_known)
		return -1;
	fresh.epoch = bpf_get_prandom_u32();
	scratch->epoch = fresh.epoch;
	if (bpf_map_update_elem(&processes, &scratch->pid, &fresh, BPF_NOEXIST)) {
		/* another processor was faster, or the table is full */
		slot = bpf_map_lookup_elem(&processes, &scratch->pid);
		scratch->epoch = slot ? slot->epoch : 0;
		if (!slot)
			count->processes_full++;
		return 0;
	}
	send_seen(cpu, scratch, SDW_LIFE_SEEN, task);
	return 0;
}

/* Announces the thread if this processor has not, or if its name is another now. */
static __always_inline void take_thread(__u32 cpu, struct sdw_scratch *scratch,
					struct task_struct *task)
{
	__u32 at = cpu * SDW_THREAD_SLOTS + (scratch->tid & (SDW_THREAD_SLOTS - 1));
	struct sdw_thread_slot *slot = bpf_map_lookup_elem(&threads, &at);
	__u64 comm[2] = {}, start_ns = start_of(task);

	if (!slot)
		return;
	if (slot->tid == scratch->tid && slot->epoch == scratch->epoch &&
	    slot->start_ns == start_ns) {
		if (scratch->now_ns - slot->named_ns < NAME_CHECK_NS)
			return;
		bpf_get_current_comm(comm, sizeof(comm));
		slot->named_ns = scratch->now_ns;
		if (slot->comm[0] == comm[0] && slot->comm[1] == comm[1])
			return;
	} else {
		bpf_get_current_comm(comm, sizeof(comm));
		slot->named_ns = scratch->now_ns;
		slot->thread_state = 0;
		slot->retry_ns = 0;
		slot->interpreter.supported = 0;
		slot->several = 0;
		slot->several_ns = 0;
	}
	slot->tid = scratch->tid;
	slot->epoch = scratch->epoch;
	slot->start_ns = start_ns;
	slot->comm[0] = comm[0];
	slot->comm[1] = comm[1];
	send_seen(cpu, scratch, SDW_LIFE_THREAD_SEEN, task);
}

/* ---- registers ---- */

#define KEEP_REGISTERS(to, from)         \
	({                               \
		(to)->ip = (from)->ip;   \
		(to)->sp = (from)->sp;   \
		(to)->bp = (from)->bp;   \
		(to)->bx = (from)->bx;   \
		(to)->r12 = (from)->r12; \
		(to)->r13 = (from)->r13; \
		(to)->r14 = (from)->r14; \
		(to)->r15 = (from)->r15; \
	})

/*
 * The user registers as the kernel saved them when it was entered. Not inlined: the compiler would
 * use one copy of the loads for these and for the context's, which the verifier does not allow.
 */
static __noinline void keep_saved_registers(struct sdw_scratch *scratch)
{
	struct sdw_user_registers *saved = &scratch->saved;
	struct task_struct *task;
	void *from;

	if (bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_task_pt_regs)) {
		from = (void *)bpf_task_pt_regs(bpf_get_current_task_btf());
	} else { /* arch/x86: at the top of a kernel stack of 16 KiB */
		task = (void *)bpf_get_current_task();
		from = BPF_CORE_READ(task, stack) + 16384 - sizeof(*saved);
	}
	if (!bpf_probe_read_kernel(saved, sizeof(*saved), from))
		KEEP_REGISTERS(&scratch->sample.record.registers, saved);
}

/* ---- the sample ---- */

/* Sends the Python stack unless this processor has sent it before. Returns its id, 0: none, or < 0.
 */
static __always_inline int send_stack(__u32 cpu, struct sdw_scratch *scratch, __u64 *id)
{
	struct sdw_walk *walk = &scratch->walk;
	__u32 frames = SDW_WALK_HIDE(walk->count), at;
	__u64 *sent;

	*id = 0;
	if (frames == 0 || frames > SDW_MAX_FRAMES)
		return 0;
	*id = sdw_walk_id(walk);
	at = cpu * SDW_STACK_SLOTS + ((__u32)*id & (SDW_STACK_SLOTS - 1));
	sent = bpf_map_lookup_elem(&stacks, &at);
	if (!sent)
		return -1;
	if (*sent == *id)
		return 0;
	walk->stack.id = *id;
	walk->stack.frames = frames;
	walk->stack.status = walk->status;
	fill_record(&walk->stack.record, SDW_RECORD_STACK,
		    sizeof(walk->stack) + frames * sizeof(walk->frames[0]), scratch);
	if (send_bytes(cpu, &walk->stack, sizeof(walk->stack) + frames * sizeof(walk->frames[0]),
		       BPF_RB_NO_WAKEUP))
		return -1;
	*sent = *id;
	return 0;
}

/* Native stack and kernel stack, behind the record. Returns the bytes of the whole. */
static __always_inline __u32 add_stacks(void *ctx, __u32 cpu, struct sdw_scratch *scratch)
{
	struct sdw_record_sample *sample = &scratch->sample.record;
	__u32 used = 0;
	long size;

	sample->kernel_frames = 0;
	sample->stack_bytes = 0;
	if (sdw_config.kernel_stacks && sample->flags & SDW_SAMPLE_KERNEL_MODE) {
		size = bpf_get_stack(ctx, scratch->sample.bytes, SDW_MAX_KERNEL_FRAMES * 8, 0);
		if (size > 0 && size <= SDW_MAX_KERNEL_FRAMES * 8) {
			used = (__u32)size;
			sample->kernel_frames = used / 8;
		}
	}
	if (sdw_config.stack_bytes && sample->status != SDW_STATUS_KERNEL_THREAD) {
		sample->stack_bytes = (__u32)sdw_copy_stack(cpu, used);
		used += sample->stack_bytes;
	}
	return sizeof(*sample) + used;
}

/* What is read of the current task at each overflow. */
struct task_view {
	__u64 thread_pointer, start_stack;
	bool user; /* not a kernel thread */
};

/* By plain loads where the kernel allows them (5.11): each read by helper costs 20 ns. */
static __always_inline void view_task(struct task_struct *task, struct task_view *view)
{
	struct mm_struct *mm;
	__u32 flags;

	if (bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_get_current_task_btf)) {
		task = bpf_get_current_task_btf();
		mm = task->mm;
		flags = task->flags;
		view->thread_pointer = task->thread.fsbase;
		view->start_stack = mm ? mm->start_stack : 0;
	} else {
		mm = BPF_CORE_READ(task, mm);
		flags = BPF_CORE_READ(task, flags);
		view->thread_pointer = BPF_CORE_READ(task, thread.fsbase);
		view->start_stack = mm ? BPF_CORE_READ(mm, start_stack) : 0;
	}
	view->user = mm && !(flags & SDW_PF_KTHREAD);
}

/* The interrupted user thread: its registers, where its stack ends, its Python stack. */
static __always_inline void take_user(__u32 cpu, struct sdw_scratch *scratch,
				      const struct task_view *view,
				      const struct bpf_perf_event_data *perf, bool bounded)
{
	struct sdw_record_sample *sample = &scratch->sample.record;

	scratch->thread_pointer = view->thread_pointer;
	/* the main thread's stack ends at start_stack; another's at its thread pointer */
	scratch->stack_end =
		scratch->pid == scratch->tid ? view->start_stack : view->thread_pointer;
	if (!perf || sample->flags & SDW_SAMPLE_KERNEL_MODE)
		keep_saved_registers(scratch);
	else
		KEEP_REGISTERS(&sample->registers, &perf->regs);
	sample->status = (__u8)(bounded ? sdw_walk_python_bounded(cpu) : sdw_walk_python(cpu));
}

static __always_inline enum sdw_lost make_sample(void *ctx, __u32 cpu, struct sdw_scratch *scratch,
						 const struct bpf_perf_event_data *perf,
						 __u64 period, bool bounded)
{
	struct sdw_record_sample *sample = &scratch->sample.record;
	struct task_struct *task = (void *)bpf_get_current_task();
	struct task_view view;
	__u32 size;

	sample->tid = scratch->tid;
	sample->cpu = (__u16)cpu;
	sample->flags = !perf || !(perf->regs.cs & 3) ? SDW_SAMPLE_KERNEL_MODE : 0;
	sample->period = period;
	sample->status = SDW_STATUS_KERNEL_THREAD;
	__builtin_memset(&sample->registers, 0, sizeof(sample->registers));
	scratch->walk.count = 0;
	take_thread(cpu, scratch, task);
	view_task(task, &view);
	if (view.user)
		take_user(cpu, scratch, &view, perf, bounded);
	if (send_stack(cpu, scratch, &sample->python_stack))
		return SDW_LOST_RING_FULL;
	size = SDW_WALK_HIDE(add_stacks(ctx, cpu, scratch));
	if (size > sizeof(scratch->sample))
		return SDW_LOST_RING_FULL;
	fill_record(&sample->record, SDW_RECORD_SAMPLE, size, scratch);
	if (send_bytes(cpu, &scratch->sample, size, wake_flag(cpu)))
		return SDW_LOST_RING_FULL;
	return SDW_LOST_COUNT;
}

/* perf: the context of a perf event, NULL for a tracepoint. bounded: see maps.bpf.h. */
static __always_inline int on_overflow(void *ctx, const struct bpf_perf_event_data *perf,
				       __u64 period, bool bounded)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct sdw_cpu_counters *count = bpf_map_lookup_elem(&counters, &cpu);
	struct sdw_scratch *scratch = scratch_of(cpu);
	struct task_struct *task = (void *)bpf_get_current_task();
	__u64 both = bpf_get_current_pid_tgid();
	enum sdw_lost lost;

	if (!count || !scratch) {
		__sync_fetch_and_add(&sdw_no_scratch, 1);
		return (int)sdw_config.signal_too;
	}
	count->overflows++;
	scratch->now_ns = bpf_ktime_get_ns();
	scratch->pid = (__u32)(both >> 32);
	scratch->tid = (__u32)both;
	if (!both) /* the idle task has no pid anywhere */
		count->idle++;
	if (sdw_config.namespace_inode) {
		scratch->pid =
			number_in(BPF_CORE_READ(task, group_leader), sdw_config.namespace_inode);
		scratch->tid = number_in(task, sdw_config.namespace_inode);
	}
	if (!scratch->pid || scratch->pid == sdw_config.own_pid) {
		lost = scratch->pid || !(both >> 32) ? SDW_LOST_OUTSIDE_TARGET
						     : SDW_LOST_OUTSIDE_NAMESPACE;
	} else if (!in_target_group(task) || take_process(cpu, scratch, count, task)) {
		lost = SDW_LOST_OUTSIDE_TARGET;
	} else {
		lost = make_sample(ctx, cpu, scratch, perf, period, bounded);
	}
	if (lost < SDW_LOST_COUNT)
		count->lost[lost]++;
	else
		count->samples++;
	return (int)sdw_config.signal_too;
}

SEC("perf_event")
int sdw_on_perf_event(struct bpf_perf_event_data *ctx)
{
	return on_overflow(ctx, ctx, ctx->sample_period, false);
}

SEC("perf_event")
int sdw_on_perf_event_bounded(struct bpf_perf_event_data *ctx)
{
	return on_overflow(ctx, ctx, ctx->sample_period, true);
}

/*
 * A tracepoint's program runs at each hit, on any task, whatever the event's period and target are:
 * both are kept here. Returns true when the period is full.
 */
static __always_inline bool tracepoint_overflows(void)
{
	__u32 cpu = bpf_get_smp_processor_id(), pid = (__u32)(bpf_get_current_pid_tgid() >> 32);
	struct sdw_cpu_counters *count = bpf_map_lookup_elem(&counters, &cpu);
	struct task_struct *task = (void *)bpf_get_current_task();

	if (sdw_config.namespace_inode)
		pid = number_in(BPF_CORE_READ(task, group_leader), sdw_config.namespace_inode);
	if (!count || (sdw_config.only_known && !bpf_map_lookup_elem(&processes, &pid)) ||
	    !in_target_group(task))
		return false;
	if (++count->tracepoint_hits < sdw_config.tracepoint_period)
		return false;
	count->tracepoint_hits = 0;
	return true;
}

SEC("tracepoint")
int sdw_on_tracepoint(void *ctx)
{
	if (!tracepoint_overflows())
		return 0;
	return on_overflow(ctx, NULL, sdw_config.tracepoint_period, false);
}

SEC("tracepoint")
int sdw_on_tracepoint_bounded(void *ctx)
{
	if (!tracepoint_overflows())
		return 0;
	return on_overflow(ctx, NULL, sdw_config.tracepoint_period, true);
}
