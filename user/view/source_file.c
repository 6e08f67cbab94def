// SPDX-License-Identifier: MIT
/* source_file.c - see source_file.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "view/source_file.h"

static bool has_python_name(const char *path)
{
	static const char *const endings[] = {".py", ".pyw", ".pyx", ".pxi", ".pxd"};
	size_t bytes = strlen(path);

	for (size_t i = 0; i < sizeof(endings) / sizeof(*endings); i++) {
		size_t ending = strlen(endings[i]);

		if (bytes > ending && strcmp(path + bytes - ending, endings[i]) == 0)
			return true;
	}
	return false;
}

/* "#!/usr/bin/python3", as in a program without an ending */
static bool has_python_start(const char *text)
{
	size_t line = strcspn(text, "\n");

	return strncmp(text, "#!", 2) == 0 && memmem(text, line, "python", 6);
}

static const char *problem_of(int err)
{
	switch (err) {
	case ENOENT:
	case ENOTDIR:
		return "it is not here";
	case EACCES:
	case EPERM:
		return "it may not be read";
	default:
		return "it cannot be read";
	}
}

static int read_whole(int fd, struct sdw_source_file *source, size_t bytes)
{
	source->text = malloc(bytes + 1);
	if (!source->text)
		return -ENOMEM;
	while (source->bytes < bytes) {
		ssize_t n = read(fd, source->text + source->bytes, bytes - source->bytes);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		source->bytes += (size_t)n;
	}
	source->text[source->bytes] = 0;
	return 0;
}

static const char *read_file(int fd, struct sdw_source_file *source, const char *path, size_t limit)
{
	struct stat status;
	int err;

	if (fstat(fd, &status))
		return problem_of(errno);
	if (!S_ISREG(status.st_mode))
		return "it is not a file";
	if (status.st_size < 0 || (uint64_t)status.st_size > limit)
		return "it is too long";
	source->changed_s = status.st_mtim.tv_sec;
	err = read_whole(fd, source, (size_t)status.st_size);
	if (err)
		return problem_of(-err);
	if (!has_python_name(path) && !has_python_start(source->text))
		return "it is not Python by its name or first line";
	return memchr(source->text, 0, source->bytes) ? "it is not text" : NULL;
}

void sdw_source_file_read(struct sdw_source_file *source, const char *path, size_t limit)
{
	int fd;

	*source = (struct sdw_source_file){0};
	if (path[0] == '<' || !*path) {
		source->problem = "it never was a file";
		return;
	}
	if (path[0] != '/') { /* to where the program ran, which is not known */
		source->problem = "its name is relative";
		return;
	}
	/* a pipe or device must not make it wait, nor become our terminal */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	source->problem = fd < 0 ? problem_of(errno) : read_file(fd, source, path, limit);
	if (fd >= 0)
		close(fd);
	if (source->problem)
		free(source->text), source->text = NULL;
}

void sdw_source_file_free(struct sdw_source_file *source)
{
	free(source->text);
	*source = (struct sdw_source_file){0};
}
