// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * thread.bpf.c - finds the Python thread state of the interrupted thread.
 *
 * In:  thread pointer, registers and interpreter in scratch.
 * Out: the head of the thread state in scratch->walk.thread.
 *
 * A thread state names its thread by pthread_self(), which is the thread pointer. That holds for a
 * thread that gave up the GIL too, and for one that Python did not start. It does not hold once
 * there are subinterpreters: their states keep the name of the thread that made them, wherever they
 * run. Then the native stack decides: the evaluation that runs has something of its state on it.
 */
#include "walk.bpf.h"

#define MAX_SEARCH_STEPS 16384u	   /* thread states looked at in one search */
#define OLD_SEARCH_STEPS 256u	   /* kernels without bpf_loop */
#define SEVERAL_STEPS	 256u	   /* the same for subinterpreters, searched at each sample */
#define SEARCH_COST_NS	 100u	   /* of one step, for the pause after a search without result */
#define SEARCH_PAUSE	 50u	   /* the pause is this many times the cost */
#define SEVERAL_CHECK_NS 10000000u /* how long one interpreter is taken to be the only one */
#define SCAN_BYTES	 4096u	   /* of native stack looked through for a frame object */
#define MAX_SHIM_STEPS	 64u	   /* frames up to the shim of the innermost evaluation */
#define STACK_LIMIT	 (64ull << 20) /* where the end of the stack is not known */

static __always_inline int read_thread(struct sdw_scratch *scratch, __u64 thread_state)
{
	return (int)bpf_probe_read_user(scratch->walk.thread, SDW_THREAD_SPAN,
					(void *)thread_state);
}

/* Is the thread state in walk.thread the interrupted thread's, and (*sure) the one it used last? */
static __always_inline int is_own(struct sdw_scratch *scratch, __u32 *sure)
{
	const struct sdw_pylayout *layout = &scratch->walk.layout;

	if (sdw_thread_word(&scratch->walk, layout->thread_id) != scratch->thread_pointer)
		return 0;
	*sure = layout->thread_status == SDW_NO_OFFSET ||
		((__u32)sdw_thread_word(&scratch->walk, layout->thread_status) &
		 layout->thread_status_bound_gilstate_mask) != 0;
	return 1;
}

/* ---- subinterpreters: whose evaluation is on this stack? ---- */

static __always_inline bool on_stack(const struct sdw_scratch *scratch, __u64 address)
{
	__u64 sp = scratch->sample.record.registers.sp, end = scratch->stack_end;

	if (end <= sp)
		end = sp + STACK_LIMIT;
	return address >= sp && address < end;
}

/* 2.7 to 3.10: the evaluation keeps the address of its frame object in a register or on the stack.
 */
static __always_inline __u64 frame_object_mark(struct sdw_scratch *scratch, __u64 frame)
{
	const struct sdw_registers *regs = &scratch->sample.record.registers;
	__u64 *words = (__u64 *)scratch->walk.bytes, room = scratch->stack_end - regs->sp;
	__u32 size = SCAN_BYTES, i;

	if (frame == regs->bx || frame == regs->bp || frame == regs->r12 || frame == regs->r13 ||
	    frame == regs->r14 || frame == regs->r15)
		return regs->sp;
	if (room < size)
		size = (__u32)room & ~7u;
	size = SDW_WALK_HIDE(size);
	if (size == 0 || size > SCAN_BYTES || bpf_probe_read_user(words, size, (void *)regs->sp))
		return 0;
	for (i = 0; i < SCAN_BYTES / 8; i++) {
		if (i * 8 >= size)
			break;
		if (words[i] == frame)
			return regs->sp + i * 8;
	}
	return 0;
}

/* 3.13 on: the shim frame of the innermost evaluation is a variable of the evaluation function. */
static __always_inline __u64 shim_mark(struct sdw_scratch *scratch, __u64 frame)
{
	const struct sdw_pylayout *layout = &scratch->walk.layout;
	__u64 previous;
	__u8 owner;
	__u32 i;

	for (i = 0; i < MAX_SHIM_STEPS && frame; i++) {
		if (bpf_probe_read_user(&owner, 1, (void *)(frame + layout->frame_owner)) ||
		    bpf_probe_read_user(&previous, 8, (void *)(frame + layout->frame_previous)))
			return 0;
		if (owner >= SDW_FRAME_OWNER_SHIM)
			return on_stack(scratch, frame) ? frame : 0;
		frame = previous;
	}
	return 0;
}

