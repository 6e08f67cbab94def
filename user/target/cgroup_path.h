/* SPDX-License-Identifier: MIT */
/*
 * cgroup_path.h - which container a control group is of, as its path tells.
 *
 * In:  a path of /proc/PID/cgroup: "/system.slice/docker-0123...scope". Whoever may make groups may
 * name them; only what container runtimes call theirs is taken for one.
 * Out: the container's id, the pod, and how much of the path is the container's own group.
 */
#ifndef SDW_CGROUP_PATH_H
#define SDW_CGROUP_PATH_H

#include <stdbool.h>
#include <stddef.h>

#define SDW_CONTAINER_ID_BYTES 256 /* with the NUL; names of machines are ids too */
#define SDW_POD_BYTES	       128

struct sdw_cgroup_name {
	char id[SDW_CONTAINER_ID_BYTES]; /* mostly 64 hexadecimal digits; "": no container's */
	char pod[SDW_POD_BYTES];	 /* uid, of Podman the id; "": none */
	size_t own;	/* bytes of the path up to the end of the container's group */
	size_t pod_own; /* the same for the pod's; 0: none */
};

/* Returns whether the path is in a container's group, the innermost of them. */
bool sdw_cgroup_path_parse(const char *path, struct sdw_cgroup_name *name);

/*
 * Takes one line of /proc/PID/cgroup apart: "7:blkio:/docker/..." or "0::/...". `line` is changed;
 * controllers is "" for cgroup v2. Returns false if it is no such line.
 */
bool sdw_cgroup_line_parse(char *line, const char **controllers, const char **path);

#endif
