// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * python.bpf.c - the Python stack of the interrupted thread.
 *
 * In:  the scratch of this processor with process, thread and registers filled in (sample.bpf.c).
 * Out: scratch->walk: frames, hash and status.
 */
#include "walk.bpf.h"

#define OLD_WALK_STEPS 192u /* kernels without bpf_loop */

struct step_context {
	struct sdw_scratch *scratch;
};

/* One frame. Returns 1 when the walk is over. */
static int step_in_loop(__u32 index, void *context)
{
	return sdw_walk_step(&((struct step_context *)context)->scratch->walk);
}

/* The same for kernels without bpf_loop: verified once, not once a frame. */
__noinline int sdw_step(__u32 cpu)
{
	struct sdw_scratch *scratch = scratch_of(cpu);

	return scratch ? sdw_walk_step(&scratch->walk) : 1;
}

static __always_inline void walk_frames(__u32 cpu, struct sdw_scratch *scratch, bool bounded)
{
	struct step_context context = {scratch};
	__u32 i;

	if (!bounded) {
		bpf_loop(2 * SDW_MAX_FRAMES + 4, step_in_loop, &context, 0);
		return;
	}
	for (i = 0; i < OLD_WALK_STEPS; i++) {
		if (sdw_step(cpu))
			return;
	}
	scratch->walk.status = SDW_STATUS_TRUNCATED;
}

/* Does the thread hold the GIL, does the collector run? */
static __always_inline void thread_flags(struct sdw_scratch *scratch)
{
	const struct sdw_pylayout *layout = &scratch->walk.layout;
	__u8 *flags = &scratch->sample.record.flags;
	bool active = *flags & SDW_SAMPLE_HOLDS_GIL;
	__u64 at = 0;
	__u32 collecting;

	if (layout->thread_status != SDW_NO_OFFSET &&
	    (__u32)sdw_thread_word(&scratch->walk, layout->thread_status) &
		    layout->thread_status_active_mask)
		active = true;
	if (!active)
		return;
	if (!layout->free_threaded) /* there, many threads are active at once */
		*flags |= SDW_SAMPLE_HOLDS_GIL;
	if (layout->runtime_gc_collecting != SDW_NO_OFFSET)
		at = scratch->interpreter.runtime_addr + layout->runtime_gc_collecting;
	else if (layout->interpreter_gc_collecting != SDW_NO_OFFSET)
		at = sdw_thread_word(&scratch->walk, layout->thread_interpreter) +
		     layout->interpreter_gc_collecting;
	if (at && !bpf_probe_read_user(&collecting, sizeof(collecting), (void *)at) && collecting)
		*flags |= SDW_SAMPLE_GC;
}

/* Copies the interpreter's layout into the walk, unless it is there from the sample before. */
static __always_inline int take_layout(struct sdw_scratch *scratch)
{
	__u32 index = scratch->interpreter.layout;
	struct sdw_pylayout *layout;

	if (scratch->layout == index + 1)
		return 0;
	layout = bpf_map_lookup_elem(&layouts, &index);
	if (!layout)
		return -1;
	scratch->walk.layout = *layout;
	scratch->layout = index + 1;
	return 0;
}

/* The interpreter of the image, remembered with the thread once it is known. Returns a status. */
static __always_inline int take_interpreter(struct sdw_scratch *scratch,
					    struct sdw_thread_slot *slot, __u64 key)
{
	struct sdw_interpreter *interpreter;

	if (!slot->interpreter.supported) {
		interpreter = bpf_map_lookup_elem(&interpreters, &key);
		if (!interpreter)
			return SDW_STATUS_PENDING;
		if (!interpreter->supported)
			return SDW_STATUS_NO_PYTHON;
		slot->interpreter = *interpreter;
	}
	scratch->interpreter = slot->interpreter;
	return take_layout(scratch) ? SDW_STATUS_NO_PYTHON : SDW_STATUS_COMPLETE;
}

static __always_inline int walk_python(__u32 cpu, bool bounded)
{
	struct sdw_scratch *scratch = scratch_of(cpu);
	struct sdw_thread_slot *slot;
	__u64 key;
	__u32 at;
	int status;

	if (!scratch)
		return SDW_STATUS_NO_PYTHON;
	scratch->walk.count = 0;
	at = cpu * SDW_THREAD_SLOTS + (scratch->tid & (SDW_THREAD_SLOTS - 1));
	slot = bpf_map_lookup_elem(&threads, &at);
	if (!slot)
		return SDW_STATUS_NO_PYTHON;
	key = (__u64)scratch->pid << 32 | scratch->epoch;
	status = take_interpreter(scratch, slot, key);
	if (status != SDW_STATUS_COMPLETE)
		return status;
	if (bounded ? sdw_find_thread_bounded(cpu) : sdw_find_thread(cpu))
		return SDW_STATUS_NO_THREAD_STATE;
	thread_flags(scratch);
	scratch->walk.cpu = cpu;
	scratch->walk.seed = sdw_mix(key);
	sdw_walk_begin(&scratch->walk);
	walk_frames(cpu, scratch, bounded);
	if (!scratch->walk.count && scratch->walk.status == SDW_STATUS_COMPLETE)
		return SDW_STATUS_NO_FRAME;
	return (int)scratch->walk.status;
}

int sdw_walk_python(__u32 cpu)
{
	return walk_python(cpu, false);
}

int sdw_walk_python_bounded(__u32 cpu)
{
	return walk_python(cpu, true);
}
