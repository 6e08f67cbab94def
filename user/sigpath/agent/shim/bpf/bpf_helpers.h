/* SPDX-License-Identifier: MIT */
/* bpf_helpers.h - the helpers that the walk of bpf/ calls, in the agent. */
#ifndef SDW_SHIM_BPF_HELPERS_H
#define SDW_SHIM_BPF_HELPERS_H

#include <vmlinux.h>

#define SEC(name)
#define __uint(name, value)  int name
#define __type(name, value)  value *name
#define __array(name, value) value *name[1]
#define __noinline	     __attribute__((noinline))
#undef __always_inline
#define __always_inline inline __attribute__((always_inline))
#define container_of(pointer, type, member) \
	((type *)(void *)((char *)(pointer)-offsetof(type, member)))

#define bpf_map_lookup_elem(map, key)	    sdw_agent_table((map), (key))
#define bpf_probe_read_user(to, size, from) sdw_agent_read((to), (size), (unsigned long)(from))
#define bpf_ringbuf_output(ring, bytes, size, flags) \
	((void)(ring), (void)(flags), sdw_agent_announce((bytes), (size)))
#define bpf_ringbuf_query(ring, what)	      ((void)(ring), 0ull)
#define bpf_loop(count, step, context, flags) sdw_agent_loop((count), (step), (context))

/* tables.c: the entry of a table of maps.bpf.h, or NULL. */
void *sdw_agent_table(const void *map, const void *key);
/* memory.c: 0 if all bytes could be read, whatever the address. */
long sdw_agent_read(void *to, __u32 size, unsigned long from);
/* lttng.c: puts a code record into the ring, and writes it as an event where that is wanted. */
long sdw_agent_announce(const void *bytes, __u64 size);
/* ring.c: 0, or -1: no room. */
long sdw_agent_ring_put(const void *bytes, __u64 size);

static inline long sdw_agent_loop(__u32 count, int (*step)(__u32 index, void *context),
				  void *context)
{
	__u32 i;

	for (i = 0; i < count; i++) {
		if (step(i, context))
			return i + 1;
	}
	return i;
}

#endif
