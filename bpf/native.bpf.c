// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * native.bpf.c - copies the live part of the interrupted thread's native stack.
 *
 * From the stack pointer to where the stack is known to end, at most sdw_config.stack_bytes. One
 * read does it nearly always; a stack with an absent page is read page by page up to there.
 */
#include "maps.bpf.h"

#define PAGE_BYTES 4096u

/* Reads whole pages until one is absent. Returns the bytes read. */
static __noinline int copy_pages(__u32 cpu, __u32 used, __u32 size)
{
	struct sdw_scratch *scratch = scratch_of(cpu);
	__u32 done = 0, i;
	__u64 from;

	if (!scratch)
		return 0;
	from = scratch->sample.record.registers.sp;
	for (i = 0; i < SDW_MAX_STACK_BYTES / PAGE_BYTES + 1; i++) {
		__u32 part = PAGE_BYTES - (__u32)((from + done) & (PAGE_BYTES - 1));
		__u32 at = used + done;

		if (done >= size)
			break;
		if (part > size - done)
			part = size - done;
		at = SDW_WALK_HIDE(at);
		part = SDW_WALK_HIDE(part);
		if (part == 0 || part > PAGE_BYTES ||
		    at > sizeof(scratch->sample.bytes) - PAGE_BYTES)
			break;
		if (bpf_probe_read_user(scratch->sample.bytes + at, part, (void *)(from + done)))
			break;
		done += part;
	}
	return (int)done;
}

int sdw_copy_stack(__u32 cpu, __u32 used)
{
	struct sdw_scratch *scratch = scratch_of(cpu);
	struct sdw_record_sample *sample;
	__u64 live;
	__u32 size;

	if (!scratch)
		return 0;
	sample = &scratch->sample.record;
	live = scratch->stack_end - sample->registers.sp;
	if (!scratch->stack_end || scratch->stack_end <= sample->registers.sp)
		live = sdw_config.stack_bytes;
	if (live > sdw_config.stack_bytes) {
		live = sdw_config.stack_bytes;
		sample->flags |= SDW_SAMPLE_STACK_CUT;
	}
	size = SDW_WALK_HIDE((__u32)live);
	if (size == 0 || size > SDW_MAX_STACK_BYTES)
		return 0;
	used = SDW_WALK_HIDE(used);
	if (used > SDW_MAX_KERNEL_FRAMES * 8)
		return 0;
	if (!bpf_probe_read_user(scratch->sample.bytes + used, size, (void *)sample->registers.sp))
		return (int)size;
	sample->flags |= SDW_SAMPLE_STACK_UNREADABLE;
	return copy_pages(cpu, used, size);
}
