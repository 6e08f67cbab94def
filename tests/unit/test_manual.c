// SPDX-License-Identifier: MIT
/* What the manual pages and the completion of shells say, held against the tables of options. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "cmd/candidates.h"
#include "cmd/commands.h"
#include "cmd/completion.h"
#include "cmd/manual.h"
#include "cmd/roff.h"

static const struct sdw_option_word words[] = {{"line", 0}, {"file", 1}, {0}};

static const struct sdw_option options[] = {
	{SDW_OPTION_HEADING, .help = "What:"},
	{SDW_OPTION_WORD, 'b', "by", "WHAT", .words = words, .help = "it's [one]: line (or) file"},
	{SDW_OPTION_CALL, 'p', "pid", "PID", .help = "a process; or more"},
	{SDW_OPTION_STRING, 0, "callers", "NAME|X", .value_optional = true, .help = ".who called"},
	{SDW_OPTION_FLAG, 'q', "quiet", .help = "nothing"},
	{SDW_OPTION_STRING, 0, "thread", "NAME|TID", .help = "a thread"},
	{0},
};

static const char *const examples[] = {"sidewinder look -q a\\b", "looks, as --by=line", NULL};

static const struct sdw_usage look = {
	.verb = "look",
	.arguments = "[OPTION]... TRACE\n       sidewinder look --pid PID",
	.summary = "Looks.",
	.options = options,
	.examples = examples,
};

static const struct sdw_command commands[] = {{"look", "look at it", NULL, &look}, {0}};

static char *text; /* what was printed last */
static size_t size;

static FILE *begin(void)
{
	free(text);
	text = NULL;
	return open_memstream(&text, &size);
}

static void assert_says(const char *part)
{
	if (!strstr(text, part))
		fail_msg("no %s in:\n%s", part, text);
}

static void print_text(size_t column, const char *paragraph)
{
	FILE *to = begin();

	sdw_roff_print_text(to, column, paragraph);
	fclose(to);
}

static void print_completion(enum sdw_shell shell)
{
	FILE *to = begin();

	sdw_completion_print(commands, shell, to);
	fclose(to);
}

static void test_text_cannot_become_a_request_or_an_escape(void **state)
{
	(void)state;
	print_text(0, ".TH it is 'so' a\\fBb");
	assert_string_equal(text, "\\&.TH it is \\(aqso\\(aq a\\efBb\n");
	print_text(0, "'x ~ ^ `");
	assert_string_equal(text, "\\&\\(aqx \\(ti \\(ha \\(ga\n");
}

static void test_options_and_pages_are_bold_without_what_stands_around_them(void **state)
{
	(void)state;
	print_text(0, "with --by=line, (-q) or man(1): - a-b");
	assert_string_equal(text, "with \\fB\\-\\-by\\fR=line, (\\fB\\-q\\fR) or \\fBman\\fR(1): "
				  "\\- a\\-b\n");
}

static void test_lines_are_no_longer_than_80_bytes(void **state)
{
	(void)state;
	print_text(70, "one two - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - -"
		       " - - - - - - - - - - - - - ''''''''''' ''''''''''' '''''''' end");
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		assert_true(strlen(line) <= 80);
}

static void test_a_page_shows_usage_options_and_examples(void **state)
{
	FILE *to = begin();

	(void)state;
	sdw_manual_print(commands, "look", to);
	fclose(to);
	assert_says(".TH SIDEWINDER\\-LOOK 1 ");
	assert_says(".SH NAME\nsidewinder\\-look \\- look at it\n");
	assert_says("\\fBsidewinder look\\fR [OPTION]... TRACE\n.br\n"
		    "\\fBsidewinder look\\fR \\-\\-pid PID\n");
	assert_says(".SS What\n.TP\n\\fB\\-b\\fR, \\fB\\-\\-by\\fR \\fIWHAT\\fR\n");
	assert_says(".TP\n\\fB\\-\\-callers\\fR[=\\fINAME|X\\fR]\n\\&.who called\n");
	assert_says(".TP\n\\fB\\-h\\fR, \\fB\\-\\-help\\fR\n");
	assert_says(".TP\n\\fBsidewinder look \\-q a\\eb\\fR\n"
		    "looks, as \\fB\\-\\-by\\fR=line\n");
}

static void test_every_option_of_every_verb_is_in_its_page(void **state)
{
	const struct sdw_command *command;
	const struct sdw_option *option;

	(void)state;
	for (command = sdw_commands; command->name; command++) {
		FILE *to = begin();

		sdw_manual_print(sdw_commands, command->name, to);
		fclose(to);
		assert_says(".SH \"EXIT STATUS\"");
		assert_string_equal(command->usage->verb, command->name);
		for (option = command->usage->options; option->type; option++) {
			char tag[128], *at = tag;

			if (option->type == SDW_OPTION_HEADING)
				continue;
			at += sprintf(at, "\\fB\\-\\-");
			for (const char *c = option->name; *c; c++)
				at += sprintf(at, *c == '-' ? "\\-" : "%c", *c);
			sprintf(at, "\\fR");
			assert_says(tag);
		}
	}
}

