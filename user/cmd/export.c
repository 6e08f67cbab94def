// SPDX-License-Identifier: MIT
/* export.c - "sidewinder export": reads a trace and writes it in the format of another program. */
#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "base/log.h"
#include "base/options.h"
#include "cmd/commands.h"
#include "cmd/filter_options.h"
#include "view/export.h"
#include "view/output_file.h"
#include "view/trace_find.h"

enum format {
	FORMAT_NONE,
	FORMAT_FOLDED,
	FORMAT_JSONL,
	FORMAT_FLAMEGRAPH,
	FORMAT_PPROF,
	FORMAT_SPEEDSCOPE,
	FORMAT_FIREFOX,
	FORMAT_PERFETTO,
	FORMAT_HEATMAP
};

struct export_command {
	struct sdw_export_options how;
	struct sdw_filter filter;
	enum format format;
	char *output;
};

/* clang-format off */
static const struct sdw_option_word format_words[] = {
	{"folded", FORMAT_FOLDED},
	{"jsonl", FORMAT_JSONL},
	{"flamegraph", FORMAT_FLAMEGRAPH},
	{"heatmap", FORMAT_HEATMAP},
	{"pprof", FORMAT_PPROF},
	{"speedscope", FORMAT_SPEEDSCOPE},
	{"firefox", FORMAT_FIREFOX},
	{"perfetto", FORMAT_PERFETTO},
	{NULL, 0},
};
/* clang-format on */

#define FIELD(member) SDW_OPTION_FIELD(struct export_command, member)

static const struct sdw_option options[] = {
	{SDW_OPTION_WORD, 't', "to", "FORMAT", FIELD(format), .words = format_words,
	 .help = "folded: a line a stack, for flamegraph.pl and others; jsonl: a JSON object a "
		 "line, for programs; flamegraph: one HTML page, for a browser; heatmap: one HTML "
		 "page with the source and each line's share; pprof: for 'go tool pprof'; "
		 "speedscope: for speedscope, each thread in time; firefox: for "
		 "profiler.firefox.com; perfetto: for ui.perfetto.dev"},
	{SDW_OPTION_STRING, 'o', "output", "FILE", FIELD(output),
	 .help = "write FILE, whole or not at all (default, and with -: standard output)"},
	{SDW_OPTION_FLAG, 0, "processes", NULL, FIELD(how.processes),
	 .help = "folded: the process in front of each stack"},
	{SDW_OPTION_FLAG, 0, "containers", NULL, FIELD(how.containers),
	 .help = "folded: the container and the process in front of each stack"},
	{SDW_OPTION_FLAG, 0, "threads", NULL, FIELD(how.threads),
	 .help = "folded: the thread in front of each stack"},
	{SDW_OPTION_FLAG, 0, "samples", NULL, FIELD(how.samples),
	 .help = "jsonl: each sample by itself, in order of time, instead of added up"},
	SDW_FILTER_OPTIONS(struct export_command, filter),
	{.type = SDW_OPTION_END},
};

static const char *const examples[] = {
	"sidewinder export --to=flamegraph -o profile.html",
	"a page to open in a browser",
	"sidewinder export --to=folded | flamegraph.pl > profile.svg",
	"the newest trace here",
	"sidewinder export --to=jsonl --samples sidewinder-app",
	"each sample of that trace",
	"sidewinder export --to=pprof -o profile.pb.gz && go tool pprof -http=: profile.pb.gz",
	"pprof's pages",
	NULL,
};

const struct sdw_usage sdw_usage_export = {
	.verb = "export",
	.arguments = "--to=FORMAT [OPTION]... [TRACE]...",
	.summary =
		"Writes a recording in the format of another program: TRACE, which is a directory "
		"or net://HOST/host/NAME/SESSION, several together, or the newest "
		"sidewinder-* in this directory.",
	.options = options,
	.examples = examples,
};

