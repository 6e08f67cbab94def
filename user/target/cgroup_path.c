// SPDX-License-Identifier: MIT
/*
 * cgroup_path.c - reads container ids out of the paths of control groups; see cgroup_path.h.
 *
 * The forms are those that the runtimes make, with systemd as manager of groups (a scope or slice)
 * and without; tests/unit/test_cgroup_path.c holds one of each.
 */
#include <stdio.h>
#include <string.h>

#include "target/cgroup_path.h"

#define ID_DIGITS   64 /* of Docker, containerd, CRI-O, Podman */
#define TASK_DIGITS 32 /* of a task of ECS; a static pod's uid (a hash of its manifest) */
#define UUID_CHARS  36

/* A component of the path, or a part of one. */
struct part {
	const char *at;
	size_t size;
};

static bool is_hex(const char *at, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (!(at[i] >= '0' && at[i] <= '9') && !(at[i] >= 'a' && at[i] <= 'f'))
			return false;
	}
	return size > 0;
}

static bool is_id(struct part part)
{
	return part.size == ID_DIGITS && is_hex(part.at, part.size);
}

static bool is_word(struct part part, const char *word)
{
	return part.size == strlen(word) && memcmp(part.at, word, part.size) == 0;
}

static bool cut_front(struct part *part, const char *prefix)
{
	size_t size = strlen(prefix);

	if (part->size < size || memcmp(part->at, prefix, size) != 0)
		return false;
	part->at += size;
	part->size -= size;
	return true;
}

static bool cut_back(struct part *part, const char *suffix)
{
	size_t size = strlen(suffix);

	if (part->size < size || memcmp(part->at + part->size - size, suffix, size) != 0)
		return false;
	part->size -= size;
	return true;
}

static bool ends_in(struct part part, const char *suffix)
{
	return cut_back(&part, suffix);
}

