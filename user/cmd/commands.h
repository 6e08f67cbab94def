/* SPDX-License-Identifier: MIT */
/*
 * commands.h - the sub-commands. Each takes argv with its own name first, prints its own help for
 * --help, and returns the exit status (enum sdw_exit of base/options.h).
 *
 * What they take stands in one table each. Parser, help, manual and completion all go by it.
 */
#ifndef SDW_COMMANDS_H
#define SDW_COMMANDS_H

#include "base/options.h"

struct sdw_command {
	const char *name;
	const char *summary; /* half a line for the list of commands */
	int (*run)(int argc, char **argv);
	const struct sdw_usage *usage;
};

/* Ends with an entry without a name. */
extern const struct sdw_command sdw_commands[];

/* What sidewinder takes before a verb; .verb is NULL, .arguments what follows its name. */
extern const struct sdw_usage sdw_usage_program;

extern const struct sdw_usage sdw_usage_record;
extern const struct sdw_usage sdw_usage_top;
extern const struct sdw_usage sdw_usage_report;
extern const struct sdw_usage sdw_usage_export;
extern const struct sdw_usage sdw_usage_diff;
extern const struct sdw_usage sdw_usage_dump;
extern const struct sdw_usage sdw_usage_doctor;
extern const struct sdw_usage sdw_usage_compare;
extern const struct sdw_usage sdw_usage_help;

int sdw_command_record(int argc, char **argv);
int sdw_command_top(int argc, char **argv);
int sdw_command_report(int argc, char **argv);
int sdw_command_export(int argc, char **argv);
int sdw_command_diff(int argc, char **argv);
int sdw_command_dump(int argc, char **argv);
int sdw_command_doctor(int argc, char **argv);
int sdw_command_compare(int argc, char **argv);
int sdw_command_help(int argc, char **argv);

#endif
