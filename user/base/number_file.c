// SPDX-License-Identifier: MIT
/* number_file.c - reads one number from a small file. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/number_file.h"

int sdw_number_file_read(int dir, const char *path, int64_t *number)
{
	char text[32], *end;
	ssize_t size;
	int fd, err;

	fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	size = read(fd, text, sizeof(text) - 1);
	err = size < 0 ? -errno : 0;
	close(fd);
	if (err)
		return err;
	text[size] = '\0';
	errno = 0;
	*number = strtoll(text, &end, 10);
	if (end == text)
		return -EINVAL;
	return -errno;
}
