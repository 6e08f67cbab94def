/* SPDX-License-Identifier: MIT */
/*
 * session.h - one recording from the first overflow to the last record in the sink.
 *
 * In:  what to record, and a sink that is already open.
 * Out: every event of sink.h but close(), which is the caller's; totals and the command's status.
 */
#ifndef SDW_SESSION_H
#define SDW_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/config.h"
#include "capture/sched.h"
#include "sink.h"
#include "unwind/unwind.h"

struct sdw_session;

/* How far the recording is, for whoever looks on. */
struct sdw_session_state {
	uint64_t elapsed_ns;
	uint64_t overflows, samples, lost;
	uint32_t processes;
};

/*
 * Loads the BPF programs, finds the targets, opens the events; a command is forked but not yet run.
 * Logs the cause of a failure. Returns 0 or -errno; `config` and `sink` must outlive the session.
 */
int sdw_session_create(const struct sdw_config *config, struct sdw_sink *sink,
		       struct sdw_session **session);

/*
 * Records until the command or all targets ended, the duration is over, or SIGINT, SIGTERM or
 * SIGHUP came (a second one ends at once). Calls `progress` every 250 ms or so. Returns 0 or
 * -errno, e.g. -ENOSPC from the sink; what the sink has is then still worth closing. A command that
 * cannot be run: its errno, and sdw_session_exit_status() is 127 or 126.
 */
int sdw_session_run(struct sdw_session *session,
		    void (*progress)(void *context, const struct sdw_session_state *state),
		    void *context);

/*
 * Calls `ready` from within sdw_session_run() whenever `fd` can be read, until that returns; one
 * descriptor a session. What `ready` returns, if not 0, ends the recording as its error.
 */
int sdw_session_watch(struct sdw_session *session, int fd, int (*ready)(void *context),
		      void *context);

/*
 * Also records what the scheduler does with the targets, into a new directory; before
 * sdw_session_run(). Logs the cause of a failure. Returns 0 or -errno.
 */
int sdw_session_follow_scheduler(struct sdw_session *session, const char *directory);
/* Runs of a handler that wrote an event of their own through LTTng, and those that could not. */
void sdw_session_handler_events(const struct sdw_session *session, uint64_t *written,
				uint64_t *off);
struct sdw_sched_totals sdw_session_sched_totals(const struct sdw_session *session);

/* Ends the recording as SIGTERM does: a command gets it too, and is waited for; twice: at once. */
void sdw_session_stop(struct sdw_session *session);

/* Did a signal, or sdw_session_stop(), ask for the end? */
bool sdw_session_was_stopped(const struct sdw_session *session);

void sdw_session_totals(const struct sdw_session *session, struct sdw_totals *totals);

/* Of the command as a shell has it (128 + signal when it was killed); 0 without one. */
int sdw_session_exit_status(const struct sdw_session *session);

struct sdw_unwind_statistics sdw_session_unwind_statistics(const struct sdw_session *session);

void sdw_session_free(struct sdw_session *session);

#endif
