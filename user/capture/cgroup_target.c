// SPDX-License-Identifier: MIT
/*
 * cgroup_target.c - from --cgroup and --container to open directories; see cgroup_target.h.
 *
 * All groups of a recording must be looked at in one hierarchy. The best is one in which perf
 * counts by group: v2, unless perf_event is a hierarchy of v1. Where a container has no group
 * there, the BPF program looks at another hierarchy.
 */
#include <bpf/btf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/log.h"
#include "bpf_config.h"
#include "capture/cgroup_target.h"
#include "target/cgroup.h"
#include "target/container_find.h"
#include "target/container_state.h"

#define MAX_LISTED   10 /* containers in a message */
#define ID_DIGITS    64
#define SHOWN_DIGITS 12 /* of such an id, as runtimes do */

/* What one option names: its directory in each mount, -1 where it has none. */
struct wanted {
	const char *option, *text;
	int *directories;
};

struct search {
	struct sdw_config *config;
	struct sdw_cgroup_mounts mounts;
	struct wanted *items;
	size_t count;
};

static void close_all(int *directories, size_t count)
{
	for (size_t i = 0; directories && i < count; i++) {
		if (directories[i] >= 0)
			close(directories[i]);
	}
	free(directories);
}

static int *no_directories(size_t count)
{
	int *directories = malloc((count ? count : 1) * sizeof(*directories));

	for (size_t i = 0; directories && i < count; i++)
		directories[i] = -1;
	return directories;
}

/* ---- --cgroup ---- */

static bool is_cgroup(int directory)
{
	struct statfs status;

	return !fstatfs(directory, &status) &&
	       (status.f_type == CGROUP2_SUPER_MAGIC || status.f_type == CGROUP_SUPER_MAGIC);
}

