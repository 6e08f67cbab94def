// SPDX-License-Identifier: MIT
/*
 * reader.c - runs libbabeltrace2 over a trace directory (see reader.h).
 *
 * A graph of two components: the source "ctf.fs", which decodes, and a sink that hands each message
 * on to reader_events.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "view/reader.h"
#include "view/reader_events.h"
#include "view/reader_stream.h"

struct run {
	const char *path;
	struct sdw_reader reader;
	bt_graph *graph;
	const bt_plugin *plugin;
	int error; /* of the reader or of its sink */
};

static const char no_stream[] = "it has no stream";

static int set_problem(struct run *run, const char *problem)
{
	snprintf(run->reader.problem, sizeof(run->reader.problem), "%s", problem);
	return -EINVAL;
}

static int take_message(struct run *run, const bt_message *message)
{
	const bt_stream *stream;

	switch (bt_message_get_type(message)) {
	case BT_MESSAGE_TYPE_STREAM_BEGINNING:
		stream = bt_message_stream_beginning_borrow_stream_const(message);
		if (!bt_stream_class_borrow_default_clock_class_const(
			    bt_stream_borrow_class_const(stream)))
			return set_problem(run, "it has no clock");
		return sdw_reader_begin(&run->reader, bt_stream_borrow_trace_const(stream));
	case BT_MESSAGE_TYPE_EVENT:
		return sdw_reader_event(&run->reader, message);
	default:
		return 0; /* packets, and losses, of which the trace's own events tell more */
	}
}

static bt_graph_simple_sink_component_consume_func_status consume(bt_message_iterator *iterator,
								  void *user_data)
{
	struct run *run = user_data;
	bt_message_array_const messages;
	uint64_t count = 0;

	switch (bt_message_iterator_next(iterator, &messages, &count)) {
	case BT_MESSAGE_ITERATOR_NEXT_STATUS_OK:
		break;
	case BT_MESSAGE_ITERATOR_NEXT_STATUS_END:
		return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_END;
	case BT_MESSAGE_ITERATOR_NEXT_STATUS_AGAIN:
		return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_AGAIN;
	case BT_MESSAGE_ITERATOR_NEXT_STATUS_MEMORY_ERROR:
		return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_MEMORY_ERROR;
	default:
		return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_ERROR;
	}
	for (uint64_t i = 0; i < count; i++) {
		if (!run->error)
			run->error = take_message(run, messages[i]);
		bt_message_put_ref(messages[i]);
	}
	return run->error ? BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_ERROR
			  : BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_OK;
}

/* The parameters of source.ctf.fs: { inputs: [path] }. NULL: out of memory. */
static bt_value *make_parameters(const char *path)
{
	bt_value *parameters = bt_value_map_create(), *inputs;

	if (!parameters)
		return NULL;
	if (!bt_value_map_insert_empty_array_entry(parameters, "inputs", &inputs) &&
	    !bt_value_array_append_string_element(inputs, path))
		return parameters;
	bt_value_put_ref(parameters);
	return NULL;
}

static bt_logging_level library_level(void)
{
	return sdw_log_level() >= SDW_LOG_DEBUG ? BT_LOGGING_LEVEL_WARNING : BT_LOGGING_LEVEL_NONE;
}

static int add_source(struct run *run, const bt_component_source **source)
{
	const bt_component_class_source *class;
	bt_value *parameters;
	int err;

	/* only what the system installed: as root, nothing that the environment or a home names */
	if (bt_plugin_find("ctf", BT_FALSE, BT_FALSE, BT_TRUE, BT_TRUE, BT_FALSE, &run->plugin))
		return set_problem(run, "libbabeltrace2's plugin \"ctf\" is not installed");
	class = bt_plugin_borrow_source_component_class_by_name_const(run->plugin, "fs");
	parameters = make_parameters(run->path);
	if (!class || !parameters) {
		bt_value_put_ref(parameters);
		return class ? -ENOMEM : -EINVAL;
	}
	err = bt_graph_add_source_component(run->graph, class, "trace", parameters, library_level(),
					    source);
	bt_value_put_ref(parameters);
	return err ? -EINVAL : 0;
}

