// SPDX-License-Identifier: MIT
/*
 * event.c - a thread's event: opened by the thread itself, held open by the recorder.
 *
 * The program's table of descriptors stays as it was: once the recorder has the descriptor, the
 * thread keeps only the mapping of the event's buffer. There the kernel writes when each overflow
 * was, which no signal tells, and how many there were since the handler ran last.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "agent.h"

#define HIGH_DESCRIPTOR 1000 /* above those that a program counts on, where the limit allows it */

__thread struct sdw_agent_thread sdw_agent_thread = {.event = -1};

/* PERF_RECORD_SAMPLE and PERF_RECORD_LOST as asked for below; uapi/linux/perf_event.h */
struct overflow_record {
	struct perf_event_header header;
	uint64_t ip;
	uint32_t pid, tid;
	uint64_t time_ns;
	uint64_t period;
};

struct lost_record {
	struct perf_event_header header;
	uint64_t id, lost;
};

static int open_event(void)
{
	const struct sdw_sigpath_setup *setup = &sdw_agent.setup;
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = setup->event_type,
		.config = setup->event_config,
		.freq = !setup->period,
		.sample_type =
			PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD,
		.disabled = 1,
		.exclude_kernel = setup->exclude_kernel,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		/* signals come at each overflow; nobody is to be woken for the buffer */
		.watermark = 1,
		.wakeup_watermark = UINT32_MAX,
	};

	int fd;

	if (setup->period)
		attr.sample_period = setup->period;
	else
		attr.sample_freq = setup->frequency;
	attr.sigtrap = setup->delivery == SDW_SIGPATH_SIGTRAP;
	attr.remove_on_exec = 1;
	fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd >= 0 || errno != EINVAL || attr.sigtrap)
		return fd;
	attr.remove_on_exec = 0; /* before 5.13: exec.c stops it */
	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* SIGIO and its like: to this thread and no other. */
static int direct_signal(int event)
{
	struct f_owner_ex owner = {F_OWNER_TID, sdw_agent_thread.tid};

	if (fcntl(event, F_SETOWN_EX, &owner) || fcntl(event, F_SETSIG, sdw_agent.setup.signal) ||
	    fcntl(event, F_SETFL, O_RDWR | O_ASYNC))
		return -errno;
	return 0;
}

static void start(int event)
{
	if (sdw_agent.setup.rearm)
		(void)ioctl(event, PERF_EVENT_IOC_REFRESH, 1);
	else
		(void)ioctl(event, PERF_EVENT_IOC_ENABLE, 0);
}

/* Where the program does not see it. */
static int move_up(int event)
{
	struct rlimit limit;
	int at = HIGH_DESCRIPTOR, moved;

	if (!getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_cur < HIGH_DESCRIPTOR + 24)
		at = (int)(limit.rlim_cur * 3 / 4);
	moved = fcntl(event, F_DUPFD_CLOEXEC, at);
	if (moved < 0)
		return event;
	close(event);
	return moved;
}

void sdw_agent_event_open(void)
{
	struct sdw_agent_thread *self = &sdw_agent_thread;
	int saved = errno, event, err;
	void *page;

	self->tid = (pid_t)syscall(SYS_gettid);
	self->page = NULL;
	self->event = -1;
	event = open_event();
	if (event < 0) {
		sdw_agent.segment->counters.event_error = (uint32_t)errno;
		errno = saved;
		return;
	}
	page = mmap(NULL, (1 + SDW_AGENT_RING_PAGES) * sdw_agent.page_bytes, PROT_READ | PROT_WRITE,
		    MAP_SHARED, event, 0);
	if (page != MAP_FAILED)
		self->page =
			page; /* beyond perf_event_mlock_kb: samples without the overflow's time */
	if (sdw_agent.setup.rearm)
		event = self->event = move_up(event);
	err = sdw_agent.setup.delivery == SDW_SIGPATH_SIGIO ? direct_signal(event) : 0;
	if (!err && sdw_agent_give_event(event))
		start(event);
	else
		sdw_agent.segment->counters.event_error = (uint32_t)-err;
	if (!sdw_agent.setup.rearm)
		close(event);
	errno = saved;
}

void sdw_agent_event_close(void)
{
	struct sdw_agent_thread *self = &sdw_agent_thread;
	void *page = self->page;
	int event = self->event, saved = errno;

	/* the event goes on until the thread is gone: its handler must not look there any more */
	self->page = NULL;
	self->event = -1;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (page)
		munmap(page, (1 + SDW_AGENT_RING_PAGES) * sdw_agent.page_bytes);
	if (event >= 0)
		close(event);
	errno = saved;
}

/* Copies out of the buffer, which may wrap. */
static void copy_out(const uint8_t *data, uint64_t room, uint64_t at, void *to, size_t size)
{
	size_t start_at = at % room, first = size < room - start_at ? size : room - start_at;

	memcpy(to, data + start_at, first);
	memcpy((uint8_t *)to + first, data, size - first);
}

void sdw_agent_event_read(struct sdw_agent_overflows *overflows)
{
	struct perf_event_mmap_page *page = sdw_agent_thread.page;
	uint64_t room = SDW_AGENT_RING_PAGES * sdw_agent.page_bytes, head, tail;
	union {
		struct perf_event_header header;
		struct overflow_record overflow;
		struct lost_record lost;
	} record;

	*overflows = (struct sdw_agent_overflows){.tid = (uint32_t)sdw_agent_thread.tid};
	if (!page) {
		overflows->count = 1;
		return;
	}
	head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
	for (tail = page->data_tail; tail < head; tail += record.header.size) {
		const uint8_t *data = (const uint8_t *)page + sdw_agent.page_bytes;

		copy_out(data, room, tail, &record, sizeof(record.header));
		if (record.header.size < sizeof(record.header))
			break; /* not what the kernel writes */
		copy_out(data, room, tail, &record,
			 record.header.size < sizeof(record) ? record.header.size : sizeof(record));
		if (record.header.type == PERF_RECORD_LOST)
			overflows->count += record.lost.lost;
		if (record.header.type != PERF_RECORD_SAMPLE)
			continue;
		if (!overflows->first_ns) {
			overflows->first_ns = record.overflow.time_ns;
			overflows->period = record.overflow.period;
			overflows->tid = record.overflow.tid;
			overflows->kernel = (record.header.misc & PERF_RECORD_MISC_CPUMODE_MASK) ==
					    PERF_RECORD_MISC_KERNEL;
		}
		overflows->count++;
	}
	__atomic_store_n(&page->data_tail, head, __ATOMIC_RELEASE);
}
