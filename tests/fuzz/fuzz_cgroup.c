// SPDX-License-Identifier: MIT
/*
 * fuzz_cgroup.c - lines of /proc/PID/cgroup and of mountinfo, whose paths belong to whoever may
 * make groups and mounts.
 */
#include <stdbool.h>
#include <string.h>

#include "fuzz/input.h"
#include "target/cgroup.h"
#include "target/cgroup_path.h"

static void check_path(const char *path)
{
	struct sdw_cgroup_name name;
	bool found = sdw_cgroup_path_parse(path, &name);

	fuzz_assert(found == (*name.id != '\0') && found == (name.own > 0));
	fuzz_assert(name.own <= strlen(path) && name.pod_own <= strlen(path));
	fuzz_assert((*name.pod != '\0') == (name.pod_own > 0));
	fuzz_assert(!path[name.own] || path[name.own] == '/' || !found);
	fuzz_assert(memchr(name.id, '\0', sizeof(name.id)) &&
		    memchr(name.pod, '\0', sizeof(name.pod)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sdw_cgroup_mount mount;
	const char *controllers, *path;
	/* twice, as both parsers change their line; to the byte, so that what reads on is found */
	char *line = malloc(size + 1), *copy = malloc(size + 1);

	if (!line || !copy)
		abort();
	memcpy(line, data, size);
	line[size] = '\0';
	memcpy(copy, line, size + 1);
	check_path(line);
	if (sdw_cgroup_line_parse(line, &controllers, &path))
		check_path(path);
	if (sdw_cgroup_mount_parse(copy, &mount)) {
		(void)sdw_cgroup_mount_has(&mount, "cpu");
		free(mount.point);
		free(mount.within);
		free(mount.controllers);
	}
	free(line);
	free(copy);
	return 0;
}
