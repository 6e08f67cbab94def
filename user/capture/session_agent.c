// SPDX-License-Identifier: MIT
/* session_agent.c - what a session does for the signal path: the agents, and their accounts. */
#include <unistd.h>

#include "base/log.h"
#include "capture/session_internal.h"
#include "sigpath/preload.h"

/* An ordinary user may not have overflows in kernel mode, beyond perf_event_paranoid 1. */
static bool must_exclude_kernel(const struct sdw_session *session)
{
	return sdw_events_exclude_kernel(session->config);
}

int sdw_session_open_agent(struct sdw_session *session)
{
	bool both = session->config->path == SDW_PATH_BOTH;
	struct sdw_images *images = &session->pipeline->images;
	int err;

	err = sdw_sigpath_server_create(session->config, must_exclude_kernel(session),
					both ? sdw_programs_overflow_fd(session->programs) : -1,
					&session->agent);
	if (err)
		return err;
	sdw_sigpath_server_bind(session->agent, images, session->queue, session->agent_source);
	images->tell = sdw_sigpath_server_tell;
	images->tell_context = session->agent;
	return 0;
}

int sdw_session_launch(struct sdw_session *session)
{
	const struct sdw_config *config = session->config;
	char *preload = NULL;
	int err = 0;

	if (session->agent)
		err = sdw_preload_set(sdw_sigpath_server_name(session->agent), &preload);
	err = err
		      ?: sdw_launch_start_apart(
				 &session->launch, config->command, &session->old_mask,
				 config->command_output ? config->command_output : -1);
	if (session->agent)
		sdw_preload_undo(preload);
	return err;
}

void sdw_session_disable(struct sdw_session *session)
{
	if (session->events)
		sdw_events_disable(session->events);
	if (session->agent)
		sdw_sigpath_server_disable(session->agent);
}

/* Handlers that were cut off by the end of their process. */
static uint64_t count_cut(const struct sdw_session *session)
{
	const struct sdw_sigpath_counts *signals = &session->agents;
	uint64_t ended =
		signals->samples + signals->refused + signals->ring_full + signals->no_scratch;

	/* while it runs, they are in the middle of it */
	return session->complete && signals->handlers > ended ? signals->handlers - ended : 0;
}

int sdw_session_count(struct sdw_session *session)
{
	struct sdw_cpu_counters *counters = &session->counters;
	const struct sdw_sigpath_counts *signals = &session->agents;
	int err = sdw_programs_count(session->programs, counters);

	if (err || !session->agent)
		return err;
	sdw_sigpath_server_count(session->agent, session->complete, &session->agents);
	if (session->config->path != SDW_PATH_SIGNAL)
		return 0;
	counters->samples = signals->samples + signals->refused;
	counters->lost[SDW_LOST_RING_FULL] = signals->ring_full;
	counters->lost[SDW_LOST_NO_SCRATCH] = signals->no_scratch;
	counters->lost[SDW_LOST_MERGED] = signals->merged;
	counters->lost[SDW_LOST_CUT] = count_cut(session);
	counters->overflows = counters->samples;
	for (size_t i = 0; i < SDW_LOST_COUNT; i++)
		counters->overflows += counters->lost[i];
	return 0;
}

/* A clock counts on in kernel mode, where it may have no overflows: nothing to hold ours against.
 */
uint64_t sdw_session_expected(struct sdw_session *session)
{
	if (!session->agent)
		return sdw_events_expected_overflows(session->events);
	if (session->config->event.is_clock && must_exclude_kernel(session))
		return 0;
	return session->agents.expected;
}

void sdw_session_signal_totals(const struct sdw_session *session, struct sdw_totals *totals)
{
	const struct sdw_sigpath_counts *signals = &session->agents;
	uint64_t out = signals->samples + signals->refused;

	totals->signal_samples = session->pipeline->signal_samples;
	totals->signal_merged = signals->merged;
	totals->signal_lost = signals->ring_full + signals->no_scratch + count_cut(session);
	if (session->complete && out > totals->signal_samples)
		totals->signal_lost += out - totals->signal_samples;
}

void sdw_session_handler_events(const struct sdw_session *session, uint64_t *written, uint64_t *off)
{
	*written = session->agents.lttng_written;
	*off = session->agents.lttng_off;
}

void sdw_session_say_agent(const struct sdw_session *session)
{
	uint32_t conflict;

	if (!session->agent)
		return;
	conflict = sdw_sigpath_server_conflict(session->agent);
	if (conflict)
		sdw_error("the program uses signal %u itself, so its samples end there: choose "
			  "another with --signal-number, or --signal=sigtrap",
			  conflict);
	if (!sdw_sigpath_server_processes(session->agent))
		sdw_warn("no process has loaded the agent: a program that is linked statically or "
			 "set-user-id, or starts without our environment, has no samples; "
			 "--path=bpf sees it");
}
