/* SPDX-License-Identifier: MIT */
/* container_find.h - the running container that a user means. */
#ifndef SDW_CONTAINER_FIND_H
#define SDW_CONTAINER_FIND_H

#include "target/container.h"

struct sdw_found_container {
	const struct sdw_container *container;
	struct sdw_cgroup_lines *lines; /* of one of its processes */
	bool is_pod; /* the whole pod is meant: its groups, not the container's */
};

struct sdw_found_containers {
	struct sdw_found_container *items;
	size_t count, room;
};

/* Lists the containers that have processes. Returns 0 or -errno. */
int sdw_containers_list(struct sdw_containers *containers, struct sdw_found_containers *found);
void sdw_found_containers_free(struct sdw_found_containers *found);

/*
 * Leaves in `found` only what `asked` names: by id, name, pod or POD/NAME; if there is none, by the
 * beginning of an id or name. One is left if it is clear what is meant (of a pod, any of its
 * containers, with is_pod); none, or several, if not.
 */
void sdw_found_containers_match(struct sdw_found_containers *found, const char *asked);

/* A group of /proc/PID/cgroup: how much of lines->items[line].path is the target's; 0: nothing. */
size_t sdw_found_container_path(struct sdw_containers *containers,
				const struct sdw_found_container *found, size_t line);

#endif
