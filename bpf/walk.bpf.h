/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* walk.bpf.h - pywalk.h over the memory of the interrupted thread, and the table of code objects.
 */
#ifndef SDW_WALK_BPF_H
#define SDW_WALK_BPF_H

#include "maps.bpf.h"

#define SDW_WALK_READ(to, size, address) bpf_probe_read_user((to), (size), (const void *)(address))
static __u64 __attribute__((unused)) code_id(struct sdw_walk *walk, __u64 address);
#define SDW_WALK_CODE(walk, address) code_id((walk), (address))
#include "pywalk.h"

#define MAX_TRUST_MS 20u

static __always_inline __u32 milliseconds(__u64 ns)
{
	return (__u32)(ns >> 20);
}

/*
 * Is the code object still taken to be the one that was looked at? Another may get its address when
 * it is freed. A look costs 100 ns, and what has been the same for long likely is: one that was met
 * a moment ago is looked at again every millisecond, an old one fifty times a second.
 */
static __always_inline bool is_trusted(const struct sdw_code_way *way, __u32 now_ms)
{
	__u32 trust = (now_ms - way->since_ms) / 64;

	if (trust > MAX_TRUST_MS)
		trust = MAX_TRUST_MS;
	return now_ms - way->checked_ms <= trust;
}

static __always_inline struct sdw_code_slot *code_slot(__u32 cpu, __u64 key)
{
	__u32 at = cpu * SDW_CODE_SLOTS + ((__u32)key & (SDW_CODE_SLOTS - 1));

	return bpf_map_lookup_elem(&codes, &at);
}

static __always_inline __u64 code_id(struct sdw_walk *walk, __u64 address)
{
	struct sdw_scratch *scratch = container_of(walk, struct sdw_scratch, walk);
	__u64 key = sdw_mix(address ^ walk->seed);
	struct sdw_code_slot *slot = code_slot(walk->cpu, key);
	struct sdw_code_way *way;
	__u32 i;

	if (!slot)
		return 0;
#pragma unroll
	for (i = 0; i < SDW_CODE_WAYS; i++) {
		way = &slot->ways[i];
		if (way->key == key && is_trusted(way, milliseconds(scratch->now_ns)))
			return way->id;
	}
	if (sdw_check_code(walk->cpu, address))
		return 0;
	return scratch->code.record.id;
}

#endif
