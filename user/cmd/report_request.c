// SPDX-License-Identifier: MIT
/* report_request.c - see report_request.h. */
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "cmd/report_request.h"

static volatile sig_atomic_t request_fd = -1; /* what the handler writes to */

static void on_signal(int number)
{
	const uint64_t one = 1;
	int error = errno;

	(void)number;
	if (request_fd >= 0 && write(request_fd, &one, sizeof(one)) < 0)
		errno = error; /* it is full: asked often enough */
	errno = error;
}

int sdw_report_request_open(void)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART}, before;
	int fd;

	if (sigaction(SIGUSR1, NULL, &before) == 0 && before.sa_handler == SIG_IGN)
		return -EBUSY;
	fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (fd < 0)
		return -errno;
	request_fd = fd;
	if (sigaction(SIGUSR1, &action, NULL) < 0) {
		int err = -errno;

		request_fd = -1;
		close(fd);
		return err;
	}
	return fd;
}

bool sdw_report_request_take(int fd)
{
	uint64_t times;

	return read(fd, &times, sizeof(times)) == sizeof(times);
}

void sdw_report_request_close(int fd)
{
	if (fd < 0)
		return;
	signal(SIGUSR1, SIG_DFL);
	request_fd = -1;
	close(fd);
}
