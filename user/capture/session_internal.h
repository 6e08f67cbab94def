/* SPDX-License-Identifier: MIT */
/* session_internal.h - the parts of a session: what it drains, what it waits for. */
#ifndef SDW_SESSION_INTERNAL_H
#define SDW_SESSION_INTERNAL_H

#include <bpf/libbpf.h>
#include <signal.h>
#include <sys/resource.h>

#include "capture/launch.h"
#include "capture/perf_events.h"
#include "capture/pipeline.h"
#include "capture/programs.h"
#include "capture/queue.h"
#include "capture/sched.h"
#include "capture/session.h"
#include "capture/sideband.h"
#include "sigpath/server.h"

/* Where a ring's records go: a source of the queue. */
struct sdw_drain {
	struct sdw_session *session;
	size_t source;
};

/* A process given by -p, and how to notice its end. */
struct sdw_target {
	uint32_t pid;
	int pidfd; /* < 0: ended */
};

struct sdw_session {
	const struct sdw_config *config;
	struct sdw_sink *sink;
	struct sdw_programs *programs;
	struct sdw_events *events;
	struct sdw_sideband *sideband;
	struct sdw_sigpath_server *agent; /* NULL: BPF alone */
	struct sdw_sigpath_counts agents; /* of it, as read last */
	struct sdw_sched *sched;	  /* NULL: not asked for */
	struct sdw_pipeline *pipeline;
	struct sdw_queue *queue;
	struct ring_buffer *rings;
	struct sdw_drain *drains; /* one per processor, and one for life records */
	size_t first_sideband;	  /* source of the first mapping buffer */
	size_t agent_source;	  /* and of the agents' records */

	struct sdw_launch launch;
	struct rlimit file_limit; /* as it was before it was raised */
	struct sdw_target *targets;
	size_t target_count, targets_alive;
	int epoll, signals;
	int (*watch_ready)(void *context); /* of sdw_session_watch() */
	void *watch_context;
	sigset_t old_mask;
	bool masked;

	uint64_t start_ns, end_ns;
	uint64_t flushed_ns, progress_ns;
	uint64_t woken_ns;		    /* by a ring or a mapping buffer, last */
	uint64_t period;		    /* fixed; 0: the kernel adapts it */
	struct sdw_cpu_counters counters;   /* as read last */
	uint64_t lost_said[SDW_LOST_COUNT]; /* sent to the sink so far */
	uint64_t lost_said_ns;
	uint64_t not_followed; /* lost life records and the like, as far as images were told */
	uint64_t not_delivered;
	uint64_t idle_start_ns; /* idle time of all processors when counting began */
	uint64_t idle_late; /* overflows that a timer was too late for while idle: outside_target */
	int error;	    /* of a callback that cannot return it */
	int exit_status;    /* of the command */
	int stops;	    /* signals to stop that came */
	bool command_ended;
	uint64_t looking_ns; /* since when those that are present are looked at */
	bool groups_lived;   /* there were processes in the groups ... */
	bool groups_ended;   /* ... and there are none now */
	bool complete;	     /* ended in order: the totals are final */
};

uint64_t sdw_session_now(void);

/* Makes a process known on both sides before it is sampled. Returns 0 or -errno. */
int sdw_session_add_known(struct sdw_session *session, uint32_t pid, bool look);

/*
 * Makes the processes of the machine, or of config->groups, known, so that what runs already has
 * its Python frames from the first sample on. Returns 0 or -ENOMEM.
 */
int sdw_session_add_all(struct sdw_session *session);
int sdw_session_add_groups(struct sdw_session *session);

/* The target ends when no process is left in its groups; not before there was one. */
void sdw_session_look_at_groups(struct sdw_session *session);

/* Reads the counters of both paths, as far as they are there. Returns 0 or -errno. */
int sdw_session_count(struct sdw_session *session);

/*
 * With a fixed period the kernel's own count says how many overflows there were. Each thread leaves
 * a period that it began and did not finish: that much is no loss. Of a processor's own event every
 * period is one.
 */
void sdw_session_count_undelivered(struct sdw_session *session);

/* session_agent.c: the signal path's part of a session. */
/* Starts the command, with the agent in it where there is one. */
int sdw_session_launch(struct sdw_session *session);
int sdw_session_open_agent(struct sdw_session *session);
void sdw_session_disable(struct sdw_session *session);
uint64_t sdw_session_expected(struct sdw_session *session);
/* What the user has to know of the agents at the end. */
void sdw_session_say_agent(const struct sdw_session *session);
/* Fills in the totals of the signal path. */
void sdw_session_signal_totals(const struct sdw_session *session, struct sdw_totals *totals);

/* Takes everything out of all buffers, and hands what is older than `until_ns` to the pipeline. */
int sdw_session_drain(struct sdw_session *session, uint64_t until_ns);

/* The event `recording` of the sink. */
int sdw_session_announce(struct sdw_session *session);

/* Once a second: losses and totals to the sink, and a flush. */
int sdw_session_report(struct sdw_session *session, uint64_t now_ns);

#endif
