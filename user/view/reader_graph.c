// SPDX-License-Identifier: MIT
/* reader_graph.c - see reader_graph.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "view/reader_graph.h"

#define MAX_STREAMS 65536u /* a session has one for each processor and channel */

static int set_problem(struct sdw_graph *graph, const char *problem)
{
	snprintf(graph->problem, graph->size, "%s", problem);
	return -EINVAL;
}

static bt_graph_simple_sink_component_consume_func_status consume(bt_message_iterator *iterator,
								  void *user_data)
{
	struct sdw_graph *graph = user_data;
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
		if (!graph->error)
			graph->error = graph->take(graph->context, messages[i]);
		bt_message_put_ref(messages[i]);
	}
	return graph->error ? BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_ERROR
			    : BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_OK;
}

/* { inputs: [path] }, and of a session that is streamed: that it must be there. NULL: no memory. */
static bt_value *make_parameters(const struct sdw_trace_place *place)
{
	bt_value *parameters = bt_value_map_create(), *inputs;
	int err;

	if (!parameters)
		return NULL;
	err = bt_value_map_insert_empty_array_entry(parameters, "inputs", &inputs);
	if (!err)
		err = bt_value_array_append_string_element(inputs, place->path);
	if (!err && place->kind == SDW_TRACE_LIVE)
		err = bt_value_map_insert_string_entry(parameters, "session-not-found-action",
						       "fail");
	else if (!err && place->kind == SDW_TRACE_LTTNG)
		err = bt_value_map_insert_bool_entry(
			parameters, "force-clock-class-origin-unix-epoch", BT_TRUE);
	if (!err)
		return parameters;
	bt_value_put_ref(parameters);
	return NULL;
}

static bt_logging_level library_level(void)
{
	return sdw_log_level() >= SDW_LOG_DEBUG ? BT_LOGGING_LEVEL_WARNING : BT_LOGGING_LEVEL_NONE;
}

static int add_source(struct sdw_graph *graph, size_t index, const bt_component_source **source)
{
	const struct sdw_trace_place *place = &graph->places->items[index];
	const bt_component_class_source *class;
	bt_value *parameters;
	char name[32];
	int err;

	class = bt_plugin_borrow_source_component_class_by_name_const(
		graph->ctf, place->kind == SDW_TRACE_LIVE ? "lttng-live" : "fs");
	parameters = make_parameters(place);
	if (!class || !parameters) {
		bt_value_put_ref(parameters);
		return class ? -ENOMEM : -EINVAL;
	}
	snprintf(name, sizeof(name), "trace %zu", index + 1);
	err = bt_graph_add_source_component(graph->graph, class, name, parameters, library_level(),
					    source);
	bt_value_put_ref(parameters);
	return err ? -EINVAL : 0;
}

/* Only what the system installed: as root, nothing that the environment or a home names. */
static int find_plugin(struct sdw_graph *graph, const char *name, const bt_plugin **plugin)
{
	if (!bt_plugin_find(name, BT_FALSE, BT_FALSE, BT_TRUE, BT_TRUE, BT_FALSE, plugin))
		return 0;
	snprintf(graph->problem, graph->size, "libbabeltrace2's plugin \"%s\" is not installed",
		 name);
	return -EINVAL;
}

static int add_muxer(struct sdw_graph *graph)
{
	const bt_component_class_filter *class;
	int err = find_plugin(graph, "utils", &graph->utils);

	if (err)
		return err;
	class = bt_plugin_borrow_filter_component_class_by_name_const(graph->utils, "muxer");
	if (!class || bt_graph_add_filter_component(graph->graph, class, "muxer", NULL,
						    library_level(), &graph->muxer))
		return -EINVAL;
	return 0;
}

/* Connects every stream of a source to the filter, which has one input left at each time. */
static int connect_to_muxer(struct sdw_graph *graph, const bt_component_source *source)
{
	uint64_t streams = bt_component_source_get_output_port_count(source);

	for (uint64_t i = 0; i < streams; i++) {
		uint64_t last = bt_component_filter_get_input_port_count(graph->muxer) - 1;

		if (bt_graph_connect_ports(
			    graph->graph,
			    bt_component_source_borrow_output_port_by_index_const(source, i),
			    bt_component_filter_borrow_input_port_by_index_const(graph->muxer,
										 last),
			    NULL))
			return -EINVAL;
	}
	return 0;
}