/*
 * Leaves in scratch->mark where on the interrupted thread's stack the thread state in walk.thread
 * is at work; 0: nowhere. The lowest mark of several is the innermost evaluation.
 */
__noinline int sdw_find_mark(__u32 cpu)
{
	struct sdw_scratch *scratch = scratch_of(cpu);
	__u64 frame;

	if (!scratch)
		return 0;
	frame = sdw_thread_word(&scratch->walk, scratch->walk.layout.thread_frame);
	scratch->mark = 0;
	if (!frame)
		return 0;
	switch (scratch->walk.layout.frame_kind) {
	case SDW_FRAMES_OBJECTS:
		scratch->mark = frame_object_mark(scratch, frame);
		return 0;
	case SDW_FRAMES_SHIM:
	case SDW_FRAMES_SHIM_BASE:
		scratch->mark = shim_mark(scratch, frame);
		return 0;
	default: /* 3.11, 3.12: the _PyCFrame is a variable of the evaluation function */
		scratch->mark = on_stack(scratch, frame) ? frame : 0;
		return 0;
	}
}

/* Is there more than one interpreter in the process? Looked up again at intervals. */
static __always_inline bool several(struct sdw_scratch *scratch, struct sdw_thread_slot *slot)
{
	const struct sdw_pylayout *layout = &scratch->walk.layout;
	__u64 head = 0, next = 0;

	if (slot->several || scratch->now_ns - slot->several_ns < SEVERAL_CHECK_NS)
		return slot->several;
	slot->several_ns = scratch->now_ns;
	if (!bpf_probe_read_user(&head, 8,
				 (void *)(scratch->interpreter.runtime_addr +
					  layout->runtime_interpreters_head)) &&
	    head)
		bpf_probe_read_user(&next, 8, (void *)(head + layout->interpreter_next));
	slot->several = next != 0;
	return slot->several;
}

/* ---- the search ---- */

/* Keeps the thread state in walk.thread if it is the best so far. Returns 1 if none can be better.
 */
static __always_inline int consider(__u32 cpu, struct sdw_scratch *scratch)
{
	__u32 sure = 0;

	if (scratch->search_several) {
		sdw_find_mark(cpu);
		scratch->search_marks += scratch->mark != 0;
		if (scratch->mark &&
		    (!scratch->search_found || scratch->mark < scratch->search_mark)) {
			scratch->search_found = scratch->search_thread;
			scratch->search_mark = scratch->mark;
		}
		return 0;
	}
	if (!is_own(scratch, &sure) || (!sure && scratch->search_found))
		return 0;
	scratch->search_found = scratch->search_thread;
	scratch->search_sure = sure;
	return (int)sure;
}

/* One thread state of the lists. Returns 1 when the search is over. */
__noinline int sdw_search_step(__u32 cpu)
{
	struct sdw_scratch *scratch = scratch_of(cpu);
	const struct sdw_pylayout *layout;

	if (!scratch)
		return 1;
	layout = &scratch->walk.layout;
	if (!scratch->search_thread) {
		/* the next interpreter: its list of threads, and the interpreter after it */
		__u64 interpreter = scratch->search_interpreter;

		if (!interpreter ||
		    bpf_probe_read_user(&scratch->search_thread, 8,
					(void *)(interpreter + layout->interpreter_threads_head)) ||
		    bpf_probe_read_user(&scratch->search_interpreter, 8,
					(void *)(interpreter + layout->interpreter_next)))
			return 1;
		return 0;
	}
	scratch->search_steps++;
	if (read_thread(scratch, scratch->search_thread) || consider(cpu, scratch))
		return 1;
	scratch->search_thread = sdw_thread_word(&scratch->walk, layout->thread_next);
	return 0;
}

static int search_in_loop(__u32 index, void *context)
{
	/* the verifier takes what a global function returns for any number: 0 or 1 is asked for,
	 * and the compiler, which knows that it is, must not leave out the proof (clang 19 does) */
	return SDW_WALK_HIDE(sdw_search_step(*(__u32 *)context)) & 1;
}

/* Searches all interpreters' lists for the interrupted thread. The result is in scratch. */
static __always_inline int search(__u32 cpu, bool bounded)
{
	struct sdw_scratch *scratch = scratch_of(cpu);
	__u32 i;

	if (!scratch)
		return 0;
	scratch->search_found = 0;
	scratch->search_thread = 0;
	scratch->search_steps = 0;
	scratch->search_marks = 0;
	scratch->search_sure = 0;
	if (bpf_probe_read_user(&scratch->search_interpreter, 8,
				(void *)(scratch->interpreter.runtime_addr +
					 scratch->walk.layout.runtime_interpreters_head)))
		return 0;
	if (!bounded) {
		bpf_loop(scratch->search_several ? SEVERAL_STEPS : MAX_SEARCH_STEPS, search_in_loop,
			 &cpu, 0);
		return 0;
	}
	for (i = 0; i < OLD_SEARCH_STEPS; i++) {
		if (sdw_search_step(cpu))
			return 0;
	}
	return 0;
}

