// SPDX-License-Identifier: MIT
/* server.c - connections of agents, and the rings of their processes (see server.h). */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/array.h"
#include "base/log.h"
#include "base/map64.h"
#include "capture/session_internal.h"
#include "sigpath/connection.h"
#include "sigpath/server.h"

#define MAX_PROCESSES	8192u /* at once; more are told to go without samples */
#define MAX_CONNECTIONS 4096u /* at once */
#define MAX_ROUNDS	256   /* of 64 messages in one drain: nobody keeps us from the rings */
#define SWEEP_NS	500000000u
#define SETTLED_NS	20000000u /* records of before are known by then */

enum wait_tag { TAG_LISTENER, TAG_CONNECTION, TAG_PROCESS };

struct sdw_sigpath_server {
	const struct sdw_config *config;
	bool exclude_kernel;
	int program;
	int listener, epoll;
	char name[SDW_SIGPATH_NAME_BYTES];
	struct {
		struct sdw_sigpath_process **items;
		size_t count, room;
	} processes;
	size_t connections;
	struct sdw_sigpath_counts ended; /* of processes that are gone */
	uint64_t ever;
	uint32_t conflict;
	uint64_t swept_ns;
	uint64_t full_said,
		unbound_said; /* once is enough: processes decide how often it happens */
	/* records of one drain, before they are in order */
	struct {
		uint8_t *items;
		size_t count, room;
	} bytes;
	struct {
		struct drained {
			uint64_t time_ns;
			size_t at, size;
		} * items;
		size_t count, room;
	} drained;
	uint8_t record[SDW_SIGPATH_MAX_RECORD];
	struct sdw_images *images;
	struct sdw_queue *queue;
	size_t source;
	int error;
};

/* ---- setting up ---- */

