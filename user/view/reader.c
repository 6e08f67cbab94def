// SPDX-License-Identifier: MIT
/*
 * reader.c - runs libbabeltrace2 over traces (see reader.h).
 *
 * Messages go to the reader of the trace that they come from. One directory of ours goes straight
 * to the sink; all else through a merge, which numbers anew.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/log.h"
#include "view/merge.h"
#include "view/reader.h"
#include "view/reader_events.h"
#include "view/reader_graph.h"
#include "view/reader_lttng.h"

#define LIVE_POLL_NS 100000000 /* between two looks at what a relay daemon has */

/* A trace that messages come from. */
struct source {
	const bt_trace *trace;
	bool ignored;			/* another tracer's */
	struct sdw_reader reader;	/* of ours */
	struct sdw_lttng_reader *lttng; /* NULL: it is ours */
};

struct source_slot {
	struct source *source;
};

struct run {
	const char *path; /* for messages */
	struct sdw_sink *sink;
	struct sdw_trace_places places;
	struct sdw_graph graph;
	struct sdw_merge *merge; /* NULL: there is one trace, and it is ours */
	struct {
		struct source_slot *items;
		size_t count, room;
	} sources;
	size_t last; /* source of the message before */
	bool any;    /* there was a recording */
	char problem[1024];
};

static volatile sig_atomic_t interrupted; /* by SIGINT, while a live trace is read */

static int set_problem(struct run *run, const char *problem)
{
	snprintf(run->problem, sizeof(run->problem), "%s", problem);
	return -EINVAL;
}

static struct source *source_of(struct run *run, const bt_trace *trace)
{
	if (run->last < run->sources.count && run->sources.items[run->last].source->trace == trace)
		return run->sources.items[run->last].source;
	for (size_t i = 0; i < run->sources.count; i++) {
		if (run->sources.items[i].source->trace != trace)
			continue;
		run->last = i;
		return run->sources.items[i].source;
	}
	return NULL;
}

static const char *env_text(const bt_trace *trace, const char *key)
{
	const bt_value *value = bt_trace_borrow_environment_entry_value_by_name_const(trace, key);

	return value && bt_value_is_string(value) ? bt_value_string_get(value) : "";
}

static int begin_source(struct run *run, struct source *source)
{
	const char *tracer = env_text(source->trace, "tracer_name");
	struct sdw_sink *sink = run->sink;
	int err;

	if (strcmp(tracer, "lttng-ust") == 0 && run->merge) {
		err = sdw_merge_add_host(run->merge, env_text(source->trace, "hostname"));
		return err
			       ?: sdw_lttng_reader_create(run->merge, run->problem,
							  sizeof(run->problem), &source->lttng);
	}
	if (strncmp(tracer, "lttng", 5) == 0 && run->merge) {
		source->ignored = true;
		return 0;
	}
	if (run->merge) {
		sink = sdw_merge_add(run->merge);
		if (!sink)
			return -ENOMEM;
	}
	sdw_reader_init(&source->reader, sink);
	err = sdw_reader_begin(&source->reader, source->trace);
	run->any = run->any || !err;
	if (err == -EINVAL && *source->reader.problem)
		return set_problem(run, source->reader.problem);
	return err;
}

static int begin_stream(struct run *run, const bt_message *message)
{
	const bt_stream *stream = bt_message_stream_beginning_borrow_stream_const(message);
	const bt_trace *trace = bt_stream_borrow_trace_const(stream);
	const bt_clock_class *clock = bt_stream_class_borrow_default_clock_class_const(
		bt_stream_borrow_class_const(stream));
	struct source *source = source_of(run, trace);

	if (!clock)
		return set_problem(run, "it has no clock");
	if (bt_clock_class_get_frequency(clock) != 1000000000)
		return set_problem(run, "its clock does not count nanoseconds");
	if (source && !source->lttng && !source->ignored)
		return set_problem(run, "it has more than one stream");
	if (source)
		return 0;
	source = calloc(1, sizeof(*source));
	if (!source || sdw_array_reserve(&run->sources, 1)) {
		free(source);
		return -ENOMEM;
	}
	source->trace = trace;
	run->sources.items[run->sources.count++].source = source;
	return begin_source(run, source);
}

static int take_event(struct run *run, const bt_message *message)
{
	const bt_stream *stream =
		bt_event_borrow_stream_const(bt_message_event_borrow_event_const(message));
	struct source *source = source_of(run, bt_stream_borrow_trace_const(stream));
	int err;

	if (!source)
		return set_problem(run, "an event comes before its stream");
	if (source->ignored)
		return 0;
	if (source->lttng)
		return sdw_lttng_reader_event(source->lttng, message);
	err = sdw_reader_event(&source->reader, message);
	if (err == -EINVAL && *source->reader.problem)
		return set_problem(run, source->reader.problem);
	return err;
}

static int take_message(void *context, const bt_message *message)
{
	switch (bt_message_get_type(message)) {
	case BT_MESSAGE_TYPE_STREAM_BEGINNING:
		return begin_stream(context, message);
	case BT_MESSAGE_TYPE_EVENT:
		return take_event(context, message);
	default:
		return 0; /* packets, and losses, of which the trace's own events tell more */
	}
}

