// SPDX-License-Identifier: MIT
/* syscall_name.c - names of the system calls in which a thread can wait for long. */
#include <stddef.h>
#include <sys/syscall.h>

#include "dump/task.h"

/* clang-format off */
#define WAITING_SYSCALLS(X)                                                                        \
	X(read) X(write) X(readv) X(writev) X(pread64) X(pwrite64) X(preadv) X(pwritev)            \
	X(preadv2) X(pwritev2) X(pselect6) X(ppoll) X(epoll_pwait) X(futex) X(nanosleep)           \
	X(clock_nanosleep) X(restart_syscall) X(accept) X(accept4) X(connect) X(recvfrom)          \
	X(recvmsg) X(recvmmsg) X(sendto) X(sendmsg) X(sendmmsg) X(sendfile) X(splice) X(tee)       \
	X(vmsplice) X(copy_file_range) X(wait4) X(waitid) X(flock) X(fcntl) X(fsync)               \
	X(fdatasync) X(sync) X(syncfs) X(sync_file_range) X(msync) X(openat) X(close) X(ioctl)     \
	X(rt_sigsuspend) X(rt_sigtimedwait) X(semop) X(semtimedop) X(msgrcv) X(msgsnd)             \
	X(mq_timedsend) X(mq_timedreceive) X(io_getevents) X(io_submit) X(getrandom) X(execve)     \
	X(unlinkat) X(mkdirat) X(newfstatat) X(statx) X(getdents64) X(ftruncate) X(fallocate)      \
	X(mmap) X(munmap) X(mprotect) X(madvise) X(sched_yield) X(exit_group) X(exit)
#define OLD_WAITING_SYSCALLS(X)                                                                    \
	X(poll) X(select) X(epoll_wait) X(pause) X(open) X(stat) X(lstat) X(unlink) X(rename)      \
	X(mkdir) X(rmdir) X(vfork)
/* clang-format on */

const char *sdw_syscall_name(long number)
{
	switch (number) {
#define NAME(name)       \
	case SYS_##name: \
		return #name;
		WAITING_SYSCALLS(NAME)
#ifdef SYS_poll /* not on newer architectures */
		OLD_WAITING_SYSCALLS(NAME)
#endif
#ifdef SYS_futex_waitv
		NAME(futex_waitv)
#endif
#ifdef SYS_epoll_pwait2
		NAME(epoll_pwait2)
#endif
#ifdef SYS_io_uring_enter
		NAME(io_uring_enter)
#endif
#undef NAME
	default:
		return NULL;
	}
}
