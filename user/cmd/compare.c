// SPDX-License-Identifier: MIT
/*
 * compare.c - "sidewinder compare": what BPF and a signal handler saw of the same overflows, and
 * what each costs the program.
 *
 * Of a command: it runs once under both paths, and then by turns without, with empty overflows, and
 * with each path alone. Of a trace of record --path=both: what is in it.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/compare_report.h"
#include "analyze/cost_runs.h"
#include "base/log.h"
#include "capture/launch.h"
#include "capture/session.h"
#include "cmd/capture_options.h"
#include "cmd/commands.h"
#include "cmd/signal_options.h"
#include "sink/ctf.h"
#include "sink/tee.h"
#include "ui/progress.h"
#include "view/output_file.h"
#include "view/trace_find.h"

#define DEFAULT_ROUNDS 5
#define DEFAULT_FREQUENCY                                                      \
	4000 /* Hz: what a sample costs is not lost in the noise of short runs \
	      */

struct compare {
	struct sdw_capture_arguments capture;
	uint32_t rounds;
	char *truth_path, *page_path;
	bool json;

	struct sdw_profile profile;
	struct sdw_comparison comparison;
	struct sdw_truth truth;
	struct sdw_cost cost;
	struct sdw_compare_report report;
	struct sdw_output_file page;
	bool has_profile, has_page;
};

#define FIELD(member)  SDW_OPTION_FIELD(struct compare, member)
#define CONFIG(member) FIELD(capture.config.member)

static const struct sdw_option options[] = {
	{SDW_OPTION_HEADING, .help = "What to compare with, and how:"},
	{SDW_OPTION_NUMBER, 'r', "rounds", "N", FIELD(rounds), .max = SDW_COST_MAX_ROUNDS,
	 .help = "measure the cost by so many rounds of four runs of the command (default: 5; "
		 "0: do not)"},
	{SDW_OPTION_STRING, 't', "truth", "FILE", FIELD(truth_path),
	 .help = "JSON with the true shares of functions, {\"f\": 0.6, \"g\": 0.4}, nominal, or "
		 "measured and written by the command itself: the error of each path"},
	{SDW_OPTION_HEADING, .help = "What to write:"},
	{SDW_OPTION_FLAG, 0, "json", NULL, FIELD(json), .help = "one JSON object, for programs"},
	{SDW_OPTION_STRING, 'H', "html", "FILE", FIELD(page_path),
	 .help = "a page for a browser too, with the distributions drawn"},
	{SDW_OPTION_STRING, 'o', "output", "DIR", SDW_CAPTURE_FIELD(config.output),
	 .help = "keep the trace of both paths there (default: it is not kept)"},
	{SDW_OPTION_FLAG, 'f', "force", NULL, SDW_CAPTURE_FIELD(config.force),
	 .help = "replace a trace that is there"},
	{SDW_OPTION_FLAG, 'q', "quiet", NULL, SDW_CAPTURE_FIELD(config.quiet),
	 .help = "only warnings and errors beside the table"},
	SDW_CAPTURE_EVENT_OPTIONS_AT("4000"),
	SDW_CAPTURE_CONTENT_OPTIONS,
	{SDW_OPTION_HEADING, .help = "How the signal path works:"},
	SDW_SIGNAL_HOW_OPTIONS(CONFIG),
	{SDW_OPTION_HEADING, .help = "For experts:"},
	SDW_CAPTURE_EXPERT_OPTIONS,
	{0},
};

static const char *const examples[] = {
	"sidewinder compare -- python3 app.py",
	"both paths on each overflow, and what each costs the program",
	"sidewinder compare --rounds=0 --html=compare.html -- python3 app.py",
	"without the cost, and with a page that shows the distributions",
	"sidewinder compare --truth=shares.json --json -- python3 app.py",
	"how far each path is from what the program really did",
	"sidewinder record --path=both -o trace -- python3 app.py && sidewinder compare trace",
	"what a trace of both paths holds",
	NULL,
};

const struct sdw_usage sdw_usage_compare = {
	.verb = "compare",
	.arguments = "[OPTION]... -- COMMAND [ARGUMENT]...\n"
		     "       sidewinder compare [OPTION]... [TRACE]",
	.summary = "Compares the two ways to take a sample, on the very same overflows: BPF reads "
		   "the stack in the overflow, a signal handler in the process some time later. "
		   "The command runs several times; it should do the same each time, and what it "
		   "prints on standard output is dropped. "
		   "That they differ is the result, and no fault: the exit status is 0.",
	.options = options,
	.examples = examples,
};

