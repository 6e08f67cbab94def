// SPDX-License-Identifier: MIT
/* fuzz_ring.c - a target that writes what it likes into the ring that its agent shares with us. */
#include "fuzz/input.h"
#include "sigpath/ring_reader.h"

#define RING_BYTES 1024u

/* Some bytes anywhere; often what could be a record where one may be read next. */
static void write_bytes(struct input *input, uint8_t *bytes, uint64_t head)
{
	size_t at = input_number(input, 2) % RING_BYTES, room = RING_BYTES - at;
	uint32_t size = (uint32_t)input_number(input, 1);
	struct sdw_record record = {.size = size};

	input_copy(input, bytes + at, room < 16 ? room : 16);
	if (size & 1)
		return;
	at = (head - size) % RING_BYTES & ~(size_t)7;
	memcpy(bytes + at, &size, sizeof(size));
	for (size_t i = 0; i < sizeof(record); i++)
		bytes[(at + 8 + i) % RING_BYTES] = ((const uint8_t *)&record)[i];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t record[SDW_SIGPATH_MAX_RECORD];
	struct input input = {data, size};
	struct sdw_sigpath_ring *ring = calloc(1, sizeof(*ring));
	uint8_t *bytes = aligned_alloc(8, RING_BYTES);
	struct sdw_ring_reader reader;

	if (!ring || !bytes)
		abort();
	memset(bytes, 0, RING_BYTES);
	sdw_ring_reader_init(&reader, ring, bytes, RING_BYTES);
	while (input.left) {
		uint64_t before = reader.tail;
		int got;

		ring->head += input_number(&input, 1) * (input_number(&input, 1) % 16 ? 8 : 1);
		ring->tail = input_number(&input, 2);
		write_bytes(&input, bytes, ring->head);
		sdw_ring_reader_mark(&reader);
		while ((got = sdw_ring_reader_next(&reader, record)) > 0) {
			const struct sdw_record *head = (const void *)record;

			fuzz_assert(head->size == (uint32_t)got);
			fuzz_assert((size_t)got >= sizeof(*head) &&
				    (size_t)got <= SDW_SIGPATH_MAX_RECORD);
			fuzz_assert(reader.tail > before && reader.tail <= reader.mark);
			before = reader.tail;
		}
	}
	free(ring);
	free(bytes);
	return 0;
}
