// SPDX-License-Identifier: MIT
/* manual.c - see manual.h. Macros are those of man(7), which man and mandoc know alike. */
#include <ctype.h>
#include <string.h>

#include "cmd/manual.h"
#include "cmd/roff.h"

#define LITERAL(to, text) sdw_roff_print(to, text, strlen(text))

static void print_upper(const char *text, FILE *to)
{
	for (; *text; text++)
		fputc(toupper((unsigned char)*text), to);
}

static void print_title(const char *verb, const char *summary, FILE *to)
{
	fputs(".\\\" made by: sidewinder help --man", to);
	fprintf(to, "%s%s\n.TH SIDEWINDER", verb ? " " : "", verb ?: "");
	if (verb) {
		fputs("\\-", to);
		print_upper(verb, to);
	}
	fprintf(to, " 1 \"%s\" \"Sidewinder %s\" \"User Commands\"\n", SDW_RELEASED, SDW_VERSION);
	fprintf(to, ".SH NAME\nsidewinder%s%s \\-", verb ? "\\-" : "", verb ?: "");
	sdw_roff_print_text(to, strlen("sidewinder\\- \\-") + strlen(verb ?: ""), summary);
}

/* "[OPTION]... [TRACE]", or several lines of it, of which all but the first name the verb again. */
static void print_synopsis(const struct sdw_usage *usage, FILE *to)
{
	const char *line = usage->arguments;

	fputs(".SH SYNOPSIS\n", to);
	while (*line) {
		size_t named = strlen("sidewinder ") + (usage->verb ? strlen(usage->verb) + 1 : 0);
		size_t size;

		line += strspn(line, " ");
		size = strcspn(line, "\n");
		if (line != usage->arguments) {
			fputs(".br\n", to);
			line += named;
			size -= named;
		}
		fprintf(to, "\\fBsidewinder%s%s\\fR ", usage->verb ? " " : "", usage->verb ?: "");
		sdw_roff_print(to, line, size);
		fputc('\n', to);
		line += size + (line[size] == '\n');
	}
}

static void print_option(const struct sdw_option *option, FILE *to)
{
	fputs(".TP\n", to);
	if (option->letter)
		fprintf(to, "\\fB\\-%c\\fR, ", option->letter);
	fputs("\\fB\\-\\-", to);
	LITERAL(to, option->name);
	fputs("\\fR", to);
	if (option->value)
		fprintf(to, option->value_optional ? "[=\\fI%s\\fR]" : " \\fI%s\\fR",
			option->value);
	fputc('\n', to);
	sdw_roff_print_text(to, 0, option->help);
}

static void print_options(const struct sdw_usage *usage, FILE *to)
{
	const struct sdw_option *option;

	fputs(".SH OPTIONS\n", to);
	for (option = usage->options; option->type; option++) {
		if (option->type == SDW_OPTION_HEADING) {
			fputs(".SS ", to);
			sdw_roff_print(to, option->help, strcspn(option->help, ":"));
			fputc('\n', to);
		} else {
			print_option(option, to);
		}
	}
	if (usage->verb)
		print_option(&sdw_option_help, to);
}

static void print_items(const struct sdw_manual_item *items, FILE *to)
{
	bool first = true;

	for (; items->tag || items->text; items++, first = false) {
		if (items->tag) {
			fputs(".TP\n\\fB", to);
			LITERAL(to, items->tag);
			fputs("\\fR\n", to);
		} else if (!first) {
			fputs(".PP\n", to);
		}
		sdw_roff_print_text(to, 0, items->text);
	}
}

static void print_examples(const char *const *examples, FILE *to)
{
	fputs(".SH EXAMPLES\n", to);
	for (; examples && examples[0]; examples += 2) {
		fputs(".TP\n\\fB", to);
		LITERAL(to, examples[0]);
		fputs("\\fR\n", to);
		sdw_roff_print_text(to, 0, examples[1]);
	}
}

static void print_verbs(const struct sdw_command *commands, FILE *to)
{
	fputs(".SH VERBS\n", to);
	for (; commands->name; commands++) {
		fprintf(to, ".TP\n\\fBsidewinder\\-%s\\fR(1)\n", commands->name);
		sdw_roff_print_text(to, 0, commands->summary);
	}
}

static void print_see_also(const struct sdw_command *commands, const char *verb, FILE *to)
{
	fputs(".SH \"SEE ALSO\"\n", to);
	if (verb)
		fputs("\\fBsidewinder\\fR(1),\n", to);
	for (; commands->name; commands++)
		if (!verb || strcmp(commands->name, verb) != 0)
			fprintf(to, "\\fBsidewinder\\-%s\\fR(1),\n", commands->name);
	fputs("\\fBbabeltrace2\\fR(1),\n\\fBperf_event_open\\fR(2),\n\\fBcapabilities\\fR(7)\n",
	      to);
}

void sdw_manual_print(const struct sdw_command *commands, const char *verb, FILE *to)
{
	const struct sdw_usage *usage = &sdw_usage_program;
	const struct sdw_manual_section *section;
	const char *summary = "show where unmodified Python programs spend their time";
	const struct sdw_command *command;

	for (command = commands; verb && command->name; command++) {
		if (strcmp(command->name, verb) != 0)
			continue;
		usage = command->usage;
		summary = command->summary;
	}
	print_title(verb, summary, to);
	print_synopsis(usage, to);
	fputs(".SH DESCRIPTION\n", to);
	sdw_roff_print_text(to, 0, usage->summary);
	section = sdw_manual_sections(verb);
	/* a first section without a title goes on with the description */
	if (section->title && !*section->title) {
		fputs(".PP\n", to);
		print_items(section->items, to);
		section++;
	}
	if (!verb)
		print_verbs(commands, to);
	print_options(usage, to);
	for (; section->title; section++) {
		fputs(".SH \"", to);
		LITERAL(to, section->title);
		fputs("\"\n", to);
		print_items(section->items, to);
	}
	print_examples(usage->examples, to);
	print_see_also(commands, verb, to);
}
