// SPDX-License-Identifier: MIT
/*
 * record.c - sidewinder record: checks everything that can go wrong before the wait, then lets a
 * session run into a trace (and a profile in memory for the table at the end), and sums up.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "capture/launch.h"
#include "capture/session.h"
#include "cmd/capture_options.h"
#include "cmd/commands.h"
#include "cmd/record_lttng.h"
#include "cmd/record_options.h"
#include "cmd/report_request.h"
#include "sink/ctf.h"
#include "sink/ctf_format.h"
#include "sink/tee.h"
#include "ui/progress.h"
#include "ui/summary.h"
#include "view/profile.h"
#include "view/report.h"

#define MAX_NAME_TRIES 100
#define REPORT_ROWS    15

struct record {
	struct sdw_config config;
	char trace[64]; /* the default name, if that is taken */
	const char *output;
	struct sdw_sink *sink;
	struct sdw_record_lttng lttng;
	struct sdw_profile profile;
	bool has_profile;
	struct sdw_progress progress;
	struct sdw_session *session;
	struct sdw_summary summary;
	int command_status;
	int request; /* descriptor of SIGUSR1, below 0: there is none */
};

/* "sidewinder-DATE-TIME", and "-2" and so on if that is there already. */
static int create_named_by_time(struct record *record, struct sdw_sink **sink)
{
	time_t now = time(NULL);
	struct tm local;
	char date[32];
	int number, err = -EEXIST;

	if (!localtime_r(&now, &local) || !strftime(date, sizeof(date), "%Y%m%d-%H%M%S", &local))
		return -EINVAL;
	record->output = record->trace;
	for (number = 1; number <= MAX_NAME_TRIES && err == -EEXIST; number++) {
		if (number == 1)
			snprintf(record->trace, sizeof(record->trace), "sidewinder-%s", date);
		else
			snprintf(record->trace, sizeof(record->trace), "sidewinder-%s-%d", date,
				 number);
		err = sdw_ctf_create(record->trace, false, sink);
	}
	return err;
}

static bool wants_report(const struct sdw_config *config)
{
	return !config->quiet && !config->json && !config->no_report;
}

static int create_directory(struct record *record, struct sdw_sink **sink)
{
	int err;

	record->output = record->config.output;
	if (record->output)
		err = sdw_ctf_create(record->output, record->config.force, sink);
	else
		err = create_named_by_time(record, sink);
	if (err)
		sdw_output_failed(record->output, err);
	return err;
}

/* LTTng's trace comes first: more can be missing. A directory of ours beside it is asked for. */
static int create_traces(struct record *record, struct sdw_sink **sinks, size_t *count)
{
	const struct sdw_config *config = &record->config;
	int err = 0;

	if (config->lttng.session) {
		err = sdw_record_lttng_create(config, &record->lttng, &sinks[*count]);
		if (err)
			return err;
		++*count;
		record->output = record->lttng.outcome.trace;
	}
	if (!config->lttng.session || config->output) {
		err = create_directory(record, &sinks[*count]);
		if (!err)
			++*count;
	}
	return err;
}

/* The traces and, where a table is wanted at the end, a profile in memory beside them. */
static int create_sink(struct record *record)
{
	struct sdw_sink *sinks[3];
	size_t count = 0;
	int err = create_traces(record, sinks, &count);

	if (!err && wants_report(&record->config)) {
		err = sdw_profile_init(&record->profile, false);
		record->has_profile = !err;
		if (!err)
			sinks[count++] = &record->profile.sink;
		else
			sdw_error("cannot keep a profile for the table at the end: %s",
				  strerror(-err));
	}
	if (!err && count == 1)
		record->sink = sinks[0];
	else if (!err)
		err = sdw_tee_create(sinks, count, &record->sink);
	for (size_t i = 0; err && i < count; i++)
		(void)sinks[i]->ops->close(sinks[i]);
	if (err)
		sdw_record_lttng_remove(&record->lttng);
	return err;
}

static void print_report(const struct record *record);

/* SIGUSR1: what the trace has so far can be read by others, and the hottest functions are told. */
static int on_request(void *context)
{
	struct record *record = context;
	struct sdw_totals totals;
	int err;

	if (!sdw_report_request_take(record->request))
		return 0;
	sdw_session_totals(record->session, &totals);
	err = record->sink->ops->flush(record->sink, totals.time_ns);
	err = err ?: sdw_sink_snapshot(record->sink);
	if (err)
		return err;
	sdw_progress_end(&record->progress);
	sdw_info("%.2f s so far: %llu samples, %llu lost; 'sidewinder report %s' reads them",
		 (double)totals.duration_ns / 1e9, (unsigned long long)sdw_totals_samples(&totals),
		 (unsigned long long)sdw_totals_lost(&totals), record->output);
	if (record->has_profile && sdw_totals_samples(&totals))
		print_report(record);
	return 0;
}

/* What the scheduler does goes below the trace, where our own views look for none. */
static int follow_scheduler(struct record *record)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/" SDW_CTF_KERNEL, record->output) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	return sdw_session_follow_scheduler(record->session, path);
}

