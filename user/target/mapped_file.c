// SPDX-License-Identifier: MIT
/*
 * mapped_file.c - opens the ELF file behind a mapping, each distinct file once for all processes.
 *
 * In:  a mapping: pid, address range, device, inode and path; the path may lead anywhere by now.
 * Out: a struct sdw_elf of the file that is mapped, never of another one that took its name.
 *
 * Three ways, in this order: /proc/PID/map_files (the mapped file itself, also when it was deleted
 * or replaced), the path inside the root of the process, and the path in our own root (for a
 * process that is gone). Nothing is opened for reading before it is known to be a regular file.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/array.h"
#include "target/maps.h"

/* files kept before those that nobody uses are dropped; later, twice as many as are in use */
#define FIRST_LIMIT    512
#define MAX_FILES      65536
#define MAX_VDSO_BYTES (64u << 10)
#define NEIGHBOURHOOD  8 /* a file's segments lie next to each other */

struct cached_file {
	dev_t device;
	ino_t inode;
	struct timespec modified;
	off_t size;
	struct sdw_elf *elf; /* NULL: not an ELF file that can be used */
};

struct sdw_file_cache {
	struct cached_file *items;
	size_t count, room;
	size_t limit; /* count at which the unused ones are dropped */
	struct sdw_elf *vdso;
	uint8_t *vdso_bytes; /* what `vdso` was made of */
	size_t vdso_size;
};

int sdw_file_cache_create(struct sdw_file_cache **cache)
{
	*cache = calloc(1, sizeof(**cache));
	if (!*cache)
		return -ENOMEM;
	(*cache)->limit = FIRST_LIMIT;
	return 0;
}

void sdw_file_cache_free(struct sdw_file_cache *cache)
{
	if (!cache)
		return;
	for (size_t i = 0; i < cache->count; i++)
		sdw_elf_unref(cache->items[i].elf);
	free(cache->items);
	sdw_elf_unref(cache->vdso);
	free(cache->vdso_bytes);
	free(cache);
}

/* Forgets the files that no mapping uses any more. */
static void drop_unused(struct sdw_file_cache *cache)
{
	size_t kept = 0;

	for (size_t i = 0; i < cache->count; i++) {
		if (cache->items[i].elf && sdw_elf_is_shared(cache->items[i].elf))
			cache->items[kept++] = cache->items[i];
		else
			sdw_elf_unref(cache->items[i].elf);
	}
	cache->count = kept;
	cache->limit = kept * 2 > FIRST_LIMIT ? kept * 2 : FIRST_LIMIT;
}

static bool is_same_version(const struct cached_file *file, const struct stat *status)
{
	return file->inode == status->st_ino && file->device == status->st_dev &&
	       file->size == status->st_size && file->modified.tv_sec == status->st_mtim.tv_sec &&
	       file->modified.tv_nsec == status->st_mtim.tv_nsec;
}

