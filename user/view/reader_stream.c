// SPDX-License-Identifier: MIT
#include <dirent.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sink/ctf_format.h"
#include "view/reader_stream.h"

/*
 * Can this packet come after `last` (zeros before the first), with `left` bytes from its start to
 * the end of the file? Sequence and time never go back; libbabeltrace2 2.1 aborts where they do.
 */
static bool is_whole(const struct sdw_ctf_packet_start *start,
		     const struct sdw_ctf_packet_start *last, uint64_t left)
{
	uint64_t content = le64toh(start->content_bits), bits = le64toh(start->packet_bits);
	uint64_t begin = le64toh(start->timestamp_begin);

	return le32toh(start->magic) == SDW_CTF_MAGIC && bits % 8 == 0 && bits / 8 <= left &&
	       content >= sizeof(*start) * 8 && content <= bits &&
	       begin >= le64toh(last->timestamp_end) && begin <= le64toh(start->timestamp_end) &&
	       le64toh(start->sequence) >= le64toh(last->sequence) &&
	       le64toh(start->discarded) >= le64toh(last->discarded);
}

/* Walks the packets. Returns how many bytes of whole packets the file starts with, or -errno. */
static int64_t whole_bytes(int file, uint64_t size)
{
	struct sdw_ctf_packet_start last = {0}, start;
	uint64_t offset = 0;

	while (size - offset >= sizeof(start)) {
		ssize_t n = pread(file, &start, sizeof(start), (off_t)offset);

		if (n < 0)
			return -errno;
		if (n != sizeof(start) || !is_whole(&start, &last, size - offset))
			break;
		if (offset && memcmp(start.uuid, last.uuid, sizeof(last.uuid)))
			break;
		last = start;
		offset += le64toh(start.packet_bits) / 8;
	}
	return (int64_t)offset;
}

int sdw_reader_check_stream(int fd, const char *path, char *problem, size_t size)
{
	int file = openat(fd, SDW_CTF_STREAM, O_RDONLY | O_CLOEXEC | O_NONBLOCK), err = 0;
	struct stat status;
	int64_t whole;

	if (file < 0 && errno != ENOENT)
		return -errno;
	if (file < 0 || fstat(file, &status) || !S_ISREG(status.st_mode) || !status.st_size) {
		snprintf(problem, size, "it has no stream");
		err = -EINVAL;
		goto out;
	}
	whole = whole_bytes(file, (uint64_t)status.st_size);
	if (whole < 0) {
		err = (int)whole;
	} else if (whole == 0) {
		snprintf(problem, size, "its stream does not start with a packet");
		err = -EINVAL;
	} else if (whole < status.st_size) {
		snprintf(problem, size,
			 "its stream is cut or broken after %lld bytes; 'truncate -s %lld %s/%s' "
			 "makes what is before readable",
			 (long long)whole, (long long)whole, path, SDW_CTF_STREAM);
		err = -EINVAL;
	}
out:
	if (file >= 0)
		close(file);
	return err;
}

/* What a packet of LTTng-UST 2.x begins with, up to its size; little endian. */
struct lttng_packet_start {
	uint32_t magic;
	uint8_t uuid[16];
	uint32_t stream_id;
	uint64_t stream_instance_id;
	uint64_t timestamp_begin;
	uint64_t timestamp_end;
	uint64_t content_bits;
	uint64_t packet_bits;
} __attribute__((packed));

/* Returns how many bytes of whole packets the file starts with, or -errno. */
static int64_t whole_lttng_bytes(int file, uint64_t size)
{
	struct lttng_packet_start start;
	uint64_t offset = 0, bits;

	while (size - offset >= sizeof(start)) {
		ssize_t n = pread(file, &start, sizeof(start), (off_t)offset);

		if (n < 0)
			return -errno;
		bits = le64toh(start.packet_bits);
		if (n != sizeof(start) || le32toh(start.magic) != SDW_CTF_MAGIC || bits % 8 ||
		    bits / 8 < sizeof(start) || bits / 8 > size - offset)
			break;
		offset += bits / 8;
	}
	return (int64_t)offset;
}

static int check_lttng_stream(int fd, const char *path, const char *name, char *problem,
			      size_t room)
{
	int file = openat(fd, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW), err = 0;
	struct stat status;
	int64_t whole;

	if (file < 0)
		return 0;
	if (fstat(file, &status) || !S_ISREG(status.st_mode))
		goto out;
	whole = whole_lttng_bytes(file, (uint64_t)status.st_size);
	if (whole < 0) {
		err = (int)whole;
	} else if (whole < status.st_size) {
		snprintf(problem, room,
			 "its stream %s is being written, or cut or broken after %lld bytes; then "
			 "'truncate -s %lld %s/%s' makes what is before readable",
			 name, (long long)whole, (long long)whole, path, name);
		err = -EINVAL;
	}
out:
	close(file);
	return err;
}

int sdw_reader_check_lttng_streams(int fd, const char *path, char *problem, size_t size)
{
	const struct dirent *entry;
	int copy = dup(fd), err = 0;
	DIR *directory = copy < 0 ? NULL : fdopendir(copy);

	if (!directory) {
		err = -errno;
		if (copy >= 0)
			close(copy);
		return err;
	}
	while (!err && (entry = readdir(directory)))
		if (entry->d_name[0] != '.' && strcmp(entry->d_name, SDW_CTF_METADATA) != 0)
			err = check_lttng_stream(fd, path, entry->d_name, problem, size);
	closedir(directory);
	return err;
}
