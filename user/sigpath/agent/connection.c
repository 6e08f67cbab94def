// SPDX-License-Identifier: MIT
/*
 * connection.c - talks to the recorder: one short connection for each process and thread.
 *
 * No connection stays open: a program that closes all its descriptors, as daemons do, is sampled
 * as before.
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "agent.h"

#define PATIENCE_S 5 /* a recorder that does not answer must not stop the program for good */

static int open_socket(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct timeval patience = {.tv_sec = PATIENCE_S};
	size_t length = strlen(sdw_agent.socket);
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	memcpy(address.sun_path + 1, sdw_agent.socket, length); /* abstract: a 0 in front */
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	(void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	if (!connect(fd, (struct sockaddr *)&address,
		     (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length)))
		return fd;
	close(fd);
	return -ECONNREFUSED;
}

/* Room for one descriptor beside a message. */
union descriptor_room {
	struct cmsghdr header;
	char bytes[CMSG_SPACE(sizeof(int))];
};

static bool send_message(int fd, enum sdw_sigpath_message_kind kind, pid_t parent, int descriptor)
{
	struct sdw_sigpath_message message = {
		.magic = SDW_SIGPATH_MAGIC,
		.version = SDW_SIGPATH_VERSION,
		.kind = kind,
		.pid = (uint32_t)sdw_agent.pid,
		.tid = (uint32_t)syscall(SYS_gettid),
		.parent_pid = (uint32_t)parent,
	};
	struct iovec part = {&message, sizeof(message)};
	union descriptor_room room = {.bytes = {0}};
	struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1};
	char comm[SDW_COMM_BYTES] = "";

	(void)prctl(PR_GET_NAME, comm);
	memcpy(message.comm, comm, sizeof(comm));
	if (descriptor >= 0) {
		header.msg_control = room.bytes;
		header.msg_controllen = sizeof(room.bytes);
		room.header = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof(int)),
					       .cmsg_level = SOL_SOCKET,
					       .cmsg_type = SCM_RIGHTS};
		memcpy(CMSG_DATA(&room.header), &descriptor, sizeof(int));
	}
	return TEMP_FAILURE_RETRY(sendmsg(fd, &header, MSG_NOSIGNAL)) == sizeof(message);
}

/* Takes the answer and a descriptor that may be with it, else -1. */
static bool take_answer(int fd, int *descriptor)
{
	struct sdw_sigpath_answer answer = {.error = -EIO};
	struct iovec part = {&answer, sizeof(answer)};
	union descriptor_room room;
	struct msghdr header = {.msg_iov = &part,
				.msg_iovlen = 1,
				.msg_control = room.bytes,
				.msg_controllen = sizeof(room.bytes)};
	struct cmsghdr *first;

	*descriptor = -1;
	if (TEMP_FAILURE_RETRY(recvmsg(fd, &header, MSG_CMSG_CLOEXEC)) != sizeof(answer))
		return false;
	first = CMSG_FIRSTHDR(&header);
	if (first && first->cmsg_level == SOL_SOCKET && first->cmsg_type == SCM_RIGHTS &&
	    first->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(descriptor, CMSG_DATA(first), sizeof(int));
	return answer.magic == SDW_SIGPATH_MAGIC && answer.version == SDW_SIGPATH_VERSION &&
	       !answer.error;
}

static bool map_segment(int descriptor)
{
	struct sdw_sigpath_setup setup;
	void *memory;

	if (pread(descriptor, &setup, sizeof(setup), 0) != sizeof(setup) ||
	    setup.magic != SDW_SIGPATH_MAGIC || setup.version != SDW_SIGPATH_VERSION ||
	    setup.segment_bytes != SDW_SIGPATH_RING_OFFSET + setup.ring_bytes ||
	    setup.unwind_depth > SDW_SIGPATH_MAX_FRAMES || setup.stack_bytes > SDW_MAX_STACK_BYTES)
		return false;
	memory = mmap(NULL, setup.segment_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
	if (memory == MAP_FAILED)
		return false;
	sdw_agent.setup = setup;
	sdw_agent.ring = (uint8_t *)memory + SDW_SIGPATH_RING_OFFSET;
	sdw_agent.segment = memory;
	return true;
}

bool sdw_agent_connect(enum sdw_sigpath_message_kind kind, pid_t parent)
{
	int fd = open_socket(), descriptor = -1;
	bool done;

	if (fd < 0)
		return false;
	done = send_message(fd, kind, parent, -1) && take_answer(fd, &descriptor) &&
	       descriptor >= 0 && map_segment(descriptor);
	if (descriptor >= 0)
		close(descriptor);
	close(fd);
	return done;
}

bool sdw_agent_give_event(int event)
{
	int fd = open_socket(), descriptor = -1;
	bool done;

	if (fd < 0)
		return false;
	done = send_message(fd, SDW_SIGPATH_EVENT, 0, event);
	/* the BPF program must be bound before the first overflow; else nobody waits */
	if (done && sdw_agent.setup.paired)
		done = take_answer(fd, &descriptor);
	if (descriptor >= 0)
		close(descriptor);
	close(fd);
	return done;
}

void sdw_agent_stop_events(void)
{
	int fd = open_socket(), descriptor = -1;

	if (fd < 0)
		return;
	if (send_message(fd, SDW_SIGPATH_GIVE_WAY, 0, -1))
		(void)take_answer(fd, &descriptor);
	if (descriptor >= 0)
		close(descriptor);
	close(fd);
}
