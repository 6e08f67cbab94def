// SPDX-License-Identifier: MIT
/*
 * completion_fish.c - the tables of options as `complete` commands of fish, behind the functions
 * of completion/sidewinder.fish, which they call.
 */
#include <string.h>

#include "base/embed.h"
#include "cmd/completion.h"

SDW_EMBED(fish_functions, "user/cmd/completion/sidewinder.fish");

/* Inside single quotes. */
static void print_quoted(const char *text, int size, FILE *to)
{
	for (; size && *text; size--, text++) {
		if (*text == '\'' || *text == '\\')
			fputc('\\', to);
		fputc(*text, to);
	}
}

static void begin(const char *verb, FILE *to)
{
	if (verb)
		fprintf(to, "complete -c sidewinder -n '__fish_seen_subcommand_from %s'", verb);
	else
		fputs("complete -c sidewinder -n __fish_use_subcommand", to);
}

static void print_value(const struct sdw_option *option, FILE *to)
{
	static const struct {
		const char *value, *offers;
	} kinds[] = {
		{"PID", " -a '(__sidewinder_list pids)'"},
		{"EVENT", " -a '(__sidewinder_list events)'"},
		{"CONTAINER", " -a '(__sidewinder_list containers)'"},
		{"DIR", " -a '(__fish_complete_directories)'"},
	};
	const struct sdw_option_word *word;

	if (strcmp(option->value, "FILE") == 0) {
		fputs(" -r -F", to);
		return;
	}
	fputs(" -x", to);
	if (option->type == SDW_OPTION_WORD) {
		for (word = option->words; word->word; word++)
			fprintf(to, "%s%s", word == option->words ? " -a '" : " ", word->word);
		fputc('\'', to);
		return;
	}
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(kinds[i].value, option->value) == 0)
			fputs(kinds[i].offers, to);
}

static void print_option(const char *verb, const struct sdw_option *option, FILE *to)
{
	begin(verb, to);
	if (option->letter)
		fprintf(to, " -s %c", option->letter);
	fprintf(to, " -l %s", option->name);
	if (option->value && !option->value_optional)
		print_value(option, to);
	fputs(" -d '", to);
	print_quoted(option->help, sdw_completion_clause(option->help), to);
	fputs("'\n", to);
}

static void print_options(const struct sdw_usage *usage, FILE *to)
{
	const struct sdw_option *option;

	for (option = usage->options; option->type; option++)
		if (option->type != SDW_OPTION_HEADING)
			print_option(usage->verb, option, to);
	if (usage->verb)
		print_option(usage->verb, &sdw_option_help, to);
}

/* The command of `record` is looked for behind the options that take a value, and that value. */
static void print_command_operand(const struct sdw_usage *usage, FILE *to)
{
	const struct sdw_option *option;

	fputs(" -x -a '(__fish_complete_subcommand --fcs-skip=2", to);
	for (option = usage->options; option->type; option++) {
		if (!option->value || option->value_optional)
			continue;
		if (option->letter)
			fprintf(to, " -%c", option->letter);
		fprintf(to, " --%s", option->name);
	}
	fputs(")'\n", to);
}

static void print_operand(const struct sdw_command *commands, const struct sdw_usage *usage,
			  FILE *to)
{
	enum sdw_operand operand = sdw_completion_operand(usage);

	if (operand == SDW_OPERAND_NONE)
		return;
	begin(usage->verb, to);
	if (operand == SDW_OPERAND_COMMAND) {
		print_command_operand(usage, to);
	} else if (operand == SDW_OPERAND_TRACE || operand == SDW_OPERAND_TRACES) {
		fputs(" -a '(__sidewinder_traces)'\n", to);
	} else if (operand == SDW_OPERAND_PIDS) {
		fputs(" -a '(__sidewinder_list pids)'\n", to);
	} else {
		fputs(" -a '", to);
		for (; commands->name; commands++)
			fprintf(to, "%s ", commands->name);
		fputs("'\n", to);
	}
}

void sdw_completion_print_fish(const struct sdw_command *commands, FILE *to)
{
	const struct sdw_command *command;

	fputs(fish_functions, to);
	for (command = commands; command->name; command++) {
		begin(NULL, to);
		fprintf(to, " -a %s -d '", command->name);
		print_quoted(command->summary, -1, to);
		fputs("'\n", to);
	}
	print_options(&sdw_usage_program, to);
	for (command = commands; command->name; command++) {
		fputc('\n', to);
		print_options(command->usage, to);
		print_operand(commands, command->usage, to);
	}
}
