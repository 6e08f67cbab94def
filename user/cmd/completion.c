// SPDX-License-Identifier: MIT
/* completion.c - see completion.h: what the shells have in common. */
#include <string.h>

#include "cmd/completion.h"

enum sdw_operand sdw_completion_operand(const struct sdw_usage *usage)
{
	if (usage->command_follows)
		return SDW_OPERAND_COMMAND;
	if (strstr(usage->arguments, "TRACE TRACE"))
		return SDW_OPERAND_TRACES;
	if (strstr(usage->arguments, "TRACE"))
		return SDW_OPERAND_TRACE;
	if (strstr(usage->arguments, "VERB"))
		return SDW_OPERAND_VERB;
	if (strstr(usage->arguments, "PID..."))
		return SDW_OPERAND_PIDS;
	return SDW_OPERAND_NONE;
}

int sdw_completion_clause(const char *help)
{
	size_t size = strcspn(help, ";");
	const char *bracket = strstr(help, " (");

	if (bracket && bracket > help && (size_t)(bracket - help) < size)
		size = (size_t)(bracket - help);
	return (int)size;
}

void sdw_completion_print(const struct sdw_command *commands, enum sdw_shell shell, FILE *to)
{
	switch (shell) {
	case SDW_SHELL_BASH:
		sdw_completion_print_bash(commands, to);
		break;
	case SDW_SHELL_ZSH:
		sdw_completion_print_zsh(commands, to);
		break;
	case SDW_SHELL_FISH:
		sdw_completion_print_fish(commands, to);
		break;
	default:
		break;
	}
}
