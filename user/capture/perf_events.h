/* SPDX-License-Identifier: MIT */
/*
 * perf_events.h - the perf events of a recording: opened, bound to the BPF program, counted,
 * closed.
 *
 * Per-task events with inheritance for processes and commands (so only what the target does is
 * counted, on whatever processor it runs), one event per processor for -a, and one per processor
 * and group for control groups.
 */
#ifndef SDW_PERF_EVENTS_H
#define SDW_PERF_EVENTS_H

#include "capture/config.h"

struct sdw_events;

/*
 * Finds out before the recording whether the event can be counted here. Where nobody asked for one
 * and there is no hardware counter, the event becomes cpu-clock, and one line says so. Returns 0,
 * or -errno after logging why not and what to do.
 */
int sdw_events_probe(struct sdw_config *config);

/* Events per overflow where that is fixed (-c, and every clock); 0: the kernel adapts it. */
uint64_t sdw_events_fixed_period(const struct sdw_config *config);

/* The signal path has no overflows in kernel mode: the user's rights do not reach that far. */
bool sdw_events_exclude_kernel(const struct sdw_config *config);

/*
 * Opens the events, disabled, each bound to the program `bpf_prog_fd` (< 0: to none, for
 * measuring). For all processes one for each online processor (pids is ignored); for control groups
 * the same for each of config->groups; for a command one for pids[0], the child that waits in
 * sdw_launch, which counts from its exec on; else one for each thread of pids, inherited by the
 * threads (and, with config->children, the processes) that these make later. A process that is gone
 * meanwhile is no error unless all are. Returns 0, or -errno after logging.
 */
int sdw_events_open(const struct sdw_config *config, const pid_t *pids, size_t count,
		    int bpf_prog_fd, struct sdw_events **events);

/* Counts from now on; a command's events start at its exec and need no call. Returns 0 or -errno.
 */
int sdw_events_enable(struct sdw_events *events);

/*
 * Ends the counting; what was counted can still be read. A tracepoint's program would go on running
 * as long as its event is open: it is closed.
 */
int sdw_events_disable(struct sdw_events *events);

/*
 * Adds up what the kernel counted, children included: with a fixed period, count / period is how
 * many overflows there should have been. Returns 0 or -errno.
 */
int sdw_events_count(const struct sdw_events *events, uint64_t *count);

/*
 * How many overflows the counts stand for. What a thread had left of its last period is counted
 * with that of the threads it made: up to one overflow per thread more than there were. 0 without a
 * fixed period, where it cannot be said.
 */
uint64_t sdw_events_expected_overflows(const struct sdw_events *events);

/* Before 5.13 forked children cannot be kept out by the event: the BPF program has to, by pid. */
bool sdw_events_need_filter(const struct sdw_events *events);

/* Number of events open: processors for -a, threads for -p. */
size_t sdw_events_number(const struct sdw_events *events);

void sdw_events_free(struct sdw_events *events);

#endif
