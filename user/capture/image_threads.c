// SPDX-License-Identifier: MIT
/*
 * image_threads.c - the threads of a process image: what is known of them before their first
 * sample, and that a number may be another thread's after one has ended.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "capture/image_internal.h"

/* A thread that ended goes on in the kernel for a while: late samples still find it. */
#define KEEP_THREAD_NS 100000000u

void sdw_image_copy_comm(char comm[SDW_COMM_BYTES + 1], const struct sdw_record_life *life)
{
	memcpy(comm, life->comm, SDW_COMM_BYTES);
	comm[SDW_COMM_BYTES] = '\0';
}

static struct sdw_new_thread *new_thread(const struct sdw_image *image, uint32_t tid)
{
	const uint64_t *value = sdw_map64_find(&image->new_threads, tid);

	return value ? (struct sdw_new_thread *)(uintptr_t)*value : NULL;
}

static void forget_new_thread(struct sdw_image *image, uint32_t tid)
{
	free(new_thread(image, tid));
	sdw_map64_remove(&image->new_threads, tid);
}

const struct sdw_new_thread *sdw_image_new_thread(const struct sdw_image *image, uint32_t tid)
{
	return new_thread(image, tid);
}

int sdw_image_announce_thread(struct sdw_image *image, uint32_t tid, uint32_t id)
{
	forget_new_thread(image, tid);
	return sdw_map64_set(&image->threads, tid, id);
}

int sdw_image_thread_end(struct sdw_images *images, const struct sdw_record_life *life)
{
	if (sdw_array_reserve(&images->ended_threads, 1))
		return -ENOMEM;
	images->ended_threads.items[images->ended_threads.count++] = (struct sdw_ended_thread){
		.time_ns = life->record.time_ns,
		.pid = life->record.pid,
		.epoch = life->record.epoch,
		.tid = life->tid,
	};
	return 0;
}

void sdw_image_threads_forget(struct sdw_images *images, uint64_t now_ns)
{
	struct sdw_ended_thread *ended = images->ended_threads.items;
	size_t count = images->ended_threads.count, i;

	for (i = 0; i < count && now_ns > ended[i].time_ns + KEEP_THREAD_NS; i++) {
		struct sdw_image *image =
			sdw_image_at(&images->by_key, sdw_image_key(ended[i].pid, ended[i].epoch));

		if (!image || !ended[i].tid)
			continue;
		sdw_map64_remove(&image->threads, ended[i].tid);
		forget_new_thread(image, ended[i].tid);
	}
	if (i)
		memmove(ended, ended + i, (count - i) * sizeof(*ended));
	images->ended_threads.count = count - i;
}

/* Is it another thread than the one that had its number, and has ended? Then that is forgotten. */
static void tell_apart(struct sdw_images *images, struct sdw_image *image,
		       const struct sdw_record_life *life)
{
	struct sdw_ended_thread *ended = images->ended_threads.items;

	if (!life->start_ns || !sdw_map64_find(&image->threads, life->tid))
		return;
	for (size_t i = 0; i < images->ended_threads.count; i++) {
		if (ended[i].tid != life->tid || ended[i].pid != image->pid ||
		    ended[i].epoch != image->epoch || ended[i].time_ns > life->start_ns)
			continue;
		ended[i].tid = 0;
		sdw_map64_remove(&image->threads, life->tid);
		forget_new_thread(image, life->tid);
	}
}

int sdw_image_thread_seen(struct sdw_images *images, struct sdw_image *image,
			  const struct sdw_record_life *life)
{
	struct sdw_new_thread *thread;

	tell_apart(images, image, life);
	thread = new_thread(image, life->tid);
	if (sdw_map64_find(&image->threads, life->tid))
		return 0; /* it keeps the name that it was announced by */
	if (!thread) {
		int err;

		thread = malloc(sizeof(*thread));
		if (!thread)
			return -ENOMEM;
		err = sdw_map64_set(&image->new_threads, life->tid, (uintptr_t)thread);
		if (err) {
			free(thread);
			return err == -ENOMEM ? err : 0; /* nobody's tid: no record of ours */
		}
	}
	sdw_image_copy_comm(thread->comm, life);
	thread->inner_tid = life->inner_tid;
	if (!image->inner_pid)
		image->inner_pid = life->inner_pid;
	if (!*image->comm && life->tid == life->record.pid)
		sdw_image_copy_comm(image->comm, life);
	return 0;
}
