/* SPDX-License-Identifier: MIT */
/*
 * commands.h - the sub-commands. Each takes argv with its own name first, prints its own help for
 * --help, and returns the exit status (enum sdw_exit of base/options.h).
 */
#ifndef SDW_COMMANDS_H
#define SDW_COMMANDS_H

struct sdw_command {
	const char *name;
	const char *summary; /* half a line for the list of commands */
	int (*run)(int argc, char **argv);
};

int sdw_command_record(int argc, char **argv);
int sdw_command_report(int argc, char **argv);
int sdw_command_export(int argc, char **argv);

#endif