static int hex_value(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* systemd writes a '-' inside a name as \x2d. What does not fit is no name of a container. */
static bool copy(char *to, size_t room, struct part part)
{
	size_t used = 0;

	for (size_t i = 0; i < part.size && used + 1 < room; i++) {
		char c = part.at[i];

		if (c == '\\' && part.size - i >= 4 && part.at[i + 1] == 'x') {
			int high = hex_value(part.at[i + 2]), low = hex_value(part.at[i + 3]);

			if (high >= 0 && low >= 0) {
				c = (char)(high * 16 + low);
				i += 3;
			}
		}
		if (!c)
			break;
		to[used++] = c;
	}
	to[used] = '\0';
	return used > 0 && used + 1 < room;
}

/* A uid with '-', or with '_' as in slices: 8-4-4-4-12 digits; or the hash of a static pod. */
static bool take_pod_uid(struct part part, char pod[SDW_POD_BYTES])
{
	if (part.size == TASK_DIGITS && is_hex(part.at, part.size))
		return copy(pod, SDW_POD_BYTES, part);
	if (part.size != UUID_CHARS)
		return false;
	for (size_t i = 0; i < part.size; i++) {
		bool dash = i == 8 || i == 13 || i == 18 || i == 23;

		if (dash ? part.at[i] != '-' && part.at[i] != '_' : !is_hex(part.at + i, 1))
			return false;
		pod[i] = dash ? '-' : part.at[i];
	}
	pod[UUID_CHARS] = '\0';
	return true;
}

/*
 * Kubernetes: "pod<uid>", or "kubepods-burstable-pod<uid>.slice"; Podman:
 * "machine-libpod_pod_<id>.slice" or "libpod_pod_<id>".
 */
static bool take_pod(struct part part, char pod[SDW_POD_BYTES])
{
	static const char podman[] = "libpod_pod_";
	const char *at;

	if (cut_front(&part, "kubepods")) {
		at = memmem(part.at, part.size, "-pod", 4);
		if (!at || !cut_back(&part, ".slice"))
			return false;
		part = (struct part){at + 4, (size_t)(part.at + part.size - at - 4)};
		return take_pod_uid(part, pod);
	}
	at = memmem(part.at, part.size, podman, strlen(podman));
	if (at) {
		(void)cut_back(&part, ".slice");
		at += strlen(podman);
		part = (struct part){at, (size_t)(part.at + part.size - at)};
		return is_id(part) && copy(pod, SDW_POD_BYTES, part);
	}
	return cut_front(&part, "pod") && take_pod_uid(part, pod);
}

/* What watches over a container (conmon, the monitor of LXC) has a group of its own beside it. */
static bool is_monitor(struct part part)
{
	static const char conmon[] = "-conmon-";

	return memmem(part.at, part.size, conmon, strlen(conmon)) != NULL ||
	       cut_front(&part, "lxc.monitor");
}

/* Names that were chosen by whoever started it: runc, crun, systemd-nspawn, LXC. */
static bool take_name(struct part part, struct part parent, char id[SDW_CONTAINER_ID_BYTES])
{
	static const char *const runtimes[] = {"runc-", "crun-", "youki-"};
	struct part scope = part;

	if (cut_front(&scope, "machine-qemu"))
		return false; /* a virtual machine */
	if (cut_back(&scope, ".scope")) {
		for (size_t i = 0; i < sizeof(runtimes) / sizeof(*runtimes); i++) {
			struct part name = scope;

			if (cut_front(&name, runtimes[i]))
				return copy(id, SDW_CONTAINER_ID_BYTES, name);
		}
		if (is_word(parent, "machine.slice") && cut_front(&scope, "machine-"))
			return copy(id, SDW_CONTAINER_ID_BYTES, scope);
		return false;
	}
	if (cut_front(&part, "systemd-nspawn@"))
		return cut_back(&part, ".service") && copy(id, SDW_CONTAINER_ID_BYTES, part);
	if (cut_front(&part, "lxc.payload."))
		return copy(id, SDW_CONTAINER_ID_BYTES, part);
	if (is_word(parent, "lxc") || is_word(parent, "lxc.payload") || is_word(parent, "buildkit"))
		return copy(id, SDW_CONTAINER_ID_BYTES, part);
	return false;
}

/* "<32 digits>-<digits>": a container of a task of AWS Fargate. */
static bool is_fargate(struct part part)
{
	return part.size > TASK_DIGITS + 1 && is_hex(part.at, TASK_DIGITS) &&
	       part.at[TASK_DIGITS] == '-' &&
	       strspn(part.at + TASK_DIGITS + 1, "0123456789") >= part.size - TASK_DIGITS - 1;
}

static bool take_container(struct part part, struct part parent, char id[SDW_CONTAINER_ID_BYTES])
{
	struct part last = part;
	const char *colon, *dash;

	if (is_monitor(part))
		return false;
	/* a systemd path given to a runtime that manages groups itself: "SLICE:cri-containerd:ID"
	 */
	colon = memrchr(part.at, ':', part.size);
	if (colon) {
		last = (struct part){colon + 1, (size_t)(part.at + part.size - colon - 1)};
		return memchr(part.at, ':', (size_t)(colon - part.at)) && last.size &&
		       copy(id, SDW_CONTAINER_ID_BYTES, last);
	}
	/* "ID", "docker-ID.scope", "libpod-payload-ID" */
	(void)cut_back(&last, ".scope");
	dash = memrchr(last.at, '-', last.size);
	if (dash)
		last = (struct part){dash + 1, (size_t)(last.at + last.size - dash - 1)};
	if (is_id(last))
		return copy(id, SDW_CONTAINER_ID_BYTES, last);
	if (is_fargate(part))
		return copy(id, SDW_CONTAINER_ID_BYTES, part);
	return take_name(part, parent, id);
}

/* The pod may be named in the same component: "kubepods-podUID.slice:cri-containerd:ID". */
static struct part before_colon(struct part part)
{
	const char *colon = memchr(part.at, ':', part.size);

	if (colon)
		part.size = (size_t)(colon - part.at);
	return part;
}

bool sdw_cgroup_path_parse(const char *path, struct sdw_cgroup_name *name)
{
	struct part parent = {path, 0};
	const char *at = path;

	*name = (struct sdw_cgroup_name){0};
	while (*at) {
		struct part part;
		char id[SDW_CONTAINER_ID_BYTES], pod[SDW_POD_BYTES];

		at += strspn(at, "/");
		part = (struct part){at, strcspn(at, "/")};
		at += part.size;
		if (take_pod(before_colon(part), pod)) {
			memcpy(name->pod, pod, sizeof(pod));
			name->pod_own = (size_t)(at - path);
		}
		if (take_container(part, parent, id) && !ends_in(part, ".slice")) {
			memcpy(name->id, id, sizeof(id));
			name->own = (size_t)(at - path);
		}
		parent = part;
	}
	return *name->id != '\0';
}

bool sdw_cgroup_line_parse(char *line, const char **controllers, const char **path)
{
	char *first = strchr(line, ':'), *second = first ? strchr(first + 1, ':') : NULL;
	size_t size;

	if (!second || second[1] != '/')
		return false;
	*second = '\0';
	*controllers = first + 1;
	*path = second + 1;
	size = strlen(*path);
	if (second[size] == '\n') /* path is second + 1: its last byte */
		second[size] = '\0';
	return true;
}
