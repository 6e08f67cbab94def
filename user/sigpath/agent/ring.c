// SPDX-License-Identifier: MIT
/* ring.c - puts records into the ring of the segment; several threads may do so at once. */
#include <string.h>

#include "agent.h"
#include "bpf/bpf_helpers.h"

/* Takes room of `need` bytes. Returns 0, or -1: there is none. */
static int take_room(struct sdw_sigpath_ring *ring, uint32_t ring_bytes, uint64_t need,
		     uint64_t *position)
{
	__u64 head = __atomic_load_n(&ring->head, __ATOMIC_RELAXED), tail;

	do {
		/* read after the head: a tail beyond it cannot be */
		tail = __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE);
		if (head - tail > ring_bytes || need > ring_bytes - (head - tail))
			return -1;
	} while (!__atomic_compare_exchange_n(&ring->head, &head, head + need, false,
					      __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
	*position = head;
	return 0;
}

static void copy_in(uint32_t ring_bytes, uint64_t position, const void *bytes, size_t size)
{
	size_t at = position & (ring_bytes - 1), first = ring_bytes - at;

	if (first > size)
		first = size;
	memcpy(sdw_agent.ring + at, bytes, first);
	memcpy(sdw_agent.ring, (const uint8_t *)bytes + first, size - first);
}

long sdw_agent_ring_put(const void *bytes, __u64 size)
{
	uint32_t ring_bytes = sdw_agent.setup.ring_bytes;
	uint64_t need = (sizeof(struct sdw_sigpath_slot) + size + SDW_SIGPATH_ALIGN - 1) &
			~(uint64_t)(SDW_SIGPATH_ALIGN - 1);
	struct sdw_sigpath_slot *slot;
	uint64_t position;

	if (size > SDW_SIGPATH_MAX_RECORD ||
	    take_room(&sdw_agent.segment->ring, ring_bytes, need, &position))
		return -1;
	copy_in(ring_bytes, position + sizeof(*slot), bytes, size);
	/* positions are multiples of its size: it does not reach over the ring's end */
	slot = (void *)(sdw_agent.ring + (position & (ring_bytes - 1)));
	__atomic_store_n(&slot->size, (uint32_t)size, __ATOMIC_RELEASE);
	return 0;
}
