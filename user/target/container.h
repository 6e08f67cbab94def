/* SPDX-License-Identifier: MIT */
/*
 * container.h - the container of a process: its id, and what its runtime calls it.
 *
 * In:  /proc/PID/cgroup, and the runtimes' own files for names. Out: one struct a container.
 */
#ifndef SDW_CONTAINER_H
#define SDW_CONTAINER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SDW_CGROUP_LINES 32 /* hierarchies: one for each controller of v1, and v2 */

struct sdw_container {
	const char *id;
	const char *name;    /* "": not known */
	const char *pod;     /* NAMESPACE/NAME where that is known, else pod_uid */
	const char *pod_uid; /* "": in no pod */
};

/* /proc/PID/cgroup taken apart. */
struct sdw_cgroup_lines {
	char text[16384];
	struct {
		const char *controllers; /* "": cgroup v2 */
		const char *path;
	} items[SDW_CGROUP_LINES];
	size_t count;
};

/* Returns 0 or -errno. */
int sdw_cgroup_lines_read(uint32_t pid, struct sdw_cgroup_lines *lines);
/* Takes lines->text apart. */
void sdw_cgroup_lines_parse(struct sdw_cgroup_lines *lines);

struct sdw_containers;

/* root: descriptor of the directory below which runtimes keep their files; closed by free(). */
int sdw_containers_create(int root, struct sdw_containers **containers);
void sdw_containers_free(struct sdw_containers *containers);

/* The container with these control groups, NULL: none. Owned by `containers`. */
const struct sdw_container *sdw_containers_find(struct sdw_containers *containers,
						const struct sdw_cgroup_lines *lines);

/* The container of a living process. Returns 0 (*container is NULL if it is in none) or -errno. */
int sdw_containers_of(struct sdw_containers *containers, uint32_t pid,
		      const struct sdw_container **container);

/* How many bytes of `path` are the container's own group; 0: it has none there. */
size_t sdw_container_own_path(struct sdw_containers *containers,
			      const struct sdw_container *container, const char *path);

#endif
