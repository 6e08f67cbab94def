// SPDX-License-Identifier: MIT
/*
 * lttng.c - the sink that sends each event through a tracepoint (lttng.h, tracepoint.h).
 *
 * No error of LTTng is an error of the sink: the recording goes on, for others and for the table at
 * its end, and what LTTng lost is in the outcome.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/map64.h"
#include "lttng/provider.h"
#include "sink/lttng.h"
#include "sink/lttng_condition.h"
#include "sink/lttng_definitions.h"
#include "sink/lttng_library.h"
#include "sink/lttng_watch.h"

#define OPEN_MS		 12000 /* a daemon may have to be started */
#define SETTLE_MS	 5000
#define ENABLE_MS	 8000 /* from the provider's loading to the session's knowing of it */
#define POLL_MS		 2
#define CHECK_MS	 500 /* in which the daemons are asked for, a multiple of it */
#define SNAPSHOT_MS	 15000
#define LATE_NS		 4000000000u /* beyond that `time_low` would not be enough */
#define TELL_NS		 3000000000u /* between two tellings to a live session, at least */
#define TELL_MAX_NS	 8000000000u /* and at most */
#define TELL_SHARE	 2	     /* before the maximum: so often their size must have come */
#define EVENT_BYTES	 32	     /* of a sample in a buffer, with its share of all others */
#define HANDLER_BYTES	 512	     /* of a handler's event, with two dozen frames of each kind */
#define REGISTER_MS	 "3000"
#define REGISTER_TIMEOUT "LTTNG_UST_REGISTER_TIMEOUT"

struct lttng {
	struct sdw_sink sink;
	struct sdw_lttng_watch watch;
	const struct sdw_lttng_provider *provider;
	struct sdw_lttng_definitions definitions;
	struct sdw_lttng_condition condition; /* of a snapshot */
	struct sdw_map64 by_tid;	      /* the thread defined last with a tid: its id */
	uint8_t recorder;
	bool recorded; /* recording() came */
	bool live, snapshot;
	uint64_t bytes;	  /* sent since the definitions were told last */
	uint64_t told_ns; /* when */
};

