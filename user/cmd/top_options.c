// SPDX-License-Identifier: MIT
/* top_options.c - options of `sidewinder top`; those of any recording are in capture_options.h. */
#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "cmd/commands.h"
#include "cmd/top_options.h"

#define DEFAULT_WINDOW_S  5
#define DEFAULT_REFRESH_S 1
#define DEFAULT_ROWS	  30
#define NO_LIMIT_SAID	  UINT32_MAX

static const struct sdw_option_word by_words[] = {
	{"function", SDW_TOP_BY_FUNCTION},
	{"line", SDW_TOP_BY_LINE},
	{"thread", SDW_TOP_BY_THREAD},
	{"process", SDW_TOP_BY_PROCESS},
	{0},
};

static const struct sdw_option_word sort_words[] = {
	{"self-now", SDW_TOP_SORT_SELF_NOW},
	{"total-now", SDW_TOP_SORT_TOTAL_NOW},
	{"self-start", SDW_TOP_SORT_SELF_START},
	{"total-start", SDW_TOP_SORT_TOTAL_START},
	{0},
};

#define FIELD(member) SDW_OPTION_FIELD(struct sdw_top_arguments, member)

static const struct sdw_option options[] = {
	SDW_CAPTURE_TARGET_OPTIONS,

	{SDW_OPTION_HEADING, .help = "What to show at first (keys change it):"},
	{SDW_OPTION_WORD, 'b', "by", "WHAT", FIELD(view.by), .words = by_words,
	 .help = "a row per function (default), line, thread or process"},
	{SDW_OPTION_WORD, 's', "sort", "COLUMN", FIELD(view.sort), .words = sort_words,
	 .help = "self-now (default), total-now, self-start, total-start"},
	{SDW_OPTION_FLAG, 'N', "all-frames", NULL, FIELD(all_frames),
	 .help = "rows for native and kernel functions too; without it what they took counts as "
		 "their Python caller's own"},
	{SDW_OPTION_STRING, 0, "filter", "TEXT", FIELD(filter),
	 .help = "only rows with this text in their name or file"},
	{SDW_OPTION_DOUBLE, 'w', "window", "SECONDS", FIELD(window_s), .min = 1, .max = 60,
	 .help = "what is now: so many last seconds (default: 5)"},
	{SDW_OPTION_DOUBLE, 0, "refresh", "SECONDS", FIELD(refresh_s), .min = 0.25, .max = 3600,
	 .help = "draw the screen anew this often (default: 1)"},

	{SDW_OPTION_HEADING, .help = "Of which samples:"},
	{SDW_OPTION_STRING, 0, "thread", "NAME|TID", FIELD(samples.thread),
	 .help = "of threads with this name or number; in names, also below, * and ? stand for "
		 "any characters or one"},
	{SDW_OPTION_STRING, 0, "process", "NAME|PID", FIELD(samples.process),
	 .help = "of processes with this name or number"},
	{SDW_OPTION_STRING, 0, "function", "NAME", FIELD(samples.function),
	 .help = "with this function in their stack"},

	{SDW_OPTION_HEADING, .help = "For scripts:"},
	{SDW_OPTION_FLAG, 0, "once", NULL, FIELD(once),
	 .help = "no screen: print one table, after --duration (default: 5 seconds, or when the "
		 "command ends)"},
	{SDW_OPTION_FLAG, 0, "json", NULL, FIELD(capture.config.json),
	 .help = "the same as one JSON object"},
	{SDW_OPTION_NUMBER, 'n', "limit", "ROWS", FIELD(limit),
	 .help = "print at most so many rows (default 30, with --json all; 0: all)"},

	SDW_CAPTURE_EVENT_OPTIONS,

	SDW_CAPTURE_CONTENT_OPTIONS,

	{SDW_OPTION_HEADING, .help = "Where to write:"},
	{SDW_OPTION_STRING, 'o', "output", "DIR", FIELD(capture.config.output),
	 .help = "also write a trace, to this directory (default: none)"},
	{SDW_OPTION_FLAG, 'f', "force", NULL, FIELD(capture.config.force),
	 .help = "replace a trace that is there"},
	{SDW_OPTION_STRING, 0, "command-output", "FILE", FIELD(command_output),
	 .help = "what the command prints; the screen is not its own (default: nowhere)"},

	{SDW_OPTION_HEADING, .help = "For experts:"},
	SDW_CAPTURE_EXPERT_OPTIONS,
	{0},
};

