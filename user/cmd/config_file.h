/* SPDX-License-Identifier: MIT */
/*
 * config_file.h - defaults of options, from a file: $XDG_CONFIG_HOME/sidewinder/config, where that
 * is not set $HOME/.config/sidewinder/config.
 *
 * In:  lines "verb.option = value" ("yes" or "no" for an option without a value); empty lines and
 * those that begin with # say nothing.
 * Out: the arguments of a verb with those of the file in front, so that its own come later and win.
 */
#ifndef SDW_CONFIG_FILE_H
#define SDW_CONFIG_FILE_H

#include <stdio.h>

#include "cmd/commands.h"

struct sdw_config_file {
	char **values; /* "--option=value", owned */
	size_t count, room;
	char **argv; /* what a verb gets: its name, the values, its own arguments, NULL */
	int argc;
};

/* The path by the environment, to be freed; NULL: neither variable says, or out of memory. */
char *sdw_config_file_path(void);

/*
 * Reads `path` (NULL, or not there: nothing is in it) and puts what it has for `command` before the
 * arguments in argv, which must outlive it. Every line is checked, whatever its verb. Returns 0,
 * or -errno after saying what is wrong, with the file's name and the line. To be freed in either
 * case.
 */
int sdw_config_file_read(struct sdw_config_file *config, const char *path,
			 const struct sdw_command *commands, const struct sdw_command *command,
			 int argc, char **argv);
void sdw_config_file_free(struct sdw_config_file *config);

#endif
