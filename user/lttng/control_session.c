// SPDX-License-Identifier: MIT
/*
 * control_session.c - the session: made with channels that are large enough, or one that is there.
 *
 * The recorder's events come from one thread of it, in bursts, into the buffer of whatever
 * processor it is on: each must be able to take what all processors together produce. Those of
 * handlers are large, and come where the program runs: a channel of their own, so that they push
 * out nothing of the recorder's.
 */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lttng/control_internal.h"

#define SESSION "sidewinder-" /* and the pid of the recorder */
#define CHANNEL "sidewinder"
#define CHANNEL_DEFINITIONS                                                  \
	"definitions" /* of a snapshot: kept apart, or samples push them out \
		       */
#define CHANNEL_HANDLERS "handlers"
#define HANDLER_EVENTS	 "sidewinder:handler_*"
#define SUBBUFFERS	 8
#define SECONDS		 2		/* of events that a buffer takes */
#define SNAPSHOT_SECONDS 60		/* likewise, where they stay there */
#define MIN_SUBBUFFER	 (256ull << 10) /* the largest event, two names of 64 KiB, fits */
#define MIN_SAMPLES	 (16ull << 10)	/* likewise, of samples alone */
#define LIKED_SUBBUFFER	 (512ull << 10) /* what a burst of names at the start fills */
#define MAX_SUBBUFFER	 (16ull << 20)
#define MAX_MEMORY	 (512ull << 20) /* of all processors */
#define SWITCH_US	 2000000	/* so often an unfull buffer is written, padded to a page */
#define LIVE_US		 1000000

static uint64_t processors(void)
{
	long count = sysconf(_SC_NPROCESSORS_CONF);

	return count > 0 ? (uint64_t)count : 1;
}

/* The power of two that makes SUBBUFFERS of it `bytes`, within the bounds. */
static uint64_t subbuffer_size(uint64_t bytes, uint64_t memory, uint64_t min)
{
	uint64_t size = min;

	while (size < MAX_SUBBUFFER && size * SUBBUFFERS < bytes)
		size *= 2;
	while (size > min && size * SUBBUFFERS * processors() > memory)
		size /= 2;
	return size;
}

static int add_channel(struct sdw_lttng_controller *controller, const char *name, uint64_t size)
{
	const struct sdw_lttng_setup *setup = controller->setup;
	struct lttng_channel *channel = lttng_channel_create(&controller->domain);
	int err;

	if (!channel)
		return sdw_lttng_fail(controller, "out of memory");
	snprintf(channel->name, sizeof(channel->name), "%s", name);
	channel->attr.overwrite = setup->snapshot;
	channel->attr.subbuf_size = size;
	channel->attr.num_subbuf = SUBBUFFERS;
	channel->attr.switch_timer_interval = setup->url || setup->snapshot ? 0 : SWITCH_US;
	err = lttng_enable_channel(controller->handle, channel);
	lttng_channel_destroy(channel);
	if (err)
		return sdw_lttng_fail(controller, "cannot make a channel: %s", lttng_strerror(err));
	return 0;
}

/* `but`: a pattern of events that the name does not stand for; NULL: none. */
static int add_event(struct sdw_lttng_controller *controller, const char *name, const char *but,
		     const char *channel)
{
	struct lttng_event *event = lttng_event_create();
	char filter[32], exclusion[LTTNG_SYMBOL_NAME_LEN], *exclusions[] = {exclusion};
	int err;

	if (!event)
		return sdw_lttng_fail(controller, "out of memory");
	snprintf(event->name, sizeof(event->name), "%s", name);
	event->type = LTTNG_EVENT_TRACEPOINT;
	event->loglevel_type = LTTNG_EVENT_LOGLEVEL_ALL;
	snprintf(filter, sizeof(filter), "recorder == %u", controller->setup->recorder & 0xff);
	snprintf(exclusion, sizeof(exclusion), "%s", but ?: "");
	err = lttng_enable_event_with_exclusions(controller->handle, event, channel,
						 controller->setup->handlers ? filter : NULL,
						 but ? 1 : 0, but ? exclusions : NULL);
	lttng_event_destroy(event);
	if (err)
		return sdw_lttng_fail(controller, "cannot enable the event %s: %s", name,
				      lttng_strerror(err));
	return 0;
}

