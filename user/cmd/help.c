// SPDX-License-Identifier: MIT
/* help.c - sidewinder help, --help, --version, and a verb that does not exist. */
#include <babeltrace2/babeltrace.h>
#include <bpf/libbpf.h>
#define NCURSES_NOMACROS /* short words are no macros */
#include <curses.h>
#include <elfutils/version.h>
#include <json-c/json_c_version.h>
#include <libunwind.h>
#include <protobuf-c/protobuf-c.h>
#include <string.h>
#include <zlib.h>

#include "base/log.h"
#include "base/nearest.h"
#include "base/options.h"
#include "cmd/candidates.h"
#include "cmd/completion.h"
#include "cmd/help.h"
#include "cmd/manual.h"

#ifdef __clang__
#define COMPILER "clang"
#else
#define COMPILER "gcc"
#endif
#ifdef __x86_64__
#define MACHINE "x86-64"
#else
#define MACHINE "another machine"
#endif

#define MAX_COMMANDS 32

struct help_command {
	bool manual;
	enum sdw_shell shell;
	enum sdw_candidates list;
};

static const struct sdw_option_word shell_words[] = {
	{"bash", SDW_SHELL_BASH},
	{"zsh", SDW_SHELL_ZSH},
	{"fish", SDW_SHELL_FISH},
	{NULL, 0},
};

static const struct sdw_option_word list_words[] = {
	{"verbs", SDW_CANDIDATES_VERBS},
	{"events", SDW_CANDIDATES_EVENTS},
	{"pids", SDW_CANDIDATES_PIDS},
	{"containers", SDW_CANDIDATES_CONTAINERS},
	{NULL, 0},
};

#define FIELD(member) SDW_OPTION_FIELD(struct help_command, member)

static const struct sdw_option options[] = {
	{SDW_OPTION_FLAG, 'm', "man", NULL, FIELD(manual),
	 .help = "the manual page, of sidewinder or of VERB, in the language of man"},
	{SDW_OPTION_WORD, 0, "completion", "SHELL", FIELD(shell), .words = shell_words,
	 .help = "what completes sidewinder's command line in bash, zsh or fish"},
	{SDW_OPTION_WORD, 0, "list", "WHAT", FIELD(list), .words = list_words,
	 .help = "what completion offers, a line each: verbs, events that this kernel has, pids of "
		 "Python processes, or containers that run"},
	{.type = SDW_OPTION_END},
};

static const char *const examples[] = {
	"sidewinder help record",
	"what record takes",
	"sidewinder help --man record | man -l -",
	"its manual page, without an installation",
	"eval \"$(sidewinder help --completion=bash)\"",
	"complete its options in this shell from now on",
	NULL,
};

const struct sdw_usage sdw_usage_help = {
	.verb = "help",
	.arguments = "[OPTION]... [VERB]",
	.summary = "Lists the verbs, or the options of VERB; prints the manual and the completion "
		   "of shells.",
	.options = options,
	.examples = examples,
};

const struct sdw_command *sdw_command_find(const struct sdw_command *commands, const char *name)
{
	for (; commands->name; commands++)
		if (strcmp(commands->name, name) == 0)
			return commands;
	return NULL;
}

void sdw_help_print(const struct sdw_command *commands, FILE *to)
{
	const struct sdw_usage *program = &sdw_usage_program;
	const struct sdw_option *option;
	const char *const *example;

	fprintf(to, "Usage: sidewinder %s\n\n%s\n\n", program->arguments, program->summary);
	for (; commands->name; commands++)
		fprintf(to, "  %-10s %s\n", commands->name, commands->summary);
	fputc('\n', to);
	for (option = program->options; option->type; option++)
		sdw_option_print(option, to);
	fputs("\nStart with:\n", to);
	for (example = program->examples; example[0]; example += 2)
		fprintf(to, "  %s\n      %s\n", example[0], example[1]);
}

int sdw_help_unknown(const struct sdw_command *commands, const char *name)
{
	const char *names[MAX_COMMANDS], *nearest;
	size_t count = 0;

	for (; commands->name && count < MAX_COMMANDS; commands++)
		names[count++] = commands->name;
	nearest = sdw_nearest_word(name, names, count);
	if (nearest)
		sdw_error("no verb '%s': did you mean '%s'?", name, nearest);
	else
		sdw_error("no verb '%s': 'sidewinder help' lists them", name);
	return SDW_EXIT_USAGE;
}

static int help_of(const char *verb)
{
	const struct sdw_command *command = sdw_command_find(sdw_commands, verb);

	if (!command)
		return sdw_help_unknown(sdw_commands, verb);
	sdw_options_print_help(command->usage, stdout);
	return SDW_EXIT_OK;
}

static int manual_of(const char *verb)
{
	if (verb && !sdw_command_find(sdw_commands, verb))
		return sdw_help_unknown(sdw_commands, verb);
	sdw_manual_print(sdw_commands, verb, stdout);
	return SDW_EXIT_OK;
}

int sdw_command_help(int argc, char **argv)
{
	struct help_command command = {0};
	enum sdw_options_result parsed;
	const char *verb;
	int first;

	parsed = sdw_options_parse(&sdw_usage_help, argc, argv, &command, &first);
	if (parsed != SDW_OPTIONS_GO_ON)
		return parsed == SDW_OPTIONS_HELP ? SDW_EXIT_OK : SDW_EXIT_USAGE;
	if (argc - first > 1) {
		sdw_error("help: one verb at a time: '%s' is one too many", argv[first + 1]);
		return SDW_EXIT_USAGE;
	}
	if (command.manual + (command.shell != SDW_SHELL_NONE) +
		    (command.list != SDW_CANDIDATES_NONE) >
	    1) {
		sdw_error("help: only one of --man, --completion and --list at a time");
		return SDW_EXIT_USAGE;
	}
	verb = first < argc ? argv[first] : NULL;
	if (command.manual)
		return manual_of(verb);
	if (command.shell != SDW_SHELL_NONE)
		sdw_completion_print(sdw_commands, command.shell, stdout);
	else if (command.list != SDW_CANDIDATES_NONE)
		sdw_candidates_print(sdw_commands, command.list, stdout);
	else if (verb)
		return help_of(verb);
	else
		sdw_help_print(sdw_commands, stdout);
	return SDW_EXIT_OK;
}

void sdw_version_print(FILE *to)
{
	fprintf(to, "sidewinder %s\n", SDW_VERSION);
	fprintf(to, "libbpf %u.%u\n", libbpf_major_version(), libbpf_minor_version());
	fprintf(to, "libunwind %d.%d\n", UNW_VERSION_MAJOR, UNW_VERSION_MINOR);
	fprintf(to, "babeltrace2 %u.%u.%u\n", bt_version_get_major(), bt_version_get_minor(),
		bt_version_get_patch());
	fprintf(to, "json-c %s\n", json_c_version());
	fprintf(to, "%s\n", curses_version());
	fprintf(to, "elfutils %d.%d\n", _ELFUTILS_VERSION / 1000, _ELFUTILS_VERSION % 1000);
	fprintf(to, "protobuf-c %s\n", protobuf_c_version());
	fprintf(to, "zlib %s\n", zlibVersion());
	fprintf(to, "built with " COMPILER " " __VERSION__ " for " MACHINE
		    ", released " SDW_RELEASED "\n");
}