__noinline int sdw_search(__u32 cpu)
{
	return search(cpu, false);
}

__noinline int sdw_search_bounded(__u32 cpu)
{
	return search(cpu, true);
}

/* ---- what was found before ---- */

/* Up to 3.11 the runtime names the thread state that holds the GIL. Returns it, 0: none. */
static __always_inline __u64 holder(struct sdw_scratch *scratch)
{
	__u64 current = 0;

	if (scratch->walk.layout.runtime_tstate_current == SDW_NO_OFFSET ||
	    bpf_probe_read_user(&current, 8,
				(void *)(scratch->interpreter.runtime_addr +
					 scratch->walk.layout.runtime_tstate_current)))
		return 0;
	return current;
}

/* The one interpreter's holder of the GIL, if that is the interrupted thread. */
static __always_inline bool take_holder(struct sdw_scratch *scratch)
{
	__u64 current = holder(scratch);
	__u32 sure;

	if (!current || read_thread(scratch, current) || !is_own(scratch, &sure))
		return false;
	scratch->sample.record.flags |= SDW_SAMPLE_HOLDS_GIL;
	return true;
}

static __always_inline bool take_cached(struct sdw_scratch *scratch,
					const struct sdw_thread_slot *slot, __u32 *sure)
{
	return slot->thread_state && !read_thread(scratch, slot->thread_state) &&
	       is_own(scratch, sure);
}

/* With subinterpreters: always by the stack, since a thread may enter another one at any time. */
static __always_inline int find_among_several(__u32 cpu, struct sdw_scratch *scratch,
					      struct sdw_thread_slot *slot, bool bounded)
{
	if (scratch->now_ns < slot->retry_ns)
		return -1;
	scratch->search_several = 1;
	if (bounded)
		sdw_search_bounded(cpu);
	else
		sdw_search(cpu);
	if (!scratch->search_found || read_thread(scratch, scratch->search_found)) {
		/* a thread without Python pays as little for the search as in other processes */
		slot->retry_ns =
			scratch->now_ns + scratch->search_steps * SEARCH_COST_NS * SEARCH_PAUSE;
		return -1;
	}
	if (scratch->search_found == holder(scratch))
		scratch->sample.record.flags |= SDW_SAMPLE_HOLDS_GIL;
	if (scratch->search_marks > 1)
		scratch->sample.record.flags |= SDW_SAMPLE_SUBINTERPRETER;
	return 0;
}

/*
 * The cached state is good if it still is this thread's, is the one used last, and has a frame (it
 * may have been freed and another made).
 */
static __always_inline int find_thread(__u32 cpu, bool bounded)
{
	struct sdw_scratch *scratch = scratch_of(cpu);
	struct sdw_thread_slot *slot;
	__u32 sure = 0, at;

	if (!scratch)
		return -1;
	at = cpu * SDW_THREAD_SLOTS + (scratch->tid & (SDW_THREAD_SLOTS - 1));
	slot = bpf_map_lookup_elem(&threads, &at);
	if (!slot)
		return -1;
	if (several(scratch, slot))
		return find_among_several(cpu, scratch, slot, bounded);
	scratch->search_several = 0;
	if (take_holder(scratch))
		return 0;
	if (take_cached(scratch, slot, &sure) && sure &&
	    sdw_thread_word(&scratch->walk, scratch->walk.layout.thread_frame))
		return 0;
	if (scratch->now_ns < slot->retry_ns)
		return take_cached(scratch, slot, &sure) ? 0 : -1;
	if (bounded)
		sdw_search_bounded(cpu);
	else
		sdw_search(cpu);
	slot->thread_state = scratch->search_found;
	slot->retry_ns = scratch->now_ns;
	if (!scratch->search_sure)
		slot->retry_ns += scratch->search_steps * SEARCH_COST_NS * SEARCH_PAUSE;
	return take_cached(scratch, slot, &sure) ? 0 : -1;
}

int sdw_find_thread(__u32 cpu)
{
	return find_thread(cpu, false);
}

int sdw_find_thread_bounded(__u32 cpu)
{
	return find_thread(cpu, true);
}
