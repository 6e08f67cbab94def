/* SPDX-License-Identifier: MIT */
/* candidates.h - what shells offer for a value: a line each, with a tab before what it is. */
#ifndef SDW_CANDIDATES_H
#define SDW_CANDIDATES_H

#include <stdio.h>

#include "cmd/commands.h"

enum sdw_candidates {
	SDW_CANDIDATES_NONE,
	SDW_CANDIDATES_VERBS,
	SDW_CANDIDATES_EVENTS,
	SDW_CANDIDATES_PIDS,
	SDW_CANDIDATES_CONTAINERS,
};

void sdw_candidates_print(const struct sdw_command *commands, enum sdw_candidates what, FILE *to);

/*
 * The processes under `proc` that have a file called python* or libpython* mapped, as far as this
 * user may know, or else run a program of such a name; with the beginning of their command line.
 */
void sdw_candidates_print_pids(const char *proc, FILE *to);

/* The known events, and the tracepoints under `tracefs`, where this user may see them. */
void sdw_candidates_print_events(const char *tracefs, FILE *to);

#endif