static void test_every_word_of_an_option_is_in_its_help(void **state)
{
	const struct sdw_command *command;
	const struct sdw_option *option;
	const struct sdw_option_word *word;

	(void)state;
	for (command = sdw_commands; command->name; command++)
		for (option = command->usage->options; option->type; option++)
			for (word = option->words; word && word->word; word++)
				if (!strstr(option->help, word->word))
					fail_msg("%s: --%s: no word about %s", command->name,
						 option->name, word->word);
}

static void test_bash_gets_options_words_and_kinds_of_values(void **state)
{
	(void)state;
	print_completion(SDW_SHELL_BASH);
	assert_says("\t'look') echo -b --by -p --pid --callers -q --quiet --thread -h --help ;;\n");
	assert_says("\tlook:--by | look:-b) kind=(words line file) ;;\n");
	assert_says("\tlook:--pid | look:-p) kind=('PID') ;;\n");
	assert_says("\tlook:--thread) kind=('NAME|TID') ;;\n");
	assert_says("\tlook) echo TRACE ;;\n");
	/* a value that may be left out never stands apart */
	assert_null(strstr(text, "look:--callers"));
}

static void test_zsh_gets_a_specification_with_its_special_characters_quoted(void **state)
{
	(void)state;
	print_completion(SDW_SHELL_ZSH);
	assert_memory_equal(text, "#compdef sidewinder\n", 20);
	assert_says("'(-b --by)'{-b+,--by=}'[it'\\''s \\[one\\]\\: line]:WHAT:(line file)'");
	assert_says("\\*{-p+,--pid=}'[a process]:PID:_sidewinder_list pids'");
	assert_says("'--callers=-[.who called]::NAME|X: '");
	assert_says("'(-q --quiet)'{-q,--quiet}'[nothing]'");
	assert_says("'1::trace:_sidewinder_traces'");
}

static void test_fish_gets_a_command_for_each_option(void **state)
{
	(void)state;
	print_completion(SDW_SHELL_FISH);
	assert_says("complete -c sidewinder -n '__fish_seen_subcommand_from look' -s b -l by -x "
		    "-a 'line file' -d 'it\\'s [one]: line'\n");
	assert_says(" -s p -l pid -x -a '(__sidewinder_list pids)' -d 'a process'\n");
	assert_says(" -l callers -d '.who called'\n");
	assert_says("-n __fish_use_subcommand -a look -d 'look at it'\n");
}

/* Writes `content` into dir/pid/name. */
static void put(const char *dir, const char *pid, const char *name, const char *content,
		size_t content_size)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", dir, pid);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/%s/%s", dir, pid, name);
	file = fopen(path, "w");
	assert_non_null(file);
	fwrite(content, 1, content_size, file);
	fclose(file);
}

#define PUT(dir, pid, name, content) put(dir, pid, name, content, sizeof(content) - 1)

static void test_processes_with_python_are_listed_by_file_or_name(void **state)
{
	char dir[] = "/tmp/test_manual.XXXXXX", command[64];
	FILE *to;

	(void)state;
	assert_non_null(mkdtemp(dir));
	/* embedded: only its files tell */
	PUT(dir, "12", "cmdline", "uwsgi\0--ini\0");
	PUT(dir, "12", "maps", "7f00-7f01 r-xp 00000000 08:01 42 /usr/lib/libpython3.11.so.1.0\n");
	/* of another user: only its name tells; with what would steer a terminal */
	PUT(dir, "13", "cmdline", "/usr/bin/python3\0a\033[2J\0");
	/* neither */
	PUT(dir, "14", "cmdline", "vi\0python.py\0");
	PUT(dir, "14", "maps", "7f00-7f01 r-xp 00000000 08:01 42 /usr/lib/python3/x.so\n");
	PUT(dir, "15x", "cmdline", "python3\0");
	to = begin();
	sdw_candidates_print_pids(dir, to);
	fclose(to);
	assert_says("12\tuwsgi --ini\n");
	assert_says("13\t/usr/bin/python3 a?[2J\n");
	assert_int_equal(size, strlen("12\tuwsgi --ini\n13\t/usr/bin/python3 a?[2J\n"));
	snprintf(command, sizeof(command), "rm -r %s", dir);
	assert_int_equal(system(command), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text_cannot_become_a_request_or_an_escape),
		cmocka_unit_test(test_options_and_pages_are_bold_without_what_stands_around_them),
		cmocka_unit_test(test_lines_are_no_longer_than_80_bytes),
		cmocka_unit_test(test_a_page_shows_usage_options_and_examples),
		cmocka_unit_test(test_every_option_of_every_verb_is_in_its_page),
		cmocka_unit_test(test_every_word_of_an_option_is_in_its_help),
		cmocka_unit_test(test_bash_gets_options_words_and_kinds_of_values),
		cmocka_unit_test(test_zsh_gets_a_specification_with_its_special_characters_quoted),
		cmocka_unit_test(test_fish_gets_a_command_for_each_option),
		cmocka_unit_test(test_processes_with_python_are_listed_by_file_or_name),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	free(text);
	return failed;
}