/* Samples in one channel, what they refer to in another. */
static int fill_snapshot(struct sdw_lttng_controller *controller)
{
	static const char *const definitions[] = {"recording", "process", "thread", "code",
						  "frame",     "stack",	  "state"};
	static const char *const others[] = {
		"sample", "sample_weighted", "sample_paired", "signal_sample", "lost", "totals"};
	const struct sdw_lttng_setup *setup = controller->setup;
	uint64_t memory = setup->memory ?: MAX_MEMORY, samples = memory;
	char name[64];
	int err;

	if (!setup->memory && samples > setup->bytes_per_s * SNAPSHOT_SECONDS * processors())
		samples = setup->bytes_per_s * SNAPSHOT_SECONDS * processors();
	err = add_channel(controller, CHANNEL,
			  subbuffer_size(samples / processors(), memory, MIN_SAMPLES));
	err = err
		      ?: add_channel(controller, CHANNEL_DEFINITIONS,
				     subbuffer_size(LIKED_SUBBUFFER * 4 * SUBBUFFERS, MAX_MEMORY,
						    MIN_SUBBUFFER));
	if (setup->handlers)
		err = err
			      ?: add_event(controller, "sidewinder:handler_code", NULL,
					   CHANNEL_DEFINITIONS);
	if (setup->handlers)
		err = err ?: add_event(controller, "sidewinder:handler_process", NULL, CHANNEL);
	if (setup->handlers)
		err = err ?: add_event(controller, "sidewinder:handler_sample", NULL, CHANNEL);
	for (size_t i = 0; i < sizeof(definitions) / sizeof(*definitions) && !err; i++) {
		snprintf(name, sizeof(name), "sidewinder:%s", definitions[i]);
		err = add_event(controller, name, NULL, CHANNEL_DEFINITIONS);
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(*others) && !err; i++) {
		snprintf(name, sizeof(name), "sidewinder:%s", others[i]);
		err = add_event(controller, name, NULL, CHANNEL);
	}
	return err;
}

static int add_handlers(struct sdw_lttng_controller *controller)
{
	uint64_t bytes = controller->setup->handler_bytes_per_s * SECONDS;
	int err;

	err = add_channel(controller, CHANNEL_HANDLERS,
			  subbuffer_size(bytes, MAX_MEMORY, LIKED_SUBBUFFER));
	return err ?: add_event(controller, HANDLER_EVENTS, NULL, CHANNEL_HANDLERS);
}

static int fill(struct sdw_lttng_controller *controller)
{
	const struct sdw_lttng_setup *setup = controller->setup;
	uint64_t bytes = setup->bytes_per_s * SECONDS;
	int err;

	if (setup->snapshot)
		return fill_snapshot(controller);
	if (bytes < LIKED_SUBBUFFER * SUBBUFFERS)
		bytes = LIKED_SUBBUFFER * SUBBUFFERS;
	err = add_channel(controller, CHANNEL, subbuffer_size(bytes, MAX_MEMORY, MIN_SUBBUFFER));
	err = err ?: add_event(controller, SDW_LTTNG_EVENTS, HANDLER_EVENTS, CHANNEL);
	return err || !setup->handlers ? err : add_handlers(controller);
}

static struct lttng_session_descriptor *describe(const struct sdw_lttng_setup *setup,
						 const char *name)
{
	if (setup->snapshot && setup->url)
		return lttng_session_descriptor_snapshot_network_create(name, setup->url, NULL);
	if (setup->snapshot)
		return lttng_session_descriptor_snapshot_local_create(name, setup->directory);
	if (setup->url)
		return lttng_session_descriptor_live_network_create(name, setup->url, NULL,
								    LIVE_US);
	return lttng_session_descriptor_local_create(name, setup->directory);
}

