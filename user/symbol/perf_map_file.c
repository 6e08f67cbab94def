// SPDX-License-Identifier: MIT
/*
 * perf_map_file.c - finds and opens a target's perf map, and believes only what its owner could
 * write.
 *
 * Anybody may put a file, a link or a FIFO at that path: it is opened without following a link and
 * without effect on what is there, looked at, and only then opened for reading.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "symbol/perf_map.h"

#define MAX_FILE_BYTES (64u << 20)

static int check_file(int fd, uid_t owner)
{
	struct stat status;

	if (fstat(fd, &status))
		return -errno;
	if (!S_ISREG(status.st_mode) || status.st_nlink != 1)
		return -EPERM;
	if (status.st_uid != owner && status.st_uid != 0)
		return -EPERM;
	return status.st_size > (off_t)MAX_FILE_BYTES ? -EFBIG : 0;
}

int sdw_perf_map_open(int root, uint32_t inner_pid, uid_t owner)
{
	struct open_how how = {
		.flags = O_PATH | O_NOFOLLOW | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
	};
	char path[64];
	int handle, fd, err;

	snprintf(path, sizeof(path), "tmp/perf-%u.map", inner_pid);
	handle = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
	if (handle < 0)
		return errno == ELOOP ? -EPERM : -errno;
	err = check_file(handle, owner);
	if (err) {
		close(handle);
		return err;
	}
	/* the very file that was checked, whatever is at the path by now */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", handle);
	fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	err = fd < 0 ? -errno : 0;
	close(handle);
	return err ? err : fd;
}

/* What /proc/PID/status says: the effective user, and the pid in the innermost namespace. */
static int read_identity(uint32_t pid, uint32_t *inner_pid, uid_t *owner)
{
	char path[64], *line = NULL;
	size_t room = 0;
	bool have_uid = false;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%u/status", pid);
	file = fopen(path, "re");
	if (!file)
		return -errno;
	while (getline(&line, &room, file) > 0) {
		const char *last;

		if (sscanf(line, "Uid: %*u %u", owner) == 1) /* real, effective, ... */
			have_uid = true;
		if (strncmp(line, "NSpid:", 6))
			continue;
		last = strrchr(line, '\t');
		if (last)
			*inner_pid = (uint32_t)strtoul(last + 1, NULL, 10);
	}
	free(line);
	fclose(file);
	return have_uid ? 0 : -ESRCH;
}

int sdw_perf_map_refresh(struct sdw_perf_map *map)
{
	uint32_t inner_pid = map->pid; /* kernels without pid namespaces have no NSpid */
	char path[64];
	uid_t owner = 0;
	int root, fd, err;

	err = read_identity(map->pid, &inner_pid, &owner);
	if (err)
		return err;
	snprintf(path, sizeof(path), "/proc/%u/root", map->pid);
	root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return -errno;
	fd = sdw_perf_map_open(root, inner_pid, owner);
	close(root);
	if (fd < 0)
		return fd;
	err = sdw_perf_map_read(map, fd);
	close(fd);
	return err;
}
