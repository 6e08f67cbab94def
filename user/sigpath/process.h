/* SPDX-License-Identifier: MIT */
/*
 * process.h - one process that the agent is in, as the recorder sees it: its segment, the events of
 * its threads, and what its records come to.
 *
 * In:  whatever the process says. Out: records as the BPF side sends them, about this process and
 * nobody else.
 */
#ifndef SDW_SIGPATH_PROCESS_H
#define SDW_SIGPATH_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/map64.h"
#include "capture/config.h"
#include "sigpath/ring_reader.h"

/* The event of a thread. */
struct sdw_sigpath_event {
	uint32_t inner_tid, tid; /* as the process has it, and as we do */
	int fd;			 /* < 0: the thread is gone, its count is taken */
};

struct sdw_sigpath_counts {
	uint64_t handlers, ring_full, no_scratch, empty, merged, lttng_written,
		lttng_off; /* as struct sdw_sigpath_counters */
	uint64_t samples;  /* records that came out of the ring whole */
	uint64_t refused;  /* that made no sense */
	uint64_t expected; /* overflows that the kernel's counts stand for */
};

struct sdw_sigpath_process {
	uint32_t pid, inner_pid;
	uint32_t epoch; /* of its image; 0: not known yet */
	int layout;	/* index of its interpreter's layout; < 0: none */
	int pidfd;
	bool ending;	   /* it is gone: what is left in its ring is the last */
	bool ended;	   /* or runs another program now */
	uint64_t begun_ns; /* when its agent's message came */
	uint64_t salt;	   /* makes ids that a process invents its own */
	uint64_t period;   /* of its events, 0: not fixed */
	struct sdw_sigpath_segment *segment;
	size_t segment_bytes;
	struct sdw_ring_reader reader;
	struct {
		struct sdw_sigpath_event *items;
		size_t count, room;
	} events;
	uint64_t samples, refused, expected; /* see above */
};

/*
 * Makes the segment of a process. *memory_fd is for the agent, and the caller's to close. Returns 0
 * or -errno.
 */
int sdw_sigpath_process_create(const struct sdw_config *config, bool exclude_kernel, uint32_t pid,
			       uint32_t inner_pid, struct sdw_sigpath_process **process,
			       int *memory_fd);
void sdw_sigpath_process_free(struct sdw_sigpath_process *process);

/*
 * Takes the event of a thread, which is named as the process itself does; it replaces one that the
 * thread gave before. Returns 0 (the descriptor is the process's from then on), -EMFILE: there are
 * too many, or -errno: it is no event, or no thread.
 */
int sdw_sigpath_process_add_event(struct sdw_sigpath_process *process, uint32_t inner_tid, int fd);

/* Tells the agent where the interpreter is; found: enum sdw_sigpath_found. */
void sdw_sigpath_process_tell(struct sdw_sigpath_process *process, uint32_t found,
			      uint64_t runtime_addr, uint64_t code_type_addr,
			      const struct sdw_pylayout *layout);

/*
 * Copies the next record, made one of this process's, to `record` (SDW_SIGPATH_MAX_RECORD bytes).
 * Returns its size, or 0: there is none. What makes no sense is counted and left out.
 */
size_t sdw_sigpath_process_next(struct sdw_sigpath_process *process, uint64_t now_ns, void *record);

/*
 * Takes the counts of threads that are gone, or of all. `gone` is told the tid of each that is.
 */
void sdw_sigpath_process_sweep(struct sdw_sigpath_process *process, bool all,
			       void (*gone)(void *context, struct sdw_sigpath_process *process,
					    uint32_t tid),
			       void *context);

/* Stops the counting of all its threads. */
void sdw_sigpath_process_disable(struct sdw_sigpath_process *process);

/* Adds its counts so far. */
void sdw_sigpath_process_count(const struct sdw_sigpath_process *process,
			       struct sdw_sigpath_counts *counts);

/* Number of the signal, if the program uses it itself; 0: it does not. */
uint32_t sdw_sigpath_process_conflict(const struct sdw_sigpath_process *process);

#endif