struct source {
	const bt_component_source *component;
};

static int connect(struct sdw_graph *graph, const struct source *sources)
{
	const bt_component_sink *sink;
	const bt_port_output *out;
	int err = 0;

	if (bt_graph_add_simple_sink_component(graph->graph, "reader", NULL, consume, NULL, graph,
					       &sink))
		return -ENOMEM;
	if (graph->streams > 1) {
		err = add_muxer(graph);
		for (size_t i = 0; i < graph->places->count && !err; i++)
			err = connect_to_muxer(graph, sources[i].component);
		if (err)
			return err;
		out = bt_component_filter_borrow_output_port_by_index_const(graph->muxer, 0);
	} else {
		size_t i = 0;

		while (!bt_component_source_get_output_port_count(sources[i].component))
			i++;
		out = bt_component_source_borrow_output_port_by_index_const(sources[i].component,
									    0);
	}
	return bt_graph_connect_ports(graph->graph, out,
				      bt_component_sink_borrow_input_port_by_index_const(sink, 0),
				      NULL)
		       ? -EINVAL
		       : 0;
}

/*
 * Lets a child open the traces first: libbabeltrace2 2.0.4 dies of some broken metadata (a clock
 * with frequency 0 is a division by zero).
 */
static int try_in_child(struct sdw_graph *graph)
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
		for (size_t i = 0; i < graph->places->count; i++)
			if (graph->places->items[i].kind != SDW_TRACE_LIVE)
				(void)add_source(graph, i, &source);
		_exit(0); /* whatever it is, the parent finds it too */
	}
	while (waitpid(child, &status, 0) < 0) {
		if (errno != EINTR)
			return -errno;
	}
	return status ? set_problem(graph, "its metadata makes libbabeltrace2 fail") : 0;
}

static int add_sources(struct sdw_graph *graph)
{
	struct source *sources =
		calloc(graph->places->count ? graph->places->count : 1, sizeof(*sources));
	int err = sources ? 0 : -ENOMEM;

	for (size_t i = 0; i < graph->places->count && !err; i++) {
		err = add_source(graph, i, &sources[i].component);
		if (err)
			break;
		graph->streams += bt_component_source_get_output_port_count(sources[i].component);
		if (graph->places->items[i].kind == SDW_TRACE_OURS &&
		    bt_component_source_get_output_port_count(sources[i].component) > 1)
			err = set_problem(graph, "it has more than one stream");
		if (graph->streams > MAX_STREAMS)
			err = set_problem(graph, "it has too many streams");
	}
	if (!err && !graph->streams)
		err = set_problem(graph, "it has no stream");
	err = err ?: connect(graph, sources);
	free(sources);
	return err;
}

int sdw_graph_build(struct sdw_graph *graph)
{
	int err;

	bt_logging_set_global_level(library_level());
	graph->graph = bt_graph_create(0); /* of the message interchange protocol: version 0 */
	if (!graph->graph)
		return -ENOMEM;
	err = find_plugin(graph, "ctf", &graph->ctf);
	err = err ?: try_in_child(graph);
	return err ?: add_sources(graph);
}

int sdw_graph_run(struct sdw_graph *graph)
{
	bt_graph_run_status status = bt_graph_run(graph->graph);

	if (graph->error)
		return graph->error;
	switch (status) {
	case BT_GRAPH_RUN_STATUS_OK:
		return 0;
	case BT_GRAPH_RUN_STATUS_AGAIN:
		return -EAGAIN;
	case BT_GRAPH_RUN_STATUS_MEMORY_ERROR:
		return -ENOMEM;
	default:
		return -EINVAL;
	}
}

void sdw_graph_free(struct sdw_graph *graph)
{
	bt_graph_put_ref(graph->graph);
	bt_plugin_put_ref(graph->ctf);
	bt_plugin_put_ref(graph->utils);
}
