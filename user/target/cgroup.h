/* SPDX-License-Identifier: MIT */
/*
 * cgroup.h - control groups as directories: where each hierarchy is mounted, and their numbers.
 *
 * A machine has cgroup v2, the hierarchies of v1, or both. A group is named by its path within a
 * hierarchy, or by its directory; the kernel knows it by the directory's inode number.
 */
#ifndef SDW_CGROUP_H
#define SDW_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct sdw_cgroup_mount {
	char *point;	   /* where it is mounted, below `root` of struct sdw_cgroup_mounts */
	char *within;	   /* the group that is mounted there: "/" for the whole hierarchy */
	char *controllers; /* "cpu,cpuacct"; "": cgroup v2 */
	dev_t device;
};

struct sdw_cgroup_mounts {
	int root; /* descriptor of the directory that `point`s are below */
	struct sdw_cgroup_mount *items;
	size_t count, room;
};

/*
 * Reads what is mounted: as the first process sees it, which is the host's for a profiler in a
 * container that shares the host's pids; else as we do. Returns 0 or -errno; to be freed if 0.
 */
int sdw_cgroup_mounts_read(struct sdw_cgroup_mounts *mounts);
void sdw_cgroup_mounts_free(struct sdw_cgroup_mounts *mounts);

/* One line of /proc/PID/mountinfo; `line` is changed. False: not of a cgroup, or out of memory. */
bool sdw_cgroup_mount_parse(char *line, struct sdw_cgroup_mount *mount);

/* Is `controller` one of the mount's? "" is so for cgroup v2. */
bool sdw_cgroup_mount_has(const struct sdw_cgroup_mount *mount, const char *controller);

/* Opens the directory of the first `size` bytes of `path` in the mount. Returns it or -errno. */
int sdw_cgroup_open(const struct sdw_cgroup_mounts *mounts, const struct sdw_cgroup_mount *mount,
		    const char *path, size_t size);

/* Is there no process in the group, or in one below it? Also when it is gone. */
bool sdw_cgroup_is_empty(int directory);

/* pid 0: one that is not in our pid namespace */
typedef int sdw_cgroup_take(void *context, uint32_t pid);

/* Calls `take` for each process in the group and those below it, until it returns other than 0. */
int sdw_cgroup_each_process(int directory, sdw_cgroup_take *take, void *context);

#endif
