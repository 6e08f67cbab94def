// SPDX-License-Identifier: MIT
/* What a user types, and what a command gets; the messages are those of stderr. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/nearest.h"
#include "base/options.h"

struct target {
	bool quiet, children;
	char *output;
	uint64_t period;
	uint32_t stack_bytes;
	double duration;
	int native;
	size_t pids;
	char *callers;
};

static int count_pid(void *target, const char *value)
{
	struct target *t = target;

	if (strcmp(value, "0") == 0)
		return -EINVAL;
	t->pids++;
	return 0;
}

static const struct sdw_option_word native_words[] = {{"none", 0}, {"dwarf", 1}, {0}};

static const struct sdw_option options[] = {
	{SDW_OPTION_HEADING, .help = "What to record:"},
	{SDW_OPTION_CALL, 'p', "pid", "PID", .call = count_pid, .help = "a process"},
	{SDW_OPTION_NUMBER, 'c', "period", "N", SDW_OPTION_FIELD(struct target, period), .min = 1,
	 .help = "events per sample"},
	{SDW_OPTION_HEADING, .help = "How:"},
	{SDW_OPTION_SIZE, 0, "stack-bytes", "SIZE", SDW_OPTION_FIELD(struct target, stack_bytes),
	 .max = 65536,
	 .help = "bytes of native stack that are copied at most for each sample, a sentence "
		 "that does not fit into one line"},
	{SDW_OPTION_DOUBLE, 'd', "duration", "SECONDS", SDW_OPTION_FIELD(struct target, duration),
	 .min = 0.1, .help = "end after this time"},
	{SDW_OPTION_WORD, 0, "native", "HOW", SDW_OPTION_FIELD(struct target, native),
	 .words = native_words, .help = "native frames"},
	{SDW_OPTION_FLAG, 'q', "quiet", NULL, SDW_OPTION_FIELD(struct target, quiet),
	 .help = "say nothing"},
	{SDW_OPTION_NO_FLAG, 0, "no-children", NULL, SDW_OPTION_FIELD(struct target, children),
	 .help = "only the process itself"},
	{SDW_OPTION_STRING, 'o', "output", "DIR", SDW_OPTION_FIELD(struct target, output),
	 .help = "where to write"},
	{SDW_OPTION_STRING, 0, "callers", "NAME", SDW_OPTION_FIELD(struct target, callers),
	 .value_optional = true, .help = "who called"},
	{0},
};

static const char *const examples[] = {"sidewinder record -- python3 app.py", "record a program",
				       NULL};

static const struct sdw_usage record = {
	.verb = "record",
	.arguments = "[OPTION]... [-- COMMAND]",
	.summary = "Records.",
	.options = options,
	.examples = examples,
	.command_follows = true,
};

static const struct sdw_usage report = {
	.verb = "report",
	.arguments = "[OPTION]... [TRACE]",
	.summary = "Reports.",
	.options = options,
};

static char said[4096]; /* what came out on stderr */

/* Parses the words up to NULL. */
static enum sdw_options_result parse(const struct sdw_usage *usage, struct target *target,
				     int *first, ...)
{
	char *argv[16] = {(char *)usage->verb};
	enum sdw_options_result result;
	int argc = 1, saved, pipes[2];
	ssize_t size;
	va_list args;

	va_start(args, first);
	while ((argv[argc] = va_arg(args, char *)))
		argc++;
	va_end(args);
	memset(target, 0, sizeof(*target));
	target->children = true;
	assert_int_equal(pipe(pipes), 0);
	saved = dup(STDERR_FILENO);
	dup2(pipes[1], STDERR_FILENO);
	result = sdw_options_parse(usage, argc, argv, target, first);
	dup2(saved, STDERR_FILENO);
	close(saved);
	close(pipes[1]);
	size = read(pipes[0], said, sizeof(said) - 1);
	said[size > 0 ? size : 0] = '\0';
	close(pipes[0]);
	return result;
}

static void test_every_kind_of_option_reaches_its_field(void **state)
{
	struct target t;
	int first;

	(void)state;
	assert_int_equal(parse(&record, &t, &first, "-p", "1", "--pid=2", "-c1000", "--stack-bytes",
			       "16K", "-d", "2.5", "--native=dwarf", "-q", "--no-children", "-o",
			       "out", "--callers=f", NULL),
			 SDW_OPTIONS_GO_ON);
	assert_int_equal(t.pids, 2);
	assert_int_equal(t.period, 1000);
	assert_int_equal(t.stack_bytes, 16384);
	assert_true(t.duration == 2.5);
	assert_int_equal(t.native, 1);
	assert_true(t.quiet);
	assert_false(t.children);
	assert_string_equal(t.output, "out");
	assert_string_equal(t.callers, "f");
	assert_int_equal(first, 15);
	assert_string_equal(said, "");
}

static void test_options_of_the_command_are_left_to_it(void **state)
{
	struct target t;
	int first;

	(void)state;
	assert_int_equal(parse(&record, &t, &first, "-q", "--", "prog", "-d", "x", NULL),
			 SDW_OPTIONS_GO_ON);
	assert_int_equal(first, 3);
	assert_int_equal(parse(&record, &t, &first, "-q", "prog", "-d", "x", NULL),
			 SDW_OPTIONS_GO_ON);
	assert_int_equal(first, 2);
	assert_true(t.duration == 0);
}

