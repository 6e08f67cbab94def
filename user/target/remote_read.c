// SPDX-License-Identifier: MIT
/*
 * remote_read.c - memory of another process, whole or not at all; the process is not stopped.
 *
 * A target can make a read wait for ever: a page whose fault nobody serves (userfaultfd, FUSE) puts
 * the reader to sleep until it is killed. So a thread of its own reads. One that does not come back
 * is given up, with its buffer, and ends with the profiler; a target that did it three times is
 * read no more.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "target/maps.h"

#define CHUNK_BYTES   (64u << 10)
#define DEADLINE_MS   50
#define MAX_WAITS     40 /* of DEADLINE_MS, for a reader that is not asleep: the machine is busy */
#define MAX_TIMEOUTS  3	 /* of one target */
#define MAX_ABANDONED 32 /* readers asleep at once; with so many, nothing is read any more */
#define MAX_BARRED    64

enum request_state { REQUEST_NONE, REQUEST_MADE, REQUEST_DONE, REQUEST_ABANDONED };

struct reader {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	enum request_state state;
	pid_t thread; /* its number for /proc; 0: not known yet */
	uint32_t pid;
	uint64_t address;
	size_t size;
	int result;
	uint8_t bytes[CHUNK_BYTES];
};

/* Of the process, as the address space that it protects is; used by one thread at a time. */
static struct {
	struct reader *reader; /* idle, or NULL: none was needed yet */
	unsigned int abandoned;
	struct {
		uint32_t pid;
		unsigned int timeouts;
	} slow[MAX_BARRED];
	unsigned int next_slow;
} readers;

static int read_now(uint32_t pid, uint64_t address, void *to, size_t size)
{
	struct iovec here = {.iov_base = to, .iov_len = size};
	struct iovec there = {.iov_base = (void *)(uintptr_t)address, .iov_len = size};
	ssize_t n;

	n = process_vm_readv((pid_t)pid, &here, 1, &there, 1, 0);
	if (n < 0 && errno == ESRCH) {
		uint32_t task = sdw_live_task(pid);

		errno = ESRCH;
		if (task != pid)
			n = process_vm_readv((pid_t)task, &here, 1, &there, 1, 0);
	}
	if (n < 0)
		return -errno;
	return (size_t)n == size ? 0 : -EFAULT;
}

static void *serve(void *context)
{
	struct reader *reader = context;
	bool abandoned;
	int result;

	pthread_mutex_lock(&reader->lock);
	reader->thread = (pid_t)syscall(SYS_gettid);
	for (;;) {
		while (reader->state != REQUEST_MADE)
			pthread_cond_wait(&reader->changed, &reader->lock);
		pthread_mutex_unlock(&reader->lock);
		result = read_now(reader->pid, reader->address, reader->bytes, reader->size);
		pthread_mutex_lock(&reader->lock);
		reader->result = result;
		abandoned = reader->state == REQUEST_ABANDONED;
		if (abandoned)
			break;
		reader->state = REQUEST_DONE;
		pthread_cond_signal(&reader->changed);
	}
	pthread_mutex_unlock(&reader->lock);
	pthread_cond_destroy(&reader->changed);
	pthread_mutex_destroy(&reader->lock);
	free(reader);
	__atomic_fetch_sub(&readers.abandoned, 1, __ATOMIC_RELAXED);
	return NULL;
}

/* Signals stay with the thread that waits for them. */
static int start_thread(struct reader *reader)
{
	sigset_t all, before;
	pthread_t thread;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&thread, NULL, serve, reader);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!err)
		pthread_detach(thread);
	return -err;
}

static int start_reader(void)
{
	struct reader *reader = calloc(1, sizeof(*reader));
	pthread_condattr_t attributes;
	int err;

	if (!reader)
		return -ENOMEM;
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_mutex_init(&reader->lock, NULL);
	pthread_cond_init(&reader->changed, &attributes);
	pthread_condattr_destroy(&attributes);
	err = start_thread(reader);
	if (err)
		free(reader);
	else
		readers.reader = reader;
	return err;
}

/* In uninterruptible sleep, as a page that does not come makes it. */
static bool is_asleep(pid_t thread)
{
	char path[64], line[128] = "";
	const char *end;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", thread);
	file = fopen(path, "re");
	if (!file)
		return false;
	end = fgets(line, sizeof(line), file) ? strrchr(line, ')') : NULL;
	fclose(file);
	return end && end[1] == ' ' && end[2] == 'D';
}

/* Waits for the answer. False: it does not come. Called with the lock held. */
static bool wait_for_answer(struct reader *reader)
{
	struct timespec until;
	unsigned int waits = 0;

	while (reader->state == REQUEST_MADE) {
		clock_gettime(CLOCK_MONOTONIC, &until);
		until.tv_nsec += DEADLINE_MS * 1000000;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		if (pthread_cond_timedwait(&reader->changed, &reader->lock, &until) != ETIMEDOUT ||
		    reader->state != REQUEST_MADE)
			continue;
		if (++waits >= MAX_WAITS || is_asleep(reader->thread))
			return false;
	}
	return true;
}

static unsigned int *timeouts_of(uint32_t pid, bool make)
{
	unsigned int i;

	for (i = 0; i < MAX_BARRED; i++) {
		if (readers.slow[i].pid == pid && readers.slow[i].timeouts)
			return &readers.slow[i].timeouts;
	}
	if (!make)
		return NULL;
	i = readers.next_slow++ % MAX_BARRED;
	readers.slow[i].pid = pid;
	readers.slow[i].timeouts = 0;
	return &readers.slow[i].timeouts;
}

static int read_chunk(uint32_t pid, uint64_t address, void *to, size_t size)
{
	struct reader *reader;
	bool answered;
	int result;

	if (!readers.reader && (result = start_reader()))
		return result;
	reader = readers.reader;
	pthread_mutex_lock(&reader->lock);
	reader->pid = pid;
	reader->address = address;
	reader->size = size;
	reader->state = REQUEST_MADE;
	pthread_cond_signal(&reader->changed);
	answered = wait_for_answer(reader);
	result = reader->result;
	if (answered && !result)
		memcpy(to, reader->bytes, size);
	reader->state = answered ? REQUEST_NONE : REQUEST_ABANDONED;
	pthread_mutex_unlock(&reader->lock);
	if (answered)
		return result;
	/* it frees itself should it ever wake */
	readers.reader = NULL;
	__atomic_fetch_add(&readers.abandoned, 1, __ATOMIC_RELAXED);
	++*timeouts_of(pid, true);
	return -ETIMEDOUT;
}

int sdw_remote_read(uint32_t pid, uint64_t address, void *to, size_t size)
{
	const unsigned int *timeouts;
	int err = 0;

	if (!size)
		return 0;
	if (pid == (uint32_t)getpid())
		return read_now(pid, address, to, size);
	timeouts = timeouts_of(pid, false);
	if ((timeouts && *timeouts >= MAX_TIMEOUTS) ||
	    __atomic_load_n(&readers.abandoned, __ATOMIC_RELAXED) >= MAX_ABANDONED)
		return -EFAULT;
	for (size_t done = 0; done < size && !err; done += CHUNK_BYTES) {
		size_t chunk = size - done < CHUNK_BYTES ? size - done : CHUNK_BYTES;

		err = read_chunk(pid, address + done, (uint8_t *)to + done, chunk);
	}
	return err;
}
