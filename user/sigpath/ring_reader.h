/* SPDX-License-Identifier: MIT */
/*
 * ring_reader.h - takes records out of a ring that a target writes (sigpath.h).
 *
 * The target may write anything anywhere in it, at any time. A record is copied first and checked
 * then; where to read next comes from the sizes in the copies and from the reader's own position.
 */
#ifndef SDW_RING_READER_H
#define SDW_RING_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sigpath.h"

struct sdw_ring_reader {
	struct sdw_sigpath_ring *ring; /* positions, shared */
	uint8_t *bytes;		       /* shared */
	uint32_t size;		       /* of it: a power of two */
	uint64_t tail;		       /* our own: what the ring says is not believed */
	uint64_t mark;		       /* up to where it is read */
	bool broken;		       /* what it holds makes no sense: never read again */
};

/* Starts at the ring's beginning. */
void sdw_ring_reader_init(struct sdw_ring_reader *reader, struct sdw_sigpath_ring *ring,
			  uint8_t *bytes, uint32_t size);

/* What is in the ring by now is to be read; without a mark nothing is. */
void sdw_ring_reader_mark(struct sdw_ring_reader *reader);

/*
 * Copies the next record to `record`, which has SDW_SIGPATH_MAX_RECORD bytes. Returns its size, at
 * least that of struct sdw_record and the one that it names; 0: there is none yet; -EBADMSG: the
 * ring is broken.
 */
int sdw_ring_reader_next(struct sdw_ring_reader *reader, void *record);

#endif
