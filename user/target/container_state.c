// SPDX-License-Identifier: MIT
/*
 * container_state.c - see container_state.h. Where each runtime keeps what, by default:
 *
 *   Docker      /var/lib/docker/containers/ID/config.v2.json: Name
 *   Podman      .../containers/storage/overlay-containers/containers.json: a list of id and names
 *   CRI-O       /run/containers/storage/overlay-containers/ID/userdata/config.json: annotations
 *   containerd  /run/containerd/io.containerd.runtime.v2.task/NAMESPACE/ID/config.json: the same
 *   runc, crun  /run/runc/ID/state.json: cgroup_paths; /run/crun/ID/status: cgroup-path
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/array.h"
#include "target/container_state.h"

#define MAX_FILE_BYTES (8u << 20)
#define MAX_ENTRIES    65536 /* of a directory */
#define MAX_UNFINISHED 256   /* beyond that they are left over */
#define BY_NAMESPACE   "/run/containerd/runc"
#define CGROUP_ROOT    "/sys/fs/cgroup"

static int open_in(int root, const char *path, int flags)
{
	struct open_how how = {.flags = (unsigned int)flags | O_CLOEXEC,
			       .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
	int fd = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));

	return fd < 0 ? -errno : fd;
}

int sdw_container_state_root(void)
{
	int root = open("/proc/1/root", O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (root < 0)
		root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return root < 0 ? -errno : root;
}

/* The text of a regular file, with a NUL; NULL: there is none, or it is too large to be one. */
static char *read_text(int root, const char *path)
{
	int fd = open_in(root, path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	size_t size = 0, used = 0;
	struct stat status;
	char *text = NULL;
	ssize_t got = 0;

	if (fd < 0)
		return NULL;
	if (!fstat(fd, &status) && S_ISREG(status.st_mode) && status.st_size >= 0 &&
	    status.st_size < MAX_FILE_BYTES) {
		size = (size_t)status.st_size;
		text = malloc(size + 1);
	}
	while (text && used < size && (got = read(fd, text + used, size - used)) > 0)
		used += (size_t)got;
	if (text)
		text[used] = '\0';
	close(fd);
	return text;
}

static struct json_object *read_json(int root, const char *path)
{
	struct json_object *object = NULL;
	char *text = read_text(root, path);

	if (text)
		object = json_tokener_parse(text);
	free(text);
	return object;
}

/* A member that is a text; NULL: there is none, or it is empty. */
static const char *text_of(struct json_object *object, const char *key)
{
	struct json_object *member;
	const char *text;

	if (!json_object_is_type(object, json_type_object) ||
	    !json_object_object_get_ex(object, key, &member) ||
	    !json_object_is_type(member, json_type_string))
		return NULL;
	text = json_object_get_string(member);
	return text && *text ? text : NULL;
}

/* An id becomes part of a path. */
static bool is_plain(const char *id)
{
	return *id && *id != '.' && !strchr(id, '/') && strlen(id) < 256;
}

/* ---- names ---- */

static bool docker_name(int root, const char *id, char **name)
{
	struct json_object *object;
	const char *text;
	char path[384];

	snprintf(path, sizeof(path), "/var/lib/docker/containers/%s/config.v2.json", id);
	object = read_json(root, path);
	text = text_of(object, "Name"); /* "/web" */
	if (text)
		*name = strdup(*text == '/' ? text + 1 : text);
	json_object_put(object);
	return *name != NULL;
}

/* The storage of Podman (and CRI-O, whose own names are better): a list of all containers. */
static bool storage_name(int root, const char *storage, const char *id, char **name)
{
	struct json_object *list, *names;
	char path[512];

	snprintf(path, sizeof(path), "%s/overlay-containers/containers.json", storage);
	list = read_json(root, path);
	for (size_t i = 0; json_object_is_type(list, json_type_array) && !*name &&
			   i < json_object_array_length(list);
	     i++) {
		struct json_object *one = json_object_array_get_idx(list, i);
		const char *its = text_of(one, "id");

		if (!its || strcmp(its, id) != 0)
			continue;
		if (json_object_object_get_ex(one, "names", &names) &&
		    json_object_is_type(names, json_type_array) &&
		    json_object_array_length(names) > 0 &&
		    json_object_is_type(json_object_array_get_idx(names, 0), json_type_string))
			*name = strdup(json_object_get_string(json_object_array_get_idx(names, 0)));
		break;
	}
	json_object_put(list);
	return *name != NULL;
}

/* What Kubernetes told the runtime, and nerdctl told containerd, in the bundle's annotations. */
static bool annotated_names(int root, const char *path, char **name, char **pod)
{
	struct json_object *bundle = read_json(root, path), *notes = NULL;
	const char *container, *pod_name, *space;

	if (!json_object_is_type(bundle, json_type_object) ||
	    !json_object_object_get_ex(bundle, "annotations", &notes)) {
		json_object_put(bundle);
		return false;
	}
	container = text_of(notes, "io.kubernetes.container.name") /* CRI-O */
			    ?: text_of(notes, "io.kubernetes.cri.container-name")
				       ?: text_of(notes, "nerdctl/name");
	pod_name = text_of(notes, "io.kubernetes.pod.name")
			   ?: text_of(notes, "io.kubernetes.cri.sandbox-name");
	space = text_of(notes, "io.kubernetes.pod.namespace")
			?: text_of(notes, "io.kubernetes.cri.sandbox-namespace");
	if (container)
		*name = strdup(container);
	if (pod_name && asprintf(pod, "%s%s%s", space ?: "", space ? "/" : "", pod_name) < 0)
		*pod = NULL;
	json_object_put(bundle);
	return *name || *pod;
}

typedef bool (*entry_take)(void *context, int root, const char *directory, const char *entry);

/* Calls `take` for each entry of a directory until it returns true. */
static bool each_entry(int root, const char *path, entry_take take, void *context)
{
	int fd = open_in(root, path, O_RDONLY | O_DIRECTORY);
	DIR *directory = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	bool done = false;
	int count = 0;

	if (!directory) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	while (!done && count++ < MAX_ENTRIES && (entry = readdir(directory))) {
		if (entry->d_name[0] != '.')
			done = take(context, root, path, entry->d_name);
	}
	closedir(directory);
	return done;
}

struct name_search {
	const char *id;
	char **name, **pod;
};

static bool try_namespace(void *context, int root, const char *directory, const char *entry)
{
	const struct name_search *search = context;
	char path[1024];

	snprintf(path, sizeof(path), "%s/%s/%s/config.json", directory, entry, search->id);
	return annotated_names(root, path, search->name, search->pod);
}

void sdw_container_state_names(int root, const char *id, char **name, char **pod)
{
	struct name_search search = {.id = id, .name = name, .pod = pod};
	const char *home = getenv("HOME");
	char path[512];

	*name = *pod = NULL;
	if (!is_plain(id) || docker_name(root, id, name))
		return;
	snprintf(path, sizeof(path),
		 "/run/containers/storage/overlay-containers/%s/userdata/config.json", id);
	if (annotated_names(root, path, name, pod) && *name)
		return;
	if (each_entry(root, "/run/containerd/io.containerd.runtime.v2.task", try_namespace,
		       &search))
		return;
	if (*name || storage_name(root, "/var/lib/containers/storage", id, name) || !home)
		return;
	/* containers of Podman that the user made who runs us */
	snprintf(path, sizeof(path), "%.256s/.local/share/containers/storage", home);
	(void)storage_name(root, path, id, name);
}

/* ---- control groups ---- */

void sdw_container_groups_free(struct sdw_container_groups *groups)
{
	for (size_t i = 0; i < groups->count; i++) {
		free(groups->items[i].path);
		free(groups->items[i].id);
	}
	free(groups->items);
	for (size_t i = 0; i < groups->unfinished.count; i++)
		free(groups->unfinished.items[i].directory);
	free(groups->unfinished.items);
	*groups = (struct sdw_container_groups){0};
}

/* Changes with the file or directory, with what is in it, and when it comes or goes. */
static void add_to_stamp(int root, const char *path, uint64_t *stamp)
{
	int fd = open_in(root, path, O_PATH);
	struct stat status;

	*stamp = *stamp * 31 + 1;
	if (fd < 0)
		return;
	if (!fstat(fd, &status))
		*stamp += (uint64_t)status.st_mtim.tv_sec * 1000000000 +
			  (uint64_t)status.st_mtim.tv_nsec + (uint64_t)status.st_size;
	close(fd);
}

static uint64_t stamp_of_container(int root, const char *directory)
{
	static const char *const files[] = {"", "/state.json", "/status"};
	uint64_t stamp = 0;
	char path[1024];

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		snprintf(path, sizeof(path), "%.900s%s", directory, files[i]);
		add_to_stamp(root, path, &stamp);
	}
	return stamp;
}

static void add_unfinished(struct sdw_container_groups *groups, const char *directory,
			   uint64_t stamp)
{
	char *copy;

	if (groups->unfinished.count >= MAX_UNFINISHED || sdw_array_reserve(&groups->unfinished, 1))
		return;
	copy = strdup(directory);
	if (copy)
		groups->unfinished.items[groups->unfinished.count++] =
			(struct sdw_unfinished_container){.directory = copy, .stamp = stamp};
}

static bool has_changed(int root, const struct sdw_container_groups *groups)
{
	for (size_t i = 0; i < groups->unfinished.count; i++) {
		const struct sdw_unfinished_container *one = &groups->unfinished.items[i];

		if (stamp_of_container(root, one->directory) != one->stamp)
			return true;
	}
	return false;
}

static void add_group(struct sdw_container_groups *groups, const char *path, const char *id)
{
	struct sdw_container_group group;

	if (*path != '/' || !path[1] || groups->count >= MAX_ENTRIES ||
	    sdw_array_reserve(groups, 1))
		return;
	for (size_t i = 0; i < groups->count; i++) {
		if (!strcmp(groups->items[i].path, path))
			return; /* most controllers have it at the same place */
	}
	group = (struct sdw_container_group){.path = strdup(path), .id = strdup(id)};
	if (!group.path || !group.id) {
		free(group.path);
		free(group.id);
		return;
	}
	groups->items[groups->count++] = group;
}

/* From "/sys/fs/cgroup/memory/a/b" or, of cgroup v2, "/sys/fs/cgroup/a/b" to "/a/b". */
static const char *below_mount(const char *path, bool v1)
{
	if (strncmp(path, CGROUP_ROOT "/", strlen(CGROUP_ROOT) + 1) != 0)
		return "";
	path += strlen(CGROUP_ROOT);
	if (!v1 && strncmp(path, "/unified/", 9) != 0)
		return path;
	path = strchr(path + 1, '/');
	return path ? path : "";
}

static void add_groups_of_runc(struct sdw_container_groups *groups, struct json_object *state,
			       const char *id)
{
	struct json_object *paths;

	if (!json_object_object_get_ex(state, "cgroup_paths", &paths) ||
	    !json_object_is_type(paths, json_type_object))
		return;
	json_object_object_foreach(paths, controller, path)
	{
		if (json_object_is_type(path, json_type_string))
			add_group(groups, below_mount(json_object_get_string(path), *controller),
				  id);
	}
}

static bool take_state(void *context, int root, const char *directory, const char *entry)
{
	struct sdw_container_groups *groups = context;
	char own[800], file[1024];
	struct json_object *state;
	const char *path;
	uint64_t stamp;

	if (!is_plain(entry))
		return false;
	snprintf(own, sizeof(own), "%s/%s", directory, entry);
	stamp = stamp_of_container(root, own);
	snprintf(file, sizeof(file), "%s/state.json", own);
	state = read_json(root, file);
	if (!state) {
		snprintf(file, sizeof(file), "%s/status", own);
		state = read_json(root, file);
	}
	path = text_of(state, "cgroup-path"); /* crun */
	if (path)
		add_group(groups, path, entry);
	else if (json_object_is_type(state, json_type_object))
		add_groups_of_runc(groups, state, entry);
	else
		add_unfinished(groups, own, stamp);
	json_object_put(state);
	return false;
}

static bool take_namespace(void *context, int root, const char *directory, const char *entry)
{
	char path[512];

	snprintf(path, sizeof(path), "%.200s/%.255s", directory, entry);
	return each_entry(root, path, take_state, context);
}

static bool stamp_namespace(void *context, int root, const char *directory, const char *entry)
{
	char path[512];

	snprintf(path, sizeof(path), "%.200s/%.255s", directory, entry);
	add_to_stamp(root, path, context);
	return false;
}

void sdw_container_state_groups(int root, struct sdw_container_groups *groups)
{
	/* those of Docker and Kubernetes are told by their names already */
	static const char *const plain[] = {"/run/runc", "/run/crun"};
	const size_t count = sizeof(plain) / sizeof(*plain);
	uint64_t stamp = 0;

	for (size_t i = 0; i < count; i++)
		add_to_stamp(root, plain[i], &stamp);
	(void)each_entry(root, BY_NAMESPACE, stamp_namespace, &stamp);
	if (groups->stamp == stamp && !has_changed(root, groups))
		return;
	sdw_container_groups_free(groups);
	groups->stamp = stamp;
	for (size_t i = 0; i < count; i++)
		(void)each_entry(root, plain[i], take_state, groups);
	(void)each_entry(root, BY_NAMESPACE, take_namespace, groups);
}
