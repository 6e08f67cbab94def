// SPDX-License-Identifier: MIT
/* record_options.c - options of `sidewinder record` alone; those of any recording are in
 * capture_options.h.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/log.h"
#include "cmd/capture_options.h"
#include "cmd/commands.h"
#include "cmd/record_lttng.h"
#include "cmd/record_options.h"
#include "cmd/signal_options.h"

struct arguments {
	struct sdw_capture_arguments capture;
	double max_loss_percent;
};

#define FIELD(member) SDW_OPTION_FIELD(struct arguments, member)

#define CONFIG(member) FIELD(capture.config.member)

static const struct sdw_option options[] = {
	SDW_CAPTURE_TARGET_OPTIONS,

	SDW_CAPTURE_EVENT_OPTIONS,

	SDW_CAPTURE_CONTENT_OPTIONS,

	{SDW_OPTION_NO_FLAG, 0, "no-columns", NULL, FIELD(capture.config.columns),
	 .help = "only the line that was running, not the expression in it, which CPython 3.11 and "
		 "later know: the heat map shows it"},

	SDW_SIGNAL_OPTIONS(CONFIG),

	{SDW_OPTION_HEADING, .help = "Where to write:"},
	{SDW_OPTION_STRING, 'o', "output", "DIR", FIELD(capture.config.output),
	 .help = "directory of the trace, made new (default: sidewinder-DATE-TIME here)"},
	{SDW_OPTION_FLAG, 'f', "force", NULL, FIELD(capture.config.force),
	 .help = "replace a trace that is there"},
	{SDW_OPTION_FLAG, 0, "sched", NULL, FIELD(capture.config.sched),
	 .help = "also what the scheduler does with these threads, as LTTng's kernel tracer has "
		 "it, in DIR/kernel"},

	SDW_RECORD_LTTNG_OPTIONS,

	{SDW_OPTION_HEADING, .help = "What to say at the end:"},
	{SDW_OPTION_FLAG, 'q', "quiet", NULL, FIELD(capture.config.quiet),
	 .help = "only warnings and errors"},
	{SDW_OPTION_FLAG, 0, "json", NULL, FIELD(capture.config.json),
	 .help = "the summary as one JSON object on stdout"},
	{SDW_OPTION_FLAG, 0, "no-report", NULL, FIELD(capture.config.no_report),
	 .help = "no table of the hottest functions"},
	{SDW_OPTION_DOUBLE, 0, "max-loss", "PERCENT", FIELD(max_loss_percent), .max = 100,
	 .help = "exit status 3 if more overflows of the target were dropped (default: 5)"},

	{SDW_OPTION_HEADING, .help = "For experts:"},
	SDW_CAPTURE_EXPERT_OPTIONS,
	{0},
};

static const char *const examples[] = {
	"sidewinder record -- python3 app.py --port 8000",
	"run a program, print its hottest functions, leave a trace",
	"sidewinder record -p 4711 -d 10",
	"look at a running service for ten seconds",
	"sidewinder record -p 4711 --children --kernel -F 5000 -o trace",
	"a prefork server with its workers, with kernel frames, at 5 kHz",
	"sidewinder record --container web -d 30",
	"a container of Docker, Podman, Kubernetes and others, by name or id",
	"sidewinder record -a -d 30 --native=none",
	"every Python process of the machine, Python frames only",
	"sidewinder record -e page-faults -c 1 -- python3 app.py",
	"who touches new memory: a sample for every page fault",
	"sidewinder record --sched -p 4711 -d 10",
	"and why its threads did not run: the scheduler's events, in DIR/kernel",
	"sidewinder record --lttng -p 4711 -d 10",
	"the same events as an LTTng trace",
	"sidewinder record --path=signal -- python3 app.py",
	"as an ordinary user, by signals in the process itself",
	NULL,
};

const struct sdw_usage sdw_usage_record = {
	.verb = "record",
	.arguments = "[OPTION]... [--] COMMAND [ARGUMENT]...\n"
		     "       sidewinder record [OPTION]... --pid PID | --container NAME | --all",
	.summary =
		"Records where unmodified Python programs spend their time, as Python, native and "
		"kernel stacks, into a trace directory. The exit status is that of the command; "
		"1 if something failed, 2 for wrong use, 3 if too much was lost.",
	.options = options,
	.examples = examples,
	.command_follows = true,
};

enum sdw_options_result sdw_record_options_parse(int argc, char **argv, struct sdw_config *config)
{
	struct arguments arguments = {
		.capture = sdw_capture_arguments_default(sdw_usage_record.verb),
		.max_loss_percent = 5,
	};
	enum sdw_options_result result;
	int first = argc, err;

	arguments.capture.config.columns = true;
	result = sdw_options_parse(&sdw_usage_record, argc, argv, &arguments, &first);
	if (result == SDW_OPTIONS_GO_ON) {
		arguments.capture.config.max_loss = arguments.max_loss_percent / 100;
		err = sdw_capture_arguments_check(&arguments.capture,
						  first < argc ? argv + first : NULL);
		err = err ?: sdw_record_lttng_check(&arguments.capture.config);
		if (err)
			result = err == -EINVAL ? SDW_OPTIONS_WRONG : SDW_OPTIONS_FAULT;
	}
	if (arguments.capture.verbose)
		sdw_log_set_level(SDW_LOG_DEBUG);
	else if (arguments.capture.config.quiet)
		sdw_log_set_level(SDW_LOG_WARN);
	*config = arguments.capture.config;
	return result;
}

void sdw_record_options_free(struct sdw_config *config)
{
	sdw_capture_config_free(config);
}
