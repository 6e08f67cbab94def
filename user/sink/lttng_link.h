/* SPDX-License-Identifier: MIT */
/*
 * lttng_link.h - the recorder's end of what is said with the controller (lttng/control.h).
 *
 * No call waits longer than it says, whatever the daemons do.
 */
#ifndef SDW_SINK_LTTNG_LINK_H
#define SDW_SINK_LTTNG_LINK_H

#include "lttng/control.h"

struct sdw_lttng_link {
	int socket;			/* -1: not open */
	pid_t controller;		/* 0: none */
	int daemon;			/* pidfd of the session daemon that was started; -1: none */
	uint32_t serial;		/* of the last question */
	bool pending;			/* it was not answered yet */
	struct sdw_lttng_answer answer; /* the last that came */
};

/* Forks the controller. Returns 0 or -errno, after saying why. */
int sdw_lttng_link_open(struct sdw_lttng_link *link, const struct sdw_lttng_setup *setup);

/*
 * Asks and waits at most `ms` for the answer. Returns 0 (the answer may be that it failed),
 * -ETIMEDOUT, or -EPIPE when the controller is gone.
 */
int sdw_lttng_link_ask(struct sdw_lttng_link *link, enum sdw_lttng_request request, int ms);

/* Waits at most `ms` for the pending answer. As above. */
int sdw_lttng_link_wait(struct sdw_lttng_link *link, int ms);

/* Asks without waiting; not while an answer is pending. Returns 0 or -errno. */
int sdw_lttng_link_send(struct sdw_lttng_link *link, enum sdw_lttng_request request);

/* Takes the pending answer if it has come. Returns 1, 0 when it has not, or -EPIPE. */
int sdw_lttng_link_poll(struct sdw_lttng_link *link);

/*
 * Ends the link. A controller that waits for a daemon is killed, and so is the daemon if it was
 * started by us, after two seconds.
 */
void sdw_lttng_link_close(struct sdw_lttng_link *link);

#endif