/* A directory of a mounted hierarchy. Returns how many mounts show it, all of one hierarchy. */
static size_t open_directory(struct search *search, struct wanted *wanted)
{
	int directory = open(wanted->text, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat status;
	size_t found = 0;

	if (directory < 0)
		return 0;
	if (is_cgroup(directory) && !fstat(directory, &status)) {
		for (size_t i = 0; i < search->mounts.count && !found; i++) {
			if (search->mounts.items[i].device != status.st_dev)
				continue;
			wanted->directories[i] = directory;
			found++;
		}
	}
	if (!found)
		close(directory);
	return found;
}

/* A path within the hierarchies, as /proc/PID/cgroup has it. */
static size_t open_path(struct search *search, struct wanted *wanted)
{
	size_t found = 0;

	for (size_t i = 0; i < search->mounts.count && *wanted->text == '/'; i++) {
		wanted->directories[i] = sdw_cgroup_open(&search->mounts, &search->mounts.items[i],
							 wanted->text, strlen(wanted->text));
		found += wanted->directories[i] >= 0;
	}
	return found;
}

static int find_cgroup(struct search *search, struct wanted *wanted)
{
	if (open_directory(search, wanted) || open_path(search, wanted))
		return 0;
	sdw_error("--cgroup %s: there is no such control group: give its directory, or the path "
		  "that /proc/PID/cgroup shows",
		  wanted->text);
	return -ENOENT;
}

/* ---- --container ---- */

/* "web (0123456789ab), db (ab0123456789)" */
static void list_containers(const struct sdw_found_containers *found, char *text, size_t room)
{
	size_t used = 0;

	*text = '\0';
	for (size_t i = 0; i < found->count && used < room; i++) {
		const struct sdw_container *container = found->items[i].container;
		bool named = *container->name;
		int digits = strlen(container->id) == ID_DIGITS ? SHOWN_DIGITS : INT32_MAX;

		if (i == MAX_LISTED) {
			snprintf(text + used, room - used, " and %zu more", found->count - i);
			return;
		}
		used += (size_t)snprintf(
			text + used, room - used, "%s%s%s%s%s%.*s%s", i ? ", " : "",
			*container->pod && named ? container->pod : "",
			*container->pod && named ? "/" : "", container->name, named ? " (" : "",
			digits, container->id, named ? ")" : "");
	}
}

static int say_no_container(struct sdw_containers *containers, const char *asked,
			    const struct sdw_found_containers *matching)
{
	struct sdw_found_containers all;
	char text[1024];

	if (matching->count) {
		list_containers(matching, text, sizeof(text));
		sdw_error("--container %s: may be any of %s: give more of the id or name", asked,
			  text);
		return -EINVAL;
	}
	if (sdw_containers_list(containers, &all))
		return -ENOENT;
	list_containers(&all, text, sizeof(text));
	sdw_error("--container %s: no running container is called so or has such an id%s%s", asked,
		  all.count ? "; there are " : ": there is none at all", text);
	sdw_found_containers_free(&all);
	return -ENOENT;
}

/* The line of /proc/PID/cgroup that is about the hierarchy of a mount. */
static bool is_of_mount(const struct sdw_cgroup_mount *mount, const char *controllers)
{
	char word[128];

	/* "name=systemd" has no comma; of "cpu,cpuacct" the first is enough */
	snprintf(word, sizeof(word), "%.*s", (int)strcspn(controllers, ","), controllers);
	return sdw_cgroup_mount_has(mount, word);
}

static size_t open_container(struct search *search, struct sdw_containers *containers,
			     const struct sdw_found_container *found, struct wanted *wanted)
{
	size_t opened = 0;

	for (size_t i = 0; i < search->mounts.count; i++) {
		for (size_t line = 0; line < found->lines->count; line++) {
			size_t size = sdw_found_container_path(containers, found, line);

			if (!size || wanted->directories[i] >= 0 ||
			    !is_of_mount(&search->mounts.items[i],
					 found->lines->items[line].controllers))
				continue;
			wanted->directories[i] =
				sdw_cgroup_open(&search->mounts, &search->mounts.items[i],
						found->lines->items[line].path, size);
			opened += wanted->directories[i] >= 0;
		}
	}
	return opened;
}

static int find_container(struct search *search, struct sdw_containers *containers,
			  struct wanted *wanted)
{
	struct sdw_found_containers found;
	int err = sdw_containers_list(containers, &found);

	if (err) {
		sdw_error("--container %s: cannot look for it: %s", wanted->text, strerror(-err));
		return err;
	}
	sdw_found_containers_match(&found, wanted->text);
	if (found.count != 1) {
		err = say_no_container(containers, wanted->text, &found);
	} else if (!open_container(search, containers, &found.items[0], wanted)) {
		err = -ENOENT;
		sdw_error("--container %s: its control group is not mounted here: in a container, "
			  "start Sidewinder with --cgroupns=host and --pid=host",
			  wanted->text);
	}
	sdw_found_containers_free(&found);
	return err;
}

static int find_all(struct search *search)
{
	const struct sdw_config *config = search->config;
	struct sdw_containers *containers = NULL;
	int err = 0;

	search->items =
		calloc(config->cgroup_count + config->container_count, sizeof(*search->items));
	if (!search->items)
		return -ENOMEM;
	if (config->container_count)
		err = sdw_containers_create(sdw_container_state_root(), &containers);
	for (size_t i = 0; i < config->cgroup_count + config->container_count && !err; i++) {
		struct wanted *wanted = &search->items[search->count++];
		bool is_container = i >= config->cgroup_count;

		wanted->text = is_container ? config->containers[i - config->cgroup_count]
					    : config->cgroups[i];
		wanted->directories = no_directories(search->mounts.count);
		if (!wanted->directories)
			err = -ENOMEM;
		else if (is_container)
			err = find_container(search, containers, wanted);
		else
			err = find_cgroup(search, wanted);
	}
	sdw_containers_free(containers);
	return err;
}

/* ---- which hierarchy ---- */

/* Of a hierarchy of v1, the number of its first controller in the kernel; -1: it has none. */
static int subsystem_of(const struct sdw_config *config, const struct sdw_cgroup_mount *mount)
{
	struct btf *btf =
		config->btf_path ? btf__parse(config->btf_path, NULL) : btf__load_vmlinux_btf();
	int32_t id = btf ? btf__find_by_name_kind(btf, "cgroup_subsys_id", BTF_KIND_ENUM) : -1;
	const struct btf_type *type = id < 0 ? NULL : btf__type_by_id(btf, (uint32_t)id);
	int found = -1;

	for (uint32_t i = 0; type && i < btf_vlen(type) && found < 0; i++) {
		const struct btf_enum *one = &btf_enum(type)[i];
		const char *name = btf__name_by_offset(btf, one->name_off); /* "memory_cgrp_id" */
		const char *end = strstr(name, "_cgrp_id");
		char word[32];

		snprintf(word, sizeof(word), "%.*s", end ? (int)(end - name) : 0, name);
		/* the one that is called otherwise where it is mounted */
		if (end && sdw_cgroup_mount_has(mount, strcmp(word, "io") ? word : "blkio"))
			found = one->val;
	}
	btf__free(btf);
	return found;
}

/* Does the kernel count by group (CONFIG_CGROUP_PERF), and in this hierarchy? */
static bool counts_by_group(int directory)
{
	struct perf_event_attr attr = {.size = sizeof(attr),
				       .type = PERF_TYPE_SOFTWARE,
				       .config = PERF_COUNT_SW_DUMMY,
				       .disabled = 1};
	int fd = (int)syscall(SYS_perf_event_open, &attr, directory, 0, -1,
			      PERF_FLAG_FD_CLOEXEC | PERF_FLAG_PID_CGROUP);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static bool all_have(const struct search *search, size_t mount)
{
	for (size_t i = 0; i < search->count; i++) {
		if (search->items[i].directories[mount] < 0)
			return false;
	}
	return true;
}

static bool all_have_processes(const struct search *search, size_t mount)
{
	for (size_t i = 0; i < search->count; i++) {
		if (sdw_cgroup_is_empty(search->items[i].directories[mount]))
			return false;
	}
	return true;
}

/* How good a mount's hierarchy is to tell the targets by, 0: it is not. */
static int rank(const struct search *search, size_t mount)
{
	const struct sdw_cgroup_mount *at = &search->mounts.items[mount];
	int rank = 0;

	if (!all_have(search, mount))
		return 0;
	if (counts_by_group(search->items[0].directories[mount]))
		rank = 3;
	else if (sdw_cgroup_mount_has(at, ""))
		rank = 2;
	else if (subsystem_of(search->config, at) >= 0)
		rank = 1;
	/* a group of the same name may be there and hold nobody */
	return rank && all_have_processes(search, mount) ? rank + 3 : rank;
}

static bool is_within(int directory, int outer)
{
	char path[64], inner_path[4096], outer_path[4096];
	ssize_t size, outer_size;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", directory);
	size = readlink(path, inner_path, sizeof(inner_path));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", outer);
	outer_size = readlink(path, outer_path, sizeof(outer_path));
	return outer_size > 0 && size >= outer_size &&
	       memcmp(inner_path, outer_path, (size_t)outer_size) == 0 &&
	       (size == outer_size || inner_path[outer_size] == '/');
}

/* Is the group, or one that it is in, among the targets already or named again later? */
static bool is_covered(const struct search *search, size_t index, size_t mount)
{
	int directory = search->items[index].directories[mount];

	for (size_t i = 0; i < search->count; i++) {
		int other = search->items[i].directories[mount];

		/* of two that are the same the first stays */
		if (i != index && is_within(directory, other) &&
		    (i < index || !is_within(other, directory)))
			return true;
	}
	return false;
}

static int take(const struct search *search, size_t mount, struct sdw_cgroup_targets *targets)
{
	const struct sdw_config *config = search->config;
	const struct sdw_cgroup_mount *at = &search->mounts.items[mount];

	targets->items = calloc(search->count + 1, sizeof(*targets->items));
	if (!targets->items)
		return -ENOMEM;
	targets->by_event = config->event.type != PERF_TYPE_TRACEPOINT &&
			    counts_by_group(search->items[0].directories[mount]);
	targets->subsystem = SDW_CGROUP_V2;
	if (!sdw_cgroup_mount_has(at, ""))
		targets->subsystem = (uint32_t)subsystem_of(config, at);
	for (size_t i = 0; i < search->count; i++) {
		struct sdw_cgroup_target *target = &targets->items[targets->count];
		struct stat status;

		if (is_covered(search, i, mount))
			continue;
		if (fstat(search->items[i].directories[mount], &status))
			return -errno;
		target->id = status.st_ino;
		target->directory = fcntl(search->items[i].directories[mount], F_DUPFD_CLOEXEC, 0);
		if (target->directory < 0)
			return -errno;
		targets->count++;
	}
	if (targets->count <= SDW_MAX_GROUPS)
		return 0;
	sdw_error("%zu control groups at once are too many: at most %u", targets->count,
		  SDW_MAX_GROUPS);
	return -E2BIG;
}

static int choose(struct search *search, struct sdw_cgroup_targets *targets)
{
	size_t best = 0;
	int best_rank = 0;

	for (size_t i = 0; i < search->mounts.count; i++) {
		int its = rank(search, i);

		if (its > best_rank) {
			best_rank = its;
			best = i;
		}
	}
	if (!best_rank) {
		sdw_error("the control groups are in no hierarchy that all of them are in and the "
			  "kernel can tell tasks by: record them one by one");
		return -EINVAL;
	}
	sdw_debug("control groups: %s%s, told by %s",
		  *search->mounts.items[best].controllers ? "v1, " : "v2",
		  search->mounts.items[best].controllers,
		  best_rank % 3 == 0 ? "perf events" : "the BPF program");
	return take(search, best, targets);
}

int sdw_cgroup_targets_find(struct sdw_config *config)
{
	struct search search = {.config = config};
	int err;

	if (!config->cgroup_count && !config->container_count)
		return 0;
	err = sdw_cgroup_mounts_read(&search.mounts);
	if (err) {
		sdw_error("cannot read what is mounted: %s", strerror(-err));
		return err;
	}
	config->groups = calloc(1, sizeof(*config->groups));
	err = config->groups ? find_all(&search) : -ENOMEM;
	err = err ?: choose(&search, config->groups);
	if (err == -ENOMEM)
		sdw_error("out of memory");
	for (size_t i = 0; i < search.count; i++)
		close_all(search.items[i].directories, search.mounts.count);
	free(search.items);
	sdw_cgroup_mounts_free(&search.mounts);
	return err;
}

void sdw_cgroup_targets_free(struct sdw_cgroup_targets *targets)
{
	if (!targets)
		return;
	for (size_t i = 0; i < targets->count; i++)
		close(targets->items[i].directory);
	free(targets->items);
	free(targets);
}

bool sdw_cgroup_targets_are_empty(const struct sdw_cgroup_targets *targets)
{
	for (size_t i = 0; i < targets->count; i++) {
		if (!sdw_cgroup_is_empty(targets->items[i].directory))
			return false;
	}
	return true;
}

bool sdw_config_counts_processors(const struct sdw_config *config)
{
	return config->all || (config->groups && !config->groups->by_event);
}
