/* SPDX-License-Identifier: MIT */
/*
 * vmlinux.h - stands in for the kernel's types where the agent compiles the walk of bpf/ for user
 * space: the same code finds the thread state, walks and announces on both paths.
 */
#ifndef SDW_SHIM_VMLINUX_H
#define SDW_SHIM_VMLINUX_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>

enum {
	BPF_ANY = 0,
	BPF_NOEXIST = 1,
	BPF_RB_NO_WAKEUP = 1,
	BPF_RB_FORCE_WAKEUP = 2,
	BPF_RB_AVAIL_DATA = 0,
};

/* map types: the tables are the agent's own, see tables.c */
enum { BPF_MAP_TYPE_HASH, BPF_MAP_TYPE_ARRAY, BPF_MAP_TYPE_ARRAY_OF_MAPS, BPF_MAP_TYPE_RINGBUF };

struct sdw_user_registers {
	unsigned long ip;
};

#endif
