// SPDX-License-Identifier: MIT
/*
 * top.c - sidewinder top: lets a session run into the model of top_model.h, and shows it on the
 * screen until somebody quits, or prints it once.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/log.h"
#include "capture/launch.h"
#include "capture/session.h"
#include "cmd/commands.h"
#include "cmd/top_options.h"
#include "sink/ctf.h"
#include "sink/tee.h"
#include "ui/top_draw.h"
#include "ui/top_json.h"
#include "ui/top_model.h"
#include "ui/top_terminal.h"
#include "view/output_file.h"

#define MAX_WIDTH 10000 /* columns of a print */

struct top {
	struct sdw_top_arguments arguments;
	struct sdw_top_view *view; /* in the arguments, which say how it begins */
	struct sdw_top_model model;
	bool has_model;
	struct sdw_filter_sink filter; /* before the model, if not every sample is asked for */
	struct sdw_top_counts frozen;  /* what is shown while paused */
	struct sdw_top_counts part;    /* of the thread or process that is looked at */
	struct sdw_top_list list;
	struct sdw_top_screen screen;
	struct sdw_top_terminal *terminal; /* NULL: print once */
	struct sdw_sink *sink;
	struct sdw_session *session;
	uint64_t shown_ns; /* when the screen was drawn last, since the start */
	char message[512]; /* for the last line; "": none */
	int error;	   /* of a callback that cannot return it */
};

/* ---- the screen ---- */

static const struct sdw_top_counts *shown_counts(const struct top *top)
{
	return top->view->state == SDW_TOP_PAUSED ? &top->frozen : &top->model.counts;
}

static int count_owner(struct top *top)
{
	return sdw_top_model_count_owner(&top->model, top->view->owner_is_thread, top->view->owner,
					 &top->part);
}

static int make_list(struct top *top)
{
	int err = 0;

	if (top->view->owner && top->view->state != SDW_TOP_PAUSED)
		err = count_owner(top);
	return err
		       ?: sdw_top_list_make(&top->list, &top->model,
					    top->view->owner ? &top->part : shown_counts(top),
					    top->view);
}

static int show(struct top *top)
{
	struct sdw_top_drawing drawing = {
		.model = &top->model,
		.counts = shown_counts(top),
		.list = &top->list,
		.view = top->view,
		.ascii = sdw_top_terminal_is_ascii(top->terminal),
	};
	const char *said = sdw_top_terminal_said(top->terminal);
	int err;

	if (said)
		snprintf(top->message, sizeof(top->message), "%s", said);
	drawing.message = *top->message ? top->message : NULL;
	sdw_top_terminal_size(top->terminal, &drawing.width, &drawing.height);
	err = make_list(top);
	err = err ?: sdw_top_draw(&top->screen, &drawing);
	if (!err)
		sdw_top_terminal_show(top->terminal, &top->screen);
	return err;
}

/* Ends the recording, or what is shown after it. */
static void quit(struct top *top)
{
	const struct sdw_config *config = &top->arguments.capture.config;

	if (top->view->state == SDW_TOP_ENDED)
		return;
	top->view->quit = false; /* asked for; the recording's end is awaited */
	sdw_session_stop(top->session);
	if (config->command)
		snprintf(top->message, sizeof(top->message),
			 "waiting for the command; q: leave it");
}

static int take_key(struct top *top, uint32_t key)
{
	enum sdw_top_state before = top->view->state;
	int err = 0;

	top->message[0] = '\0';
	sdw_top_view_key(top->view, &top->list, key);
	if (top->view->quit)
		quit(top);
	if (top->view->state == SDW_TOP_PAUSED && before != SDW_TOP_PAUSED) {
		err = top->view->owner ? count_owner(top) : 0;
		err = err ?: sdw_top_counts_copy(&top->frozen, &top->model.counts);
	}
	/* the next key may be there already: it is for the rows that this one leaves */
	return err ?: make_list(top);
}

/* Takes every event that is there. Returns 0, or -errno. */
static int take_events(void *context)
{
	struct top *top = context;
	enum sdw_top_event event;
	uint32_t key = 0;
	int err = 0;

	while (!err && (event = sdw_top_terminal_next(top->terminal, &key)) != SDW_TOP_NO_EVENT) {
		if (event == SDW_TOP_KEY)
			err = take_key(top, key);
		if (!err && event != SDW_TOP_STOP)
			continue;
		top->view->quit = true;
		quit(top);
		break;
	}
	return err ?: show(top);
}