/* Returns 0 or -errno; the trace is closed in any case. */
static int run(struct record *record)
{
	int err, close_err;

	sdw_progress_init(&record->progress, record->config.quiet);
	err = sdw_session_create(&record->config, record->sink, &record->session);
	if (!err && record->request >= 0)
		err = sdw_session_watch(record->session, record->request, on_request, record);
	if (!err && record->config.sched)
		err = follow_scheduler(record);
	if (!err) {
		err = sdw_session_run(record->session, sdw_progress_show, &record->progress);
		sdw_progress_end(&record->progress);
		record->command_status = sdw_session_exit_status(record->session);
		sdw_session_totals(record->session, &record->summary.totals);
		sdw_session_handler_events(record->session, &record->summary.handler_events,
					   &record->summary.handler_off);
		record->summary.sched = sdw_session_sched_totals(record->session);
		record->summary.unwind = sdw_session_unwind_statistics(record->session);
	}
	close_err = record->sink->ops->close(record->sink);
	record->sink = NULL;
	return err ?: close_err;
}

/* On stderr: standard output is the command's, and whoever reads it wants nothing of ours in it. */
static void print_report(const struct record *record)
{
	const char *term = getenv("TERM"), *no_colour = getenv("NO_COLOR");
	struct sdw_report_options options = {
		.limit = REPORT_ROWS, .no_header = true, .python_only = true};
	struct winsize size;
	int err;

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0) {
		options.width = size.ws_col;
		options.colour = !(no_colour && *no_colour) && term && strcmp(term, "dumb") != 0;
	}
	err = sdw_report_print(&record->profile, &options, stderr);
	if (err)
		sdw_warn("cannot print the hottest functions: %s", strerror(-err));
	fputc('\n', stderr);
}

static int print_end(struct record *record)
{
	const struct sdw_config *config = &record->config;
	struct sdw_summary *summary = &record->summary;
	int err = 0;

	summary->config = config;
	summary->trace = record->output;
	summary->lttng = config->lttng.session ? &record->lttng.outcome : NULL;
	if (record->has_profile && sdw_totals_samples(&summary->totals))
		print_report(record);
	if (config->json) {
		err = sdw_summary_print_json(summary, stdout);
		if (err == -EPIPE)
			err = 0; /* nobody wants it */
		if (err)
			sdw_error("cannot write the summary: %s", strerror(-err));
	} else if (!config->quiet) {
		sdw_summary_print(summary, stderr);
	}
	if (!sdw_totals_samples(&summary->totals))
		sdw_warn(
			"no sample: the target did not run, or made no event, while it was recorded");
	return err;
}

/* The command's own status says most; a fault of ours, or loss, shows where that is 0. */
static int exit_status(const struct record *record, int err)
{
	if (record->command_status)
		return record->command_status;
	if (err)
		return SDW_EXIT_FAULT;
	if (sdw_totals_dropped(&record->summary.totals) <= record->config.max_loss)
		return sdw_record_lttng_lost(&record->lttng,
					     sdw_totals_samples(&record->summary.totals),
					     record->config.max_loss)
			       ? SDW_EXIT_LOSS
			       : SDW_EXIT_OK;
	sdw_warn("%.3g %% of the overflows were lost, more than --max-loss=%.3g allows",
		 100 * sdw_totals_dropped(&record->summary.totals), 100 * record->config.max_loss);
	return SDW_EXIT_LOSS;
}

/* exec failed: the cause was said, and the sink that got no recording has removed its directory. */
static bool command_did_not_run(const struct record *record, int err)
{
	return err && record->command_status >= SDW_EXIT_NOT_EXECUTABLE &&
	       !record->summary.totals.overflows;
}

static int record_all(struct record *record)
{
	int status = sdw_capture_check(&record->config), err, end_err;

	if (status)
		return status;
	if (create_sink(record))
		return SDW_EXIT_FAULT;
	record->config.lttng.gone = &record->lttng.outcome.silent;
	err = run(record);
	if (!record->session || command_did_not_run(record, err))
		sdw_record_lttng_remove(&record->lttng);
	if (!record->session) {
		if (!sdw_log_errors())
			sdw_error("record: %s", strerror(-err));
		return SDW_EXIT_FAULT;
	}
	if (command_did_not_run(record, err))
		return record->command_status;
	if (err)
		sdw_error("the recording in %s is incomplete: %s", record->output, strerror(-err));
	end_err = print_end(record);
	return exit_status(record, err ?: end_err);
}

int sdw_command_record(int argc, char **argv)
{
	struct record record = {.request = -1};
	int status;

	switch (sdw_record_options_parse(argc, argv, &record.config)) {
	case SDW_OPTIONS_GO_ON:
		record.request = sdw_report_request_open();
		status = record_all(&record);
		break;
	case SDW_OPTIONS_HELP:
		status = SDW_EXIT_OK;
		break;
	case SDW_OPTIONS_FAULT:
		status = SDW_EXIT_FAULT;
		break;
	default:
		status = SDW_EXIT_USAGE;
	}
	if (record.sink)
		record.sink->ops->close(record.sink);
	sdw_session_free(record.session);
	sdw_report_request_close(record.request);
	if (record.has_profile)
		sdw_profile_free(&record.profile);
	sdw_record_options_free(&record.config);
	return status;
}