static void on_interrupt(int signal_number)
{
	(void)signal_number;
	interrupted = 1;
}

static bool is_live(const struct run *run)
{
	for (size_t i = 0; i < run->places.count; i++)
		if (run->places.items[i].kind == SDW_TRACE_LIVE)
			return true;
	return false;
}

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int run_live(struct run *run, double live_s)
{
	const struct timespec pause = {.tv_nsec = LIVE_POLL_NS};
	const struct sigaction stop = {.sa_handler = on_interrupt};
	double end_s = now_s() + live_s;
	struct sigaction old;
	int err;

	interrupted = 0;
	sigaction(SIGINT, &stop, &old);
	while ((err = sdw_graph_run(&run->graph)) == -EAGAIN) {
		if (interrupted || (live_s > 0 && now_s() >= end_s)) {
			err = 0;
			break;
		}
		nanosleep(&pause, NULL);
	}
	sigaction(SIGINT, &old, NULL);
	return err;
}

/* A daemon that was killed leaves a trace that breaks off: what is before it counts. */
static int forgive_end(struct run *run, int err)
{
	const bt_error *error;

	if (err != -EINVAL || run->graph.error || !run->merge || !run->sources.count)
		return err;
	error = bt_current_thread_take_error();
	sdw_warn("%s breaks off: %s; what is before that is taken", run->path,
		 error && bt_error_get_cause_count(error)
			 ? bt_error_cause_get_message(bt_error_borrow_cause_by_index(error, 0))
			 : "libbabeltrace2 cannot read on");
	if (error)
		bt_error_release(error);
	return 0;
}

static int finish(struct run *run)
{
	int err = 0;

	for (size_t i = 0; i < run->sources.count && !err; i++)
		if (run->sources.items[i].source->lttng)
			err = sdw_lttng_reader_finish(run->sources.items[i].source->lttng,
						      &run->any);
	if (err || run->any)
		return err;
	return set_problem(run, run->sources.count ? "it holds no recording of Sidewinder"
						   : "it has no stream");
}

static int run_graph(struct run *run, double live_s)
{
	int err;

	run->graph = (struct sdw_graph){
		.places = &run->places,
		.take = take_message,
		.context = run,
		.problem = run->problem,
		.size = sizeof(run->problem),
	};
	if (run->places.count > 1 || run->places.items[0].kind != SDW_TRACE_OURS) {
		err = sdw_merge_create(run->sink, &run->merge);
		if (err)
			return err;
	}
	err = sdw_graph_build(&run->graph);
	if (err)
		return err;
	err = is_live(run) ? run_live(run, live_s) : sdw_graph_run(&run->graph);
	err = forgive_end(run, err);
	return err ?: finish(run);
}

/* One line about a bad trace: what was found here, or the library's innermost cause. */
static void report(const struct run *run, int err)
{
	const bt_error *error = bt_current_thread_take_error();
	const char *problem = run->problem;

	if (!*problem && run->merge)
		problem = sdw_merge_problem(run->merge);
	if (!*problem && err == -EINVAL && is_live(run) && !run->sources.count)
		problem = "no relay daemon streams it; 'babeltrace2 --input-format=lttng-live "
			  "net://HOST' lists what one does";
	if (!*problem && err == -EINVAL && error && bt_error_get_cause_count(error))
		problem = bt_error_cause_get_message(bt_error_borrow_cause_by_index(error, 0));
	if (!*problem)
		problem = err == -ENOENT ? "there is no trace" : strerror(-err);
	sdw_error("cannot read trace %s: %s", run->path, problem);
	if (error)
		bt_error_release(error);
}

/* The sink's errors are its owner's to report. */
static bool sink_failed(const struct run *run, int err)
{
	return run->graph.error && !*run->problem &&
	       !(err == -EINVAL && run->merge && *sdw_merge_problem(run->merge));
}

static void free_run(struct run *run)
{
	bt_current_thread_clear_error();
	sdw_graph_free(&run->graph);
	for (size_t i = 0; i < run->sources.count; i++) {
		sdw_reader_free(&run->sources.items[i].source->reader);
		sdw_lttng_reader_free(run->sources.items[i].source->lttng);
		free(run->sources.items[i].source);
	}
	free(run->sources.items);
	sdw_merge_free(run->merge);
	sdw_trace_places_free(&run->places);
}

int sdw_traces_read(const char *const *paths, size_t count, double live_s, struct sdw_sink *sink)
{
	struct run run = {.sink = sink};
	int err = 0;

	for (size_t i = 0; i < count && !err; i++) {
		run.path = paths[i];
		err = sdw_trace_places_add(&run.places, paths[i], run.problem, sizeof(run.problem));
	}
	if (!err && count > 1)
		run.path = "of several";
	err = err ?: run_graph(&run, live_s);
	if (err && !sink_failed(&run, err))
		report(&run, err);
	free_run(&run);
	return err;
}

int sdw_trace_read(const char *path, struct sdw_sink *sink)
{
	return sdw_traces_read(&path, 1, 0, sink);
}