static int make_handle(struct sdw_lttng_controller *controller)
{
	controller->domain.type = LTTNG_DOMAIN_UST;
	controller->handle = lttng_create_handle(controller->answer.session, &controller->domain);
	return controller->handle ? 0 : sdw_lttng_fail(controller, "out of memory");
}

static int make_session(struct sdw_lttng_controller *controller)
{
	const struct sdw_lttng_setup *setup = controller->setup;
	char *name = controller->answer.session;
	struct lttng_session_descriptor *descriptor;
	int err;

	snprintf(name, sizeof(controller->answer.session), "%s%d", SESSION, (int)setup->recorder);
	descriptor = describe(setup, name);
	if (!descriptor)
		return sdw_lttng_fail(controller, "cannot make a session that writes to %s",
				      setup->url ?: setup->directory);
	err = lttng_create_session_ext(descriptor);
	lttng_session_descriptor_destroy(descriptor);
	if (err != LTTNG_OK)
		return sdw_lttng_fail(controller, "cannot make a session: %s",
				      lttng_strerror(-err));
	controller->made = true;
	controller->domain.buf_type = LTTNG_BUFFER_PER_UID;
	err = make_handle(controller) ?: fill(controller);
	if (err)
		return err;
	/*
	 * Another recorder of this user has the same events: they are not for this session. Where
	 * sampled processes write, who they will be is not known: then events are told by their
	 * recorder's number (add_event).
	 */
	if (setup->handlers)
		return 0;
	err = lttng_track_pid(controller->handle, setup->recorder);
	if (err)
		return sdw_lttng_fail(controller, "cannot choose the process to trace: %s",
				      lttng_strerror(err));
	return 0;
}

/* Is every event of ours recorded by one of the channel's rules? */
static bool has_events(struct sdw_lttng_controller *controller, const char *channel)
{
	struct lttng_event *events = NULL;
	int count = lttng_list_events(controller->handle, channel, &events);
	bool found = false;

	for (int i = 0; i < count && !found; i++)
		found = events[i].enabled && events[i].type == LTTNG_EVENT_TRACEPOINT &&
			!fnmatch(events[i].name, "sidewinder:?", 0);
	free(events);
	return found;
}

static int say_no_events(struct sdw_lttng_controller *controller)
{
	return sdw_lttng_fail(controller,
			      "the session '%s' does not take our events; first: lttng "
			      "enable-event --userspace --session=%s '" SDW_LTTNG_EVENTS "'",
			      controller->setup->session, controller->setup->session);
}

/* Reads the counters of all channels. Returns the number of channels that take our events, or -1.
 */
static int count_channels(struct sdw_lttng_controller *controller, uint64_t *discarded,
			  uint64_t *overwritten)
{
	struct lttng_channel *channels = NULL;
	int count = lttng_list_channels(controller->handle, &channels), taking = 0;
	uint64_t events, packets;

	*discarded = *overwritten = controller->handler_discarded = 0;
	if (count < 0) {
		if (count == -LTTNG_ERR_UST_CHAN_NOT_FOUND)
			return 0;
		return sdw_lttng_fail(controller, "cannot read the session's counters: %s",
				      lttng_strerror(count));
	}
	for (int i = 0; i < count; i++) {
		if (lttng_channel_get_discarded_event_count(&channels[i], &events) ||
		    lttng_channel_get_lost_packet_count(&channels[i], &packets))
			continue;
		*discarded += events;
		if (controller->made && !strcmp(channels[i].name, CHANNEL_HANDLERS))
			controller->handler_discarded = events;
		*overwritten += packets;
		if (!controller->made && channels[i].enabled &&
		    has_events(controller, channels[i].name))
			taking++;
	}
	free(channels);
	return taking;
}

