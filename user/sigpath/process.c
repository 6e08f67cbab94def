// SPDX-License-Identifier: MIT
/* process.c - see process.h; nothing that is read from a segment here is read twice. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/array.h"
#include "capture/perf_events.h"
#include "sigpath/process.h"
#include "sigpath/threads.h"

#define RING_SHARE 4u	  /* of --ring-bytes, which is meant for a processor's */
#define MAX_EVENTS 16384u /* of one process: a thread has one */

static void fill_setup(const struct sdw_config *config, bool exclude_kernel, uint32_t pid,
		       struct sdw_sigpath_setup *setup)
{
	uint32_t ring_bytes = config->ring_bytes / RING_SHARE;

	if (ring_bytes < 2 * SDW_SIGPATH_MAX_RECORD)
		for (ring_bytes = 4096; ring_bytes < 2 * SDW_SIGPATH_MAX_RECORD;)
			ring_bytes *= 2;
	*setup = (struct sdw_sigpath_setup){
		.magic = SDW_SIGPATH_MAGIC,
		.version = SDW_SIGPATH_VERSION,
		.segment_bytes = SDW_SIGPATH_RING_OFFSET + ring_bytes,
		.ring_bytes = ring_bytes,
		.pid = pid,
		.event_type = config->event.type,
		.event_config = config->event.config,
		.period = sdw_events_fixed_period(config),
		.frequency = config->frequency,
		.exclude_kernel = exclude_kernel,
		.delivery = (uint8_t)config->signal.delivery,
		.signal = (uint8_t)config->signal.number,
		.rearm = config->signal.rearm,
		.unwind = config->native == SDW_NATIVE_NONE ? SDW_SIGPATH_UNWIND_NONE
							    : (uint8_t)config->signal.unwind,
		.paired = config->path == SDW_PATH_BOTH,
		.unwind_depth = (uint16_t)config->signal.unwind_depth,
		.stack_bytes = config->stack_bytes < SDW_MAX_STACK_BYTES ? config->stack_bytes
									 : SDW_MAX_STACK_BYTES,
	};
	setup->recorder = (uint8_t)getpid();
	setup->lttng = config->lttng.session && !(config->lttng.gone && *config->lttng.gone);
	/* as on the BPF path, see perf_events.c */
	if (setup->event_type == PERF_TYPE_SOFTWARE &&
	    setup->event_config == PERF_COUNT_SW_CPU_CLOCK)
		setup->event_config = PERF_COUNT_SW_TASK_CLOCK;
}

