// SPDX-License-Identifier: MIT
/*
 * descriptors.c - a program that closes all its descriptors, as daemons do, spares liblttng-ust's.
 *
 * The library would go on using their numbers, which are others' then. It offers a close() that
 * knows its own (liblttng-ust-fd of 2.13 is made of it); without --lttng nothing is changed here.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/close_range.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent.h"

#ifndef SYS_close_range
#define SYS_close_range 436 /* 5.9 */
#endif

#define LIST_BYTES 2048 /* of names at once */

static int (*close_by)(int fd, int (*real_close)(int fd));

void sdw_agent_close_by(int (*safe_close)(int fd, int (*real_close)(int fd)))
{
	close_by = safe_close;
}

static int (*next_close)(int);

void sdw_agent_find_close(void)
{
	next_close = (__typeof__(next_close))dlsym(RTLD_NEXT, "close");
}

static int real_close(int fd)
{
	/* the C library's is a point where a thread can be cancelled */
	return next_close ? next_close(fd) : (int)syscall(SYS_close, fd);
}

SDW_AGENT_EXPORT int close(int fd)
{
	return close_by ? close_by(fd, real_close) : real_close(fd);
}

/* Closes those of one part of the list. Returns whether there was any. */
static bool close_listed(const char *list, long bytes, int list_fd, unsigned int first,
			 unsigned int last)
{
	bool any = false;

	for (long at = 0; at < bytes;) {
		const struct dirent64 *entry = (const void *)(list + at);
		unsigned int fd = (unsigned int)strtoul(entry->d_name, NULL, 10);

		at += entry->d_reclen;
		if (*entry->d_name == '.' || fd < first || fd > last || fd == (unsigned int)list_fd)
			continue;
		if (!close((int)fd))
			any = true;
	}
	return any;
}

/* One by one, as far as they are open; no memory is taken: it may be between fork and exec. */
static int close_each(unsigned int first, unsigned int last)
{
	char list[LIST_BYTES] __attribute__((aligned(8)));
	int fd = open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool any = true;
	long bytes;

	if (fd < 0)
		return -1;
	while (any) { /* closing some may have moved others in the list */
		any = false;
		(void)lseek(fd, 0, SEEK_SET);
		while ((bytes = syscall(SYS_getdents64, fd, list, sizeof(list))) > 0)
			any |= close_listed(list, bytes, fd, first, last);
	}
	(void)real_close(fd);
	return 0;
}

SDW_AGENT_EXPORT int close_range(unsigned int first, unsigned int last, int flags)
{
	if (close_by && !flags && first <= last && !close_each(first, last))
		return 0;
	return (int)syscall(SYS_close_range, first, last, flags);
}

SDW_AGENT_EXPORT void closefrom(int first)
{
	(void)close_range(first > 0 ? (unsigned int)first : 0, UINT_MAX, 0);
}