static void test_options_may_follow_the_trace(void **state)
{
	struct target t;
	int first;

	(void)state;
	assert_int_equal(parse(&report, &t, &first, "trace", "-q", NULL), SDW_OPTIONS_GO_ON);
	assert_true(t.quiet);
	assert_int_equal(first, 2);
}

static void test_optional_value_may_be_left_out(void **state)
{
	struct target t;
	int first;

	(void)state;
	assert_int_equal(parse(&report, &t, &first, "--callers", "trace", NULL), SDW_OPTIONS_GO_ON);
	assert_string_equal(t.callers, "");
	assert_int_equal(first, 2);
}

#define assert_refused(message, ...)                                                   \
	do {                                                                           \
		struct target t_;                                                      \
		int first_;                                                            \
		assert_int_equal(parse(&record, &t_, &first_, __VA_ARGS__, NULL),      \
				 SDW_OPTIONS_WRONG);                                   \
		assert_string_equal(said, "sidewinder: error: record: " message "\n"); \
	} while (0)

static void test_each_mistake_has_its_message(void **state)
{
	(void)state;
	assert_refused("unknown option '--perod': did you mean '--period'?", "--perod", "3");
	assert_refused("unknown option '--perod': did you mean '--period'?", "--perod=3");
	assert_refused("unknown option '--zzzzzzzz'; 'sidewinder record --help' lists all",
		       "--zzzzzzzz");
	assert_refused("unknown option '-z'; 'sidewinder record --help' lists all", "-z");
	assert_refused("unknown option '-z'; 'sidewinder record --help' lists all", "-qz");
	assert_refused("--period needs a value: --period N", "-c");
	assert_refused("--period needs a value: --period N", "--period");
	assert_refused("--quiet takes no value", "--quiet=3");
	assert_refused("--period: '-1' is not a number", "-c", "-1");
	assert_refused("--period: '' is not a number", "-c", "");
	assert_refused("--period: '1x' is not a number", "-c", "1x");
	assert_refused("--period: 0 is too small, the least is 1", "-c", "0");
	assert_refused("--period: 18446744073709551616 is too large", "-c", "18446744073709551616");
	assert_refused("--stack-bytes: '1T' is not a size, e.g. 65536, 64K or 4M",
		       "--stack-bytes=1T");
	assert_refused("--stack-bytes: 65K is too large, the most is 65536", "--stack-bytes=65K");
	assert_refused("--stack-bytes: 4194304K is too large", "--stack-bytes=4194304K");
	assert_refused("--duration: 'nan' is not a number", "-d", "nan");
	assert_refused("--duration: '1,5' is not a number", "-d", "1,5");
	assert_refused("--duration: 0 is too small, the least is 0.1", "-d", "0");
	assert_refused("--native: 'fp' is not one of none dwarf", "--native=fp");
	assert_refused("--native: 'dwrf' is not one of none dwarf: did you mean 'dwarf'?",
		       "--native=dwrf");
}

static void test_callback_speaks_for_itself(void **state)
{
	struct target t;
	int first;

	(void)state;
	assert_int_equal(parse(&record, &t, &first, "-p", "0", NULL), SDW_OPTIONS_WRONG);
	assert_string_equal(said, "");
}

static void test_help_lists_every_option_within_80_columns(void **state)
{
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	(void)state;
	sdw_options_print_help(&record, to);
	fclose(to);
	assert_string_equal(
		text,
		"Usage: sidewinder record [OPTION]... [-- COMMAND]\n"
		"\n"
		"Records.\n"
		"\n"
		"What to record:\n"
		"  -p, --pid PID               a process\n"
		"  -c, --period N              events per sample\n"
		"\n"
		"How:\n"
		"      --stack-bytes SIZE      bytes of native stack that are copied at most for\n"
		"                              each sample, a sentence that does not fit into one\n"
		"                              line\n"
		"  -d, --duration SECONDS      end after this time\n"
		"      --native HOW            native frames\n"
		"  -q, --quiet                 say nothing\n"
		"      --no-children           only the process itself\n"
		"  -o, --output DIR            where to write\n"
		"      --callers[=NAME]        who called\n"
		"  -h, --help                  this text\n"
		"\n"
		"Examples:\n"
		"  sidewinder record -- python3 app.py\n"
		"      record a program\n");
	free(text);
}

static void test_nearest_word_is_a_slip_away_or_none(void **state)
{
	static const char *const verbs[] = {"record", NULL, "report", "export"};

	(void)state;
	assert_int_equal(sdw_word_distance("record", "recrod"), 1);
	assert_int_equal(sdw_word_distance("", "abc"), 3);
	assert_string_equal(sdw_nearest_word("recrod", verbs, 4), "record");
	assert_string_equal(sdw_nearest_word("reprot", verbs, 4), "report");
	assert_string_equal(sdw_nearest_word("exp", verbs, 4), "export");
	assert_null(sdw_nearest_word("flamegraph", verbs, 4));
	assert_null(sdw_nearest_word("", verbs, 4));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_kind_of_option_reaches_its_field),
		cmocka_unit_test(test_options_of_the_command_are_left_to_it),
		cmocka_unit_test(test_options_may_follow_the_trace),
		cmocka_unit_test(test_optional_value_may_be_left_out),
		cmocka_unit_test(test_each_mistake_has_its_message),
		cmocka_unit_test(test_callback_speaks_for_itself),
		cmocka_unit_test(test_help_lists_every_option_within_80_columns),
		cmocka_unit_test(test_nearest_word_is_a_slip_away_or_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
