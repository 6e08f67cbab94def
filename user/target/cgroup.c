// SPDX-License-Identifier: MIT
/* cgroup.c - see cgroup.h. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/array.h"
#include "target/cgroup.h"
#include "target/container_state.h"

#define MAX_DEPTH 32 /* of groups below a target; runtimes nest three or four */

static void free_mount(struct sdw_cgroup_mount *mount)
{
	free(mount->point);
	free(mount->within);
	free(mount->controllers);
}

void sdw_cgroup_mounts_free(struct sdw_cgroup_mounts *mounts)
{
	for (size_t i = 0; i < mounts->count; i++)
		free_mount(&mounts->items[i]);
	free(mounts->items);
	if (mounts->root >= 0)
		close(mounts->root);
	*mounts = (struct sdw_cgroup_mounts){.root = -1};
}

/* Undoes \040 and the like, in place. */
static void unescape(char *text)
{
	char *to = text;

	for (; *text; text++) {
		if (text[0] == '\\' && isdigit((unsigned char)text[1]) &&
		    isdigit((unsigned char)text[2]) && isdigit((unsigned char)text[3])) {
			*to++ = (char)((text[1] - '0') << 6 | (text[2] - '0') << 3 |
				       (text[3] - '0'));
			text += 3;
		} else {
			*to++ = *text;
		}
	}
	*to = '\0';
}

/* "36 25 0:32 / /sys/fs/cgroup/cpu rw,relatime shared:9 - cgroup cgroup rw,cpu" */
bool sdw_cgroup_mount_parse(char *line, struct sdw_cgroup_mount *mount)
{
	char *tail = strstr(line, " - "), *rest = NULL, *field, *fields[5] = {0};
	char *type, *options;
	unsigned int device_major, device_minor;
	bool v2;

	if (!tail)
		return false;
	*tail = '\0';
	for (size_t i = 0; i < 5; i++) {
		fields[i] = strtok_r(i ? NULL : line, " ", &rest);
		if (!fields[i])
			return false;
	}
	type = strtok_r(tail + 3, " \n", &rest);
	(void)strtok_r(NULL, " \n", &rest); /* the source, any name */
	options = strtok_r(NULL, " \n", &rest);
	v2 = type && strcmp(type, "cgroup2") == 0;
	if (!type || !options || (!v2 && strcmp(type, "cgroup") != 0) ||
	    sscanf(fields[2], "%u:%u", &device_major, &device_minor) != 2)
		return false;
	unescape(fields[3]);
	unescape(fields[4]);
	/* of v1 the options are "rw,cpu,cpuacct": more than the controllers, which does no harm */
	field = v2 ? "" : options;
	*mount = (struct sdw_cgroup_mount){.within = strdup(fields[3]),
					   .point = strdup(fields[4]),
					   .controllers = strdup(field),
					   .device = makedev(device_major, device_minor)};
	if (mount->within && mount->point && mount->controllers)
		return true;
	free_mount(mount);
	return false;
}

int sdw_cgroup_mounts_read(struct sdw_cgroup_mounts *mounts)
{
	FILE *file = fopen("/proc/1/mountinfo", "re");
	char *line = NULL;
	size_t room = 0;
	int err = 0;

	if (!file)
		file = fopen("/proc/self/mountinfo", "re");
	if (!file)
		return -errno;
	*mounts = (struct sdw_cgroup_mounts){.root = sdw_container_state_root()};
	while (!err && getline(&line, &room, file) > 0) {
		struct sdw_cgroup_mount mount;

		if (!sdw_cgroup_mount_parse(line, &mount))
			continue;
		err = sdw_array_reserve(mounts, 1);
		if (err)
			free_mount(&mount);
		else
			mounts->items[mounts->count++] = mount;
	}
	free(line);
	fclose(file);
	if (!err && mounts->root < 0)
		err = mounts->root;
	if (err)
		sdw_cgroup_mounts_free(mounts);
	return err;
}

bool sdw_cgroup_mount_has(const struct sdw_cgroup_mount *mount, const char *controller)
{
	const char *at = mount->controllers;
	size_t size = strlen(controller);

	if (!size)
		return !*at;
	while (*at) {
		size_t word = strcspn(at, ",");

		if (word == size && memcmp(at, controller, size) == 0)
			return true;
		at += word + (at[word] == ',');
	}
	return false;
}

int sdw_cgroup_open(const struct sdw_cgroup_mounts *mounts, const struct sdw_cgroup_mount *mount,
		    const char *path, size_t size)
{
	struct open_how how = {.flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC,
			       .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
	size_t within = strlen(mount->within);
	char *full;
	int fd;

	if (strcmp(mount->within, "/") == 0)
		within = 0;
	/* "/..": of a group outside of our namespace of them */
	if (size < within || memcmp(path, mount->within, within) != 0 ||
	    (size > within && path[within] != '/') ||
	    (strncmp(path, "/..", 3) == 0 && (path[3] == '/' || !path[3])))
		return -ENOENT; /* not below what is mounted here */
	if (asprintf(&full, "%s%.*s", mount->point, (int)(size - within), path + within) < 0)
		return -ENOMEM;
	fd = (int)syscall(SYS_openat2, mounts->root, full, &how, sizeof(how));
	fd = fd < 0 ? -errno : fd;
	free(full);
	return fd;
}

static int each_in_file(int directory, sdw_cgroup_take *take, void *context)
{
	int fd = openat(directory, "cgroup.procs", O_RDONLY | O_CLOEXEC), err = 0;
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
	unsigned int pid;

	if (!file) {
		err = -errno;
		if (fd >= 0)
			close(fd);
		return err == -ENOENT || err == -ENODEV ? 0 : err;
	}
	/* a threaded group (EOPNOTSUPP) has none of its own */
	while (!err && fscanf(file, "%u", &pid) == 1)
		err = take(context, pid);
	fclose(file);
	return err;
}

static int each_below(int directory, sdw_cgroup_take *take, void *context, int depth)
{
	int copy = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *stream = copy < 0 ? NULL : fdopendir(copy);
	int err = stream ? each_in_file(directory, take, context) : 0;
	const struct dirent *entry;

	if (!stream) {
		if (copy >= 0)
			close(copy);
		return 0; /* gone */
	}
	while (!err && depth < MAX_DEPTH && (entry = readdir(stream))) {
		int below;

		if (entry->d_type != DT_DIR || entry->d_name[0] == '.')
			continue;
		below = openat(directory, entry->d_name,
			       O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (below < 0)
			continue;
		err = each_below(below, take, context, depth + 1);
		close(below);
	}
	closedir(stream);
	return err;
}

int sdw_cgroup_each_process(int directory, sdw_cgroup_take *take, void *context)
{
	return each_below(directory, take, context, 0);
}

static int stop_at_first(void *context, uint32_t pid)
{
	(void)context;
	(void)pid;
	return 1;
}

bool sdw_cgroup_is_empty(int directory)
{
	return sdw_cgroup_each_process(directory, stop_at_first, NULL) == 0;
}
