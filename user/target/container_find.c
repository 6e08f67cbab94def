// SPDX-License-Identifier: MIT
/* container_find.c - see container_find.h. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "target/cgroup_path.h"
#include "target/container_find.h"

static bool is_listed(const struct sdw_found_containers *found,
		      const struct sdw_container *container)
{
	for (size_t i = 0; i < found->count; i++) {
		if (found->items[i].container == container)
			return true;
	}
	return false;
}

static int add(struct sdw_containers *containers, struct sdw_found_containers *found, uint32_t pid)
{
	struct sdw_cgroup_lines *lines = malloc(sizeof(*lines));
	const struct sdw_container *container = NULL;

	if (!lines)
		return -ENOMEM;
	if (!sdw_cgroup_lines_read(pid, lines)) /* else it is gone */
		container = sdw_containers_find(containers, lines);
	if (!container || is_listed(found, container)) {
		free(lines);
		return 0;
	}
	if (sdw_array_reserve(found, 1)) {
		free(lines);
		return -ENOMEM;
	}
	found->items[found->count++] =
		(struct sdw_found_container){.container = container, .lines = lines};
	return 0;
}

int sdw_containers_list(struct sdw_containers *containers, struct sdw_found_containers *found)
{
	DIR *proc = opendir("/proc");
	const struct dirent *entry;
	int err = 0;

	*found = (struct sdw_found_containers){0};
	if (!proc)
		return -errno;
	while (!err && (entry = readdir(proc))) {
		if (isdigit((unsigned char)entry->d_name[0]))
			err = add(containers, found, (uint32_t)strtoul(entry->d_name, NULL, 10));
	}
	closedir(proc);
	if (err)
		sdw_found_containers_free(found);
	return err;
}

void sdw_found_containers_free(struct sdw_found_containers *found)
{
	for (size_t i = 0; i < found->count; i++)
		free(found->items[i].lines);
	free(found->items);
	*found = (struct sdw_found_containers){0};
}

static bool is_called(const struct sdw_container *container, const char *asked)
{
	size_t pod = strlen(container->pod);

	return strcmp(container->id, asked) == 0 || strcmp(container->name, asked) == 0 ||
	       (pod && strncmp(asked, container->pod, pod) == 0 && asked[pod] == '/' &&
		strcmp(asked + pod + 1, container->name) == 0);
}

/* By uid, as NAMESPACE/NAME, or by NAME alone. */
static bool is_in_pod(const struct sdw_container *container, const char *asked)
{
	const char *name = strrchr(container->pod, '/');

	return *container->pod_uid &&
	       (strcmp(container->pod_uid, asked) == 0 || strcmp(container->pod, asked) == 0 ||
		(name && strcmp(name + 1, asked) == 0));
}

static bool begins_so(const struct sdw_container *container, const char *asked)
{
	size_t size = strlen(asked);

	return strncmp(container->id, asked, size) == 0 ||
	       strncmp(container->name, asked, size) == 0;
}

typedef bool container_test(const struct sdw_container *container, const char *asked);

static bool any_is(const struct sdw_found_containers *found, container_test *test,
		   const char *asked)
{
	for (size_t i = 0; i < found->count; i++) {
		if (test(found->items[i].container, asked))
			return true;
	}
	return false;
}

static void keep_what_is(struct sdw_found_containers *found, container_test *test,
			 const char *asked)
{
	size_t kept = 0;

	for (size_t i = 0; i < found->count; i++) {
		if (test(found->items[i].container, asked))
			found->items[kept++] = found->items[i];
		else
			free(found->items[i].lines);
	}
	found->count = kept;
}

/* Containers of one pod become that pod. Two pods of one name stay apart. */
static void join_pod(struct sdw_found_containers *found)
{
	for (size_t i = 0; i < found->count; i++) {
		if (strcmp(found->items[i].container->pod_uid,
			   found->items[0].container->pod_uid) != 0)
			return;
	}
	while (found->count > 1)
		free(found->items[--found->count].lines);
	if (found->count)
		found->items[0].is_pod = true;
}

void sdw_found_containers_match(struct sdw_found_containers *found, const char *asked)
{
	if (any_is(found, is_called, asked)) {
		keep_what_is(found, is_called, asked);
	} else if (any_is(found, is_in_pod, asked)) {
		keep_what_is(found, is_in_pod, asked);
		join_pod(found);
	} else {
		keep_what_is(found, begins_so, asked);
	}
}

size_t sdw_found_container_path(struct sdw_containers *containers,
				const struct sdw_found_container *found, size_t line)
{
	const char *path = found->lines->items[line].path;
	struct sdw_cgroup_name name;

	if (!found->is_pod)
		return sdw_container_own_path(containers, found->container, path);
	(void)sdw_cgroup_path_parse(path, &name);
	return strcmp(name.pod, found->container->pod_uid) == 0 ? name.pod_own : 0;
}
