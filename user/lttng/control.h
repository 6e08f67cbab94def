/* SPDX-License-Identifier: MIT */
/*
 * control.h - what is said between the recorder and the process that controls LTTng for it.
 *
 * liblttng-ctl waits without limit for a daemon that hangs. So it runs in a process of its own,
 * forked before anything is recorded, in the shared object lttng-control.so. The recorder asks over
 * a socket (SOCK_SEQPACKET: one message, one record) and waits only as long as it wants to. When
 * the recorder dies, by SIGKILL too, the socket ends, and the controller ends in order what it
 * began: the session is stopped and destroyed, a daemon that it started is ended.
 */
#ifndef SDW_LTTNG_CONTROL_H
#define SDW_LTTNG_CONTROL_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define SDW_LTTNG_CONTROL_FILE	 "lttng-control.so"
#define SDW_LTTNG_CONTROL_SYMBOL "sdw_lttng_control"
#define SDW_LTTNG_NAME_BYTES	 255  /* LTTNG_NAME_MAX of lttng/constant.h */
#define SDW_LTTNG_TEXT_BYTES	 1024 /* of a message for people */
#define SDW_LTTNG_EVENTS	 "sidewinder:*"

/* What to control; constant, inherited by the fork. */
struct sdw_lttng_setup {
	const char *session;	      /* name of one that is there; NULL: make one */
	const char *directory;	      /* absolute: where an own session writes; NULL with a url */
	const char *url;	      /* net://HOST...: stream there; NULL: write files */
	bool handlers;		      /* take the events of sampled processes, too */
	bool snapshot;		      /* keep events in memory until asked for */
	pid_t recorder;		      /* whose events to take */
	uint64_t bytes_per_s;	      /* expected at most, all processors together */
	uint64_t handler_bytes_per_s; /* of handlers, likewise */
	uint64_t memory; /* for buffers of a snapshot, all processors together; 0: default */
};

enum sdw_lttng_request {
	SDW_LTTNG_OPEN,	  /* a started session with the events enabled; a daemon if there is none */
	SDW_LTTNG_SETTLE, /* the recorder has loaded the provider and found its events enabled */
	SDW_LTTNG_STATUS, /* are the daemons alive, what was discarded */
	SDW_LTTNG_SNAPSHOT, /* write out what is in memory */
	SDW_LTTNG_CLOSE,    /* stop, count, destroy what was made, end what was started */
};

#define SDW_LTTNG_NOTE 0 /* serial of an answer that nothing asked for: a daemon was started */

struct sdw_lttng_question {
	uint32_t serial; /* comes back with the answer; not SDW_LTTNG_NOTE */
	uint32_t request;
};

struct sdw_lttng_answer {
	uint32_t serial;
	int32_t failed;	    /* 0, or 1: `text` says what and, where there is one, the way out */
	uint64_t discarded; /* events, in the session's channels, since OPEN */
	uint64_t handler_discarded; /* of these, in the channel of handlers that we made */
	uint64_t overwritten;	    /* packets, likewise; in a snapshot that is no loss */
	int32_t daemon;		    /* pid of the session daemon that was started; 0: none was */
	char session[SDW_LTTNG_NAME_BYTES + 1];
	char trace[PATH_MAX]; /* where the session writes, as LTTng has it */
	char text[SDW_LTTNG_TEXT_BYTES];
};

/* Answers questions until the other end of `socket` is closed, then ends all in order. */
void sdw_lttng_control(int socket, const struct sdw_lttng_setup *setup);

#endif
