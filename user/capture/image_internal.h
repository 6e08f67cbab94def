/* SPDX-License-Identifier: MIT */
/* image_internal.h - what image.c and image_threads.c share. */
#ifndef SDW_CAPTURE_IMAGE_INTERNAL_H
#define SDW_CAPTURE_IMAGE_INTERNAL_H

#include "capture/image.h"

/* pid 0 epoch 0 is nobody's, but a key must not be 0 */
static inline uint64_t sdw_image_key(uint32_t pid, uint32_t epoch)
{
	uint64_t key = (uint64_t)pid << 32 | epoch;

	return key ? key : UINT64_MAX;
}

static inline struct sdw_image *sdw_image_at(const struct sdw_map64 *map, uint64_t key)
{
	uint64_t *value = sdw_map64_find(map, key);

	return value ? (struct sdw_image *)(uintptr_t)*value : NULL;
}

void sdw_image_copy_comm(char comm[SDW_COMM_BYTES + 1], const struct sdw_record_life *life);

/* A thread was seen, and how it is called. Returns 0 or -ENOMEM. */
int sdw_image_thread_seen(struct sdw_images *images, struct sdw_image *image,
			  const struct sdw_record_life *life);

/* A thread has ended. Returns 0 or -ENOMEM. */
int sdw_image_thread_end(struct sdw_images *images, const struct sdw_record_life *life);

/* Makes the tids of threads that ended a while ago free for others. */
void sdw_image_threads_forget(struct sdw_images *images, uint64_t now_ns);

#endif