static int connect_source(struct run *run, const bt_component_source *source)
{
	const bt_component_sink *sink;
	uint64_t streams = bt_component_source_get_output_port_count(source);

	if (streams != 1)
		return set_problem(run, streams ? "it has more than one stream" : no_stream);
	if (bt_graph_add_simple_sink_component(run->graph, "reader", NULL, consume, NULL, run,
					       &sink))
		return -ENOMEM;
	if (bt_graph_connect_ports(
		    run->graph, bt_component_source_borrow_output_port_by_index_const(source, 0),
		    bt_component_sink_borrow_input_port_by_index_const(sink, 0), NULL))
		return -EINVAL;
	return 0;
}

static int run_graph(struct run *run)
{
	bt_graph_run_status status;

	do {
		status = bt_graph_run(run->graph);
	} while (status == BT_GRAPH_RUN_STATUS_AGAIN);
	if (run->error)
		return run->error;
	if (status == BT_GRAPH_RUN_STATUS_MEMORY_ERROR)
		return -ENOMEM;
	if (status != BT_GRAPH_RUN_STATUS_OK)
		return -EINVAL;
	return run->reader.begun ? 0 : set_problem(run, no_stream);
}

/* The sink's errors are its owner's to report. */
static bool sink_failed(const struct run *run)
{
	return run->error && !*run->reader.problem;
}

/* One line about a bad trace: what was found here, or the library's innermost cause. */
static void report(const struct run *run, int err)
{
	const bt_error *error = bt_current_thread_take_error();
	const char *problem = run->reader.problem;

	if (!*problem && err == -EINVAL && error && bt_error_get_cause_count(error))
		problem = bt_error_cause_get_message(bt_error_borrow_cause_by_index(error, 0));
	if (!*problem)
		problem = err == -ENOENT ? "there is no trace" : strerror(-err);
	sdw_error("cannot read trace %s: %s", run->path, problem);
	if (error)
		bt_error_release(error);
}

/* What is no trace at all is told apart before the library is asked. */
static int check_directory(struct run *run)
{
	struct stat metadata;
	int fd = open(run->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), err;

	if (fd < 0)
		return errno == ENOTDIR ? -ENOENT : -errno;
	if (fstatat(fd, SDW_CTF_METADATA, &metadata, 0))
		err = -errno;
	else if (!S_ISREG(metadata.st_mode))
		err = -ENOENT;
	else
		err = sdw_reader_check_stream(fd, run->path, run->reader.problem,
					      sizeof(run->reader.problem));
	close(fd);
	return err;
}

/*
 * Lets a child open the trace first: libbabeltrace2 2.0.4 dies of some broken metadata (a clock
 * with frequency 0 is a division by zero).
 */
static int try_in_child(struct run *run)
{
	const bt_component_source *source = NULL;
	int status, null;
	pid_t child = fork();

	if (child < 0)
		return -errno;
	if (child == 0) {
		(void)prctl(PR_SET_DUMPABLE, 0); /* no core file if it dies */
		null = open("/dev/null", O_WRONLY | O_CLOEXEC);
		if (null < 0 || dup2(null, STDERR_FILENO) < 0)
			_exit(0);
		(void)add_source(run, &source);
		_exit(0); /* whatever it is, the parent finds it too */
	}
	while (waitpid(child, &status, 0) < 0) {
		if (errno != EINTR)
			return -errno;
	}
	return status ? set_problem(run, "its metadata makes libbabeltrace2 fail") : 0;
}

static int read_trace(struct run *run)
{
	const bt_component_source *source = NULL;
	int err;

	bt_logging_set_global_level(library_level());
	run->graph = bt_graph_create(0); /* of the message interchange protocol: version 0 */
	if (!run->graph)
		return -ENOMEM;
	err = try_in_child(run);
	if (!err)
		err = add_source(run, &source);
	if (!err)
		err = connect_source(run, source);
	if (!err)
		err = run_graph(run);
	return err;
}

int sdw_trace_read(const char *path, struct sdw_sink *sink)
{
	struct run run = {.path = path};
	int err;

	sdw_reader_init(&run.reader, sink);
	err = check_directory(&run);
	if (!err)
		err = read_trace(&run);
	if (err && !sink_failed(&run))
		report(&run, err);
	bt_current_thread_clear_error();
	bt_graph_put_ref(run.graph);
	bt_plugin_put_ref(run.plugin);
	sdw_reader_free(&run.reader);
	return err;
}