/* Every quarter of a second. */
static void on_progress(void *context, const struct sdw_session_state *state)
{
	struct top *top = context;
	uint64_t refresh_ns = (uint64_t)(top->arguments.refresh_s * 1e9);

	if (top->error)
		return;
	top->error = sdw_top_model_update(&top->model, top->model.profile.recording.start_ns +
							       state->elapsed_ns);
	if (!top->error && top->terminal &&
	    (!top->shown_ns || state->elapsed_ns - top->shown_ns >= refresh_ns - refresh_ns / 8)) {
		top->shown_ns = state->elapsed_ns;
		top->error = show(top);
	}
	if (top->error)
		sdw_session_stop(top->session);
}

static void say_end(struct top *top)
{
	const struct sdw_config *config = &top->arguments.capture.config;
	double seconds = (double)top->model.counts.totals.duration_ns / 1e9;
	const char *what =
		config->pid_count > 1 ? "all processes have ended" : "the process has ended";

	if (config->duration_s > 0 && seconds >= config->duration_s)
		what = "the time is over";
	else if (config->command)
		what = "the command has ended";
	else if (config->groups)
		what = "the container has ended";
	snprintf(top->message, sizeof(top->message), "%s; q quits", what);
}

/* The last table stays until somebody has seen it. */
static int stay(struct top *top)
{
	struct pollfd input = {.fd = sdw_top_terminal_fd(top->terminal), .events = POLLIN};
	int err = sdw_top_terminal_take_stops(top->terminal);

	top->view->state = SDW_TOP_ENDED;
	say_end(top);
	err = err ?: show(top);
	while (!err && !top->view->quit) {
		if (poll(&input, 1, -1) < 0 && errno != EINTR)
			return -errno;
		err = take_events(top);
	}
	return err;
}

/* ---- the recording ---- */

static int create_model(struct top *top)
{
	int err = sdw_top_model_init(&top->model, top->arguments.window_s);

	if (err)
		return err;
	top->has_model = true;
	top->sink = &top->model.sink;
	if (!sdw_filter_is_set(&top->arguments.samples))
		return 0;
	err = sdw_filter_sink_init(&top->filter, &top->arguments.samples, &top->model.sink);
	top->sink = &top->filter.sink;
	return err;
}

/* A trace beside the model has every sample, whatever is shown. */
static int create_sink(struct top *top)
{
	const struct sdw_config *config = &top->arguments.capture.config;
	struct sdw_sink *trace = NULL, *both[2];
	int err = create_model(top);

	if (err)
		goto failed;
	if (!config->output)
		return 0;
	err = sdw_ctf_create(config->output, config->force, &trace);
	if (err) {
		sdw_output_failed(config->output, err);
		return err;
	}
	both[0] = trace;
	both[1] = top->sink;
	err = sdw_tee_create(both, 2, &top->sink);
	if (!err)
		return 0;
	trace->ops->close(trace);
failed:
	sdw_error("top: %s", strerror(-err));
	return err;
}

/* Where the command writes to; the screen is ours. */
static int open_command_output(struct top *top)
{
	struct sdw_config *config = &top->arguments.capture.config;
	const char *path = top->arguments.command_output ?: "/dev/null";
	int err;

	if (!config->command)
		return 0;
	config->command_output = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (config->command_output >= 0)
		return 0;
	err = -errno;
	config->command_output = 0;
	sdw_error("top: --command-output %s: %s", path, strerror(-err));
	return err;
}

/* From here on signals are the session's, and the terminal can be taken over. */
static int open_terminal(struct top *top)
{
	int err;

	if (top->arguments.once)
		return 0;
	err = sdw_top_terminal_open(&top->terminal);
	if (err)
		return err;
	err = sdw_session_watch(top->session, sdw_top_terminal_fd(top->terminal), take_events, top);
	return err ?: show(top);
}

static int run(struct top *top)
{
	struct sdw_totals totals;
	int err = sdw_session_run(top->session, on_progress, top);

	sdw_session_totals(top->session, &totals);
	err = err ?: top->error;
	if (!err)
		err = sdw_top_model_update(&top->model, top->model.profile.recording.start_ns +
								totals.duration_ns);
	if (!err && top->terminal && !sdw_session_was_stopped(top->session))
		err = stay(top);
	return err;
}

