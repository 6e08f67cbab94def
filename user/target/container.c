// SPDX-License-Identifier: MIT
/* container.c - see container.h. A container is looked up once; its name is that of then. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/strings.h"
#include "base/utf8.h"
#include "target/cgroup_path.h"
#include "target/container.h"
#include "target/container_state.h"

#define MAX_CONTAINERS 65536 /* whoever may make groups could make more; the rest has no name */

struct sdw_containers {
	int root;
	struct sdw_strings strings;
	struct sdw_map64 by_id; /* hash of its id -> struct sdw_container * */
	struct sdw_container_groups groups;
};

int sdw_containers_create(int root, struct sdw_containers **containers)
{
	*containers = calloc(1, sizeof(**containers));
	if (!*containers)
		return -ENOMEM;
	(*containers)->root = root;
	return 0;
}

void sdw_containers_free(struct sdw_containers *containers)
{
	if (!containers)
		return;
	for (size_t i = 0; i < containers->by_id.room; i++) {
		if (containers->by_id.slots[i].key)
			free((void *)(uintptr_t)containers->by_id.slots[i].value);
	}
	sdw_map64_free(&containers->by_id);
	sdw_container_groups_free(&containers->groups);
	sdw_strings_free(&containers->strings);
	if (containers->root >= 0)
		close(containers->root);
	free(containers);
}

void sdw_cgroup_lines_parse(struct sdw_cgroup_lines *lines)
{
	char *rest = NULL;

	lines->count = 0;
	for (char *line = strtok_r(lines->text, "\n", &rest);
	     line && lines->count < SDW_CGROUP_LINES; line = strtok_r(NULL, "\n", &rest)) {
		const char *controllers, *path;

		if (!sdw_cgroup_line_parse(line, &controllers, &path))
			continue;
		lines->items[lines->count].controllers = controllers;
		lines->items[lines->count++].path = path;
	}
}

int sdw_cgroup_lines_read(uint32_t pid, struct sdw_cgroup_lines *lines)
{
	size_t used = 0;
	char path[64];
	ssize_t got;
	int fd, err;

	snprintf(path, sizeof(path), "/proc/%u/cgroup", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	while ((got = read(fd, lines->text + used, sizeof(lines->text) - 1 - used)) > 0)
		used += (size_t)got;
	err = got < 0 ? -errno : 0;
	close(fd);
	lines->text[used] = '\0';
	sdw_cgroup_lines_parse(lines);
	return err;
}

/* A text of others, kept as the UTF-8 that sinks take. NULL: out of memory. */
static const char *keep(struct sdw_containers *containers, const char *text)
{
	char *valid = sdw_utf8_repair(text ? text : "");
	const char *kept = valid ? sdw_strings_keep(&containers->strings, valid) : NULL;

	free(valid);
	return kept;
}

static uint64_t key_of(const char *id)
{
	uint64_t hash = 0;

	for (; *id; id++)
		hash = sdw_mix64(hash ^ (unsigned char)*id);
	return sdw_mix64(hash);
}

static const struct sdw_container *add(struct sdw_containers *containers, const char *id,
				       const char *pod_uid)
{
	struct sdw_container *made = calloc(1, sizeof(*made));
	char *name = NULL, *pod = NULL;

	sdw_container_state_names(containers->root, id, &name, &pod);
	if (made) {
		*made = (struct sdw_container){
			.id = keep(containers, id),
			.name = keep(containers, name),
			.pod = keep(containers, pod ? pod : pod_uid),
			.pod_uid = keep(containers, pod_uid),
		};
		if (!made->id || !made->name || !made->pod || !made->pod_uid ||
		    sdw_map64_set(&containers->by_id, key_of(id), (uintptr_t)made)) {
			free(made);
			made = NULL;
		}
	}
	free(name);
	free(pod);
	return made;
}

static const struct sdw_container *get(struct sdw_containers *containers, const char *id,
				       const char *pod_uid)
{
	const uint64_t *value = sdw_map64_find(&containers->by_id, key_of(id));
	const struct sdw_container *found;

	if (!value)
		return containers->by_id.count < MAX_CONTAINERS ? add(containers, id, pod_uid)
								: NULL;
	found = (const struct sdw_container *)(uintptr_t)*value;
	return strcmp(found->id, id) == 0 ? found : NULL;
}

static bool is_below(const char *path, const char *group)
{
	size_t size = strlen(group);

	return strncmp(path, group, size) == 0 && (path[size] == '/' || !path[size]);
}

/* runc and crun put their containers wherever they are told: their state says where. */
static const struct sdw_container_group *group_of(struct sdw_containers *containers,
						  const char *path)
{
	const struct sdw_container_groups *groups = &containers->groups;

	for (size_t i = 0; i < groups->count; i++) {
		if (is_below(path, groups->items[i].path))
			return &groups->items[i];
	}
	return NULL;
}

const struct sdw_container *sdw_containers_find(struct sdw_containers *containers,
						const struct sdw_cgroup_lines *lines)
{
	struct sdw_cgroup_name name;
	bool rooted = true;

	for (size_t i = 0; i < lines->count; i++) {
		if (sdw_cgroup_path_parse(lines->items[i].path, &name))
			return get(containers, name.id, name.pod);
		rooted = rooted && !lines->items[i].path[1];
	}
	if (rooted)
		return NULL;
	sdw_container_state_groups(containers->root, &containers->groups);
	for (size_t i = 0; i < lines->count; i++) {
		const struct sdw_container_group *group =
			group_of(containers, lines->items[i].path);

		if (group)
			return get(containers, group->id, "");
	}
	return NULL;
}

int sdw_containers_of(struct sdw_containers *containers, uint32_t pid,
		      const struct sdw_container **container)
{
	struct sdw_cgroup_lines lines;
	int err;

	lines.count = 0;
	err = sdw_cgroup_lines_read(pid, &lines);
	*container = err ? NULL : sdw_containers_find(containers, &lines);
	return err;
}

size_t sdw_container_own_path(struct sdw_containers *containers,
			      const struct sdw_container *container, const char *path)
{
	const struct sdw_container_group *group;
	struct sdw_cgroup_name name;

	if (sdw_cgroup_path_parse(path, &name))
		return strcmp(name.id, container->id) == 0 ? name.own : 0;
	group = group_of(containers, path);
	return group && strcmp(group->id, container->id) == 0 ? strlen(group->path) : 0;
}
