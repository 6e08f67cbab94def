/* SPDX-License-Identifier: MIT */
/*
 * reader_graph.h - libbabeltrace2's graph of components over some traces: a source each, a filter
 * that brings their events in order of time where there are several streams, and our sink.
 */
#ifndef SDW_READER_GRAPH_H
#define SDW_READER_GRAPH_H

#include <babeltrace2/babeltrace.h>

#include "view/reader_places.h"

struct sdw_graph {
	const struct sdw_trace_places *places;
	/* Takes each message. Returns 0 or -errno, which ends the run. */
	int (*take)(void *context, const bt_message *message);
	void *context;
	char *problem; /* what is wrong, if this finds something */
	size_t size;

	bt_graph *graph;
	const bt_plugin *ctf, *utils;
	const bt_component_filter *muxer; /* NULL: there is one stream */
	uint64_t streams;
	int error; /* of take() */
};

/* Builds the graph. Returns 0, -EINVAL, -ENOMEM or another -errno. To be freed in either case. */
int sdw_graph_build(struct sdw_graph *graph);

/*
 * Runs it once: until all is read, or what there is of live traces. Returns 0 at the end, -EAGAIN
 * when more may come, -EINVAL, -ENOMEM, or the error of take().
 */
int sdw_graph_run(struct sdw_graph *graph);

void sdw_graph_free(struct sdw_graph *graph);

#endif