static struct lttng *lttng_of(struct sdw_sink *sink)
{
	return (struct lttng *)sink; /* its first member */
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static int put_recording(struct sdw_sink *sink, const struct sdw_recording *recording)
{
	struct lttng *lttng = lttng_of(sink);
	int err = sdw_lttng_keep_recording(&lttng->definitions, recording);

	if (err)
		return err;
	lttng->recorded = true;
	lttng->told_ns = recording->start_ns;
	lttng->provider->recording(lttng->recorder, lttng->snapshot, recording);
	return 0;
}

/* Keeps what is defined, and sends it on. */
#define PUT(name, type)                                                      \
	static int put_##name(struct sdw_sink *sink, const type *event)      \
	{                                                                    \
		struct lttng *lttng = lttng_of(sink);                        \
		int err = sdw_lttng_keep_##name(&lttng->definitions, event); \
                                                                             \
		if (!err)                                                    \
			lttng->provider->name(lttng->recorder, event);       \
		return err;                                                  \
	}

PUT(process, struct sdw_process_event)
/* The same of what a snapshot may wait for. */
#define PUT_WATCHED(name, type)                                                         \
	static int put_##name(struct sdw_sink *sink, const type *event)                 \
	{                                                                               \
		struct lttng *lttng = lttng_of(sink);                                   \
		int err = sdw_lttng_keep_##name(&lttng->definitions, event);            \
                                                                                        \
		err = err ? err : sdw_lttng_condition_##name(&lttng->condition, event); \
		if (!err)                                                               \
			lttng->provider->name(lttng->recorder, event);                  \
		return err;                                                             \
	}

PUT_WATCHED(code, struct sdw_code_event)
PUT_WATCHED(frame, struct sdw_frame_event)
PUT_WATCHED(stack, struct sdw_stack_event)

static int put_thread(struct sdw_sink *sink, const struct sdw_thread_event *event)
{
	struct lttng *lttng = lttng_of(sink);
	int err = sdw_lttng_keep_thread(&lttng->definitions, event);

	/* 0, of the idle tasks, is no key */
	err = err ?: sdw_map64_set(&lttng->by_tid, event->tid + 1ull, event->id);
	if (!err)
		lttng->provider->thread(lttng->recorder, event);
	return err;
}

/* Has the event `sample` all that there is to tell of it? */
static bool is_plain(const struct lttng *lttng, const struct sdw_sample_event *event, uint32_t tid)
{
	const uint64_t *last = sdw_map64_find(&lttng->by_tid, tid + 1ull);

	return !lttng->snapshot && last && *last == event->thread &&
	       event->weight == lttng->definitions.recording.period &&
	       now_ns() - event->time_ns < LATE_NS;
}

/* Whose sample it is. Returns 0 or -EINVAL. */
static int find_task(struct lttng *lttng, uint32_t id, uint32_t *pid, uint32_t *tid)
{
	const struct sdw_lttng_definitions *all = &lttng->definitions;
	const struct sdw_thread_event *thread;

	if (!id || id > all->threads.count)
		return -EINVAL;
	thread = &all->threads.items[id - 1];
	*tid = thread->tid;
	*pid = all->processes.items[thread->process - 1].pid;
	lttng->bytes += EVENT_BYTES;
	return 0;
}

/* It is written at the next flush, within a second: a little of what follows is wanted too. */
static void watch_condition(struct lttng *lttng, uint64_t time_ns, uint32_t stack)
{
	if (lttng->snapshot && sdw_lttng_condition_sample(&lttng->condition, time_ns, stack))
		lttng->watch.snapshot_wanted = true;
}

static int put_sample(struct sdw_sink *sink, const struct sdw_sample_event *event)
{
	struct lttng *lttng = lttng_of(sink);
	const struct sdw_lttng_provider *provider = lttng->provider;
	uint32_t pid, tid;

	if (find_task(lttng, event->thread, &pid, &tid))
		return -EINVAL;
	if (event->pair)
		provider->sample_paired(lttng->recorder, pid, tid, event);
	else if (is_plain(lttng, event, tid))
		provider->sample(lttng->recorder, pid, tid, event);
	else
		provider->sample_weighted(lttng->recorder, pid, tid, event);
	watch_condition(lttng, event->time_ns, event->stack);
	return 0;
}

static int put_signal_sample(struct sdw_sink *sink, const struct sdw_signal_sample_event *event)
{
	struct lttng *lttng = lttng_of(sink);
	uint32_t pid, tid;

	if (find_task(lttng, event->thread, &pid, &tid))
		return -EINVAL;
	lttng->provider->signal_sample(lttng->recorder, pid, tid, event);
	watch_condition(lttng, event->time_ns, event->stack);
	return 0;
}

static int put_lost(struct sdw_sink *sink, const struct sdw_lost_event *event)
{
	struct lttng *lttng = lttng_of(sink);

	lttng->provider->lost(lttng->recorder, event);
	return 0;
}

static int put_totals(struct sdw_sink *sink, const struct sdw_totals *totals)
{
	struct lttng *lttng = lttng_of(sink);

	lttng->provider->totals(lttng->recorder, totals);
	return 0;
}

static void tell(struct lttng *lttng)
{
	sdw_lttng_tell(&lttng->definitions, lttng->provider, lttng->recorder);
	lttng->bytes = 0;
	lttng->told_ns = now_ns();
}

/* Who joins a live session waits for the definitions: not for long, nor shall they be most of it.
 */
static bool must_tell(const struct lttng *lttng)
{
	uint64_t since_ns = now_ns() - lttng->told_ns;

	return lttng->live && since_ns > TELL_NS &&
	       (since_ns > TELL_MAX_NS || lttng->bytes > TELL_SHARE * lttng->definitions.bytes);
}

static int put_flush(struct sdw_sink *sink, uint64_t flush_ns)
{
	struct lttng *lttng = lttng_of(sink);
	struct sdw_lttng_watch *watch = &lttng->watch;

	(void)flush_ns; /* LTTng's own timers write */
	if (must_tell(lttng))
		tell(lttng);
	if (!sdw_lttng_watch_poll(watch))
		return 0;
	if (watch->snapshot_wanted) {
		watch->snapshot_wanted = false;
		tell(lttng);
		sdw_lttng_watch_send(watch, SDW_LTTNG_SNAPSHOT);
	} else {
		sdw_lttng_watch_send(watch, SDW_LTTNG_STATUS);
	}
	return 0;
}

static int put_snapshot(struct sdw_sink *sink)
{
	struct lttng *lttng = lttng_of(sink);

	lttng->watch.snapshot_wanted = lttng->snapshot && lttng->recorded;
	return lttng->watch.snapshot_wanted ? put_flush(sink, 0) : 0;
}

static int put_close(struct sdw_sink *sink)
{
	struct lttng *lttng = lttng_of(sink);

	if (lttng->snapshot && lttng->recorded && sdw_lttng_watch_poll(&lttng->watch) &&
	    !lttng->watch.gone) {
		tell(lttng);
		(void)sdw_lttng_watch_ask(&lttng->watch, SDW_LTTNG_SNAPSHOT, SNAPSHOT_MS);
	}
	sdw_lttng_watch_close(&lttng->watch);
	sdw_lttng_definitions_free(&lttng->definitions);
	sdw_map64_free(&lttng->by_tid);
	sdw_lttng_condition_free(&lttng->condition);
	free(lttng);
	return 0;
}

static const struct sdw_sink_ops lttng_ops = {
	.recording = put_recording,
	.process = put_process,
	.thread = put_thread,
	.code = put_code,
	.frame = put_frame,
	.stack = put_stack,
	.sample = put_sample,
	.signal_sample = put_signal_sample,
	.lost = put_lost,
	.totals = put_totals,
	.flush = put_flush,
	.close = put_close,
	.snapshot = put_snapshot,
};

/*
 * Loads the provider, which registers with the session daemons. Ours has just answered; what hangs
 * is waited for no longer than this. It is also how long the library waits for each answer while
 * it registers: with 0 that is 1 ms, and on a busy machine the events are then not known. The
 * command that we run gets the environment as it was.
 */
static int load_provider(struct lttng *lttng)
{
	const char *was = getenv(REGISTER_TIMEOUT);
	char *kept = was ? strdup(was) : NULL;

	if (was && !kept)
		return -ENOMEM;
	setenv(REGISTER_TIMEOUT, REGISTER_MS, 1);
	lttng->provider =
		sdw_lttng_library_open(SDW_LTTNG_PROVIDER_FILE, SDW_LTTNG_PROVIDER_SYMBOL);
	if (kept)
		setenv(REGISTER_TIMEOUT, kept, 1);
	else
		unsetenv(REGISTER_TIMEOUT);
	free(kept);
	return lttng->provider ? 0 : -ENOENT;
}

/* Until then events would be dropped without a word. A daemon that dies meanwhile is said. */
static int wait_for_session(struct lttng *lttng)
{
	const struct timespec pause = {.tv_nsec = POLL_MS * 1000000L};
	int err;

	for (int waited = 0; waited < ENABLE_MS; waited += POLL_MS) {
		if (lttng->provider->enabled())
			return 0;
		nanosleep(&pause, NULL);
		if (waited % CHECK_MS != CHECK_MS - POLL_MS)
			continue;
		err = sdw_lttng_watch_ask(&lttng->watch, SDW_LTTNG_STATUS, SETTLE_MS);
		if (err)
			return err;
	}
	sdw_error("--lttng: the session '%s' did not take this process within %d s: it may track "
		  "others only, or /dev/shm may have no room for its buffers",
		  lttng->watch.outcome->session, ENABLE_MS / 1000);
	return -ETIMEDOUT;
}

static int connect_session(struct lttng *lttng, const struct sdw_lttng_setup *setup)
{
	int err = sdw_lttng_link_open(&lttng->watch.link, setup);

	err = err ?: sdw_lttng_watch_ask(&lttng->watch, SDW_LTTNG_OPEN, OPEN_MS);
	err = err ?: load_provider(lttng);
	err = err ?: wait_for_session(lttng);
	return err ?: sdw_lttng_watch_ask(&lttng->watch, SDW_LTTNG_SETTLE, SETTLE_MS);
}

int sdw_lttng_create(const struct sdw_lttng_options *options, struct sdw_lttng_outcome *outcome,
		     struct sdw_sink **sink)
{
	struct lttng *lttng = calloc(1, sizeof(*lttng));
	const struct sdw_lttng_setup setup = {
		.session = options->session && *options->session ? options->session : NULL,
		.directory = options->directory,
		.url = options->url,
		.handlers = options->handlers,
		.snapshot = options->snapshot,
		.recorder = getpid(),
		.bytes_per_s = options->rate * EVENT_BYTES,
		.handler_bytes_per_s = options->rate * HANDLER_BYTES,
		.memory = options->memory,
	};
	int err;

	if (!lttng)
		return -ENOMEM;
	lttng->sink.ops = &lttng_ops;
	lttng->watch.outcome = outcome;
	lttng->watch.link = (struct sdw_lttng_link){.socket = -1, .daemon = -1};
	lttng->recorder = (uint8_t)setup.recorder;
	lttng->snapshot = options->snapshot;
	lttng->live = options->url && !options->snapshot;
	lttng->definitions.snapshot = options->snapshot;
	lttng->definitions.keep = lttng->snapshot || lttng->live;
	outcome->own = !setup.session;
	err = sdw_lttng_condition_parse(&lttng->condition, options->when);
	err = err ? err : connect_session(lttng, &setup);
	if (err) {
		if (lttng->watch.link.socket >= 0 && !lttng->watch.link.pending)
			(void)sdw_lttng_link_ask(&lttng->watch.link, SDW_LTTNG_CLOSE, SETTLE_MS);
		sdw_lttng_link_close(&lttng->watch.link);
		free(lttng);
		return err;
	}
	*sink = &lttng->sink;
	return 0;
}
