// SPDX-License-Identifier: MIT
/*
 * memory.c - reads of the process's own memory that fail instead of faulting.
 *
 * A frame that is just being made can hold any address. process_vm_readv() on oneself costs a
 * system call (0.2 to 0.4 us) and answers -EFAULT; there is no other way to try an address that is
 * safe beside the handlers that the program may have.
 */
#include <sys/syscall.h>
#include <sys/uio.h>

#include "agent.h"
#include "bpf/bpf_helpers.h"

long sdw_agent_read(void *to, __u32 size, unsigned long from)
{
	struct iovec local = {to, size}, remote = {(void *)from, size};

	return sdw_agent_syscall(SYS_process_vm_readv, sdw_agent.pid, (long)&local, 1,
				 (long)&remote, 1, 0) == (long)size
		       ? 0
		       : -1;
}
