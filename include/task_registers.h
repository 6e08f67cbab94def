/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* task_registers.h - what bpf/dump/registers.bpf.c tells of each thread of the machine. */
#ifndef SDW_TASK_REGISTERS_H
#define SDW_TASK_REGISTERS_H

#include "events.h"

/* User-mode registers as they were saved when the thread entered the kernel last. */
struct sdw_task_registers {
	__u32 tid; /* in the first pid namespace */
	__u32 reserved;
	__u64 switches; /* as often as it gave up a processor, or lost it: tells two sleeps apart */
	struct sdw_registers registers;
};

#ifndef __bpf__
_Static_assert(sizeof(struct sdw_task_registers) == 16 + 64, "layout of the iterator's file");
#endif

#endif
