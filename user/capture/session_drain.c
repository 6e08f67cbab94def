// SPDX-License-Identifier: MIT
/* session_drain.c - from the kernel's buffers through the queue into the pipeline, and the
 * accounts. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "capture/cgroup_target.h"
#include "capture/idle_time.h"
#include "capture/session_internal.h"

#define COMMAND_BYTES 4096
#define REFILL_NS     5000000u /* between two looks at the rings while records are handled */

uint64_t sdw_session_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Moves what is in the kernel's buffers into the queue. */
static int fill_queue(struct sdw_session *session)
{
	int err = session->rings ? ring_buffer__consume(session->rings) : 0;

	if (err < 0)
		return session->error ? session->error : err;
	if (session->agent) {
		err = sdw_sigpath_server_drain(session->agent);
		if (err)
			return err;
	}
	if (session->sched) {
		err = sdw_sched_drain(session->sched);
		if (err)
			return err;
	}
	if (!session->sideband)
		return 0;
	return sdw_sideband_drain(session->sideband, session->queue, session->first_sideband);
}

int sdw_session_drain(struct sdw_session *session, uint64_t until_ns)
{
	uint64_t filled_ns = sdw_session_now(), now;
	const struct sdw_record *record;
	size_t size;
	int err = fill_queue(session);

	while (!err && (record = sdw_queue_next(session->queue, until_ns, &size))) {
		err = sdw_pipeline_record(session->pipeline, record, size);
		/*
		 * A record that brings a new file can take milliseconds, while large stacks fill a
		 * ring: the queue has more room. What is too much for it is lost and counted there.
		 */
		now = sdw_session_now();
		if (err || now - filled_ns < REFILL_NS ||
		    sdw_queue_bytes(session->queue) > session->config->max_memory / 4)
			continue;
		filled_ns = now;
		err = fill_queue(session);
	}
	return err;
}

/* What was asked for, in words. */
static void describe_target(const struct sdw_config *config, char *text, size_t room)
{
	size_t used = 0;

	text[0] = '\0';
	if (config->all)
		snprintf(text, room, "all processes");
	for (size_t i = 0; i < config->container_count && used < room; i++)
		used += (size_t)snprintf(text + used, room - used, i ? " %s" : "container %s",
					 config->containers[i]);
	for (size_t i = 0; i < config->cgroup_count && used < room; i++)
		used += (size_t)snprintf(text + used, room - used,
					 i	? " %s"
					 : used ? ", cgroup %s"
						: "cgroup %s",
					 config->cgroups[i]);
	for (size_t i = 0; i < config->pid_count && used < room; i++)
		used += (size_t)snprintf(text + used, room - used, i ? " %d" : "pid %d",
					 (int)config->pids[i]);
	for (size_t i = 0; config->command && config->command[i] && used < room; i++)
		used += (size_t)snprintf(text + used, room - used, i ? " %s" : "%s",
					 config->command[i]);
}

int sdw_session_announce(struct sdw_session *session)
{
	const struct sdw_config *config = session->config;
	char hostname[256] = "", command[COMMAND_BYTES];
	struct timespec now;
	int err;
	struct sdw_recording recording = {
		.version = SDW_VERSION,
		.hostname = hostname,
		.command = command,
		.event = config->event.name,
		.unit = config->event.is_clock ? "ns" : "events",
		.period = session->period,
		.frequency = config->frequency,
		.start_ns = session->start_ns,
		.native = config->native != SDW_NATIVE_NONE,
		.kernel = config->kernel,
		.path = (uint8_t)config->path,
	};

	gethostname(hostname, sizeof(hostname) - 1);
	describe_target(config, command, sizeof(command));
	clock_gettime(CLOCK_REALTIME, &now);
	recording.start_unix_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	err = session->sink->ops->recording(session->sink, &recording);
	return err || !session->sched ? err : sdw_sched_begin(session->sched, &recording);
}

