// SPDX-License-Identifier: MIT
/* main.c - hands over to a sub-command, and what must hold before any of them runs. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "base/log.h"
#include "base/options.h"
#include "cmd/commands.h"
#include "cmd/config_file.h"
#include "cmd/help.h"

/* A file opened later must not become the standard output that somebody had closed. */
static int fill_standard_files(void)
{
	int fd;

	do {
		fd = open("/dev/null", O_RDWR);
	} while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd < 0)
		return -1;
	return close(fd);
}

/* Runs a verb with the defaults of the configuration file. */
static int run_configured(const struct sdw_command *command, int argc, char **argv)
{
	char *path = sdw_config_file_path();
	struct sdw_config_file config;
	int status = SDW_EXIT_USAGE;

	if (!sdw_config_file_read(&config, path, sdw_commands, command, argc, argv))
		status = command->run(config.argc, config.argv);
	sdw_config_file_free(&config);
	free(path);
	return status;
}

static int run(int argc, char **argv)
{
	const struct sdw_command *command;
	bool no_config = argc > 1 && strcmp(argv[1], "--no-config") == 0;

	argc -= no_config;
	argv += no_config;
	if (argc < 2) {
		sdw_help_print(sdw_commands, stderr);
		return SDW_EXIT_USAGE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
		return sdw_command_help(argc - 1, argv + 1);
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		sdw_version_print(stdout);
		return SDW_EXIT_OK;
	}
	command = sdw_command_find(sdw_commands, argv[1]);
	if (!command)
		return sdw_help_unknown(sdw_commands, argv[1]);
	/* what helps must do so whatever the file says */
	if (no_config || command->run == sdw_command_help)
		return command->run(argc - 1, argv + 1);
	return run_configured(command, argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
	int status;

	/* with rights that the caller does not have, its files and environment cannot be trusted */
	if (getauxval(AT_SECURE)) {
		sdw_error("refuses to run setuid, setgid or with file capabilities: use sudo");
		return SDW_EXIT_FAULT;
	}
	if (fill_standard_files()) {
		sdw_error("cannot open /dev/null: %s", strerror(errno));
		return SDW_EXIT_FAULT;
	}
	/* a closed pipe and a full disk come as errors of write() */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	status = run(argc, argv);
	/* a long text fails before its end, and the rest of it fits */
	if ((fflush(stdout) || ferror(stdout)) && status == SDW_EXIT_OK && errno != EPIPE) {
		sdw_error("cannot write to standard output: %s", strerror(errno));
		status = SDW_EXIT_FAULT;
	}
	return status;
}