/* ---- the command under both paths ---- */

/* A sink for the session: the profile, and the trace if it is to be kept. */
static int open_sink(struct compare *compare, struct sdw_sink **sink)
{
	const struct sdw_config *config = &compare->capture.config;
	struct sdw_sink *both[2] = {NULL, &compare->profile.sink};
	int err = sdw_profile_init(&compare->profile, true);

	compare->has_profile = !err;
	*sink = &compare->profile.sink;
	if (err || !config->output)
		return err;
	err = sdw_ctf_create(config->output, config->force, &both[0]);
	if (err) {
		sdw_error("cannot write %s: %s", config->output, strerror(-err));
		return err;
	}
	err = sdw_tee_create(both, 2, sink);
	if (err)
		both[0]->ops->close(both[0]);
	return err;
}

static int run_both(struct compare *compare, int *status)
{
	struct sdw_config *config = &compare->capture.config;
	struct sdw_session *session = NULL;
	struct sdw_progress progress;
	struct sdw_sink *sink;
	int err = open_sink(compare, &sink), close_err;

	if (err)
		return err;
	sdw_progress_init(&progress, config->quiet);
	err = sdw_session_create(config, sink, &session);
	if (!err) {
		err = sdw_session_run(session, sdw_progress_show, &progress);
		sdw_progress_end(&progress);
		*status = sdw_session_exit_status(session);
	}
	close_err = sink->ops->close(sink);
	sdw_session_free(session);
	return err ?: close_err;
}

/* Standard output becomes /dev/null; returns what it was, or -errno. */
static int drop_output(void)
{
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC), kept;

	if (null < 0)
		return -errno;
	fflush(stdout);
	kept = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	if (kept < 0 || dup2(null, STDOUT_FILENO) < 0) {
		int err = -errno;

		close(null);
		return err;
	}
	close(null);
	return kept;
}

static void restore_output(int kept)
{
	dup2(kept, STDOUT_FILENO);
	close(kept);
}

static int measure_cost(struct compare *compare, int status)
{
	int err;

	if (!compare->rounds)
		return 0;
	err = sdw_cost_measure(&compare->capture.config, compare->rounds, status, &compare->cost);
	if (compare->cost.rounds)
		compare->report.cost = &compare->cost;
	if (err == -EINTR)
		sdw_warn("a run was ended by a signal: the cost is that of %u complete rounds",
			 compare->cost.rounds);
	else if (err)
		sdw_error("the cost cannot be measured: %s", strerror(-err));
	return err == -EINTR ? 0 : err;
}

/* Runs the command under both paths, and for its cost. Returns an exit status. */
static int compare_command(struct compare *compare)
{
	int status = 0, kept = drop_output(), err;

	if (kept < 0) {
		sdw_error("cannot set standard output aside: %s", strerror(-kept));
		return SDW_EXIT_FAULT;
	}
	err = run_both(compare, &status);
	if (!err && compare->truth_path)
		err = sdw_truth_read(compare->truth_path, &compare->truth);
	if (!err && status > 128)
		sdw_warn("the command was ended by signal %d: its cost is not measured",
			 status - 128);
	else if (!err)
		err = measure_cost(compare, status);
	restore_output(kept);
	if (err)
		return status >= SDW_EXIT_NOT_EXECUTABLE && status <= SDW_EXIT_NOT_FOUND
			       ? status
			       : SDW_EXIT_FAULT;
	if (status)
		sdw_warn("the command's exit status was %d", status);
	compare->report.trace = compare->capture.config.output;
	return SDW_EXIT_OK;
}

/* ---- a trace, and what is printed ---- */

static int compare_trace(struct compare *compare, const char *path)
{
	if (sdw_trace_load(path, true, &compare->profile))
		return SDW_EXIT_FAULT;
	compare->has_profile = true;
	compare->report.trace = path;
	if (compare->truth_path && sdw_truth_read(compare->truth_path, &compare->truth))
		return SDW_EXIT_FAULT;
	return SDW_EXIT_OK;
}

