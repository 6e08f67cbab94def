// SPDX-License-Identifier: MIT
/* options_help.c - the text of --help, from the same table that the parser goes by. */
#include <string.h>

#include "base/options.h"

#define WIDTH	    80 /* columns, of a terminal that nobody widened */
#define HELP_COLUMN 30

const struct sdw_option sdw_option_help = {
	.type = SDW_OPTION_FLAG, .letter = 'h', .name = "help", .help = "this text"};

void sdw_options_print_wrapped(FILE *to, int column, int indent, const char *text)
{
	while (*text) {
		int word = (int)strcspn(text, " ");

		if (column > indent && column + 1 + word > WIDTH) {
			fprintf(to, "\n%*s", indent, "");
			column = indent;
		} else if (column > indent) {
			fputc(' ', to);
			column++;
		}
		fprintf(to, "%.*s", word, text);
		column += word;
		text += word;
		text += strspn(text, " ");
	}
	fputc('\n', to);
}

void sdw_option_print(const struct sdw_option *option, FILE *to)
{
	char name[96], letter[8] = "    ";
	int used;

	if (option->letter)
		snprintf(letter, sizeof(letter), "-%c, ", option->letter);
	if (!option->value)
		snprintf(name, sizeof(name), "  %s--%s", letter, option->name);
	else if (option->value_optional)
		snprintf(name, sizeof(name), "  %s--%s[=%s]", letter, option->name, option->value);
	else
		snprintf(name, sizeof(name), "  %s--%s %s", letter, option->name, option->value);
	used = (int)strlen(name);
	fputs(name, to);
	if (used + 2 > HELP_COLUMN)
		fprintf(to, "\n%*s", HELP_COLUMN, "");
	else
		fprintf(to, "%*s", HELP_COLUMN - used, "");
	sdw_options_print_wrapped(to, HELP_COLUMN, HELP_COLUMN, option->help);
}

void sdw_options_print_help(const struct sdw_usage *usage, FILE *to)
{
	const struct sdw_option *option;
	const char *const *example;

	fprintf(to, "Usage: sidewinder %s %s\n\n", usage->verb, usage->arguments);
	sdw_options_print_wrapped(to, 0, 0, usage->summary);
	if (usage->options->type != SDW_OPTION_HEADING)
		fputs("\nOptions:\n", to);
	for (option = usage->options; option->type; option++) {
		if (option->type == SDW_OPTION_HEADING)
			fprintf(to, "\n%s\n", option->help);
		else
			sdw_option_print(option, to);
	}
	sdw_option_print(&sdw_option_help, to);
	if (!usage->examples)
		return;
	fputs("\nExamples:\n", to);
	for (example = usage->examples; example[0]; example += 2)
		fprintf(to, "  %s\n      %s\n", example[0], example[1]);
}
