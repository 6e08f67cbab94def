/* SPDX-License-Identifier: MIT */
/*
 * queue.h - records of several sources, each in time order, merged into one order of time.
 *
 * The sources are the ring buffers of the processors, that of life records, and the kernel's
 * mapping records. Records are copied in as they are drained and come out oldest first; those of
 * one source never overtake each other.
 */
#ifndef SDW_QUEUE_H
#define SDW_QUEUE_H

#include <stddef.h>
#include <stdint.h>

#include "events.h"

struct sdw_queue;

int sdw_queue_create(size_t sources, struct sdw_queue **queue);
void sdw_queue_free(struct sdw_queue *queue);

/* Copies a record (it starts with struct sdw_record) to the end of a source. 0 or -ENOMEM. */
int sdw_queue_add(struct sdw_queue *queue, size_t source, const void *record, size_t size);

/*
 * Returns the oldest record, unless it is younger than `until_ns`, or NULL, and its size as it was
 * added. It is valid until the next call of any function here.
 */
const struct sdw_record *sdw_queue_next(struct sdw_queue *queue, uint64_t until_ns, size_t *size);

/* Bytes of records that wait in it. */
size_t sdw_queue_bytes(const struct sdw_queue *queue);

#endif
