/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * cgroup.bpf.h - is the current task in one of the control groups that are recorded?
 *
 * Only where the events cannot tell it themselves: tracepoints, and groups of a hierarchy that
 * perf_event is not part of. Any hierarchy of v1 is looked at through the controller that it has.
 */
#ifndef SDW_CGROUP_BPF_H
#define SDW_CGROUP_BPF_H

#include "maps.bpf.h"

#define SDW_CGROUP_LEVELS 16 /* groups within groups that are looked at, from the task's own */

/* The group of a task in the hierarchy that sdw_config names. */
static __always_inline struct cgroup *cgroup_of(struct task_struct *task)
{
	struct css_set *sets = BPF_CORE_READ(task, cgroups);
	struct cgroup_subsys_state *state = NULL;

	if (sdw_config.cgroup_subsystem == SDW_CGROUP_V2)
		return BPF_CORE_READ(sets, dfl_cgrp);
	/* subsys[] has as many entries as the kernel has controllers: libbpf relocates its start */
	if (bpf_probe_read_kernel(&state, sizeof(state),
				  (void *)sets + bpf_core_field_offset(sets->subsys) +
					  (__u64)sdw_config.cgroup_subsystem * sizeof(state)) ||
	    !state)
		return NULL;
	return BPF_CORE_READ(state, cgroup);
}

static __always_inline bool in_target_group(struct task_struct *task)
{
	struct cgroup *group;
	__u32 i;

	if (!sdw_config.cgroup_filter)
		return true;
	group = cgroup_of(task);
	for (i = 0; i < SDW_CGROUP_LEVELS && group; i++) {
		struct cgroup_subsys_state *parent;
		__u64 id = BPF_CORE_READ(group, kn, id);

		if (bpf_map_lookup_elem(&groups, &id))
			return true;
		parent = BPF_CORE_READ(group, self.parent);
		if (!parent)
			return false;
		group = BPF_CORE_READ(parent, cgroup);
	}
	return false;
}

#endif
