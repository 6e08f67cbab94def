/* SPDX-License-Identifier: MIT */
/*
 * machine.h - what this kernel and these rights allow.
 *
 * Facts are gathered first: from files below a root directory (a test gives one of its own), and by
 * trying what a recording does. What they mean is judged apart, from the facts alone.
 */
#ifndef SDW_MACHINE_H
#define SDW_MACHINE_H

#include "capture/privilege.h"
#include "doctor/findings.h"

struct sdw_machine_facts {
	char kernel[65]; /* as uname -r has it */
	char architecture[65];
	unsigned int major, minor; /* of the kernel; 0: not understood */
	unsigned int processors;
	uint64_t memory_available; /* bytes; 0: not known */
	struct sdw_privilege_facts privilege;
	/* numbers of files; -1: not there, or may not be read */
	int64_t bpf_jit, max_sample_rate, kptr_restrict, ptrace_scope, perf_mlock_kb;
	int64_t seccomp;       /* 0 none, 1 strict, 2 a filter */
	uint64_t memlock;      /* RLIMIT_MEMLOCK in bytes; UINT64_MAX: none */
	bool in_pid_namespace; /* not the first one: it cannot see all processes */
	int mount_namespace;   /* 0: that of process 1, 1: another, -1: cannot be told */
	bool has_tracefs;
	bool lttng_root, lttng_own; /* session daemons that run: root's, and the caller's */
	/* errors of opening perf events on ourselves; 0: it works */
	int clock_error;  /* cpu-clock as a recording has it */
	int user_error;	  /* task-clock of user mode alone, as the signal path has it */
	int cycles_error; /* a hardware counter */
};

/* Reads what files tell. `root` is a descriptor of "/". */
void sdw_machine_read(int root, struct sdw_machine_facts *facts);

/* Both: tries, then reads the files of this machine. */
void sdw_machine_gather(struct sdw_machine_facts *facts);

/* Adds findings, and says which ways work. */
void sdw_machine_judge(const struct sdw_machine_facts *facts, struct sdw_findings *findings,
		       struct sdw_works *works);

#endif
