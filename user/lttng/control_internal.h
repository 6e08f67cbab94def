/* SPDX-License-Identifier: MIT */
/* control_internal.h - the controller's parts: the daemon, the session, what was discarded. */
#ifndef SDW_LTTNG_CONTROL_INTERNAL_H
#define SDW_LTTNG_CONTROL_INTERNAL_H

#include <lttng/lttng.h>

#include "lttng/control.h"

struct sdw_lttng_controller {
	const struct sdw_lttng_setup *setup;
	int socket;			/* to the recorder */
	struct sdw_lttng_answer answer; /* being made */
	pid_t daemon;			/* started by us; 0: none */
	bool made;			/* the session is ours */
	bool started;			/* by us */
	bool consumer;			/* a consumer daemon is known to run */
	int relay; /* a connection that ends when the relay daemon does; or -1 */
	uint64_t discarded, overwritten; /* in the session before us */
	uint64_t handler_discarded;	 /* as counted last, where the session is ours */
	struct lttng_domain domain;
	struct lttng_handle *handle;
};

/* Puts a message into the answer; returns -1. */
int sdw_lttng_fail(struct sdw_lttng_controller *controller, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Sends the answer, as that to the question with this number. */
void sdw_lttng_send_answer(struct sdw_lttng_controller *controller, uint32_t serial);

/* Finds a session daemon or starts one. Returns 0 or -1, with the answer's text. */
int sdw_lttng_daemon_find(struct sdw_lttng_controller *controller);

/*
 * Ends the session daemon if we started it, and what it has started. If others have found it
 * meanwhile and have sessions there, it stays, or is ended after theirs with wait_for_others.
 */
void sdw_lttng_daemon_end(struct sdw_lttng_controller *controller, bool wait_for_others);

/*
 * Once the recorder is gone nobody waits any more for a controller that a daemon keeps waiting:
 * from then on it has a bounded time, after which it ends, and what it started with it.
 */
void sdw_lttng_daemon_bound(const struct sdw_lttng_controller *controller);

/* Are the session daemon, its consumer daemon and the relay daemon alive? Returns 0 or -1. */
int sdw_lttng_daemon_check(struct sdw_lttng_controller *controller);

/* Makes the session, or finds the one named, and starts it. Returns 0 or -1. */
int sdw_lttng_session_open(struct sdw_lttng_controller *controller);

/* Waits until the recorder knows of the session, whose events it has. Returns 0 or -1. */
int sdw_lttng_session_settle(struct sdw_lttng_controller *controller);

/* Reads how much was discarded into the answer. Returns 0 or -1. */
int sdw_lttng_session_count(struct sdw_lttng_controller *controller);

/* Stops what we started, counts, and destroys the session if it is ours. Returns 0 or -1. */
int sdw_lttng_session_close(struct sdw_lttng_controller *controller);

#endif
