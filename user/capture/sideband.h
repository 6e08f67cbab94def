/* SPDX-License-Identifier: MIT */
/*
 * sideband.h - what processes map while they are recorded, from the kernel's own mmap records.
 *
 * /proc/PID/maps is too late for a process that lives 50 ms, and does not say when something was
 * mapped. These records come with a time and are merged with the samples.
 */
#ifndef SDW_SIDEBAND_H
#define SDW_SIDEBAND_H

#include <linux/types.h>
#include <stddef.h>

#include "capture/queue.h"
#include "events.h"

#define SDW_RECORD_MAPPING 100u /* a record type beside enum sdw_record_type, made here */

/*
 * An executable mapping was made; the path follows, NUL-terminated, as the kernel gives it.
 * length 0: the process has begun an exec, what it maps from now on is the next image's.
 * pid 0: records were dropped before this time.
 */
struct sdw_record_mapping {
	struct sdw_record record; /* pid is the process; epoch is not known: 0 */
	uint64_t start, length, offset, inode;
	uint32_t device_major, device_minor;
};

struct sdw_sideband;

/* Opens one event per online processor. Returns 0 or -errno after logging. */
int sdw_sideband_open(struct sdw_sideband **sideband);
void sdw_sideband_close(struct sdw_sideband *sideband);

/* Number of buffers (of NULL: 0), and the descriptor of each, readable when there are records. */
size_t sdw_sideband_count(const struct sdw_sideband *sideband);
int sdw_sideband_fd(const struct sdw_sideband *sideband, size_t buffer);

/* Moves all records into the queue's sources first, first + 1, ... Returns 0 or -ENOMEM. */
int sdw_sideband_drain(struct sdw_sideband *sideband, struct sdw_queue *queue, size_t first);

#endif
