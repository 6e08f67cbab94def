// SPDX-License-Identifier: MIT
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "sigpath/connection.h"

#define BACKLOG 512

int sdw_sigpath_listen(const char *name, int *listener)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	size_t length = strlen(name);
	int fd, err;

	if (length >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	memcpy(address.sun_path + 1, name, length);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	if (bind(fd, (const struct sockaddr *)&address,
		 (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length)) ||
	    listen(fd, BACKLOG)) {
		err = -errno;
		close(fd);
		return err;
	}
	*listener = fd;
	return 0;
}

/* The sender, unless it is another user: root alone records those. */
static uint32_t trusted_peer(int fd)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) || peer.pid <= 0)
		return 0;
	return peer.uid == geteuid() || !geteuid() ? (uint32_t)peer.pid : 0;
}

union descriptor_room {
	struct cmsghdr header;
	char bytes[CMSG_SPACE(sizeof(int))];
};

/* The kernel installs no more than there is room for: one. */
static int descriptor_of(struct msghdr *header)
{
	const struct cmsghdr *first = CMSG_FIRSTHDR(header);
	int descriptor = -1;

	if (first && first->cmsg_level == SOL_SOCKET && first->cmsg_type == SCM_RIGHTS &&
	    first->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(&descriptor, CMSG_DATA(first), sizeof(int));
	return descriptor;
}

int sdw_sigpath_receive(int fd, struct sdw_sigpath_message *message, int *descriptor, uint32_t *pid)
{
	struct iovec part = {message, sizeof(*message)};
	union descriptor_room room;
	struct msghdr header = {.msg_iov = &part,
				.msg_iovlen = 1,
				.msg_control = room.bytes,
				.msg_controllen = sizeof(room.bytes)};
	ssize_t size = recvmsg(fd, &header, MSG_CMSG_CLOEXEC);

	*descriptor = -1;
	if (size < 0)
		return errno == EAGAIN || errno == EINTR ? -EAGAIN : -EBADMSG;
	*descriptor = descriptor_of(&header);
	*pid = trusted_peer(fd);
	if (size != sizeof(*message) || header.msg_flags & (MSG_TRUNC | MSG_CTRUNC) || !*pid ||
	    message->magic != SDW_SIGPATH_MAGIC || message->version != SDW_SIGPATH_VERSION ||
	    message->kind < SDW_SIGPATH_STARTED || message->kind > SDW_SIGPATH_GIVE_WAY ||
	    !message->pid || !message->tid)
		return -EBADMSG;
	return 0;
}

void sdw_sigpath_answer(int fd, int error, int descriptor)
{
	struct sdw_sigpath_answer answer = {
		.magic = SDW_SIGPATH_MAGIC, .version = SDW_SIGPATH_VERSION, .error = error};
	struct iovec part = {&answer, sizeof(answer)};
	union descriptor_room room = {.bytes = {0}};
	struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1};

	if (descriptor >= 0) {
		header.msg_control = room.bytes;
		header.msg_controllen = sizeof(room.bytes);
		room.header = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof(int)),
					       .cmsg_level = SOL_SOCKET,
					       .cmsg_type = SCM_RIGHTS};
		memcpy(CMSG_DATA(&room.header), &descriptor, sizeof(int));
	}
	(void)!sendmsg(fd, &header, MSG_NOSIGNAL | MSG_DONTWAIT);
}
