/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* task.bpf.h - who a task is, in the pid namespace that the profiler lives in. */
#ifndef SDW_TASK_BPF_H
#define SDW_TASK_BPF_H

#include "maps.bpf.h"

#define SDW_NAMESPACE_LEVELS 8 /* looked at; the kernel allows 32 (MAX_PID_NS_LEVEL) */
#define SDW_PF_KTHREAD	     0x00200000u

/* Pid and tid of a task: in the profiler's pid namespace and in the task's own. 0: not visible. */
struct sdw_task_ids {
	__u32 pid, tid, inner_pid, inner_tid;
};

/* The number of `task` in the namespace `inode`, or in its own if inode is 0. */
static __always_inline __u32 number_in(struct task_struct *task, __u32 inode)
{
	struct pid *pid = BPF_CORE_READ(task, thread_pid);
	__u32 level, i;
	struct upid upid;

	if (!pid)
		return 0;
	level = BPF_CORE_READ(pid, level);
	for (i = 0; i < SDW_NAMESPACE_LEVELS; i++) {
		__u32 wanted = inode ? i : level;

		if (wanted > level)
			return 0;
		/* numbers[] is an array of unknown length: libbpf relocates its start only */
		if (bpf_probe_read_kernel(&upid, sizeof(upid),
					  (void *)pid + bpf_core_field_offset(pid->numbers) +
						  wanted * sizeof(upid)))
			return 0;
		if (!inode || BPF_CORE_READ(upid.ns, ns.inum) == inode)
			return (__u32)upid.nr;
	}
	return 0;
}

static __always_inline void task_ids(struct task_struct *task, struct sdw_task_ids *ids)
{
	__u32 inode = sdw_config.namespace_inode;
	struct task_struct *leader = BPF_CORE_READ(task, group_leader);

	ids->pid = (__u32)BPF_CORE_READ(task, tgid);
	ids->tid = (__u32)BPF_CORE_READ(task, pid);
	ids->inner_pid = number_in(leader, 0);
	ids->inner_tid = number_in(task, 0);
	if (inode) {
		ids->pid = number_in(leader, inode);
		ids->tid = number_in(task, inode);
	}
}

#endif
