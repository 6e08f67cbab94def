// SPDX-License-Identifier: MIT
/* queue.c - one growing buffer per source, and a heap of the sources by their first record's time.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "capture/queue.h"

/* In front of each record: its size, rounded up to 8 for the next one. */
struct entry {
	uint64_t size;
};

struct source {
	uint8_t *items;
	size_t count, room; /* bytes */
	size_t first;	    /* where the oldest record is */
	uint64_t time_ns;   /* of the oldest record */
};

struct sdw_queue {
	struct source *sources;
	size_t *heap; /* sources that hold records, the one with the oldest first */
	size_t heap_count;
	size_t source_count;
};

int sdw_queue_create(size_t sources, struct sdw_queue **queue)
{
	struct sdw_queue *new = calloc(1, sizeof(*new));

	if (!new)
		return -ENOMEM;
	new->sources = calloc(sources, sizeof(*new->sources));
	new->heap = calloc(sources, sizeof(*new->heap));
	new->source_count = sources;
	if (!new->sources || !new->heap) {
		sdw_queue_free(new);
		return -ENOMEM;
	}
	*queue = new;
	return 0;
}

void sdw_queue_free(struct sdw_queue *queue)
{
	if (!queue)
		return;
	for (size_t i = 0; queue->sources && i < queue->source_count; i++)
		free(queue->sources[i].items);
	free(queue->sources);
	free(queue->heap);
	free(queue);
}

static int older(const struct sdw_queue *queue, size_t a, size_t b)
{
	const struct source *left = &queue->sources[queue->heap[a]];
	const struct source *right = &queue->sources[queue->heap[b]];

	if (left->time_ns != right->time_ns)
		return left->time_ns < right->time_ns;
	return queue->heap[a] < queue->heap[b];
}

static void swap(struct sdw_queue *queue, size_t a, size_t b)
{
	size_t keep = queue->heap[a];

	queue->heap[a] = queue->heap[b];
	queue->heap[b] = keep;
}

static void sift_up(struct sdw_queue *queue, size_t at)
{
	while (at && older(queue, at, (at - 1) / 2)) {
		swap(queue, at, (at - 1) / 2);
		at = (at - 1) / 2;
	}
}

static void sift_down(struct sdw_queue *queue, size_t at)
{
	for (;;) {
		size_t oldest = at;

		for (size_t child = 2 * at + 1; child <= 2 * at + 2; child++) {
			if (child < queue->heap_count && older(queue, child, oldest))
				oldest = child;
		}
		if (oldest == at)
			return;
		swap(queue, at, oldest);
		at = oldest;
	}
}

static const struct sdw_record *first_record(const struct source *source)
{
	return (const void *)(source->items + source->first + sizeof(struct entry));
}

int sdw_queue_add(struct sdw_queue *queue, size_t at, const void *record, size_t size)
{
	struct source *source = &queue->sources[at];
	struct entry entry = {.size = size};
	size_t whole = sizeof(entry) + ((size + 7) & ~(size_t)7);
	int err;

	if (source->first && source->count + whole > source->room) {
		/* what was taken makes room */
		source->count -= source->first;
		memmove(source->items, source->items + source->first, source->count);
		source->first = 0;
	}
	err = sdw_array_reserve(source, whole);
	if (err)
		return err;
	memcpy(source->items + source->count, &entry, sizeof(entry));
	memcpy(source->items + source->count + sizeof(entry), record, size);
	source->count += whole;
	if (source->count - source->first == whole) {
		source->time_ns = first_record(source)->time_ns;
		queue->heap[queue->heap_count++] = at;
		sift_up(queue, queue->heap_count - 1);
	}
	return 0;
}

const struct sdw_record *sdw_queue_next(struct sdw_queue *queue, uint64_t until_ns, size_t *size)
{
	const struct sdw_record *record;
	struct source *source;
	struct entry entry;

	if (!queue->heap_count)
		return NULL;
	source = &queue->sources[queue->heap[0]];
	if (source->time_ns > until_ns)
		return NULL;
	memcpy(&entry, source->items + source->first, sizeof(entry));
	record = first_record(source);
	*size = (size_t)entry.size;
	source->first += sizeof(entry) + ((*size + 7) & ~(size_t)7);
	if (source->first == source->count)
		queue->heap[0] = queue->heap[--queue->heap_count];
	else
		source->time_ns = first_record(source)->time_ns;
	sift_down(queue, 0);
	return record;
}

size_t sdw_queue_bytes(const struct sdw_queue *queue)
{
	size_t bytes = 0;

	for (size_t i = 0; i < queue->source_count; i++)
		bytes += queue->sources[i].count - queue->sources[i].first;
	return bytes;
}
