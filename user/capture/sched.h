/* SPDX-License-Identifier: MIT */
/*
 * sched.h - what the scheduler does with the target's threads, from BPF into a kernel trace.
 *
 * In:  the table of processes of the sampling programs. Out: the directory of ctf_kernel.h.
 */
#ifndef SDW_SCHED_H
#define SDW_SCHED_H

#include "capture/config.h"
#include "capture/programs.h"
#include "sink.h"

struct sdw_sched;

struct sdw_sched_totals {
	uint64_t events; /* in the trace */
	uint64_t lost;	 /* found no room in a ring */
};

/*
 * Loads and attaches the programs; events wait in rings from now on. `directory` is that of the
 * kernel trace, made by sdw_sched_begin(). Logs the cause of a failure. Returns 0 or -errno.
 */
int sdw_sched_open(const struct sdw_config *config, const struct sdw_programs *programs,
		   const char *directory, struct sdw_sched **sched);

/* Readable when a ring is a quarter full. */
int sdw_sched_fd(const struct sdw_sched *sched);

/* Makes the trace. Returns 0 or -errno, after saying why. */
int sdw_sched_begin(struct sdw_sched *sched, const struct sdw_recording *recording);

/* Moves what is in the rings into the trace, once there is one. Returns 0 or -errno. */
int sdw_sched_drain(struct sdw_sched *sched);

/* Makes it readable by others. Returns 0 or -errno. */
int sdw_sched_flush(struct sdw_sched *sched);

/* Nothing comes from here on; what did waits to be drained. */
void sdw_sched_stop(struct sdw_sched *sched);

struct sdw_sched_totals sdw_sched_count(const struct sdw_sched *sched);

/* Ends the trace as it is. NULL: nothing. */
void sdw_sched_free(struct sdw_sched *sched);

#endif
