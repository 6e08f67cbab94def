// SPDX-License-Identifier: MIT
/* fuzz_ring.c - a target that writes what it likes into the ring that its agent shares with us. */
#include "fuzz/input.h"
#include "sigpath/ring_reader.h"

#define RING_BYTES 1024u

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

		input_copy(&input, bytes, RING_BYTES < input.left ? RING_BYTES : input.left);
		ring->head = reader.tail + input_number(&input, 2) * (input_number(&input, 1) ? 8 : 1);
		ring->tail = input_number(&input, 8);
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
