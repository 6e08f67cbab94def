// SPDX-License-Identifier: MIT
/* output_file.c - see output_file.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "view/output_file.h"

#define BUFFER_BYTES (1u << 18)

static int say_failed(const struct sdw_output_file *file, int err)
{
	sdw_error("cannot write %s: %s", file->path ? file->path : "to standard output",
		  err == -ELOOP ? "a link of another user is there" : strerror(-err));
	return err;
}

/* The name of a file that nobody has, in the directory of `path`, or NULL with errno set. */
static char *choose_temporary(const struct sdw_output_file *file)
{
	const char *slash = strrchr(file->path, '/');
	int directory = slash ? (int)(slash - file->path) + 1 : 0;
	unsigned long long random = 0;
	char *name;

	if (getrandom(&random, sizeof(random), 0) < 0)
		return NULL;
	/* short, so that it fits where the name of the file itself does */
	if (asprintf(&name, "%.*s.sdw-%016llx", directory, file->path, random) < 0)
		return NULL;
	return name;
}

/* A file without a name leaves nothing behind, however the program ends. */
static int open_nameless(struct sdw_output_file *file)
{
	const char *slash = strrchr(file->path, '/');
	char *directory =
		slash ? strndup(file->path, (size_t)(slash - file->path) + 1) : strdup(".");
	int fd;

	if (!directory)
		return -ENOMEM;
	fd = open(directory, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
	free(directory);
	file->is_nameless = fd >= 0;
	return fd < 0 ? -errno : fd;
}

/* Makes a file next to `path`. Returns a file descriptor or -errno. */
static int open_temporary(struct sdw_output_file *file)
{
	int fd;

	file->temporary = choose_temporary(file);
	if (!file->temporary)
		return -errno;
	fd = open_nameless(file);
	if (fd != -EOPNOTSUPP && fd != -EISDIR)
		return fd;
	fd = open(file->temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	return fd < 0 ? -errno : fd;
}

/* Gives a complete file its temporary name, which needs its descriptor. */
static int give_name(struct sdw_output_file *file)
{
	char descriptor[64];

	if (!file->is_nameless)
		return 0;
	snprintf(descriptor, sizeof(descriptor), "/proc/self/fd/%d", file->fd);
	if (linkat(AT_FDCWD, descriptor, AT_FDCWD, file->temporary, AT_SYMLINK_FOLLOW) < 0)
		return -errno;
	file->is_nameless = false;
	return 0;
}

static void drop_temporary(struct sdw_output_file *file, bool remove)
{
	if (remove && file->temporary && !file->is_nameless)
		unlink(file->temporary);
	free(file->temporary);
	file->temporary = NULL;
}

static int open_path(struct sdw_output_file *file)
{
	struct stat status;
	int fd;

	if (lstat(file->path, &status) < 0) {
		if (errno != ENOENT)
			return -errno;
		return open_temporary(file);
	}
	if (S_ISREG(status.st_mode))
		return open_temporary(file);
	if (S_ISDIR(status.st_mode))
		return -EISDIR;
	/* a link that somebody else put there leads where they want us to write */
	if (S_ISLNK(status.st_mode) && status.st_uid != geteuid() && status.st_uid != 0)
		return -ELOOP;
	/* a device, a pipe, or a link such as /dev/stdout: must not be replaced by a file */
	fd = open(file->path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* What the stream writes with. Returns 0 for an error, as fopencookie(3) wants it. */
static ssize_t write_all(void *cookie, const char *bytes, size_t count)
{
	struct sdw_output_file *file = cookie;
	size_t done = 0;

	while (done < count && !file->err) {
		ssize_t n = write(file->fd, bytes + done, count - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			file->err = -errno;
		else
			done += (size_t)n;
	}
	return file->err ? 0 : (ssize_t)done;
}

static int close_descriptor(void *cookie)
{
	struct sdw_output_file *file = cookie;

	/* file systems over a network tell only here that they have no room */
	if (close(file->fd) < 0 && !file->err)
		file->err = -errno;
	return file->err ? -1 : 0;
}

int sdw_output_file_open(struct sdw_output_file *file, const char *path)
{
	const cookie_io_functions_t functions = {.write = write_all, .close = close_descriptor};

	*file = (struct sdw_output_file){0};
	if (path && strcmp(path, "-") != 0)
		file->path = path;
	file->fd = file->path ? open_path(file) : fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	if (file->fd < 0) {
		int err = file->path ? file->fd : -errno;

		drop_temporary(file, false);
		return say_failed(file, err);
	}
	file->stream = fopencookie(file, "w", functions);
	if (!file->stream) {
		close(file->fd);
		return sdw_output_file_close(file, -ENOMEM);
	}
	setvbuf(file->stream, NULL, _IOFBF, BUFFER_BYTES);
	return 0;
}

/* Ends the stream; its first error, or 0. */
static int close_stream(struct sdw_output_file *file)
{
	if (file->stream && fclose(file->stream) && !file->err)
		file->err = -EIO;
	file->stream = NULL;
	return file->err;
}

int sdw_output_file_close(struct sdw_output_file *file, int err)
{
	int stream_err;

	if (!err && file->stream && !fflush(file->stream))
		err = give_name(file);
	stream_err = close_stream(file);
	err = err ? err : stream_err;
	if (!err && file->temporary && rename(file->temporary, file->path) < 0)
		err = -errno;
	drop_temporary(file, err != 0);
	if (err && err != -EPIPE)
		say_failed(file, err);
	return err;
}

void sdw_output_file_discard(struct sdw_output_file *file)
{
	drop_temporary(file, true);
	close_stream(file);
}
