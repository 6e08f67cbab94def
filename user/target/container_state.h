/* SPDX-License-Identifier: MIT */
/*
 * container_state.h - what container runtimes keep on disk of their containers.
 *
 * In:  a directory that is the root of the file system where the runtimes run, and ids.
 * Out: names and pods; and which control groups are of runc's and crun's containers. The files are
 * root's, but read like any other: bounded, regular, and never through a link out of the root.
 */
#ifndef SDW_CONTAINER_STATE_H
#define SDW_CONTAINER_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The root of the first process: the host's, also for a profiler in a container that shares the
 * host's pids. Our own where that may not be opened. Returns a descriptor or -errno.
 */
int sdw_container_state_root(void);

/* *name and *pod are malloc'ed, or NULL where nothing is known. */
void sdw_container_state_names(int root, const char *id, char **name, char **pod);

struct sdw_container_group {
	char *path; /* of the control group, as in /proc/PID/cgroup */
	char *id;
};

/* A container without a state: it was just being made, or something is left over of it. */
struct sdw_unfinished_container {
	char *directory;
	uint64_t stamp; /* before it was read: to be read again when it has another */
};

struct sdw_container_groups {
	struct sdw_container_group *items;
	size_t count, room;
	uint64_t stamp; /* of the directories of containers when they were read */
	struct {
		struct sdw_unfinished_container *items;
		size_t count, room;
	} unfinished;
};

/* Reads them again if a container came or went since; one for which memory is short is left out. */
void sdw_container_state_groups(int root, struct sdw_container_groups *groups);
void sdw_container_groups_free(struct sdw_container_groups *groups);

#endif