/* The ELF file behind an O_PATH handle of a regular file; a new reference, or NULL. */
static struct sdw_elf *cached_elf(struct sdw_file_cache *cache, int handle,
				  const struct stat *status)
{
	struct cached_file file = {.device = status->st_dev,
				   .inode = status->st_ino,
				   .modified = status->st_mtim,
				   .size = status->st_size};
	char path[32];
	int fd, err;

	for (size_t i = 0; i < cache->count; i++) {
		if (is_same_version(&cache->items[i], status))
			return cache->items[i].elf ? sdw_elf_ref(cache->items[i].elf) : NULL;
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", handle);
	fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	err = sdw_elf_open(fd, &file.elf);
	close(fd);
	/* that a file is no ELF file stays true; that memory or descriptors are short does not */
	if (err && err != -ENOEXEC)
		return NULL;
	if (cache->count >= cache->limit)
		drop_unused(cache);
	/* not cached for want of room: the mapping alone holds it then */
	if (cache->count >= MAX_FILES || sdw_array_reserve(cache, 1))
		return file.elf;
	cache->items[cache->count++] = file;
	return file.elf ? sdw_elf_ref(file.elf) : NULL;
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/*
 * True if the file of a map_files entry is the mapped one: the range may show another file by now.
 * overlayfs and btrfs give stat() another device, and overlayfs another inode, than the maps show.
 */
static bool is_mapped_file(const struct sdw_mapping *mapping, const struct stat *status,
			   const char *link)
{
	char target[4096];
	ssize_t size;

	if (status->st_ino == mapping->inode)
		return true;
	if (status->st_dev == makedev(mapping->device_major, mapping->device_minor))
		return false;
	size = readlink(link, target, sizeof(target) - 1);
	if (size < 0)
		return false;
	target[size] = '\0';
	return strcmp(last_part(target), last_part(mapping->path)) == 0;
}

/* Opened by path: no more than inode and device say which file it is. */
static bool is_same_file(const struct sdw_mapping *mapping, const struct stat *status)
{
	unsigned int device_major = major(status->st_dev), device_minor = minor(status->st_dev);

	if (status->st_ino != mapping->inode || device_major != mapping->device_major)
		return false;
	/* btrfs has one anonymous device (major 0) per subvolume, and another in the maps */
	return device_minor == mapping->device_minor || device_major == 0;
}

static int open_by_range(const struct sdw_maps *maps, const struct sdw_mapping *mapping,
			 struct stat *status)
{
	char path[96];
	int handle;

	snprintf(path, sizeof(path), "/proc/%u/map_files/%llx-%llx", maps->task,
		 (unsigned long long)mapping->start, (unsigned long long)mapping->end);
	handle = open(path, O_PATH | O_CLOEXEC);
	if (handle < 0)
		return -errno;
	if (fstat(handle, status) || !S_ISREG(status->st_mode) ||
	    !is_mapped_file(mapping, status, path)) {
		close(handle);
		return -ENOENT;
	}
	return handle;
}

/* No link in a target's tree may lead out of it, or through another process's /proc entries. */
static int open_in_root(const char *root, const struct sdw_mapping *mapping, struct stat *status)
{
	struct open_how how = {.flags = O_PATH | O_CLOEXEC,
			       .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
	int directory, handle;

	if (mapping->path[0] != '/')
		return -1;
	directory = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (directory < 0)
		return -1;
	handle = (int)syscall(SYS_openat2, directory, mapping->path, &how, sizeof(how));
	close(directory);
	if (handle < 0)
		return -1;
	if (fstat(handle, status) || !S_ISREG(status->st_mode) || !is_same_file(mapping, status)) {
		close(handle);
		return -1;
	}
	return handle;
}

/* map_files takes CAP_DAC_READ_SEARCH, and CAP_CHECKPOINT_RESTORE (or CAP_SYS_ADMIN) beside it. */
static struct sdw_elf *open_file(struct sdw_maps *maps, struct sdw_mapping *mapping)
{
	struct sdw_elf *elf;
	struct stat status;
	char root[32];
	int handle;

	handle = open_by_range(maps, mapping, &status);
	mapping->file_denied = handle == -EACCES || handle == -EPERM;
	if (handle < 0) {
		snprintf(root, sizeof(root), "/proc/%u/root", maps->task);
		handle = open_in_root(root, mapping, &status);
	}
	if (handle < 0)
		handle = open_in_root("/", mapping, &status);
	if (handle < 0)
		return NULL;
	errno = 0;
	elf = cached_elf(maps->cache, handle, &status);
	mapping->file_denied = !elf && errno == EACCES;
	close(handle);
	return elf;
}

/* The image of this process, which the kernel gives to every other one of the same word size. */
static int read_own_vdso(uint8_t *bytes, size_t size)
{
	uint64_t address = getauxval(AT_SYSINFO_EHDR);

	return address ? sdw_remote_read((uint32_t)getpid(), address, bytes, size) : -ENOENT;
}

static struct sdw_elf *open_vdso(struct sdw_maps *maps, const struct sdw_mapping *mapping)
{
	struct sdw_file_cache *cache = maps->cache;
	size_t size = mapping->end - mapping->start;
	struct sdw_elf *elf = NULL;
	uint8_t *bytes;

	if (mapping->end - mapping->start > MAX_VDSO_BYTES)
		return NULL;
	bytes = malloc(size);
	if (!bytes)
		return NULL;
	if (sdw_remote_read(maps->pid, mapping->start, bytes, size) && read_own_vdso(bytes, size))
		goto out;
	if (cache->vdso && cache->vdso_size == size &&
	    memcmp(cache->vdso_bytes, bytes, size) == 0) {
		elf = sdw_elf_ref(cache->vdso);
		goto out;
	}
	if (sdw_elf_open_memory(bytes, size, &elf))
		goto out;
	if (!cache->vdso) {
		cache->vdso = sdw_elf_ref(elf);
		cache->vdso_bytes = bytes;
		cache->vdso_size = size;
		bytes = NULL;
	}
out:
	free(bytes);
	return elf;
}

/* A file's segments are mapped one after another: what was opened for one serves all. */
static struct sdw_elf *elf_of_neighbour(const struct sdw_maps *maps,
					const struct sdw_mapping *mapping)
{
	size_t index = (size_t)(mapping - maps->items);
	size_t from = index > NEIGHBOURHOOD ? index - NEIGHBOURHOOD : 0;

	for (size_t i = from; i < maps->count && i <= index + NEIGHBOURHOOD; i++) {
		const struct sdw_mapping *other = &maps->items[i];

		if (other->elf && other->inode == mapping->inode &&
		    other->device_major == mapping->device_major &&
		    other->device_minor == mapping->device_minor &&
		    strcmp(other->path, mapping->path) == 0)
			return sdw_elf_ref(other->elf);
	}
	return NULL;
}

struct sdw_elf *sdw_mapping_elf(struct sdw_maps *maps, struct sdw_mapping *mapping)
{
	if (mapping->file_tried)
		return mapping->elf;
	mapping->file_tried = true;
	if (strcmp(mapping->path, "[vdso]") == 0) {
		mapping->elf = open_vdso(maps, mapping);
	} else if (mapping->inode) {
		mapping->elf = elf_of_neighbour(maps, mapping);
		if (!mapping->elf)
			mapping->elf = open_file(maps, mapping);
	}
	return mapping->elf;
}