/* Memory of a size that nobody can change any more: a read beyond its end would kill us. */
static int make_memory(size_t bytes, int *fd)
{
	int err;

	*fd = memfd_create("sidewinder", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (*fd < 0)
		return -errno;
	if (!ftruncate(*fd, (off_t)bytes) &&
	    !fcntl(*fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		return 0;
	err = -errno;
	close(*fd);
	*fd = -1;
	return err;
}

int sdw_sigpath_process_create(const struct sdw_config *config, bool exclude_kernel, uint32_t pid,
			       uint32_t inner_pid, struct sdw_sigpath_process **process,
			       int *memory_fd)
{
	struct sdw_sigpath_process *new = calloc(1, sizeof(*new));
	struct sdw_sigpath_setup setup;
	void *memory;
	int err;

	if (!new)
		return -ENOMEM;
	fill_setup(config, exclude_kernel, pid, &setup);
	new->pid = pid;
	new->inner_pid = inner_pid;
	new->layout = -1;
	new->period = setup.period;
	new->pidfd = -1;
	(void)getrandom(&new->salt, sizeof(new->salt), GRND_NONBLOCK);
	new->segment_bytes = setup.segment_bytes;
	err = make_memory(new->segment_bytes, memory_fd);
	if (err)
		goto fail;
	memory = mmap(NULL, new->segment_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, *memory_fd, 0);
	if (memory == MAP_FAILED) {
		err = -errno;
		close(*memory_fd);
		goto fail;
	}
	new->segment = memory;
	new->segment->setup = setup;
	sdw_ring_reader_init(&new->reader, &new->segment->ring,
			     (uint8_t *)memory + SDW_SIGPATH_RING_OFFSET, setup.ring_bytes);
	*process = new;
	return 0;
fail:
	*memory_fd = -1;
	sdw_sigpath_process_free(new);
	return err;
}

void sdw_sigpath_process_free(struct sdw_sigpath_process *process)
{
	if (!process)
		return;
	if (process->segment)
		munmap(process->segment, process->segment_bytes);
	for (size_t i = 0; i < process->events.count; i++) {
		if (process->events.items[i].fd >= 0)
			close(process->events.items[i].fd);
	}
	if (process->pidfd >= 0)
		close(process->pidfd);
	free(process->events.items);
	free(process);
}

/* ---- events ---- */

/* A descriptor of anything else could block a read, or do something at an ioctl. */
static bool is_perf_event(int fd)
{
	char path[64], name[64];
	ssize_t length;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	length = readlink(path, name, sizeof(name) - 1);
	if (length < 0)
		return false;
	name[length] = '\0';
	return !strcmp(name, "anon_inode:[perf_event]");
}

static struct sdw_sigpath_event *find_thread(const struct sdw_sigpath_process *process,
					     uint32_t inner_tid)
{
	for (size_t i = process->events.count; i > 0; i--) {
		if (process->events.items[i - 1].inner_tid == inner_tid)
			return &process->events.items[i - 1];
	}
	return NULL;
}

/* What processes give us leaves descriptors for ourselves; their numbers tell how many there are.
 */
static int highest_event(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur > INT_MAX)
		return INT_MAX;
	return (int)(limit.rlim_cur - limit.rlim_cur / 4);
}

/* Takes what the event counted. */
static void end_event(struct sdw_sigpath_process *process, struct sdw_sigpath_event *event)
{
	uint64_t count;

	if (process->period && read(event->fd, &count, sizeof(count)) == sizeof(count))
		process->expected += count / process->period;
	close(event->fd);
	event->fd = -1;
}

int sdw_sigpath_process_add_event(struct sdw_sigpath_process *process, uint32_t inner_tid, int fd)
{
	struct sdw_sigpath_event *before;
	uint32_t tid;
	int err;

	if (!is_perf_event(fd))
		return -EBADF;
	tid = sdw_thread_outer_tid(process->pid, process->inner_pid, inner_tid);
	if (!tid)
		return -ESRCH;
	before = find_thread(process, inner_tid);
	if (before && before->fd >= 0) {
		/* a thread has one: its number was used again, or the process gives it others */
		end_event(process, before);
		before->fd = fd;
		return 0;
	}
	if (process->events.count >= MAX_EVENTS || fd >= highest_event())
		return -EMFILE;
	err = sdw_array_reserve(&process->events, 1);
	if (err)
		return err;
	process->events.items[process->events.count++] =
		(struct sdw_sigpath_event){.inner_tid = inner_tid, .tid = tid, .fd = fd};
	return 0;
}

void sdw_sigpath_process_sweep(struct sdw_sigpath_process *process, bool all,
			       void (*gone)(void *context, struct sdw_sigpath_process *process,
					    uint32_t tid),
			       void *context)
{
	size_t kept = 0;

	for (size_t i = 0; i < process->events.count; i++) {
		struct sdw_sigpath_event *event = &process->events.items[i];

		if (event->fd >= 0 && (all || sdw_thread_is_gone(process->pid, event->tid))) {
			end_event(process, event);
			if (!all)
				gone(context, process, event->tid);
		} else if (event->fd < 0 && !all) {
			continue; /* its last records came with the sweep before */
		}
		process->events.items[kept++] = *event;
	}
	process->events.count = kept;
}

void sdw_sigpath_process_disable(struct sdw_sigpath_process *process)
{
	for (size_t i = 0; i < process->events.count; i++) {
		if (process->events.items[i].fd >= 0)
			(void)ioctl(process->events.items[i].fd, PERF_EVENT_IOC_DISABLE, 0);
	}
}

/* ---- what it is told ---- */

void sdw_sigpath_process_tell(struct sdw_sigpath_process *process, uint32_t found,
			      uint64_t runtime_addr, uint64_t code_type_addr,
			      const struct sdw_pylayout *layout)
{
	struct sdw_sigpath_interpreter *told = &process->segment->interpreter;
	uint32_t sequence = __atomic_load_n(&told->sequence, __ATOMIC_RELAXED) & ~1u;

	__atomic_store_n(&told->sequence, sequence + 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	told->found = found;
	told->epoch = process->epoch;
	told->runtime_addr = runtime_addr;
	told->code_type_addr = code_type_addr;
	if (layout)
		told->layout = *layout;
	__atomic_store_n(&told->sequence, sequence + 2, __ATOMIC_RELEASE);
}

/* ---- what it says ---- */

static uint64_t own_id(const struct sdw_sigpath_process *process, uint64_t id)
{
	uint64_t own = sdw_mix64(id ^ process->salt);

	return own ? own : 1;
}

static bool take_sample(const struct sdw_sigpath_process *process,
			struct sdw_record_signal_sample *record, size_t size)
{
	struct sdw_record_sample *sample = &record->sample;
	const struct sdw_sigpath_event *thread;

	if (size < sizeof(*record) || sample->kernel_frames ||
	    record->native_frames > SDW_SIGPATH_MAX_FRAMES ||
	    sample->stack_bytes > SDW_MAX_STACK_BYTES || sample->status >= SDW_STATUS_COUNT ||
	    size < sizeof(*record) + record->native_frames * 8u + sample->stack_bytes)
		return false;
	thread = find_thread(process, sample->tid);
	if (!thread)
		return false;
	sample->tid = thread->tid;
	if (sample->python_stack)
		sample->python_stack = own_id(process, sample->python_stack);
	if (record->overflow_ns > sample->record.time_ns)
		record->overflow_ns = sample->record.time_ns;
	return true;
}

static bool take_stack(const struct sdw_sigpath_process *process, struct sdw_record_stack *stack,
		       size_t size)
{
	struct sdw_python_frame *frames = (struct sdw_python_frame *)(stack + 1);

	if (size < sizeof(*stack) || stack->frames > SDW_MAX_FRAMES ||
	    size < sizeof(*stack) + stack->frames * sizeof(*frames))
		return false;
	stack->id = own_id(process, stack->id);
	for (uint32_t i = 0; i < stack->frames; i++)
		frames[i].code = own_id(process, frames[i].code);
	return true;
}

static bool take_code(const struct sdw_sigpath_process *process, struct sdw_record_code *code,
		      size_t size)
{
	if (size < sizeof(*code) || process->layout < 0)
		return false;
	code->id = own_id(process, code->id);
	code->layout = (uint16_t)process->layout;
	return true;
}

/* Only the names of its own threads. */
static bool take_life(const struct sdw_sigpath_process *process, struct sdw_record_life *life,
		      size_t size)
{
	const struct sdw_sigpath_event *thread;

	if (size != sizeof(*life) || life->what != SDW_LIFE_THREAD_SEEN || !process->epoch)
		return false;
	thread = find_thread(process, life->tid);
	if (!thread)
		return false;
	life->tid = thread->tid;
	life->inner_tid = thread->inner_tid;
	life->inner_pid = process->inner_pid;
	life->parent_pid = life->parent_epoch = 0;
	return true;
}

static bool take_record(struct sdw_sigpath_process *process, void *record, size_t size,
			uint64_t now_ns)
{
	struct sdw_record *head = record;

	head->pid = process->pid;
	head->epoch = process->epoch;
	if (head->time_ns > now_ns)
		head->time_ns = now_ns; /* from the future: it would hold up all others */
	switch (head->type) {
	case SDW_RECORD_SIGNAL_SAMPLE:
		return take_sample(process, record, size);
	case SDW_RECORD_STACK:
		return take_stack(process, record, size);
	case SDW_RECORD_CODE:
		return take_code(process, record, size);
	case SDW_RECORD_LIFE:
		return take_life(process, record, size);
	default:
		return false;
	}
}

size_t sdw_sigpath_process_next(struct sdw_sigpath_process *process, uint64_t now_ns, void *record)
{
	int size;

	while ((size = sdw_ring_reader_next(&process->reader, record)) > 0) {
		bool sample = ((struct sdw_record *)record)->type == SDW_RECORD_SIGNAL_SAMPLE;

		if (take_record(process, record, (size_t)size, now_ns)) {
			process->samples += sample;
			return (size_t)size;
		}
		process->refused += sample;
	}
	return 0;
}

void sdw_sigpath_process_count(const struct sdw_sigpath_process *process,
			       struct sdw_sigpath_counts *counts)
{
	const struct sdw_sigpath_counters *said = &process->segment->counters;

	counts->handlers += __atomic_load_n(&said->handlers, __ATOMIC_RELAXED);
	counts->ring_full += __atomic_load_n(&said->ring_full, __ATOMIC_RELAXED);
	counts->no_scratch += __atomic_load_n(&said->no_scratch, __ATOMIC_RELAXED);
	counts->empty += __atomic_load_n(&said->empty, __ATOMIC_RELAXED);
	counts->merged += __atomic_load_n(&said->merged, __ATOMIC_RELAXED);
	counts->lttng_written += __atomic_load_n(&said->lttng_written, __ATOMIC_RELAXED);
	counts->lttng_off += __atomic_load_n(&said->lttng_off, __ATOMIC_RELAXED);
	counts->samples += process->samples;
	counts->refused += process->refused;
	counts->expected += process->expected;
}

uint32_t sdw_sigpath_process_conflict(const struct sdw_sigpath_process *process)
{
	uint32_t number = __atomic_load_n(&process->segment->counters.conflict, __ATOMIC_ACQUIRE);

	return number <= 64 ? number : 0;
}
