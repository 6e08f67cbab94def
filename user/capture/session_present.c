// SPDX-License-Identifier: MIT
/*
 * session_present.c - who is there when the recording of a machine or of control groups begins, and
 * when a group ends.
 *
 * A process that is looked at before its first overflow has its Python frames from the first sample
 * on. That is bounded by time: who is not looked at is met at the first overflow.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "capture/cgroup_target.h"
#include "capture/session_internal.h"
#include "target/cgroup.h"

#define LOOK_NS 1000000000u /* for all of them together; one takes a third of a millisecond */

static int add_present(void *context, uint32_t pid)
{
	struct sdw_session *session = context;
	int err;

	if (!pid || pid == (uint32_t)getpid())
		return 0;
	if (sdw_session_now() - session->looking_ns > LOOK_NS)
		return -ETIME;
	err = sdw_session_add_known(session, pid, true);
	return err == -ENOMEM ? err : 0;
}

/* One that ended just before it was made known would stay known, and its pid become another's. */
static void end_looking(struct sdw_session *session)
{
	sdw_images_find_ended(&session->pipeline->images, sdw_session_now());
}

/* Kernel threads have no program. */
static bool has_program(uint32_t pid)
{
	char path[64], target[8];

	snprintf(path, sizeof(path), "/proc/%u/exe", pid);
	return readlink(path, target, sizeof(target)) >= 0;
}

int sdw_session_add_all(struct sdw_session *session)
{
	DIR *proc = opendir("/proc");
	const struct dirent *entry;
	int err = 0;

	if (!proc)
		return 0;
	session->looking_ns = sdw_session_now();
	while (!err && (entry = readdir(proc))) {
		uint32_t pid = (uint32_t)strtoul(entry->d_name, NULL, 10);

		if (isdigit((unsigned char)entry->d_name[0]) && has_program(pid))
			err = add_present(session, pid);
	}
	closedir(proc);
	end_looking(session);
	return err == -ENOMEM ? err : 0;
}

int sdw_session_add_groups(struct sdw_session *session)
{
	const struct sdw_cgroup_targets *groups = session->config->groups;
	int err = 0;

	session->looking_ns = sdw_session_now();
	for (size_t i = 0; i < groups->count && !err; i++)
		err = sdw_cgroup_each_process(groups->items[i].directory, add_present, session);
	end_looking(session);
	session->groups_lived = !sdw_cgroup_targets_are_empty(groups);
	return err == -ENOMEM ? err : 0;
}

void sdw_session_look_at_groups(struct sdw_session *session)
{
	bool empty;

	if (!session->config->groups)
		return;
	empty = sdw_cgroup_targets_are_empty(session->config->groups);
	session->groups_ended = empty && session->groups_lived;
	session->groups_lived = session->groups_lived || !empty;
}
