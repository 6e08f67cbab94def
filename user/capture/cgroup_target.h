/* SPDX-License-Identifier: MIT */
/*
 * cgroup_target.h - the control groups that --cgroup and --container name, as a recording needs
 * them.
 *
 * In:  paths and names. Out: open directories of one hierarchy, and how their tasks are told from
 * others: by perf events that count by group, or by a filter in the BPF programs.
 */
#ifndef SDW_CGROUP_TARGET_H
#define SDW_CGROUP_TARGET_H

#include "capture/config.h"

struct sdw_cgroup_target {
	int directory;
	uint64_t id; /* as the kernel's cgroup helpers have it: the inode of the directory */
};

struct sdw_cgroup_targets {
	struct sdw_cgroup_target *items; /* none is within another */
	size_t count;
	bool by_event;	    /* an event counts the tasks of one group; else the program looks */
	uint32_t subsystem; /* of the hierarchy, for struct sdw_bpf_config */
};

/*
 * Fills config->groups from config->cgroups and config->containers; nothing to do where there are
 * none. Returns 0, or -errno after saying what is wrong, with the containers there are.
 */
int sdw_cgroup_targets_find(struct sdw_config *config);

/* NULL: nothing to do. */
void sdw_cgroup_targets_free(struct sdw_cgroup_targets *targets);

/* Is there no process left in any of them? */
bool sdw_cgroup_targets_are_empty(const struct sdw_cgroup_targets *targets);

/* Is one event opened a processor, for all tasks? As with -a; else for groups or tasks. */
bool sdw_config_counts_processors(const struct sdw_config *config);

#endif
