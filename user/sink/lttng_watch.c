// SPDX-License-Identifier: MIT
/* lttng_watch.c - see lttng_watch.h. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "sink/lttng_watch.h"

#define GRACE_MS       30   /* in which an answer mostly comes: so long the recorder waits for it */
#define SNAPSHOT_WAITS 15   /* seconds, about: polls */
#define LAST_MS	       3000 /* for an answer that is still due when the recording ends */
#define CLOSE_MS       15000 /* to write out what is in the buffers, to stop, to end a daemon */

static void say_gone(struct sdw_lttng_watch *watch, const char *what)
{
	watch->outcome->incomplete = watch->outcome->silent = true;
	if (watch->gone)
		return;
	watch->gone = true;
	sdw_warn("--lttng: %s: the LTTng trace lacks what comes from here on", what);
}

static void take_answer(struct sdw_lttng_watch *watch)
{
	const struct sdw_lttng_answer *answer = &watch->link.answer;
	struct sdw_lttng_outcome *outcome = watch->outcome;

	if (watch->hung)
		sdw_info("--lttng: LTTng answers again");
	watch->hung = false;
	outcome->silent = false;
	if (answer->failed)
		say_gone(watch, answer->text);
	else if (watch->request == SDW_LTTNG_SNAPSHOT)
		sdw_info("--lttng: snapshot %llu written below %s",
			 (unsigned long long)++outcome->snapshots, answer->trace);
	snprintf(outcome->session, sizeof(outcome->session), "%s", answer->session);
	snprintf(outcome->trace, sizeof(outcome->trace), "%s", answer->trace);
	outcome->events_discarded = answer->discarded;
	outcome->handler_discarded = answer->handler_discarded;
	if (answer->discarded && !watch->discarding) {
		watch->discarding = true;
		sdw_warn("--lttng: LTTng discards events, its buffers are full: the LTTng trace is "
			 "not whole");
	}
}

static void say_hung(struct sdw_lttng_watch *watch)
{
	if (watch->hung || watch->gone)
		return;
	/* what is in memory takes its time to be written */
	if (watch->request == SDW_LTTNG_SNAPSHOT && ++watch->waits < SNAPSHOT_WAITS)
		return;
	watch->hung = watch->outcome->silent = true;
	sdw_warn("--lttng: LTTng does not answer: the LTTng trace may lack what comes from here "
		 "on");
}

int sdw_lttng_watch_ask(struct sdw_lttng_watch *watch, enum sdw_lttng_request request, int ms)
{
	int err;

	watch->request = request;
	err = sdw_lttng_link_ask(&watch->link, request, ms);
	if (err == -ETIMEDOUT)
		sdw_error("--lttng: the LTTng session daemon does not answer: it hangs, or waits "
			  "for a consumer or relay daemon that does");
	else if (err)
		sdw_error("--lttng: the process that controls LTTng ended");
	else if (watch->link.answer.failed)
		sdw_error("--lttng: %s", watch->link.answer.text);
	if (!err && watch->link.answer.failed)
		return -EIO;
	if (!err)
		take_answer(watch);
	return err;
}

bool sdw_lttng_watch_poll(struct sdw_lttng_watch *watch)
{
	int answered = sdw_lttng_link_poll(&watch->link);

	if (answered < 0)
		say_gone(watch, "the process that controls LTTng ended");
	else if (answered)
		take_answer(watch);
	else if (watch->link.pending)
		say_hung(watch);
	return answered >= 0 && !watch->link.pending;
}

void sdw_lttng_watch_send(struct sdw_lttng_watch *watch, enum sdw_lttng_request request)
{
	int err;

	watch->request = request;
	watch->waits = 0;
	err = sdw_lttng_link_ask(&watch->link, request, GRACE_MS);
	if (err == -EPIPE)
		say_gone(watch, "the process that controls LTTng ended");
	else if (!err)
		take_answer(watch);
}

void sdw_lttng_watch_close(struct sdw_lttng_watch *watch)
{
	bool hung = watch->hung;
	int err = 0;

	if (watch->link.pending)
		err = sdw_lttng_link_wait(&watch->link, LAST_MS);
	if (!err) {
		watch->request = SDW_LTTNG_CLOSE;
		err = sdw_lttng_link_ask(&watch->link, SDW_LTTNG_CLOSE, hung ? LAST_MS : CLOSE_MS);
	}
	if (!err)
		take_answer(watch);
	else if (err == -ETIMEDOUT)
		say_gone(watch, "LTTng does not answer, and its session could not be stopped");
	else
		say_gone(watch, "the process that controls LTTng ended");
	sdw_lttng_link_close(&watch->link);
}
