// SPDX-License-Identifier: MIT
/* reader_places.c - see reader_places.h. */
#include <dirent.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/log.h"
#include "sink/ctf_format.h"
#include "view/reader_places.h"
#include "view/reader_stream.h"

#define METADATA_MAGIC \
	0x75d11d57u  /* of metadata in packets, CTF 1.8 section 7.1: as LTTng has it */
#define MAX_DEPTH  8 /* SESSION/snapshot-1-.../ust/uid/0/64-bit, and what a relay adds */
#define MAX_PLACES 1024
#define MAX_LOOKS  20000       /* directories: a session has some for each process at most */
#define SNAPSHOT   "snapshot-" /* a session's directory of one begins with it */

struct search {
	struct sdw_trace_places *places;
	char *problem;
	size_t size;
	unsigned int looks; /* directories looked into */
};

bool sdw_trace_is_url(const char *path)
{
	return !strncmp(path, "net://", 6) || !strncmp(path, "net4://", 7) ||
	       !strncmp(path, "net6://", 7);
}

static int add(struct sdw_trace_places *places, enum sdw_trace_kind kind, const char *path)
{
	char *copy;

	if (places->count >= MAX_PLACES)
		return -E2BIG;
	copy = strdup(path);
	if (!copy || sdw_array_reserve(places, 1)) {
		free(copy);
		return -ENOMEM;
	}
	places->items[places->count++] = (struct sdw_trace_place){.kind = kind, .path = copy};
	return 0;
}

/* A directory with metadata is a trace. Returns 1, 0 when there is none, or -errno. */
static int add_trace(struct search *search, int directory, const char *path)
{
	uint32_t magic = 0;
	struct stat status;
	int fd = openat(directory, SDW_CTF_METADATA, O_RDONLY | O_CLOEXEC | O_NONBLOCK), err = 0;

	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	if (fstat(fd, &status) || !S_ISREG(status.st_mode))
		err = -ENOENT;
	else if (read(fd, &magic, sizeof(magic)) < 0)
		err = -errno;
	close(fd);
	if (err)
		return err;
	if (magic == METADATA_MAGIC || magic == __builtin_bswap32(METADATA_MAGIC)) {
		err = sdw_reader_check_lttng_streams(directory, path, search->problem,
						     search->size);
		return err ?: add(search->places, SDW_TRACE_LTTNG, path) ?: 1;
	}
	err = sdw_reader_check_stream(directory, path, search->problem, search->size);
	return err ?: add(search->places, SDW_TRACE_OURS, path) ?: 1;
}

static bool is_wanted(const struct dirent *entry, const char *newest)
{
	if (entry->d_name[0] == '.' || (entry->d_type != DT_DIR && entry->d_type != DT_UNKNOWN))
		return false;
	if (!strncmp(entry->d_name, SNAPSHOT, strlen(SNAPSHOT)))
		return !strcmp(entry->d_name, newest);
	/* LTTng's kernel traces hold no event of ours */
	return strcmp(entry->d_name, "kernel") != 0 && strcmp(entry->d_name, "index") != 0;
}

/* Of the snapshots in a directory, "snapshot-DATE-TIME-NUMBER": the name of the newest, or "". */
static size_t find_newest(DIR *directory, char *newest, size_t room)
{
	struct stat status, best = {0};
	const struct dirent *entry;
	size_t count = 0;

	*newest = '\0';
	while ((entry = readdir(directory))) {
		if (strncmp(entry->d_name, SNAPSHOT, strlen(SNAPSHOT)) != 0 ||
		    fstatat(dirfd(directory), entry->d_name, &status, AT_SYMLINK_NOFOLLOW))
			continue;
		if (!count++ || status.st_mtim.tv_sec > best.st_mtim.tv_sec ||
		    (status.st_mtim.tv_sec == best.st_mtim.tv_sec &&
		     status.st_mtim.tv_nsec > best.st_mtim.tv_nsec)) {
			best = status;
			snprintf(newest, room, "%s", entry->d_name);
		}
	}
	rewinddir(directory);
	return count;
}

static int search_directory(struct search *search, int fd, const char *path, int depth);

static int search_below(struct search *search, DIR *directory, const char *path, int depth)
{
	char newest[NAME_MAX + 1], below[PATH_MAX];
	size_t snapshots = find_newest(directory, newest, sizeof(newest));
	const struct dirent *entry;
	int fd, err = 0;

	if (snapshots > 1)
		sdw_info("%s holds %zu snapshots: taking the newest, %s", path, snapshots, newest);
	while (!err && (entry = readdir(directory))) {
		if (!is_wanted(entry, newest))
			continue;
		fd = openat(dirfd(directory), entry->d_name,
			    O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
		if (fd < 0)
			continue;
		if (snprintf(below, sizeof(below), "%s/%s", path, entry->d_name) <
		    (int)sizeof(below))
			err = search_directory(search, fd, below, depth + 1);
		close(fd);
	}
	return err;
}

static int search_directory(struct search *search, int fd, const char *path, int depth)
{
	int err = add_trace(search, fd, path), copy;
	DIR *directory;

	if (err == -E2BIG || search->looks++ == MAX_LOOKS) {
		snprintf(search->problem, search->size,
			 "it holds too many %s to look through: name the trace's own directory",
			 err == -E2BIG ? "traces" : "directories");
		return -EINVAL;
	}
	if (err || depth == MAX_DEPTH)
		return err < 0 ? err : 0;
	copy = dup(fd);
	directory = copy < 0 ? NULL : fdopendir(copy);
	if (!directory) {
		err = -errno;
		if (copy >= 0)
			close(copy);
		return err;
	}
	err = search_below(search, directory, path, depth);
	closedir(directory);
	return err;
}

int sdw_trace_places_add(struct sdw_trace_places *places, const char *path, char *problem,
			 size_t size)
{
	struct search search = {.places = places, .problem = problem, .size = size};
	size_t before = places->count;
	int fd, err;

	if (sdw_trace_is_url(path))
		return add(places, SDW_TRACE_LIVE, path);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOTDIR ? -ENOENT : -errno;
	err = search_directory(&search, fd, path, 0);
	close(fd);
	return err ?: places->count > before ? err : -ENOENT;
}

void sdw_trace_places_free(struct sdw_trace_places *places)
{
	while (places->count)
		free(places->items[--places->count].path);
	free(places->items);
	*places = (struct sdw_trace_places){0};
}
