// SPDX-License-Identifier: MIT
/*
 * completion_zsh.c - the tables of options as specifications of zsh's _arguments, behind the
 * functions of completion/sidewinder.zsh, which call them.
 */
#include <string.h>

#include "base/embed.h"
#include "cmd/completion.h"

SDW_EMBED(zsh_functions, "user/cmd/completion/sidewinder.zsh");

/* Inside single quotes and, of _arguments, inside brackets or between colons. */
static void print_quoted(const char *text, int size, FILE *to)
{
	for (; size && *text; size--, text++) {
		if (*text == '\'')
			fputs("'\\''", to);
		else if (strchr("[]:\\", *text))
			fprintf(to, "\\%c", *text);
		else
			fputc(*text, to);
	}
}

static void print_action(const struct sdw_option *option, FILE *to)
{
	static const struct {
		const char *value, *action;
	} actions[] = {
		{"PID", "_sidewinder_list pids"},
		{"EVENT", "_sidewinder_list events"},
		{"CONTAINER", "_sidewinder_list containers"},
		{"FILE", "_files"},
		{"DIR", "_files -/"},
	};
	const struct sdw_option_word *word;

	if (option->type == SDW_OPTION_WORD) {
		for (word = option->words; word->word; word++)
			fprintf(to, "%c%s", word == option->words ? '(' : ' ', word->word);
		fputc(')', to);
		return;
	}
	for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++) {
		if (strcmp(actions[i].value, option->value) == 0) {
			fputs(actions[i].action, to);
			return;
		}
	}
	fputc(' ', to); /* only the name of the value is shown */
}

static void print_option(const struct sdw_option *option, FILE *to)
{
	bool apart = option->value && !option->value_optional;
	bool again = option->type == SDW_OPTION_CALL && apart;

	fputs(" \\\n\t\t", to);
	if (again)
		fputs("\\*", to);
	else if (option->letter)
		fprintf(to, "'(-%c --%s)'", option->letter, option->name);
	if (option->letter)
		fprintf(to, "{-%c%s,--%s%s}'[", option->letter, apart ? "+" : "", option->name,
			apart ? "=" : "");
	else
		fprintf(to, "'--%s%s[", option->name, apart ? "=" : option->value ? "=-" : "");
	print_quoted(option->help, sdw_completion_clause(option->help), to);
	fputc(']', to);
	if (option->value) {
		fprintf(to, apart ? ":%s:" : "::%s:", option->value);
		print_action(option, to);
	}
	fputc('\'', to);
}

static void print_options(const struct sdw_usage *usage, FILE *to)
{
	const struct sdw_option *option;

	for (option = usage->options; option->type; option++)
		if (option->type != SDW_OPTION_HEADING)
			print_option(option, to);
	if (usage->verb)
		print_option(&sdw_option_help, to);
}

static void print_operand(const struct sdw_usage *usage, FILE *to)
{
	switch (sdw_completion_operand(usage)) {
	case SDW_OPERAND_COMMAND:
		fputs(" \\\n\t\t'(-)1:command: _command_names -e'"
		      " \\\n\t\t'*::argument:_normal'",
		      to);
		break;
	case SDW_OPERAND_TRACE:
		fputs(" \\\n\t\t'1::trace:_sidewinder_traces'", to);
		break;
	case SDW_OPERAND_TRACES:
		fputs(" \\\n\t\t'1::trace:_sidewinder_traces'"
		      " \\\n\t\t'2::trace:_sidewinder_traces'",
		      to);
		break;
	case SDW_OPERAND_VERB:
		fputs(" \\\n\t\t'1::verb:_sidewinder_verbs'", to);
		break;
	case SDW_OPERAND_PIDS:
		fputs(" \\\n\t\t'*::pid:_sidewinder_list pids'", to);
		break;
	default:
		break;
	}
}

void sdw_completion_print_zsh(const struct sdw_command *commands, FILE *to)
{
	const struct sdw_command *command;

	fputs(zsh_functions, to);
	fputs("_sidewinder_verbs() {\n\tlocal -a verbs=(", to);
	for (command = commands; command->name; command++) {
		fprintf(to, "\n\t\t'%s:", command->name);
		print_quoted(command->summary, -1, to);
		fputc('\'', to);
	}
	fputs("\n\t)\n\t_describe -t verbs verb verbs\n}\n\n"
	      "_sidewinder_program() {\n\tspecifications=(",
	      to);
	print_options(&sdw_usage_program, to);
	fputs(")\n}\n", to);
	for (command = commands; command->name; command++) {
		fprintf(to, "\n_sidewinder_verb_%s() {\n\t_arguments -s -S", command->name);
		print_options(command->usage, to);
		print_operand(command->usage, to);
		fputs("\n}\n", to);
	}
	fputs("\nif [[ $funcstack[1] == _sidewinder ]]; then\n\t_sidewinder_main \"$@\"\nelse\n"
	      "\tcompdef _sidewinder_main sidewinder\nfi\n",
	      to);
}
