/* SPDX-License-Identifier: MIT */
/* empty_program.h - a BPF program for a perf event that returns at once. */
#ifndef SDW_BENCH_EMPTY_PROGRAM_H
#define SDW_BENCH_EMPTY_PROGRAM_H

#include <bpf/bpf.h>
#include <linux/bpf.h>

/* r0 = 0; exit: the kernel does nothing further with an overflow for which the program returns 0.
 * Returns a file descriptor, or < 0 with errno set.
 */
static inline int load_empty_program(void)
{
	const struct bpf_insn code[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};

	return bpf_prog_load(BPF_PROG_TYPE_PERF_EVENT, "sdw_floor", "GPL", code,
			     sizeof(code) / sizeof(code[0]), NULL);
}

#endif
