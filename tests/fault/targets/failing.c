// SPDX-License-Identifier: MIT
/*
 * failing.c - preloaded into the profiler: its n-th call of one kind fails.
 *
 * Environment: FAIL_KIND (malloc, open, write, map, bpf, perf), FAIL_AT (1: the first call),
 * FAIL_FILE: is made when that call came. Calls before main() do not count.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);

static const char *kind = "", *file;
static long at, seen;
static long (*real_syscall)(long number, ...);
static int (*real_openat)(int folder, const char *path, int flags, ...);
static ssize_t (*real_write)(int fd, const void *bytes, size_t size);
static ssize_t (*real_pwrite)(int fd, const void *bytes, size_t size, off_t place);
static FILE *(*real_fopen)(const char *path, const char *mode);
static void *(*real_mmap)(void *address, size_t size, int protection, int flags, int fd, off_t at);

__attribute__((constructor)) static void prepare(void)
{
	*(void **)&real_syscall = dlsym(RTLD_NEXT, "syscall");
	*(void **)&real_openat = dlsym(RTLD_NEXT, "openat");
	*(void **)&real_write = dlsym(RTLD_NEXT, "write");
	*(void **)&real_pwrite = dlsym(RTLD_NEXT, "pwrite");
	*(void **)&real_fopen = dlsym(RTLD_NEXT, "fopen");
	*(void **)&real_mmap = dlsym(RTLD_NEXT, "mmap");
	file = getenv("FAIL_FILE");
	at = atol(getenv("FAIL_AT") ?: "0");
	kind = getenv("FAIL_KIND") ?: "";
}

static bool fails(const char *what, int error)
{
	if (!at || strcmp(what, kind) != 0 || __sync_add_and_fetch(&seen, 1) != at)
		return false;
	if (file)
		close(real_openat(AT_FDCWD, file, O_CREAT | O_WRONLY, 0600));
	errno = error;
	return true;
}

void *malloc(size_t size)
{
	return fails("malloc", ENOMEM) ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	return fails("malloc", ENOMEM) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
	return fails("malloc", ENOMEM) ? NULL : __libc_realloc(old, size);
}

int openat(int folder, const char *path, int flags, ...)
{
	va_list arguments;
	mode_t mode;

	va_start(arguments, flags);
	mode = va_arg(arguments, mode_t);
	va_end(arguments);
	return fails("open", EMFILE) ? -1 : real_openat(folder, path, flags, mode);
}

int open(const char *path, int flags, ...)
{
	va_list arguments;
	mode_t mode;

	va_start(arguments, flags);
	mode = va_arg(arguments, mode_t);
	va_end(arguments);
	return fails("open", EMFILE) ? -1 : real_openat(AT_FDCWD, path, flags, mode);
}

FILE *fopen(const char *path, const char *mode)
{
	return fails("open", EMFILE) ? NULL : real_fopen(path, mode);
}

ssize_t write(int fd, const void *bytes, size_t size)
{
	return fails("write", ENOSPC) ? -1 : real_write(fd, bytes, size);
}

ssize_t pwrite(int fd, const void *bytes, size_t size, off_t place)
{
	return fails("write", ENOSPC) ? -1 : real_pwrite(fd, bytes, size, place);
}

void *mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
	return fails("map", ENOMEM) ? MAP_FAILED
				    : real_mmap(address, size, protection, flags, fd, offset);
}

long syscall(long number, ...)
{
	long a[6];
	va_list arguments;

	va_start(arguments, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(arguments, long);
	va_end(arguments);
	if ((number == SYS_bpf && fails("bpf", ENOMEM)) ||
	    (number == SYS_perf_event_open && fails("perf", EMFILE)))
		return -1;
	return real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
