/* SPDX-License-Identifier: MIT */
/*
 * programs.h - the BPF side, loaded: tables sized for this machine, rings, counters.
 *
 * In:  what to record. Out: a program to bind events to, rings to drain, tables to tell it what is
 * known of a process.
 */
#ifndef SDW_PROGRAMS_H
#define SDW_PROGRAMS_H

#include <linux/types.h>

#include "bpf_config.h"
#include "capture/config.h"
#include "events.h"
#include "pylayout.h"

struct sdw_programs;

/*
 * Loads the programs and attaches those that follow processes. only_known: overflows of processes
 * that were not made known are not the target's. Returns 0, or -errno after logging the cause.
 */
int sdw_programs_load(const struct sdw_config *config, bool only_known,
		      struct sdw_programs **programs);
void sdw_programs_free(struct sdw_programs *programs);

/* Nothing in the kernel: a table of layouts for those who walk elsewhere. Returns 0 or -ENOMEM. */
int sdw_programs_none(struct sdw_programs **programs);

/* The program to bind events to. */
int sdw_programs_overflow_fd(const struct sdw_programs *programs);

/* Processors that have a ring, and their rings; the ring of life records. */
unsigned int sdw_programs_processors(const struct sdw_programs *programs);
int sdw_programs_ring_fd(const struct sdw_programs *programs, unsigned int processor);
/* The table of processes that are known, by pid. */
int sdw_programs_processes_fd(const struct sdw_programs *programs);
/* What the programs were told; valid as long as they are. */
const struct sdw_bpf_config *sdw_programs_bpf_config(const struct sdw_programs *programs);

int sdw_programs_life_ring_fd(const struct sdw_programs *programs);

/* Makes a process known under `epoch`, before it is sampled. Returns 0 or -errno. */
int sdw_programs_add_process(struct sdw_programs *programs, uint32_t pid, uint32_t epoch);

/* Tells how to walk an image; NULL: it holds nothing to walk. Returns 0 or -errno. */
int sdw_programs_set_interpreter(struct sdw_programs *programs, uint32_t pid, uint32_t epoch,
				 const struct sdw_pylayout *layout, uint64_t runtime_addr,
				 uint64_t code_type_addr);

/* Forgets an image; and the process, unless another image has taken its pid. */
void sdw_programs_forget(struct sdw_programs *programs, uint32_t pid, uint32_t epoch);

/*
 * Life records were lost: removes from the tables what nobody will ask to be forgotten, of
 * processes that are gone. They are never full for good.
 */
void sdw_programs_sweep(struct sdw_programs *programs);

/* The index of a layout, which gets one now if it has none. Returns < 0: no room. */
int sdw_programs_layout_index(struct sdw_programs *programs, const struct sdw_pylayout *layout);

/* The layout of an index that a code record names; NULL if there is none. */
const struct sdw_pylayout *sdw_programs_layout(const struct sdw_programs *programs, uint32_t index);

/* Adds the counters of all processors up. Returns 0 or -errno. */
int sdw_programs_count(const struct sdw_programs *programs, struct sdw_cpu_counters *sum);

#endif