static int find_session(struct sdw_lttng_controller *controller)
{
	const char *name = controller->setup->session;
	struct lttng_session *sessions = NULL;
	int count = lttng_list_sessions(&sessions), taking;
	bool found = false;

	for (int i = 0; i < count && !found; i++) {
		if (strcmp(sessions[i].name, name))
			continue;
		found = true;
		snprintf(controller->answer.trace, sizeof(controller->answer.trace), "%s",
			 sessions[i].path);
	}
	free(sessions);
	if (!found)
		return sdw_lttng_fail(
			controller, "there is no session '%s': 'lttng list' tells which there are",
			name);
	snprintf(controller->answer.session, sizeof(controller->answer.session), "%s", name);
	if (make_handle(controller))
		return -1;
	taking = count_channels(controller, &controller->discarded, &controller->overwritten);
	if (taking < 0)
		return -1;
	return taking ? 0 : say_no_events(controller);
}

static int start(struct sdw_lttng_controller *controller)
{
	int err = lttng_start_tracing(controller->answer.session);

	if (err && err != -LTTNG_ERR_TRACE_ALREADY_STARTED)
		return sdw_lttng_fail(controller, "cannot start the session '%s': %s",
				      controller->answer.session, lttng_strerror(err));
	controller->started = !err;
	return 0;
}

/* Where it is to be read: the directory, or what readers of a live session call it. */
static void name_trace(struct sdw_lttng_controller *controller)
{
	const char *url = controller->setup->url, *host = url ? strstr(url, "://") : NULL;
	char *trace = controller->answer.trace, hostname[256] = "";
	const size_t size = sizeof(controller->answer.trace);

	if (!host) {
		snprintf(trace, size, "%s", controller->setup->directory);
		return;
	}
	host += 3;
	gethostname(hostname, sizeof(hostname) - 1);
	snprintf(trace, size, "net://%.*s/host/%s/%s%d", (int)strcspn(host, ":/"), host, hostname,
		 SESSION, (int)controller->setup->recorder);
}

int sdw_lttng_session_open(struct sdw_lttng_controller *controller)
{
	const struct sdw_lttng_setup *setup = controller->setup;
	int err;

	/* only a session that is started makes itself known to a process */
	if (setup->session)
		return find_session(controller) ?: start(controller);
	name_trace(controller);
	err = make_session(controller) ?: start(controller);
	if (err && controller->made) {
		(void)lttng_destroy_session(controller->answer.session);
		controller->made = false;
	}
	return err;
}

int sdw_lttng_session_settle(struct sdw_lttng_controller *controller)
{
	uint64_t discarded, overwritten;

	/*
	 * The daemon answers this only once it has told the recorder all of it, of which that the
	 * events are enabled is not the last. Its consumer daemon has made the buffers.
	 */
	controller->consumer = true;
	if (count_channels(controller, &discarded, &overwritten) < 0)
		return -1;
	if (!controller->made || controller->setup->url || controller->setup->snapshot)
		return 0;
	/* a stop writes the metadata: without, a trace is lost if the daemons are killed */
	if (lttng_stop_tracing(controller->answer.session))
		return 0;
	return start(controller);
}

int sdw_lttng_session_count(struct sdw_lttng_controller *controller)
{
	uint64_t discarded, overwritten;

	if (count_channels(controller, &discarded, &overwritten) < 0)
		return -1;
	controller->answer.handler_discarded = controller->handler_discarded;
	controller->answer.discarded = discarded - controller->discarded;
	controller->answer.overwritten = overwritten - controller->overwritten;
	return 0;
}

int sdw_lttng_session_close(struct sdw_lttng_controller *controller)
{
	const char *name = controller->answer.session;
	int err = 0, destroy_err;

	if (!controller->handle)
		return 0;
	if (controller->started) {
		err = lttng_stop_tracing(name);
		if (err == -LTTNG_ERR_TRACE_ALREADY_STOPPED)
			err = 0;
		if (err)
			err = sdw_lttng_fail(controller, "cannot stop the session '%s': %s", name,
					     lttng_strerror(err));
		controller->started = false;
	}
	if (!err)
		err = sdw_lttng_session_count(controller);
	if (controller->made) {
		destroy_err = lttng_destroy_session(name);
		if (destroy_err && !err)
			err = sdw_lttng_fail(controller, "cannot destroy the session '%s': %s",
					     name, lttng_strerror(destroy_err));
		controller->made = false;
	}
	lttng_destroy_handle(controller->handle);
	controller->handle = NULL;
	return err;
}
