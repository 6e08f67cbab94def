// SPDX-License-Identifier: MIT
/* sideband.c - per-processor dummy events with mmap records, and the reading of their buffers. */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "capture/sideband.h"

#define DATA_PAGES     32u
#define LARGEST_RECORD 4352u  /* of a mapping: PATH_MAX, and what is before and behind it */
#define MAX_RECORD     65536u /* perf_event_header.size is 16 bits */
#define MAX_PATH       4096u

struct buffer {
	int fd;
	struct perf_event_mmap_page *page; /* NULL: this processor is not there */
};

struct sdw_sideband {
	struct buffer *buffers;
	size_t count;
	size_t page_bytes;
	uint8_t record[MAX_RECORD];
};

/* PERF_RECORD_MMAP2 up to the file name; include/uapi/linux/perf_event.h */
struct mmap2 {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t addr, len, pgoff;
	uint32_t major, minor;
	uint64_t inode, inode_generation;
	uint32_t prot, flags;
	char path[];
};

/* PERF_RECORD_COMM up to the name */
struct comm {
	struct perf_event_header header;
	uint32_t pid, tid;
};

static int open_buffer(struct sdw_sideband *sideband, struct buffer *buffer, int processor)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TIME,
		.sample_id_all = 1,
		.mmap = 1,
		.mmap2 = 1,
		.comm = 1,
		.comm_exec = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.wakeup_events = 1,
	};
	void *page;

	buffer->fd =
		(int)syscall(SYS_perf_event_open, &attr, -1, processor, -1, PERF_FLAG_FD_CLOEXEC);
	if (buffer->fd < 0)
		return errno == ENODEV ? 0 : -errno; /* offline */
	page = mmap(NULL, (1 + DATA_PAGES) * sideband->page_bytes, PROT_READ | PROT_WRITE,
		    MAP_SHARED, buffer->fd, 0);
	if (page == MAP_FAILED)
		return -errno;
	buffer->page = page;
	return 0;
}

int sdw_sideband_open(struct sdw_sideband **sideband)
{
	struct sdw_sideband *new = calloc(1, sizeof(*new));
	int err = -ENOMEM;

	if (!new)
		return -ENOMEM;
	new->page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	new->count = (size_t)sysconf(_SC_NPROCESSORS_CONF);
	new->buffers = calloc(new->count, sizeof(*new->buffers));
	for (size_t i = 0; new->buffers &&i < new->count; i++)
		new->buffers[i].fd = -1;
	for (size_t i = 0; new->buffers &&i < new->count; i++) {
		err = open_buffer(new, &new->buffers[i], (int)i);
		if (err) {
			sdw_error("cannot follow the mappings of processes on processor %zu: %s", i,
				  strerror(-err));
			break;
		}
	}
	if (err) {
		sdw_sideband_close(new);
		return err;
	}
	*sideband = new;
	return 0;
}

void sdw_sideband_close(struct sdw_sideband *sideband)
{
	if (!sideband)
		return;
	for (size_t i = 0; sideband->buffers && i < sideband->count; i++) {
		if (sideband->buffers[i].page)
			munmap(sideband->buffers[i].page, (1 + DATA_PAGES) * sideband->page_bytes);
		if (sideband->buffers[i].fd >= 0)
			close(sideband->buffers[i].fd);
	}
	free(sideband->buffers);
	free(sideband);
}

size_t sdw_sideband_count(const struct sdw_sideband *sideband)
{
	return sideband ? sideband->count : 0;
}

int sdw_sideband_fd(const struct sdw_sideband *sideband, size_t buffer)
{
	return sideband->buffers[buffer].fd;
}

/* Copies bytes out of the ring, which may wrap. */
static void copy_out(const struct sdw_sideband *sideband, const struct buffer *buffer, uint64_t at,
		     void *to, size_t size)
{
	const uint8_t *data = (const uint8_t *)buffer->page + sideband->page_bytes;
	size_t ring = DATA_PAGES * sideband->page_bytes, start = at & (ring - 1);
	size_t first = size < ring - start ? size : ring - start;

	memcpy(to, data + start, first);
	memcpy((uint8_t *)to + first, data, size - first);
}

