// SPDX-License-Identifier: MIT
/* session_groups.c - control groups as the target: who is in them at the start, when they end. */
#include <errno.h>
#include <unistd.h>

#include "capture/cgroup_target.h"
#include "capture/session_internal.h"
#include "target/cgroup.h"

#define LOOK_NS 1000000000u /* for processes of a group before the recording begins */

/* One process of a group. Those that are not looked at now are met at their first overflow. */
static int add_member(void *context, uint32_t pid)
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

int sdw_session_add_groups(struct sdw_session *session)
{
	const struct sdw_cgroup_targets *groups = session->config->groups;
	int err = 0;

	session->looking_ns = sdw_session_now();
	for (size_t i = 0; i < groups->count && !err; i++)
		err = sdw_cgroup_each_process(groups->items[i].directory, add_member, session);
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
