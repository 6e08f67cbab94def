/* SPDX-License-Identifier: MIT */
/*
 * lttng_watch.h - the state of LTTng while it records: asked for once a second, told when it
 * changes.
 */
#ifndef SDW_SINK_LTTNG_WATCH_H
#define SDW_SINK_LTTNG_WATCH_H

#include "sink/lttng.h"
#include "sink/lttng_link.h"

struct sdw_lttng_watch {
	struct sdw_lttng_link link;
	struct sdw_lttng_outcome *outcome;
	enum sdw_lttng_request request; /* the pending one */
	bool hung;			/* it was said that LTTng does not answer */
	bool gone;			/* it was said that it is gone */
	bool discarding;		/* it was said that events are discarded */
	unsigned int waits;		/* polls that found no answer to a snapshot */
	bool snapshot_wanted;		/* as soon as nothing is pending */
};

/* Asks, waits at most `ms`, and says what went wrong. Returns 0 or -errno. */
int sdw_lttng_watch_ask(struct sdw_lttng_watch *watch, enum sdw_lttng_request request, int ms);

/* Takes the answer that is due, says what is new in it. Returns whether the next may be asked. */
bool sdw_lttng_watch_poll(struct sdw_lttng_watch *watch);

/* Asks without waiting for long; the answer is taken by a later poll if it does not come at once.
 */
void sdw_lttng_watch_send(struct sdw_lttng_watch *watch, enum sdw_lttng_request request);

/* Stops and counts, in bounded time, and fills the outcome. */
void sdw_lttng_watch_close(struct sdw_lttng_watch *watch);

#endif