/* The time at the end of every record (sample_id_all with PERF_SAMPLE_TIME alone). */
static uint64_t record_time(const struct perf_event_header *header)
{
	uint64_t time;

	memcpy(&time, (const uint8_t *)header + header->size - sizeof(time), sizeof(time));
	return time;
}

static int add_mapping(const struct mmap2 *from, struct sdw_queue *queue, size_t source)
{
	uint8_t bytes[sizeof(struct sdw_record_mapping) + MAX_PATH];
	struct sdw_record_mapping *to = (void *)bytes;
	size_t room = from->header.size - sizeof(*from) - sizeof(uint64_t);
	size_t length = strnlen(from->path, room);

	if (length >= MAX_PATH)
		length = MAX_PATH - 1;
	*to = (struct sdw_record_mapping){
		.record = {.type = SDW_RECORD_MAPPING,
			   .size = (uint32_t)(sizeof(*to) + length + 1),
			   .time_ns = record_time(&from->header),
			   .pid = from->pid},
		.start = from->addr,
		.length = from->len,
		.offset = from->pgoff,
		.inode = from->inode,
		.device_major = from->major,
		.device_minor = from->minor,
	};
	memcpy(bytes + sizeof(*to), from->path, length);
	bytes[sizeof(*to) + length] = '\0';
	return sdw_queue_add(queue, source, bytes, to->record.size);
}

/* Loss (pid 0), or the beginning of an exec. */
static int add_notice(uint64_t time_ns, uint32_t pid, struct sdw_queue *queue, size_t source)
{
	struct sdw_record_mapping notice = {.record = {.type = SDW_RECORD_MAPPING,
						       .size = sizeof(notice),
						       .time_ns = time_ns,
						       .pid = pid}};

	return sdw_queue_add(queue, source, &notice, sizeof(notice));
}

/* The kernel says 0 or -1 for a process that is outside of our pid namespace. */
static bool is_visible(uint32_t pid)
{
	return pid && pid != UINT32_MAX;
}

static int add_record(const struct perf_event_header *header, struct sdw_queue *queue,
		      size_t source)
{
	const struct mmap2 *mapping = (const void *)header;
	const struct comm *comm = (const void *)header;

	if (header->type == PERF_RECORD_MMAP2 && header->size > sizeof(*mapping) + 8)
		return is_visible(mapping->pid) ? add_mapping(mapping, queue, source) : 0;
	if (header->type == PERF_RECORD_COMM && header->misc & PERF_RECORD_MISC_COMM_EXEC &&
	    header->size > sizeof(*comm) + 8)
		return is_visible(comm->pid)
			       ? add_notice(record_time(header), comm->pid, queue, source)
			       : 0;
	if (header->type == PERF_RECORD_LOST)
		return add_notice(record_time(header), 0, queue, source);
	return 0;
}

static int drain_buffer(struct sdw_sideband *sideband, struct buffer *buffer,
			struct sdw_queue *queue, size_t source)
{
	struct perf_event_header *header = (void *)sideband->record;
	uint64_t head = __atomic_load_n(&buffer->page->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = buffer->page->data_tail, last_ns = 0;
	bool was_full = head - tail + LARGEST_RECORD > DATA_PAGES * sideband->page_bytes;
	int err = 0;

	while (tail < head && !err) {
		copy_out(sideband, buffer, tail, header, sizeof(*header));
		if (header->size < sizeof(*header) + sizeof(uint64_t))
			break; /* not what the kernel writes */
		copy_out(sideband, buffer, tail, header, header->size);
		err = add_record(header, queue, source);
		last_ns = record_time(header);
		tail += header->size;
	}
	/* the kernel tells of a loss with the next record: which may never come */
	if (was_full && !err)
		err = add_notice(last_ns, 0, queue, source);
	__atomic_store_n(&buffer->page->data_tail, head, __ATOMIC_RELEASE);
	return err;
}

int sdw_sideband_drain(struct sdw_sideband *sideband, struct sdw_queue *queue, size_t first)
{
	int err = 0;

	for (size_t i = 0; i < sideband->count && !err; i++) {
		if (sideband->buffers[i].page)
			err = drain_buffer(sideband, &sideband->buffers[i], queue, first + i);
	}
	return err;
}