static bool is_binary(const struct export_command *command)
{
	return command->format == FORMAT_PPROF || command->format == FORMAT_PERFETTO;
}

static int check(const struct export_command *command)
{
	const struct sdw_export_options *how = &command->how;
	const char *wrong = NULL;

	if (command->format == FORMAT_NONE) {
		sdw_error("export: say what to write: --to=FORMAT; --help tells which there are");
		return -EINVAL;
	}
	if (command->format != FORMAT_FOLDED && how->containers)
		wrong = "--containers is for --to=folded: for one of them, --container";
	else if (command->format != FORMAT_FOLDED && (how->processes || how->threads))
		wrong = how->processes
				? "--processes is for --to=folded: for one of them, --process"
				: "--threads is for --to=folded: for one of them, --thread";
	if (command->format != FORMAT_JSONL && how->samples)
		wrong = "--samples is for --to=jsonl";
	if (is_binary(command) && !command->output && isatty(STDOUT_FILENO))
		wrong = "this format is not for a terminal: name a file with -o";
	if (!wrong)
		return 0;
	sdw_error("export: %s", wrong);
	return -EINVAL;
}

static int write_format(const struct export_command *command, const struct sdw_profile *profile,
			FILE *file)
{
	switch (command->format) {
	case FORMAT_FOLDED:
		return sdw_export_folded(profile, &command->how, file);
	case FORMAT_JSONL:
		return sdw_export_jsonl(profile, &command->how, file);
	case FORMAT_HEATMAP:
		return sdw_export_heatmap(profile, file);
	case FORMAT_PERFETTO:
		return sdw_export_perfetto(profile, file);
	case FORMAT_FIREFOX:
		return sdw_export_firefox(profile, file);
	case FORMAT_SPEEDSCOPE:
		return sdw_export_speedscope(profile, file);
	case FORMAT_PPROF:
		return sdw_export_pprof(profile, file);
	default:
		return sdw_export_flamegraph(profile, file);
	}
}

/* These have a time axis. */
static bool needs_samples(const struct export_command *command)
{
	return command->how.samples || command->format == FORMAT_FLAMEGRAPH ||
	       command->format == FORMAT_SPEEDSCOPE || command->format == FORMAT_FIREFOX ||
	       command->format == FORMAT_PERFETTO;
}

static int run(const struct export_command *command, char **traces, int count)
{
	const struct sdw_trace_request request = {
		.traces = (const char *const *)traces,
		.count = (size_t)count,
		.keep_samples = needs_samples(command),
		.keep_columns = command->format == FORMAT_HEATMAP,
		.filter = &command->filter,
	};
	struct sdw_output_file output;
	struct sdw_profile profile;
	int err;

	/* before the trace is read, which can take long: what cannot be written is said at once */
	err = sdw_output_file_open(&output, command->output);
	if (err)
		return err;
	err = sdw_traces_load(&request, &profile);
	if (err) {
		sdw_output_file_discard(&output);
		return err;
	}
	err = write_format(command, &profile, output.stream);
	err = sdw_output_file_close(&output, err);
	sdw_profile_free(&profile);
	return err == -EPIPE ? 0 : err; /* who closed the pipe has seen enough */
}

int sdw_command_export(int argc, char **argv)
{
	struct export_command command = {0};
	enum sdw_options_result parsed;
	int first;

	parsed = sdw_options_parse(&sdw_usage_export, argc, argv, &command, &first);
	if (parsed != SDW_OPTIONS_GO_ON)
		return parsed == SDW_OPTIONS_HELP ? SDW_EXIT_OK : SDW_EXIT_USAGE;
	if (check(&command))
		return SDW_EXIT_USAGE;
	signal(SIGPIPE, SIG_IGN); /* a closed pipe is an error of write, and a quiet end */
	return run(&command, argv + first, argc - first) ? SDW_EXIT_FAULT : SDW_EXIT_OK;
}