static int wait_for(struct sdw_sigpath_server *server, int fd, enum wait_tag tag)
{
	struct epoll_event event = {.events = EPOLLIN,
				    .data.u64 = (uint64_t)tag << 32 | (uint32_t)fd};

	return epoll_ctl(server->epoll, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

int sdw_sigpath_server_create(const struct sdw_config *config, bool exclude_kernel, int program,
			      struct sdw_sigpath_server **server)
{
	struct sdw_sigpath_server *new = calloc(1, sizeof(*new));
	uint64_t random[2] = {0, 0};
	int err;

	if (!new)
		return -ENOMEM;
	new->config = config;
	new->exclude_kernel = exclude_kernel;
	new->program = program;
	new->listener = -1;
	/* whoever knows the name may give us processes: it cannot be guessed */
	if (getrandom(random, sizeof(random), 0) != sizeof(random))
		random[0] = (uint64_t)getpid();
	snprintf(new->name, sizeof(new->name), "sidewinder-%d-%016llx%016llx", (int)getpid(),
		 (unsigned long long)random[0], (unsigned long long)random[1]);
	new->epoll = epoll_create1(EPOLL_CLOEXEC);
	err = new->epoll < 0 ? -errno : sdw_sigpath_listen(new->name, &new->listener);
	err = err ?: wait_for(new, new->listener, TAG_LISTENER);
	if (err) {
		sdw_error("cannot listen for the agent: %s", strerror(-err));
		sdw_sigpath_server_free(new);
		return err;
	}
	*server = new;
	return 0;
}

void sdw_sigpath_server_free(struct sdw_sigpath_server *server)
{
	if (!server)
		return;
	for (size_t i = 0; i < server->processes.count; i++)
		sdw_sigpath_process_free(server->processes.items[i]);
	free(server->processes.items);
	free(server->bytes.items);
	free(server->drained.items);
	if (server->listener >= 0)
		close(server->listener);
	if (server->epoll >= 0)
		close(server->epoll);
	free(server);
}

const char *sdw_sigpath_server_name(const struct sdw_sigpath_server *server)
{
	return server->name;
}

int sdw_sigpath_server_fd(const struct sdw_sigpath_server *server)
{
	return server->epoll;
}

/* ---- processes ---- */

static struct sdw_sigpath_process *find_living(const struct sdw_sigpath_server *server,
					       uint32_t pid)
{
	for (size_t i = server->processes.count; i > 0; i--) {
		struct sdw_sigpath_process *process = server->processes.items[i - 1];

		if (process->pid == pid && !process->ended)
			return process;
	}
	return NULL;
}

static void add_life(struct sdw_sigpath_server *server, const struct sdw_sigpath_process *process,
		     uint32_t what, uint32_t tid, const struct sdw_sigpath_process *parent,
		     const char *comm)
{
	struct sdw_record_life life = {
		.record = {.type = SDW_RECORD_LIFE,
			   .size = sizeof(life),
			   .time_ns = sdw_session_now(),
			   .pid = process->pid,
			   .epoch = process->epoch},
		.what = what,
		.tid = tid,
		.parent_pid = parent ? parent->pid : 0,
		.parent_epoch = parent ? parent->epoch : 0,
		.inner_pid = process->inner_pid,
		.inner_tid = tid == process->pid ? process->inner_pid : 0,
	};
	int err;

	if (server->config->path == SDW_PATH_BOTH)
		return; /* the BPF side tells */
	if (comm)
		memcpy(life.comm, comm, SDW_COMM_BYTES);
	err = sdw_queue_add(server->queue, server->source, &life, sizeof(life));
	if (err)
		server->error = err;
}

/* Takes all that the process has said; there will be no more. */
static void end_process(struct sdw_sigpath_server *server, struct sdw_sigpath_process *process,
			bool exec)
{
	if (process->ended)
		return;
	process->ended = true;
	if (process->pidfd >= 0)
		close(process->pidfd); /* leaves the epoll, too */
	process->pidfd = -1;
	if (sdw_sigpath_process_conflict(process))
		server->conflict = sdw_sigpath_process_conflict(process);
	if (!exec)
		add_life(server, process, SDW_LIFE_EXIT, process->pid, NULL, NULL);
}

static uint32_t new_epoch(void)
{
	uint32_t epoch = 0;

	if (getrandom(&epoch, sizeof(epoch), GRND_NONBLOCK) != sizeof(epoch) || !epoch)
		epoch = (uint32_t)sdw_session_now() | 1;
	return epoch;
}

/*
 * With BPF, a process's image may have been told of before its agent's message came. It is looked
 * up when an exec that came before the message is sure to be known.
 */
static void tell_known(struct sdw_sigpath_server *server, struct sdw_sigpath_process *process,
		       uint64_t now_ns)
{
	const struct sdw_image *image;

	if (process->epoch || process->ended || now_ns - process->begun_ns < SETTLED_NS)
		return;
	image = sdw_images_current(server->images, process->pid);
	if (image && image->state != SDW_IMAGE_UNKNOWN)
		sdw_images_publish_again(server->images, image);
}

static int begin_process(struct sdw_sigpath_server *server,
			 const struct sdw_sigpath_message *message, uint32_t pid, int *memory_fd)
{
	struct sdw_sigpath_process *process, *before = find_living(server, pid);
	bool forked = message->kind == SDW_SIGPATH_FORKED;
	const struct sdw_sigpath_process *parent = NULL;
	int err;

	if (server->processes.count >= MAX_PROCESSES)
		return -EMFILE;
	// NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers
	err = sdw_array_reserve(&server->processes, 1);
	err = err
		      ?: sdw_sigpath_process_create(server->config, server->exclude_kernel, pid,
						    message->pid, &process, memory_fd);
	if (err)
		return err;
	if (forked) /* the pid is as the process has it: one namespace for both, or not found */
		parent = find_living(server, message->parent_pid);
	if (before)
		end_process(server, before, true);
	server->processes.items[server->processes.count++] = process;
	server->ever++;
	process->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (process->pidfd >= 0)
		(void)wait_for(server, process->pidfd, TAG_PROCESS);
	process->begun_ns = sdw_session_now();
	if (server->config->path == SDW_PATH_BOTH)
		return 0; /* the BPF side tells */
	process->epoch = new_epoch();
	add_life(server, process,
		 parent	  ? SDW_LIFE_FORK
		 : before ? SDW_LIFE_EXEC
			  : SDW_LIFE_SEEN,
		 pid, parent ? parent : before, message->comm);
	return 0;
}

/* *event becomes -1 when it is the process's, which is so also where BPF was refused. */
static int add_event(struct sdw_sigpath_server *server, const struct sdw_sigpath_message *message,
		     uint32_t pid, int *event)
{
	struct sdw_sigpath_process *process = find_living(server, pid);
	int err, fd = *event;

	if (!process)
		return -ESRCH;
	if (fd < 0)
		return -EBADF;
	err = sdw_sigpath_process_add_event(process, message->tid, fd);
	if (err == -EMFILE && !server->full_said++)
		sdw_warn("pid %u: too many threads, or too few open files (ulimit -n): some "
			 "threads have no samples",
			 pid);
	if (err)
		return err;
	*event = -1;
	if (server->program >= 0 && ioctl(fd, PERF_EVENT_IOC_SET_BPF, server->program) < 0) {
		err = -errno;
		if (!server->unbound_said++)
			sdw_warn("pid %u: cannot bind the BPF program to the event of a thread: %s",
				 pid, strerror(-err));
		return err;
	}
	return 0;
}

/* ---- connections ---- */

static void end_connection(struct sdw_sigpath_server *server, int fd)
{
	close(fd);
	server->connections--;
}

static void accept_all(struct sdw_sigpath_server *server)
{
	unsigned int taken = 0;
	int fd;

	while (taken++ < MAX_CONNECTIONS &&
	       (fd = accept4(server->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
		if (server->connections >= MAX_CONNECTIONS) {
			close(fd); /* left in the queue it would wake us for ever */
			continue;
		}
		server->connections++;
		if (wait_for(server, fd, TAG_CONNECTION))
			end_connection(server, fd);
	}
}

/* One message, and its answer; then the connection has done its work. */
static void serve_connection(struct sdw_sigpath_server *server, int fd)
{
	struct sdw_sigpath_message message;
	int descriptor = -1, memory_fd = -1, err;
	uint32_t pid;

	err = sdw_sigpath_receive(fd, &message, &descriptor, &pid);
	if (err == -EAGAIN)
		return;
	if (!err && message.kind == SDW_SIGPATH_EVENT) {
		err = add_event(server, &message, pid, &descriptor);
	} else if (!err && message.kind == SDW_SIGPATH_GIVE_WAY) {
		struct sdw_sigpath_process *process = find_living(server, pid);

		if (process)
			sdw_sigpath_process_disable(process);
	} else if (!err) {
		err = begin_process(server, &message, pid, &memory_fd);
	}
	if (err != -EBADMSG)
		sdw_sigpath_answer(fd, err, memory_fd);
	if (err)
		sdw_debug("a message of an agent: %s", strerror(-err));
	if (memory_fd >= 0)
		close(memory_fd);
	if (descriptor >= 0)
		close(descriptor);
	end_connection(server, fd);
}

static void note_end(struct sdw_sigpath_server *server, int pidfd)
{
	for (size_t i = 0; i < server->processes.count; i++) {
		if (server->processes.items[i]->pidfd == pidfd) {
			server->processes.items[i]->ending = true;
			(void)epoll_ctl(server->epoll, EPOLL_CTL_DEL, pidfd, NULL);
			return;
		}
	}
}

/* All that has come so far. */
static void serve(struct sdw_sigpath_server *server)
{
	struct epoll_event events[64];
	int count;

	for (int round = 0; round < MAX_ROUNDS; round++) {
		count = epoll_wait(server->epoll, events, 64, 0);
		if (count <= 0)
			return;
		for (int i = 0; i < count; i++) {
			int fd = (int)(uint32_t)events[i].data.u64;

			switch ((enum wait_tag)(events[i].data.u64 >> 32)) {
			case TAG_LISTENER:
				accept_all(server);
				break;
			case TAG_CONNECTION:
				serve_connection(server, fd);
				break;
			case TAG_PROCESS:
				note_end(server, fd);
				break;
			}
		}
	}
}

/* ---- records ---- */

static int keep_record(struct sdw_sigpath_server *server, size_t size)
{
	const struct sdw_record *record = (const void *)server->record;

	if (sdw_array_reserve(&server->bytes, size) || sdw_array_reserve(&server->drained, 1))
		return -ENOMEM;
	server->drained.items[server->drained.count++] =
		(struct drained){record->time_ns, server->bytes.count, size};
	memcpy(server->bytes.items + server->bytes.count, record, size);
	server->bytes.count += size;
	return 0;
}

static int by_time(const void *left, const void *right)
{
	const struct drained *a = left, *b = right;

	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	return a->at < b->at ? -1 : a->at > b->at; /* a stack before its sample */
}

static void thread_gone(void *context, struct sdw_sigpath_process *process, uint32_t tid)
{
	if (tid != process->pid)
		add_life(context, process, SDW_LIFE_THREAD_EXIT, tid, NULL, NULL);
}

/* Threads and processes that are over; their records are in the queue. */
static void sweep(struct sdw_sigpath_server *server)
{
	uint64_t now_ns = sdw_session_now();
	bool due = now_ns - server->swept_ns >= SWEEP_NS;
	size_t kept = 0;

	if (due)
		server->swept_ns = now_ns;
	for (size_t i = 0; i < server->processes.count; i++) {
		struct sdw_sigpath_process *process = server->processes.items[i];

		if (due || process->ended)
			sdw_sigpath_process_sweep(process, process->ended, thread_gone, server);
		if (!process->ended) {
			server->processes.items[kept++] = process;
			continue;
		}
		sdw_sigpath_process_count(process, &server->ended);
		sdw_sigpath_process_free(process);
	}
	server->processes.count = kept;
}

static int drain_rings(struct sdw_sigpath_server *server)
{
	uint64_t now_ns = sdw_session_now();
	int err = 0;

	server->bytes.count = server->drained.count = 0;
	for (size_t i = 0; i < server->processes.count && !err; i++) {
		struct sdw_sigpath_process *process = server->processes.items[i];
		size_t size;

		tell_known(server, process, now_ns);
		while (!err && (size = sdw_sigpath_process_next(process, now_ns, server->record)))
			err = keep_record(server, size);
	}
	qsort(server->drained.items, server->drained.count, sizeof(*server->drained.items),
	      by_time);
	for (size_t i = 0; i < server->drained.count && !err; i++)
		err = sdw_queue_add(server->queue, server->source,
				    server->bytes.items + server->drained.items[i].at,
				    server->drained.items[i].size);
	return err;
}

void sdw_sigpath_server_bind(struct sdw_sigpath_server *server, struct sdw_images *images,
			     struct sdw_queue *queue, size_t source)
{
	server->images = images;
	server->queue = queue;
	server->source = source;
}

/*
 * A thread gives its event before its first sample is in the ring: of the rings, what was there
 * before the messages were read is read after them. Likewise the end of a process comes last.
 */
int sdw_sigpath_server_drain(struct sdw_sigpath_server *server)
{
	int err;

	for (size_t i = 0; i < server->processes.count; i++)
		sdw_ring_reader_mark(&server->processes.items[i]->reader);
	serve(server);
	for (size_t i = 0; i < server->processes.count; i++) {
		if (server->processes.items[i]->ending || server->processes.items[i]->ended)
			sdw_ring_reader_mark(&server->processes.items[i]->reader);
	}
	err = drain_rings(server);
	for (size_t i = 0; i < server->processes.count; i++) {
		if (server->processes.items[i]->ending)
			end_process(server, server->processes.items[i], false);
	}
	sweep(server);
	return err ?: server->error;
}

void sdw_sigpath_server_tell(void *context, const struct sdw_image *image, int layout)
{
	struct sdw_sigpath_server *server = context;
	struct sdw_sigpath_process *process = find_living(server, image->pid);
	const struct sdw_found_interpreter *found = &image->interpreter;
	bool python = image->state == SDW_IMAGE_PYTHON && layout >= 0;

	if (!process || image->ended_ns ||
	    (server->config->path == SDW_PATH_SIGNAL && process->epoch != image->epoch))
		return;
	process->epoch = image->epoch;
	process->layout = python ? layout : -1;
	sdw_sigpath_process_tell(process, python ? SDW_SIGPATH_PYTHON : SDW_SIGPATH_NO_PYTHON,
				 found->runtime_addr, found->code_type_addr,
				 python ? &found->layout : NULL);
}

void sdw_sigpath_server_disable(struct sdw_sigpath_server *server)
{
	for (size_t i = 0; i < server->processes.count; i++)
		sdw_sigpath_process_disable(server->processes.items[i]);
}

void sdw_sigpath_server_count(struct sdw_sigpath_server *server, bool final,
			      struct sdw_sigpath_counts *counts)
{
	*counts = server->ended;
	for (size_t i = 0; i < server->processes.count; i++) {
		if (final)
			sdw_sigpath_process_sweep(server->processes.items[i], true, thread_gone,
						  server);
		sdw_sigpath_process_count(server->processes.items[i], counts);
	}
}

uint64_t sdw_sigpath_server_processes(const struct sdw_sigpath_server *server)
{
	return server->ever;
}

uint32_t sdw_sigpath_server_conflict(const struct sdw_sigpath_server *server)
{
	uint32_t conflict = server->conflict;

	for (size_t i = 0; i < server->processes.count && !conflict; i++)
		conflict = sdw_sigpath_process_conflict(server->processes.items[i]);
	return conflict;
}
