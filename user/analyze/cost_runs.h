/* SPDX-License-Identifier: MIT */
/*
 * cost_runs.h - runs a command again and again, by turns without sampling, with empty overflows,
 * and with each path, and takes the CPU time of each run.
 */
#ifndef SDW_COST_RUNS_H
#define SDW_COST_RUNS_H

#include "analyze/cost.h"
#include "capture/config.h"

/*
 * `config`: of a recording of a command. What the command prints goes where it goes: the caller has
 * to see to it. Says what went wrong. Returns 0, or -errno: -EINTR when a signal ended a run,
 * -ENOEXEC when the command ended in another way than `status`, its exit status before.
 */
int sdw_cost_measure(const struct sdw_config *config, unsigned int rounds, int status,
		     struct sdw_cost *cost);

#endif
