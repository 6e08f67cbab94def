/* SPDX-License-Identifier: MIT */
/* help.h - what there is: the list of sub-commands, and versions. */
#ifndef SDW_HELP_H
#define SDW_HELP_H

#include <stddef.h>
#include <stdio.h>

#include "cmd/commands.h"

/* The table of sub-commands ends with an entry without a name. */
const struct sdw_command *sdw_command_find(const struct sdw_command *commands, const char *name);

void sdw_help_print(const struct sdw_command *commands, FILE *to);

/* Says that there is no such sub-command, and which may be meant. Returns the exit status. */
int sdw_help_unknown(const struct sdw_command *commands, const char *name);

/* Ours, and those of the libraries that a trace depends on. */
void sdw_version_print(FILE *to);

#endif