static int analyze(struct compare *compare)
{
	struct sdw_compare_report *report = &compare->report;
	int err = sdw_comparison_make_of_profile(&compare->comparison, &compare->profile);

	report->profile = &compare->profile;
	report->comparison = &compare->comparison;
	if (!err && compare->truth_path) {
		report->truth = &compare->truth;
		err = sdw_truth_compare(report->truth, &compare->profile,
					&compare->comparison.bpf_samples, &report->bpf_truth);
		err = err
			      ?: sdw_truth_compare(report->truth, &compare->profile,
						   &compare->comparison.signal_samples,
						   &report->signal_truth);
	}
	if (err == -ENODATA)
		sdw_error("%s holds one path only: record with --path=both, or give a command",
			  report->trace ?: "the newest trace");
	else if (err)
		sdw_error("cannot compare: %s", strerror(-err));
	return err;
}

static int print(struct compare *compare)
{
	struct sdw_output_file output;
	int err = sdw_output_file_open(&output, NULL);

	if (err)
		return err;
	err = compare->json ? sdw_compare_print_json(&compare->report, output.stream)
			    : sdw_compare_print(&compare->report, output.stream);
	err = sdw_output_file_close(&output, err);
	return err == -EPIPE ? 0 : err; /* who closed the pipe has seen enough */
}

static int write_page(struct compare *compare)
{
	int err;

	if (!compare->has_page)
		return 0;
	compare->has_page = false;
	err = sdw_compare_print_page(&compare->report, compare->page.stream);
	return sdw_output_file_close(&compare->page, err);
}

/* ---- what was asked for ---- */

/* "--" stands in front of a command. Returns an exit status, or -1 to go on. */
static int check(struct compare *compare, int argc, char **argv, int first)
{
	struct sdw_capture_arguments *capture = &compare->capture;
	bool is_command = first < argc && strcmp(argv[first - 1], "--") == 0;

	if (!is_command && argc - first > 1) {
		sdw_error("compare: '%s' is one too many: one trace, or -- and a command",
			  argv[first + 1]);
		return SDW_EXIT_USAGE;
	}
	if (compare->page_path && strcmp(compare->page_path, "-") == 0) {
		sdw_error("compare: --html wants a file: standard output is for the table");
		return SDW_EXIT_USAGE;
	}
	if (!is_command)
		return -1;
	capture->config.path = SDW_PATH_BOTH;
	if (!capture->config.frequency && !capture->config.period)
		capture->config.frequency = DEFAULT_FREQUENCY;
	if (sdw_capture_arguments_check(capture, argv + first))
		return SDW_EXIT_USAGE;
	return sdw_capture_check(&capture->config) ?: -1;
}

static int run(struct compare *compare, const char *trace)
{
	int status;

	if (compare->page_path) {
		if (sdw_output_file_open(&compare->page, compare->page_path))
			return SDW_EXIT_FAULT;
		compare->has_page = true;
	}
	status = compare->capture.config.command ? compare_command(compare)
						 : compare_trace(compare, trace);
	if (status)
		return status;
	if (analyze(compare) || print(compare) || write_page(compare))
		return SDW_EXIT_FAULT;
	return SDW_EXIT_OK;
}

static void free_all(struct compare *compare)
{
	if (compare->has_page)
		sdw_output_file_discard(&compare->page);
	sdw_comparison_free(&compare->comparison);
	sdw_truth_result_free(&compare->report.bpf_truth);
	sdw_truth_result_free(&compare->report.signal_truth);
	sdw_truth_free(&compare->truth);
	if (compare->has_profile)
		sdw_profile_free(&compare->profile);
	free(compare->capture.config.pids);
}

int sdw_command_compare(int argc, char **argv)
{
	struct compare *compare = calloc(1, sizeof(*compare));
	enum sdw_options_result parsed;
	int first = argc, status;

	if (!compare)
		return SDW_EXIT_FAULT;
	compare->capture = sdw_capture_arguments_default(sdw_usage_compare.verb);
	compare->rounds = DEFAULT_ROUNDS;
	parsed = sdw_options_parse(&sdw_usage_compare, argc, argv, compare, &first);
	if (parsed == SDW_OPTIONS_GO_ON) {
		if (compare->capture.verbose)
			sdw_log_set_level(SDW_LOG_DEBUG);
		else if (compare->capture.config.quiet)
			sdw_log_set_level(SDW_LOG_WARN);
		signal(SIGPIPE, SIG_IGN); /* a closed pipe is an error of write, and a quiet end */
		status = check(compare, argc, argv, first);
		if (status < 0)
			status = run(compare, first < argc ? argv[first] : NULL);
	} else {
		status = parsed == SDW_OPTIONS_HELP ? SDW_EXIT_OK : SDW_EXIT_USAGE;
	}
	free_all(compare);
	free(compare);
	return status;
}
