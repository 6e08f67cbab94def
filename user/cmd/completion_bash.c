// SPDX-License-Identifier: MIT
/*
 * completion_bash.c - the tables of options as functions of bash, behind those of
 * completion/sidewinder.bash, which call them.
 */
#include <string.h>

#include "base/embed.h"
#include "cmd/completion.h"

SDW_EMBED(bash_functions, "user/cmd/completion/sidewinder.bash");

static void print_verbs(const struct sdw_command *commands, FILE *to)
{
	fputs("_sidewinder_verbs() {\n\techo", to);
	for (; commands->name; commands++)
		fprintf(to, " %s", commands->name);
	fputs("\n}\n\n", to);
}

static void print_option_names(const struct sdw_usage *usage, FILE *to)
{
	const struct sdw_option *option;

	fprintf(to, "\t'%s') echo", usage->verb ?: "");
	for (option = usage->options; option->type; option++) {
		if (option->type == SDW_OPTION_HEADING)
			continue;
		if (option->letter)
			fprintf(to, " -%c", option->letter);
		fprintf(to, " --%s", option->name);
	}
	fprintf(to, "%s ;;\n", usage->verb ? " -h --help" : "");
}

static void print_options(const struct sdw_command *commands, FILE *to)
{
	fputs("# The options of a verb; of none: those before any.\n"
	      "_sidewinder_options() {\n\tcase $1 in\n",
	      to);
	print_option_names(&sdw_usage_program, to);
	for (; commands->name; commands++)
		print_option_names(commands->usage, to);
	fputs("\tesac\n}\n\n", to);
}

static void print_value(const struct sdw_usage *usage, const struct sdw_option *option, FILE *to)
{
	const struct sdw_option_word *word;

	fprintf(to, "\t%s:--%s", usage->verb, option->name);
	if (option->letter)
		fprintf(to, " | %s:-%c", usage->verb, option->letter);
	if (option->type == SDW_OPTION_WORD) {
		fputs(") kind=(words", to);
		for (word = option->words; word->word; word++)
			fprintf(to, " %s", word->word);
		fputs(") ;;\n", to);
	} else {
		fprintf(to, ") kind=('%s') ;;\n", option->value);
	}
}

static void print_values(const struct sdw_command *commands, FILE *to)
{
	const struct sdw_option *option;

	fputs("# Sets kind: what the value of an option is, or nothing where it takes none apart.\n"
	      "_sidewinder_values() {\n\tkind=()\n\tcase $1:$2 in\n",
	      to);
	for (; commands->name; commands++)
		for (option = commands->usage->options; option->type; option++)
			if (option->value && !option->value_optional)
				print_value(commands->usage, option, to);
	fputs("\tesac\n}\n\n", to);
}

static void print_operands(const struct sdw_command *commands, FILE *to)
{
	static const char *const names[] = {
		[SDW_OPERAND_COMMAND] = "COMMAND", [SDW_OPERAND_TRACE] = "TRACE",
		[SDW_OPERAND_TRACES] = "TRACES",   [SDW_OPERAND_VERB] = "VERB",
		[SDW_OPERAND_PIDS] = "PIDS",
	};

	fputs("_sidewinder_operands() {\n\tcase $1 in\n", to);
	for (; commands->name; commands++) {
		enum sdw_operand operand = sdw_completion_operand(commands->usage);

		if (operand != SDW_OPERAND_NONE)
			fprintf(to, "\t%s) echo %s ;;\n", commands->name, names[operand]);
	}
	fputs("\tesac\n}\n", to);
}

void sdw_completion_print_bash(const struct sdw_command *commands, FILE *to)
{
	fputs(bash_functions, to);
	print_verbs(commands, to);
	print_options(commands, to);
	print_values(commands, to);
	print_operands(commands, to);
}
