/* SPDX-License-Identifier: MIT */
/*
 * lttng.h - sends a recording through LTTng-UST: the sink behind --lttng. Events: tracepoint.h.
 *
 * The session is controlled by a process of its own (lttng/control.h), so that daemons that are
 * missing, hang or die cost the recording nothing: what is lost is said, counted, and goes on being
 * written to other sinks.
 */
#ifndef SDW_SINK_LTTNG_H
#define SDW_SINK_LTTNG_H

#include <limits.h>
#include <stdbool.h>

#include "sink.h"

/* What became of it, filled when the sink is closed and before. */
struct sdw_lttng_outcome {
	char session[256];
	char trace[PATH_MAX];	    /* a directory, or the session's url */
	uint64_t events_discarded;  /* by LTTng, in the session's channels while we recorded */
	uint64_t handler_discarded; /* of these, from handlers, where the session is ours */
	uint64_t snapshots;	    /* written */
	bool silent;		    /* it is gone, or does not answer at the moment */
	bool incomplete;	    /* a daemon was gone, or did not answer in the end */
	bool own;		    /* the session was made by us, and is gone */
};

struct sdw_lttng_options {
	const char *session;   /* name of one that is there; NULL or "": make one */
	const char *directory; /* of an own session, to be made; NULL with a url */
	const char *url;       /* of a relay daemon; NULL: write files */
	bool handlers;	       /* handlers of sampled processes write, too: handler_events.h */
	bool snapshot;	       /* write nothing until asked to, then the last minute or so */
	const char *when;      /* condition for a snapshot, lttng_condition.h; NULL: none */
	uint64_t rate;	       /* samples per second expected at most, all processors together */
	uint64_t memory;       /* bytes of a snapshot; 0: default */
};

/*
 * Opens or makes the session, in bounded time, and says what went wrong if something does.
 * `outcome` stays the caller's and must outlive the sink. Returns 0 or -errno.
 */
int sdw_lttng_create(const struct sdw_lttng_options *options, struct sdw_lttng_outcome *outcome,
		     struct sdw_sink **sink);

#endif
