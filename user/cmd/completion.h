/* SPDX-License-Identifier: MIT */
/*
 * completion.h - what completes sidewinder's command line in a shell.
 *
 * In:  the tables of options of the sub-commands, and a file of functions for each shell
 *      (completion/). Out: a script of bash, zsh or fish, for `make install` or for eval.
 */
#ifndef SDW_COMPLETION_H
#define SDW_COMPLETION_H

#include <stdio.h>

#include "cmd/commands.h"

enum sdw_shell { SDW_SHELL_NONE, SDW_SHELL_BASH, SDW_SHELL_ZSH, SDW_SHELL_FISH };

void sdw_completion_print(const struct sdw_command *commands, enum sdw_shell shell, FILE *to);

/* What a verb takes behind its options. */
enum sdw_operand {
	SDW_OPERAND_NONE,
	SDW_OPERAND_COMMAND,
	SDW_OPERAND_TRACE,
	SDW_OPERAND_TRACES,
	SDW_OPERAND_VERB,
	SDW_OPERAND_PIDS,
};

enum sdw_operand sdw_completion_operand(const struct sdw_usage *usage);

/* How much of a help text fits beside an option in a list: its first clause. */
int sdw_completion_clause(const char *help);

void sdw_completion_print_bash(const struct sdw_command *commands, FILE *to);
void sdw_completion_print_zsh(const struct sdw_command *commands, FILE *to);
void sdw_completion_print_fish(const struct sdw_command *commands, FILE *to);

#endif
