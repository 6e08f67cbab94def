// SPDX-License-Identifier: MIT
/* diff.c - "sidewinder diff": what changed between two traces. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/diff.h"
#include "base/log.h"
#include "base/options.h"
#include "cmd/commands.h"
#include "cmd/filter_options.h"
#include "cmd/show.h"
#include "cmd/table_options.h"
#include "view/export.h"
#include "view/output_file.h"
#include "view/trace_find.h"

struct diff_command {
	struct sdw_diff_options how;
	struct sdw_filter filter;
	char *flamegraph;
	struct sdw_table_arguments output;
};

static const struct sdw_option_word of_words[] = {
	{"share", SDW_DIFF_SHARE},
	{"rate", SDW_DIFF_RATE},
	{"amount", SDW_DIFF_AMOUNT},
	{NULL, 0},
};

#define FIELD(member) SDW_OPTION_FIELD(struct diff_command, member)

static const struct sdw_option options[] = {
	{.type = SDW_OPTION_HEADING, .help = "What to compare:"},
	{SDW_OPTION_WORD, 'b', "by", "WHAT", FIELD(how.report.by), .words = sdw_table_by_words,
	 .help = "one row per function (the default), line, file, module, thread, process or "
		 "container; the last three by their names"},
	{SDW_OPTION_WORD, 0, "of", "WHICH", FIELD(how.of), .words = of_words,
	 .help = "share of all samples (the default: nothing need be alike); rate: amount per "
		 "second recorded, of a service under the same load; amount: as it is, of two runs "
		 "that did the same work"},
	{SDW_OPTION_WORD, 's', "sort", "WHICH", FIELD(how.report.sort),
	 .words = sdw_table_sort_words,
	 .help = "by the change of self (the default): samples whose innermost frame it is; or of "
		 "total: samples in whose stack it is"},
	SDW_TABLE_ROW_OPTIONS(struct diff_command, how.report, output),
	SDW_FILTER_OPTIONS(struct diff_command, filter),
	{.type = SDW_OPTION_HEADING, .help = "How:"},
	{SDW_OPTION_STRING, 'f', "flamegraph", "FILE", FIELD(flamegraph),
	 .help = "write a page in place of the table: a flame graph of NEW in which red is more "
		 "than in BASE and blue is less; -: on standard output"},
	SDW_TABLE_OUTPUT_OPTIONS(struct diff_command, output),
	{.type = SDW_OPTION_END},
};

static const char *const examples[] = {
	"sidewinder diff before after",
	"which functions take more or less of the time than before",
	"sidewinder diff --by=line --of=amount before after",
	"CPU time of each line, of two runs that did the same work",
	"sidewinder diff --flamegraph=diff.html before after",
	"a page to open in a browser",
	"sidewinder diff --json before after | jq '.rows[] | select(.self.changed) | .name'",
	"for programs",
	NULL,
};

const struct sdw_usage sdw_usage_diff = {
	.verb = "diff",
	.arguments = "[OPTION]... TRACE TRACE",
	.summary = "Prints what changed between two recordings, the first one BASE, the second "
		   "NEW: shares of both, the change, and whether it is more than sampling alone "
		   "explains. Functions that moved within their file, or are in another file of "
		   "the same name, are found.",
	.options = options,
	.examples = examples,
};

static int print_text(const struct diff_command *command, const struct sdw_diff *diff,
		      const struct sdw_terminal *terminal)
{
	char *text = NULL;
	size_t bytes;
	FILE *file = open_memstream(&text, &bytes);
	bool failed;
	int err;

	if (!file)
		return -ENOMEM;
	err = command->output.json ? sdw_diff_print_json(diff, file) : sdw_diff_print(diff, file);
	failed = ferror(file);
	if ((fclose(file) || failed) && !err)
		err = -ENOMEM;
	if (err)
		sdw_error("cannot compare: %s", strerror(-err));
	else
		err = sdw_show(text, terminal, !command->output.json && !command->output.no_pager);
	free(text);
	return err;
}

static int write_page(const char *path, const struct sdw_diff *diff)
{
	struct sdw_output_file output;
	int err = sdw_output_file_open(&output, path);

	if (err)
		return err;
	err = sdw_export_flamegraph_diff(&diff->both, diff->base_threads, &diff->base.view,
					 &diff->new.view, output.stream);
	err = sdw_output_file_close(&output, err);
	return err == -EPIPE ? 0 : err;
}

static int compare(struct diff_command *command, struct sdw_profile *base,
		   const struct sdw_profile *new)
{
	struct sdw_terminal terminal;
	struct sdw_diff diff;
	int err;

	sdw_terminal_look(&terminal);
	command->how.report.width = terminal.width;
	command->how.report.colour = terminal.colour;
	err = sdw_diff_make(&diff, base, new, &command->how);
	if (err == -EINVAL)
		sdw_error("diff: BASE is of %s, NEW of %s: only the same event can be compared",
			  base->recording.event, new->recording.event);
	else if (err)
		sdw_error("cannot compare: %s", strerror(-err));
	else if (command->flamegraph)
		err = write_page(command->flamegraph, &diff);
	else
		err = print_text(command, &diff, &terminal);
	sdw_diff_free(&diff);
	return err;
}

static int run(struct diff_command *command, char **traces)
{
	struct sdw_profile base, new;
	int err = sdw_trace_load_filtered(traces[0], false, &command->filter, &base);

	if (err)
		return err;
	err = sdw_trace_load_filtered(traces[1], false, &command->filter, &new);
	if (!err) {
		err = compare(command, &base, &new);
		sdw_profile_free(&new);
	}
	sdw_profile_free(&base);
	return err;
}

int sdw_command_diff(int argc, char **argv)
{
	struct diff_command command = {.how.report.limit = SDW_TABLE_NO_LIMIT_SAID};
	enum sdw_options_result parsed;
	int first;

	parsed = sdw_options_parse(&sdw_usage_diff, argc, argv, &command, &first);
	if (parsed != SDW_OPTIONS_GO_ON)
		return parsed == SDW_OPTIONS_HELP ? SDW_EXIT_OK : SDW_EXIT_USAGE;
	if (argc - first != 2) {
		sdw_error("diff: takes two traces, the old one and the new one: %d %s given",
			  argc - first, argc - first == 1 ? "is" : "are");
		return SDW_EXIT_USAGE;
	}
	if (command.output.json && command.flamegraph) {
		sdw_error("diff: --json and --flamegraph are two outputs: ask for one");
		return SDW_EXIT_USAGE;
	}
	sdw_table_take_arguments(&command.how.report, &command.output);
	signal(SIGPIPE, SIG_IGN); /* a closed pipe is an error of write, and a quiet end */
	return run(&command, argv + first) ? SDW_EXIT_FAULT : SDW_EXIT_OK;
}
