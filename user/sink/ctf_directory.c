// SPDX-License-Identifier: MIT
/* ctf_directory.c - makes the directory of a trace without touching anything that is not one. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sink/ctf_directory.h"
#include "sink/ctf_format.h"
#include "sink/ctf_stream.h"

static const char *const file_names[] = {SDW_CTF_METADATA, SDW_CTF_NEW_METADATA, SDW_CTF_STREAM};

#define FILE_NAMES (sizeof(file_names) / sizeof(file_names[0]))

/* Splits `path` into its parent, which is opened, and its last part. */
static int open_parent(struct sdw_ctf_directory *directory, const char *path)
{
	size_t length = strlen(path);
	const char *parent = ".";
	char *copy, *slash;
	int err = 0;

	while (length > 1 && path[length - 1] == '/')
		length--; /* open() would follow a symbolic link before a slash */
	copy = strndup(path, length);
	if (!copy)
		return -ENOMEM;
	slash = strrchr(copy, '/');
	if (slash) {
		*slash = '\0';
		parent = slash == copy ? "/" : copy;
	}
	directory->name = strdup(slash ? slash + 1 : copy);
	if (!directory->name)
		err = -ENOMEM;
	if (!err) {
		directory->parent_fd = open(parent, O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (directory->parent_fd < 0)
			err = -errno;
	}
	free(copy);
	return err;
}

/* "cpu-" and digits: of a kernel trace. */
static bool is_cpu_stream(const char *name)
{
	size_t prefix = strlen(SDW_CTF_CPU_STREAM);

	return !strncmp(name, SDW_CTF_CPU_STREAM, prefix) && name[prefix] &&
	       strspn(name + prefix, "0123456789") == strlen(name + prefix);
}

static bool is_trace_file(int fd, const char *name)
{
	struct stat file;

	if (fstatat(fd, name, &file, AT_SYMLINK_NOFOLLOW) || !S_ISREG(file.st_mode))
		return false;
	for (size_t i = 0; i < FILE_NAMES; i++) {
		if (!strcmp(name, file_names[i]))
			return true;
	}
	return is_cpu_stream(name);
}

static int open_kernel(int fd)
{
	return openat(fd, SDW_CTF_KERNEL, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Opens a list of what is in a directory; NULL after an error, which it sets. */
static DIR *open_list(int fd, int *err)
{
	int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *list = copy < 0 ? NULL : fdopendir(copy);

	*err = list ? 0 : -errno;
	if (!list && copy >= 0)
		close(copy);
	return list;
}

static bool has_signature(int fd)
{
	char start[sizeof(SDW_CTF_SIGNATURE) - 1];
	int file = openat(fd, SDW_CTF_METADATA, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	ssize_t n;

	if (file < 0)
		return false;
	n = pread(file, start, sizeof(start), 0);
	close(file);
	return n == sizeof(start) && !memcmp(start, SDW_CTF_SIGNATURE, sizeof(start));
}

/* Refuses to replace anything but our own traces or an empty directory. */
static int check_replaceable(int fd, bool outer)
{
	const struct dirent *entry;
	bool empty = true;
	int err, kernel;
	DIR *list = open_list(fd, &err);

	if (!list)
		return err;
	while (!err && (entry = readdir(list))) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		empty = false;
		if (is_trace_file(fd, entry->d_name))
			continue;
		kernel = outer && !strcmp(entry->d_name, SDW_CTF_KERNEL) ? open_kernel(fd) : -1;
		err = kernel < 0 ? -ENOTEMPTY : check_replaceable(kernel, false);
		if (kernel >= 0)
			close(kernel);
	}
	closedir(list);
	if (!err && !empty && !has_signature(fd))
		err = -ENOTEMPTY;
	return err;
}

static int unlink_files(int fd)
{
	const struct dirent *entry;
	int err;
	DIR *list = open_list(fd, &err);

	if (!list)
		return err;
	while (!err && (entry = readdir(list))) {
		if (is_trace_file(fd, entry->d_name) && unlinkat(fd, entry->d_name, 0) &&
		    errno != ENOENT)
			err = -errno;
	}
	closedir(list);
	return err;
}

/* The files of a trace, and of the kernel trace within. */
static int unlink_traces(int fd)
{
	int kernel = open_kernel(fd), err = 0;

	if (kernel >= 0) {
		err = unlink_files(kernel);
		close(kernel);
		if (!err && unlinkat(fd, SDW_CTF_KERNEL, AT_REMOVEDIR))
			err = -errno;
	}
	return err ?: unlink_files(fd);
}

/* Empties a directory that was there before. */
static int replace(struct sdw_ctf_directory *directory)
{
	struct stat owner;
	int err;

	if (fstat(directory->fd, &owner))
		return -errno;
	if (owner.st_uid != geteuid())
		return -EPERM;
	err = check_replaceable(directory->fd, true);
	return err ? err : unlink_traces(directory->fd);
}

int sdw_ctf_directory_create(struct sdw_ctf_directory *directory, const char *path, bool force)
{
	int err;

	*directory = (struct sdw_ctf_directory){.parent_fd = -1, .fd = -1};
	err = open_parent(directory, path);
	if (err)
		return err;
	directory->made = !mkdirat(directory->parent_fd, directory->name, 0700);
	if (!directory->made && (errno != EEXIST || !force))
		return -errno;
	directory->fd = openat(directory->parent_fd, directory->name,
			       O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (directory->fd < 0) {
		err = -errno;
		if (directory->made)
			unlinkat(directory->parent_fd, directory->name, AT_REMOVEDIR);
		return err;
	}
	return directory->made ? 0 : replace(directory);
}

void sdw_ctf_directory_close(struct sdw_ctf_directory *directory)
{
	if (directory->fd >= 0)
		close(directory->fd);
	if (directory->parent_fd >= 0)
		close(directory->parent_fd);
	free(directory->name);
	*directory = (struct sdw_ctf_directory){.parent_fd = -1, .fd = -1};
}

void sdw_ctf_directory_remove(struct sdw_ctf_directory *directory)
{
	if (directory->fd >= 0)
		unlink_traces(directory->fd);
	if (directory->made)
		unlinkat(directory->parent_fd, directory->name, AT_REMOVEDIR);
}

int sdw_ctf_directory_write_metadata(struct sdw_ctf_directory *directory, const char *text,
				     size_t size)
{
	int fd, err;

	if (unlinkat(directory->fd, SDW_CTF_NEW_METADATA, 0) && errno != ENOENT)
		return -errno;
	fd = openat(directory->fd, SDW_CTF_NEW_METADATA,
		    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	err = sdw_ctf_write_all(fd, text, size, 0);
	if (!err && fsync(fd))
		err = -errno;
	if (close(fd) && !err)
		err = -errno;
	if (!err && renameat(directory->fd, SDW_CTF_NEW_METADATA, directory->fd, SDW_CTF_METADATA))
		err = -errno;
	if (err)
		unlinkat(directory->fd, SDW_CTF_NEW_METADATA, 0);
	else if (fsync(directory->fd) && errno != EINVAL) /* some file systems cannot */
		err = -errno;
	return err;
}

int sdw_ctf_directory_create_stream(struct sdw_ctf_directory *directory, const char *name)
{
	int fd = openat(directory->fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			0600);

	return fd < 0 ? -errno : fd;
}
