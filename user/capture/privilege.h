/* SPDX-License-Identifier: MIT */
/*
 * privilege.h - what a recording needs of the kernel, found out before anything is created: rights
 * to load BPF programs, to open perf events and to read other processes, and the kernel's BTF.
 */
#ifndef SDW_PRIVILEGE_H
#define SDW_PRIVILEGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/config.h"

/* What is the case here. */
struct sdw_privilege_facts {
	uint64_t capabilities; /* effective, a bit each */
	bool is_root;
	bool in_user_namespace;	    /* capabilities do not reach the kernel's own objects */
	bool has_fine_capabilities; /* 5.8 and later: CAP_BPF, CAP_PERFMON */
	bool reads_others;	    /* memory that takes CAP_SYS_PTRACE to read */
	bool has_btf;
	int bpf_error; /* of loading a program of two instructions; 0 or -errno */
	int64_t unprivileged_bpf_disabled, perf_event_paranoid; /* sysctls; -1: not there */
	char lockdown[32]; /* "none", "integrity", "confidentiality"; "" if not known */
};

void sdw_privilege_gather(const struct sdw_config *config, struct sdw_privilege_facts *facts);

/*
 * Says in one line what is missing and how to get it. Returns true if nothing is; else false and
 * the text in message.
 */
bool sdw_privilege_judge(const struct sdw_privilege_facts *facts, char *message, size_t size);

/* Both of these, for the recording `config`. Returns 0, or -EPERM after logging the message. */
int sdw_privilege_check(const struct sdw_config *config);

#endif