static const char *const examples[] = {
	"sidewinder top",
	"what the whole machine does now",
	"sidewinder top -p 4711",
	"what a running service does now",
	"sidewinder top -p 4711 --children --by=process",
	"a prefork server, a row per worker",
	"sidewinder top -p 4711 --thread='worker*'",
	"only the threads with such names",
	"sidewinder top --container web",
	"a container of Docker, Podman, Kubernetes and others, by name or id",
	"sidewinder top --all-frames --kernel",
	"native and kernel functions too",
	"sidewinder top --once -d 10 -p 4711 --sort=total-now",
	"ten seconds as a table, for a log or a ticket",
	"sidewinder top --json -p 4711 | jq '.now.gil_held'",
	"how much of the last seconds the GIL was held",
	NULL,
};

const struct sdw_usage sdw_usage_top = {
	.verb = "top",
	.arguments = "[OPTION]... [--] COMMAND [ARGUMENT]...\n"
		     "       sidewinder top [OPTION]... [--pid PID | --container NAME | --all]",
	.summary =
		"Shows the hottest functions, lines, threads or processes of running Python "
		"programs, now and since it began, live on the screen; the key h tells all "
		"keys. Without a target it shows the whole machine. The exit status is that of a command which ended by itself, 1 if "
		"something failed, 2 for wrong use.",
	.options = options,
	.examples = examples,
	.command_follows = true,
};

static int check(struct sdw_top_arguments *arguments)
{
	struct sdw_config *config = &arguments->capture.config;

	if (arguments->command_output && !config->command) {
		sdw_error("top: --command-output is for a command");
		return -EINVAL;
	}
	if (config->force && !config->output) {
		sdw_error("top: --force replaces a trace: name it with --output");
		return -EINVAL;
	}
	if (arguments->filter) {
		if (strlen(arguments->filter) >= sizeof(arguments->view.filter)) {
			sdw_error("top: --filter: the text is too long, the most is %zu bytes",
				  sizeof(arguments->view.filter) - 1);
			return -EINVAL;
		}
		memcpy(arguments->view.filter, arguments->filter, strlen(arguments->filter) + 1);
	}
	return 0;
}

static bool has_target(const struct sdw_config *config)
{
	return config->pid_count || config->cgroup_count || config->container_count;
}

static void fill_defaults(struct sdw_top_arguments *arguments)
{
	struct sdw_config *config = &arguments->capture.config;

	arguments->once |= config->json;
	arguments->view.frames = arguments->all_frames ? SDW_TOP_ALL : SDW_TOP_PYTHON;
	if (arguments->limit == NO_LIMIT_SAID)
		arguments->limit = config->json ? 0 : DEFAULT_ROWS;
	if (arguments->once && !config->command && !(config->duration_s > 0))
		config->duration_s = DEFAULT_WINDOW_S;
}

enum sdw_options_result sdw_top_options_parse(int argc, char **argv,
					      struct sdw_top_arguments *arguments)
{
	enum sdw_options_result result;
	int first = argc, err;

	*arguments = (struct sdw_top_arguments){
		.capture = sdw_capture_arguments_default(sdw_usage_top.verb),
		.window_s = DEFAULT_WINDOW_S,
		.refresh_s = DEFAULT_REFRESH_S,
		.limit = NO_LIMIT_SAID,
	};
	result = sdw_options_parse(&sdw_usage_top, argc, argv, arguments, &first);
	if (result != SDW_OPTIONS_GO_ON)
		return result;
	if (first == argc && !has_target(&arguments->capture.config))
		arguments->capture.config.all = true; /* as every other top does */
	err = sdw_capture_arguments_check(&arguments->capture, first < argc ? argv + first : NULL);
	err = err ?: check(arguments);
	if (err)
		return err == -EINVAL ? SDW_OPTIONS_WRONG : SDW_OPTIONS_FAULT;
	fill_defaults(arguments);
	if (arguments->capture.verbose)
		sdw_log_set_level(SDW_LOG_DEBUG);
	return SDW_OPTIONS_GO_ON;
}

void sdw_top_options_free(struct sdw_top_arguments *arguments)
{
	sdw_capture_config_free(&arguments->capture.config);
}
