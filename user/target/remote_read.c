// SPDX-License-Identifier: MIT
/* remote_read.c - memory of another process, whole or not at all; the process is not stopped. */
#include <errno.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "target/maps.h"

int sdw_remote_read(uint32_t pid, uint64_t address, void *to, size_t size)
{
	struct iovec here = {.iov_base = to, .iov_len = size};
	struct iovec there = {.iov_base = (void *)(uintptr_t)address, .iov_len = size};
	ssize_t n;

	if (!size)
		return 0;
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