/* ---- printing ---- */

static size_t print_width(void)
{
	const char *columns = getenv("COLUMNS");
	size_t width = columns ? strtoul(columns, NULL, 10) : 0;
	struct winsize size;

	if (!width && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
		width = size.ws_col;
	if (width > MAX_WIDTH)
		width = MAX_WIDTH;
	return width ? width : 80;
}

static int print_table(struct top *top, FILE *to)
{
	struct sdw_top_drawing drawing = {
		.model = &top->model,
		.counts = &top->model.counts,
		.list = &top->list,
		.view = top->view,
		.width = print_width(),
		.limit = top->arguments.limit,
	};
	int err = sdw_top_draw(&top->screen, &drawing);

	for (size_t i = 0; i < top->screen.count && !err; i++) {
		const struct sdw_top_line *line = &top->screen.lines[i];
		size_t bytes = line->bytes;

		while (bytes && line->text[bytes - 1] == ' ')
			bytes--; /* nothing trails at the end of a line */
		fprintf(to, "%.*s\n", (int)bytes, line->text);
	}
	return err;
}

static int print_once(struct top *top)
{
	struct sdw_output_file output;
	int err = sdw_top_list_make(&top->list, &top->model, &top->model.counts, top->view);

	if (err)
		return err;
	err = sdw_output_file_open(&output, NULL);
	if (err)
		return err;
	if (top->arguments.capture.config.json)
		err = sdw_top_print_json(&top->model, &top->list, top->view, top->arguments.limit,
					 output.stream);
	else
		err = print_table(top, output.stream);
	err = sdw_output_file_close(&output, err);
	return err == -EPIPE ? 0 : err;
}

/* ---- all of it ---- */

static int close_sink(struct top *top)
{
	int err = top->sink ? top->sink->ops->close(top->sink) : 0;

	top->sink = NULL;
	return err;
}

/* What the command ended with, if it ended by itself. */
static int command_status(const struct top *top)
{
	return sdw_session_was_stopped(top->session) ? 0 : sdw_session_exit_status(top->session);
}

static int watch_and_show(struct top *top)
{
	const struct sdw_config *config = &top->arguments.capture.config;
	int err, close_err, status;

	if (open_command_output(top) || create_sink(top))
		return SDW_EXIT_FAULT;
	if (sdw_session_create(config, top->sink, &top->session))
		return SDW_EXIT_FAULT; /* the cause was said */
	err = open_terminal(top);
	if (err)
		return SDW_EXIT_FAULT;
	err = run(top);
	sdw_top_terminal_close(top->terminal);
	top->terminal = NULL;
	status = command_status(top);
	close_err = close_sink(top);
	err = err ?: close_err;
	if (err && status >= SDW_EXIT_NOT_EXECUTABLE)
		return status; /* the command could not be run, the cause was said */
	if (err)
		sdw_error("top: it ended early: %s", strerror(-err));
	else if (top->arguments.once)
		err = print_once(top);
	if (config->output)
		sdw_info("trace: %s", config->output);
	return status ? status : err ? SDW_EXIT_FAULT : SDW_EXIT_OK;
}

static int start(struct top *top)
{
	int status;

	if (!top->arguments.once && sdw_top_terminal_check())
		return SDW_EXIT_FAULT;
	status = sdw_capture_check(&top->arguments.capture.config);
	return status ? status : watch_and_show(top);
}

static void clean_up(struct top *top)
{
	int output = top->arguments.capture.config.command_output;

	sdw_top_terminal_close(top->terminal);
	close_sink(top);
	sdw_session_free(top->session);
	sdw_filter_sink_free(&top->filter);
	if (top->has_model)
		sdw_top_model_free(&top->model);
	sdw_top_counts_free(&top->frozen);
	sdw_top_counts_free(&top->part);
	sdw_top_list_free(&top->list);
	sdw_top_screen_free(&top->screen);
	if (output > 0)
		close(output);
	sdw_top_options_free(&top->arguments);
}

int sdw_command_top(int argc, char **argv)
{
	struct top top = {0};
	int status;

	top.view = &top.arguments.view;
	switch (sdw_top_options_parse(argc, argv, &top.arguments)) {
	case SDW_OPTIONS_GO_ON:
		status = start(&top);
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
	clean_up(&top);
	return status;
}
