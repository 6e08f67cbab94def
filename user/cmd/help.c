// SPDX-License-Identifier: MIT
/* help.c - sidewinder help, --help, --version, and a verb that does not exist. */
#include <babeltrace2/babeltrace.h>
#include <bpf/libbpf.h>
#include <libunwind.h>
#include <string.h>

#include "base/log.h"
#include "base/nearest.h"
#include "base/options.h"
#include "cmd/help.h"

#define MAX_COMMANDS 32

const struct sdw_command *sdw_command_find(const struct sdw_command *commands, const char *name)
{
	for (; commands->name; commands++)
		if (strcmp(commands->name, name) == 0)
			return commands;
	return NULL;
}

void sdw_help_print(const struct sdw_command *commands, FILE *to)
{
	fputs("Usage: sidewinder VERB [OPTION]...\n"
	      "\n"
	      "Shows where unmodified Python programs spend their time, with BPF.\n"
	      "\n",
	      to);
	for (; commands->name; commands++)
		fprintf(to, "  %-10s %s\n", commands->name, commands->summary);
	fputs("  help       what a verb takes: sidewinder help VERB\n"
	      "\n"
	      "  --version  versions of sidewinder and its libraries\n"
	      "\n"
	      "Start with:\n"
	      "  sidewinder record -- python3 app.py      record a program, print its hot spots\n"
	      "  sidewinder export --to=flamegraph -o flamegraph.html\n"
	      "                                           make a page of the newest trace\n",
	      to);
}

int sdw_help_unknown(const struct sdw_command *commands, const char *name)
{
	const char *names[MAX_COMMANDS] = {"help"}, *nearest;
	size_t count = 1;

	for (; commands->name && count < MAX_COMMANDS; commands++)
		names[count++] = commands->name;
	nearest = sdw_nearest_word(name, names, count);
	if (nearest)
		sdw_error("no verb '%s': did you mean '%s'?", name, nearest);
	else
		sdw_error("no verb '%s': 'sidewinder help' lists them", name);
	return SDW_EXIT_USAGE;
}

int sdw_help_run(const struct sdw_command *commands, int argc, char **argv)
{
	const struct sdw_command *command;
	char help_option[] = "--help";
	char *arguments[3] = {NULL};

	if (argc < 2 || !strcmp(argv[1], "help")) {
		sdw_help_print(commands, stdout);
		return SDW_EXIT_OK;
	}
	command = sdw_command_find(commands, argv[1]);
	if (!command)
		return sdw_help_unknown(commands, argv[1]);
	arguments[0] = argv[1];
	arguments[1] = help_option;
	return command->run(2, arguments);
}

void sdw_version_print(FILE *to)
{
	fprintf(to, "sidewinder %s\n", SDW_VERSION);
	fprintf(to, "libbpf %u.%u\n", libbpf_major_version(), libbpf_minor_version());
	fprintf(to, "libunwind %d.%d\n", UNW_VERSION_MAJOR, UNW_VERSION_MINOR);
	fprintf(to, "babeltrace2 %u.%u.%u\n", bt_version_get_major(), bt_version_get_minor(),
		bt_version_get_patch());
}