void sdw_session_totals(const struct sdw_session *session, struct sdw_totals *totals)
{
	const struct sdw_pipeline *pipeline = session->pipeline;
	uint64_t end = session->end_ns ? session->end_ns : sdw_session_now();

	memset(totals, 0, sizeof(*totals));
	totals->time_ns = end;
	totals->duration_ns = session->start_ns ? end - session->start_ns : 0;
	totals->overflows =
		session->counters.overflows + session->not_delivered + session->idle_late;
	memcpy(totals->status, pipeline->status, sizeof(totals->status));
	memcpy(totals->lost, session->counters.lost, sizeof(totals->lost));
	totals->lost[SDW_LOST_NOT_DELIVERED] = session->not_delivered;
	totals->lost[SDW_LOST_OUTSIDE_TARGET] += session->idle_late;
	totals->processes = pipeline->processes;
	totals->threads = pipeline->threads;
	totals->complete = session->complete;
	/* sent by the BPF side, and not (yet) in the sink */
	if (session->counters.samples > pipeline->samples)
		totals->lost[SDW_LOST_CONSUMER] = session->counters.samples - pipeline->samples;
	if (session->agent)
		sdw_session_signal_totals(session, totals);
}

/* Tells the sink of losses that are new since it was told last. */
static int send_losses(struct sdw_session *session, const struct sdw_totals *totals,
		       uint64_t now_ns, bool complete)
{
	int err = 0;

	for (int reason = 0; reason < SDW_LOST_COUNT && !err; reason++) {
		struct sdw_lost_event event = {
			.time_ns = now_ns,
			.begin_ns = session->lost_said_ns,
			.count = totals->lost[reason] - session->lost_said[reason],
			.reason = (uint8_t)reason,
		};

		if (totals->lost[reason] <= session->lost_said[reason])
			continue;
		if (reason == SDW_LOST_CONSUMER && !complete)
			continue; /* these are only under way */
		session->lost_said[reason] = totals->lost[reason];
		err = session->sink->ops->lost(session->sink, &event);
	}
	session->lost_said_ns = now_ns;
	return err;
}

int sdw_session_report(struct sdw_session *session, uint64_t now_ns)
{
	bool complete = session->complete;
	struct sdw_totals totals;
	uint64_t not_followed;
	int err;

	err = sdw_session_count(session);
	if (err)
		return err;
	not_followed = session->counters.life_lost + session->counters.processes_full;
	if (not_followed > session->not_followed) {
		session->not_followed = not_followed;
		sdw_images_find_ended(&session->pipeline->images, now_ns);
		sdw_programs_sweep(session->programs);
	}
	sdw_session_totals(session, &totals);
	/* the stream is in order of time: nothing may come before the last sample */
	if (now_ns < session->pipeline->last_ns)
		now_ns = session->pipeline->last_ns;
	totals.time_ns = now_ns;
	if (!complete) {
		totals.overflows -= totals.lost[SDW_LOST_CONSUMER];
		totals.lost[SDW_LOST_CONSUMER] = 0;
	}
	err = send_losses(session, &totals, now_ns, complete);
	err = err ?: session->sink->ops->totals(session->sink, &totals);
	err = err ?: session->sink->ops->flush(session->sink, now_ns);
	return err || !session->sched ? err : sdw_sched_flush(session->sched);
}

/*
 * The timer of an idle processor may come periods late, and once then (in a virtual machine it
 * mostly does). No task has lost these overflows. Of `late` ones, gives how many there can have
 * been.
 */
static uint64_t late_while_idle(const struct sdw_session *session, uint64_t late)
{
	uint64_t idle_ns = sdw_idle_time_ns(), periods;

	/* the idle time of a processor that was taken offline is gone from the sum */
	if (!sdw_config_counts_processors(session->config) || !session->config->event.is_clock ||
	    !session->idle_start_ns || idle_ns < session->idle_start_ns)
		return 0;
	periods = (idle_ns - session->idle_start_ns) / session->period;
	if (periods <= session->counters.idle)
		return 0;
	periods -= session->counters.idle;
	return periods < late ? periods : late;
}

void sdw_session_count_undelivered(struct sdw_session *session)
{
	uint64_t expected = sdw_session_expected(session);
	uint64_t seen = session->counters.overflows;

	if (!sdw_config_counts_processors(session->config))
		seen += session->pipeline->threads + session->pipeline->silent_threads;
	if (expected <= seen)
		return;
	session->idle_late = late_while_idle(session, expected - seen);
	session->not_delivered = expected - seen - session->idle_late;
}
