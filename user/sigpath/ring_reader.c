// SPDX-License-Identifier: MIT
/* ring_reader.c - one record at a time, in the order in which their places were taken. */
#include <errno.h>
#include <string.h>

#include "sigpath/ring_reader.h"

void sdw_ring_reader_init(struct sdw_ring_reader *reader, struct sdw_sigpath_ring *ring,
			  uint8_t *bytes, uint32_t size)
{
	*reader = (struct sdw_ring_reader){.ring = ring, .bytes = bytes, .size = size};
}

static int is_broken(struct sdw_ring_reader *reader)
{
	reader->broken = true;
	return -EBADMSG;
}

static void copy_out(const struct sdw_ring_reader *reader, uint64_t position, void *to, size_t size)
{
	size_t at = position & (reader->size - 1), first = reader->size - at;

	if (first > size)
		first = size;
	memcpy(to, reader->bytes + at, first);
	memcpy((uint8_t *)to + first, reader->bytes, size - first);
}

/* A size that is not 0 means "written": what is given back must not say so. */
static void give_back(struct sdw_ring_reader *reader, uint64_t size)
{
	size_t at = reader->tail & (reader->size - 1), first = reader->size - at;

	if (first > size)
		first = (size_t)size;
	memset(reader->bytes + at, 0, first);
	memset(reader->bytes, 0, (size_t)size - first);
	reader->tail += size;
	__atomic_store_n(&reader->ring->tail, reader->tail, __ATOMIC_RELEASE);
}

void sdw_ring_reader_mark(struct sdw_ring_reader *reader)
{
	reader->mark = __atomic_load_n(&reader->ring->head, __ATOMIC_ACQUIRE);
}

int sdw_ring_reader_next(struct sdw_ring_reader *reader, void *record)
{
	uint64_t head = reader->mark, need;
	const struct sdw_sigpath_slot *slot;
	uint32_t size;

	if (reader->broken)
		return -EBADMSG;
	if (head - reader->tail > reader->size || head % SDW_SIGPATH_ALIGN)
		return is_broken(reader);
	if (head == reader->tail)
		return 0;
	slot = (const void *)(reader->bytes + (reader->tail & (reader->size - 1)));
	size = __atomic_load_n(&slot->size, __ATOMIC_ACQUIRE);
	if (!size)
		return 0;
	need = (sizeof(*slot) + (uint64_t)size + SDW_SIGPATH_ALIGN - 1) &
	       ~(uint64_t)(SDW_SIGPATH_ALIGN - 1);
	if (size < sizeof(struct sdw_record) || size > SDW_SIGPATH_MAX_RECORD ||
	    need > head - reader->tail)
		return is_broken(reader);
	copy_out(reader, reader->tail + sizeof(*slot), record, size);
	if (((const struct sdw_record *)record)->size != size)
		return is_broken(reader);
	give_back(reader, need);
	return (int)size;
}
