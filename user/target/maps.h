/* SPDX-License-Identifier: MIT */
/*
 * maps.h - the file mappings of one process image, and the ELF files behind them.
 *
 * Filled from /proc/PID/maps for a process that runs already and from the kernel's mmap records for
 * what is mapped later (also by processes that are gone before /proc can be read).
 * Files are opened through /proc/PID/map_files or, for processes gone, by path if device and inode
 * still match; each distinct file (device, inode, mtime, size) is read once for all processes.
 */
#ifndef SDW_MAPS_H
#define SDW_MAPS_H

#include "symbol/elf_file.h"

struct sdw_file_cache; /* ELF files by identity, shared by all processes */

int sdw_file_cache_create(struct sdw_file_cache **cache);
void sdw_file_cache_free(struct sdw_file_cache *cache);

struct sdw_mapping {
	uint64_t start, end; /* addresses in the process */
	uint64_t offset;     /* of `start` in the file */
	uint64_t inode;
	uint32_t device_major, device_minor;
	bool executable;
	bool file_tried;     /* elf was looked for ... */
	bool file_denied;    /* ... and there is one, which we have no right to read */
	struct sdw_elf *elf; /* NULL: anonymous, or not an ELF file, or cannot be had */
	char *path;	     /* as the kernel shows it, with \012 undone; "" for anonymous */
};

struct sdw_maps {
	struct sdw_mapping *items; /* by start, not overlapping */
	size_t count, room;
	uint32_t pid;
	uint32_t task;	     /* by which /proc is asked: pid, unless its main thread has ended */
	uint32_t generation; /* grows with every change: caches of addresses check it */
	struct sdw_file_cache *cache;
};

void sdw_maps_init(struct sdw_maps *maps, uint32_t pid, struct sdw_file_cache *cache);
void sdw_maps_free(struct sdw_maps *maps);

/* Replaces all with what /proc/PID/maps says (all mappings with a file, all executable ones). */
int sdw_maps_read(struct sdw_maps *maps);

/*
 * One line of /proc/PID/maps, for sdw_maps_read and its tests and fuzzers; the caller frees
 * mapping->path. 0, -EINVAL (mapping is unchanged) or -ENOMEM.
 */
int sdw_maps_parse_line(const char *line, size_t size, struct sdw_mapping *mapping);

/*
 * Adds a mapping (path is copied); what it overlaps is cut or removed.
 * Returns 0, -EINVAL (empty range) or -ENOMEM (also: too many). Pointers to mappings end here.
 */
int sdw_maps_add(struct sdw_maps *maps, const struct sdw_mapping *mapping);

/*
 * Makes `to` the copy of `from` for process `pid`, after a fork. `to` is overwritten: what it held
 * must have been freed. Returns 0 or -ENOMEM (`to` is empty then).
 */
int sdw_maps_copy(struct sdw_maps *to, const struct sdw_maps *from, uint32_t pid);

/* The mapping that holds `address`, or NULL. */
struct sdw_mapping *sdw_maps_find(struct sdw_maps *maps, uint64_t address);

/*
 * The ELF file of a mapping, opened at first use (never a FIFO, device or junk at the old path:
 * the inode must be the mapped one). NULL if there is none. For "[vdso]" the image in memory.
 */
struct sdw_elf *sdw_mapping_elf(struct sdw_maps *maps, struct sdw_mapping *mapping);

/* Converts an address in the process to the vaddr of its file. Returns 0 or -ENOENT. */
int sdw_mapping_to_vaddr(const struct sdw_mapping *mapping, uint64_t address, uint64_t *vaddr);

/* Adds what turns the file's vaddr into an address in the process. Returns 0 or -ENOENT. */
int sdw_mapping_bias(const struct sdw_mapping *mapping, uint64_t *bias);

/* A thread of the process that has its memory: pid itself unless its main thread has ended. */
uint32_t sdw_live_task(uint32_t pid);

/*
 * Reads memory of a process (process_vm_readv; a short read is a failure). Not to be called by two
 * threads at once. Returns 0 or -errno: -ESRCH gone, -EFAULT not there, -EPERM; -ETIMEDOUT: the
 * page does not come; a process that did so three times is read no more (-EFAULT).
 */
int sdw_remote_read(uint32_t pid, uint64_t address, void *to, size_t size);

#endif
