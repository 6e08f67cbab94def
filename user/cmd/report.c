// SPDX-License-Identifier: MIT
/*
 * report.c - "sidewinder report": reads a trace and prints a table.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/options.h"
#include "cmd/commands.h"
#include "cmd/filter_options.h"
#include "cmd/show.h"
#include "cmd/table_options.h"
#include "view/report.h"
#include "view/trace_find.h"

struct report_command {
	struct sdw_report_options table;
	struct sdw_filter filter;
	struct sdw_table_arguments output;
};

static int take_callers(void *target, const char *function)
{
	struct report_command *command = target;

	command->table.edges = SDW_REPORT_CALLERS;
	command->table.function = function;
	return 0;
}

static int take_callees(void *target, const char *function)
{
	struct report_command *command = target;

	command->table.edges = SDW_REPORT_CALLEES;
	command->table.function = function;
	return 0;
}

#define FIELD(member) SDW_OPTION_FIELD(struct report_command, member)

static const struct sdw_option options[] = {
	{.type = SDW_OPTION_HEADING, .help = "What to show:"},
	{SDW_OPTION_WORD, 'b', "by", "WHAT", FIELD(table.by), .words = sdw_table_by_words,
	 .help = "one row per function (the default), line, file, module, thread, process or "
		 "container"},
	{SDW_OPTION_WORD, 's', "sort", "WHICH", FIELD(table.sort), .words = sdw_table_sort_words,
	 .help = "hottest by self (the default): samples whose innermost frame it is; or by total: "
		 "samples in whose stack it is"},
	{SDW_OPTION_CALL, 0, "callers", "FUNCTION", 0, 0, .value_optional = true,
	 .call = take_callers, .help = "who calls FUNCTION, or each of the hottest"},
	{SDW_OPTION_CALL, 0, "callees", "FUNCTION", 0, 0, .value_optional = true,
	 .call = take_callees, .help = "whom FUNCTION calls, or each of the hottest"},
	SDW_TABLE_ROW_OPTIONS(struct report_command, table, output),
	SDW_FILTER_OPTIONS(struct report_command, filter),
	{.type = SDW_OPTION_HEADING, .help = "How:"},
	SDW_TABLE_OUTPUT_OPTIONS(struct report_command, output),
	{.type = SDW_OPTION_END},
};

static const char *const examples[] = {
	"sidewinder report",
	"the hottest functions of the newest trace here",
	"sidewinder report --by=line sidewinder-app",
	"the hottest lines of that trace",
	"sidewinder report --callers=JSONDecoder.decode",
	"who calls it, and how often it was seen there",
	"sidewinder report --native --limit=50",
	"what takes the time below the Python functions",
	"sidewinder report --from=10 --until=20 --thread='worker*'",
	"ten seconds of the threads with such names",
	"sidewinder report --by=process web1 web2",
	"two recordings, of two machines say, as one",
	NULL,
};

const struct sdw_usage sdw_usage_report = {
	.verb = "report",
	.arguments = "[OPTION]... [TRACE]...",
	.summary = "Prints the hottest functions of a recording: of TRACE, which is a directory or "
		   "net://HOST/host/NAME/SESSION, of several together, or of the newest "
		   "sidewinder-* in this directory.",
	.options = options,
	.examples = examples,
};

static int print(const struct report_command *command, const struct sdw_profile *profile,
		 FILE *file)
{
	return command->output.json ? sdw_report_print_json(profile, &command->table, file)
				    : sdw_report_print(profile, &command->table, file);
}

static int report(struct report_command *command, const struct sdw_profile *profile)
{
	struct sdw_terminal terminal;
	char *text = NULL;
	size_t bytes;
	FILE *file = open_memstream(&text, &bytes);
	bool failed;
	int err;

	if (!file)
		return -ENOMEM;
	sdw_terminal_look(&terminal);
	command->table.width = terminal.width;
	command->table.colour = terminal.colour;
	err = print(command, profile, file);
	if (err == -ENOENT && command->table.python_only) {
		/* who asks for a native function by name need not ask for --native too */
		command->table.python_only = false;
		err = print(command, profile, file);
	}
	failed = ferror(file);
	if ((fclose(file) || failed) && !err)
		err = -ENOMEM;
	if (err == -ENOENT)
		sdw_error("no sample has a function called '%s' in its stack",
			  command->table.function);
	else if (err)
		sdw_error("cannot make the report: %s", strerror(-err));
	else
		err = sdw_show(text, &terminal, !command->output.json && !command->output.no_pager);
	free(text);
	return err;
}

int sdw_command_report(int argc, char **argv)
{
	struct report_command command = {.table.limit = SDW_TABLE_NO_LIMIT_SAID};
	struct sdw_trace_request request = {.filter = &command.filter};
	struct sdw_profile profile;
	enum sdw_options_result parsed;
	int first, err;

	parsed = sdw_options_parse(&sdw_usage_report, argc, argv, &command, &first);
	if (parsed != SDW_OPTIONS_GO_ON)
		return parsed == SDW_OPTIONS_HELP ? SDW_EXIT_OK : SDW_EXIT_USAGE;
	sdw_table_take_arguments(&command.table, &command.output);
	signal(SIGPIPE, SIG_IGN); /* a closed pipe is an error of write, and a quiet end */
	request.traces = (const char *const *)argv + first;
	request.count = (size_t)(argc - first);
	if (sdw_traces_load(&request, &profile))
		return SDW_EXIT_FAULT;
	err = report(&command, &profile);
	sdw_profile_free(&profile);
	return err ? SDW_EXIT_FAULT : SDW_EXIT_OK;
}
