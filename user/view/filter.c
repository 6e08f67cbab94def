// SPDX-License-Identifier: MIT
/* filter.c - see filter.h. Definitions go on as they are: ids stay those of the trace. */
#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "view/filter.h"

#define SECOND_NS 1e9

static struct sdw_filter_sink *filter_of(struct sdw_sink *sink)
{
	return (struct sdw_filter_sink *)sink; /* its first member */
}

bool sdw_filter_is_set(const struct sdw_filter *filter)
{
	return filter->from_s > 0 || filter->until_s > 0 || filter->thread || filter->process ||
	       filter->container || filter->function;
}

static bool is_name(const char *asked, const char *name)
{
	return !asked || strcmp(asked, name) == 0 || fnmatch(asked, name, 0) == 0;
}

/* Also the last part of a qualified name: "decode" for "JSONDecoder.decode", as in a report. */
static bool is_function(const char *asked, const char *name)
{
	const char *last = strrchr(name, '.');

	return is_name(asked, name) || (last && strcmp(asked, last + 1) == 0);
}

/* By name, by pod, or by id, of which the first digits do, as runtimes show them. */
static bool is_container(const char *asked, const struct sdw_process_event *event)
{
	const char *id = event->container ? event->container : "";
	const char *name = event->container_name ? event->container_name : "";
	const char *pod = event->pod ? event->pod : "";

	if (!asked)
		return true;
	return *asked && *id &&
	       (is_name(asked, name) || is_name(asked, pod) || is_name(asked, id) ||
		strncmp(asked, id, strlen(asked)) == 0);
}

static bool is_number(const char *asked, uint32_t number)
{
	char text[16];

	snprintf(text, sizeof(text), "%" PRIu32, number);
	return asked && strcmp(asked, text) == 0;
}

/* Entry `id` of the marks, which are given in order; what is not there is not marked. */
static int set_mark(struct sdw_filter_marks *marks, uint32_t id, bool is_marked)
{
	if (id != marks->count)
		return -EINVAL;
	if (sdw_array_reserve(marks, 1))
		return -ENOMEM;
	marks->items[marks->count++] = is_marked;
	return 0;
}

static bool is_marked(const struct sdw_filter_marks *marks, uint32_t id)
{
	return id < marks->count && marks->items[id];
}

/* A time in seconds since `start_ns`; far ones end where 64 bits do. */
static uint64_t time_after(uint64_t start_ns, double seconds)
{
	double ns = seconds * SECOND_NS;

	return ns >= (double)(UINT64_MAX - start_ns) ? UINT64_MAX : start_ns + (uint64_t)ns;
}

static int take_recording(struct sdw_sink *sink, const struct sdw_recording *recording)
{
	struct sdw_filter_sink *filter = filter_of(sink);
	struct sdw_recording told = *recording;

	filter->begin_ns = time_after(recording->start_ns, filter->filter->from_s);
	filter->end_ns = filter->filter->until_s > 0
				 ? time_after(recording->start_ns, filter->filter->until_s)
				 : UINT64_MAX;
	told.filter = filter->text;
	filter->by_signal = recording->path == SDW_PATH_SIGNAL;
	return filter->next->ops->recording(filter->next, &told);
}

static int take_process(struct sdw_sink *sink, const struct sdw_process_event *event)
{
	struct sdw_filter_sink *filter = filter_of(sink);
	const char *asked = filter->filter->process;
	bool wanted = is_name(asked, event->comm) || is_number(asked, event->pid) ||
		      is_number(asked, event->inner_pid);
	int err = set_mark(&filter->processes, event->id,
			   wanted && is_container(filter->filter->container, event));

	return err ? err : filter->next->ops->process(filter->next, event);
}

static int take_thread(struct sdw_sink *sink, const struct sdw_thread_event *event)
{
	struct sdw_filter_sink *filter = filter_of(sink);
	const char *asked = filter->filter->thread;
	bool wanted = is_name(asked, event->name) || is_number(asked, event->tid) ||
		      is_number(asked, event->inner_tid);
	struct sdw_thread_event told = *event;
	int err = set_mark(&filter->threads, event->id,
			   wanted && is_marked(&filter->processes, event->process));

	if (told.time_ns < filter->begin_ns)
		told.time_ns = filter->begin_ns;
	return err ? err : filter->next->ops->thread(filter->next, &told);
}

static int take_code(struct sdw_sink *sink, const struct sdw_code_event *event)
{
	struct sdw_filter_sink *filter = filter_of(sink);
	int err = set_mark(&filter->codes, event->id,
			   is_function(filter->filter->function, event->name));

	return err ? err : filter->next->ops->code(filter->next, event);
}

static int take_frame(struct sdw_sink *sink, const struct sdw_frame_event *event)
{
	struct sdw_filter_sink *filter = filter_of(sink);
	int err = set_mark(&filter->frames, event->id, is_marked(&filter->codes, event->code));

	return err ? err : filter->next->ops->frame(filter->next, event);
}

static int take_stack(struct sdw_sink *sink, const struct sdw_stack_event *event)
{
	struct sdw_filter_sink *filter = filter_of(sink);
	int err = set_mark(&filter->stacks, event->id,
			   is_marked(&filter->frames, event->frame) ||
				   is_marked(&filter->stacks, event->parent));

	return err ? err : filter->next->ops->stack(filter->next, event);
}

static bool is_asked_for(const struct sdw_filter_sink *filter, uint64_t time_ns, uint32_t thread,
			 uint32_t stack)
{
	return time_ns >= filter->begin_ns && time_ns < filter->end_ns &&
	       is_marked(&filter->threads, thread) &&
	       (!filter->filter->function || is_marked(&filter->stacks, stack));
}

static int take_sample(struct sdw_sink *sink, const struct sdw_sample_event *event)
{
	struct sdw_filter_sink *filter = filter_of(sink);

	filter->samples++;
	if (!is_asked_for(filter, event->time_ns, event->thread, event->stack))
		return 0;
	if (event->status < SDW_STATUS_COUNT)
		filter->status[event->status]++;
	return filter->next->ops->sample(filter->next, event);
}

/* Where BPF took samples of the same overflows, the counts are of those. */
static int take_signal_sample(struct sdw_sink *sink, const struct sdw_signal_sample_event *event)
{
	struct sdw_filter_sink *filter = filter_of(sink);

	filter->samples += filter->by_signal;
	if (!is_asked_for(filter, event->time_ns, event->thread, event->stack))
		return 0;
	if (filter->by_signal && event->status < SDW_STATUS_COUNT)
		filter->status[event->status]++;
	return sdw_sink_signal_sample(filter->next, event);
}

/* Losses are told by interval: one that reaches into the time asked for counts whole. */
static int take_lost(struct sdw_sink *sink, const struct sdw_lost_event *event)
{
	struct sdw_filter_sink *filter = filter_of(sink);

	if (event->time_ns <= filter->begin_ns || event->begin_ns >= filter->end_ns)
		return 0;
	if (event->reason < SDW_LOST_COUNT)
		filter->lost[event->reason] += event->count;
	return filter->next->ops->lost(filter->next, event);
}

static int take_totals(struct sdw_sink *sink, const struct sdw_totals *totals)
{
	struct sdw_filter_sink *filter = filter_of(sink);
	const struct sdw_filter *asked = filter->filter;
	struct sdw_totals left = *totals;
	double duration_ns = (double)totals->duration_ns;

	memcpy(left.status, filter->status, sizeof(left.status));
	if (asked->from_s > 0 || asked->until_s > 0)
		memcpy(left.lost, filter->lost, sizeof(left.lost));
	if (asked->until_s > 0 && asked->until_s * SECOND_NS < duration_ns)
		duration_ns = asked->until_s * SECOND_NS;
	duration_ns -= asked->from_s * SECOND_NS;
	left.duration_ns = duration_ns > 0 ? (uint64_t)duration_ns : 0;
	left.overflows = 0;
	for (size_t i = 0; i < SDW_STATUS_COUNT; i++)
		left.overflows += left.status[i];
	for (size_t i = 0; i < SDW_LOST_COUNT; i++)
		left.overflows += left.lost[i];
	return filter->next->ops->totals(filter->next, &left);
}

static int take_flush(struct sdw_sink *sink, uint64_t now_ns)
{
	struct sdw_filter_sink *filter = filter_of(sink);

	return filter->next->ops->flush(filter->next, now_ns);
}

static int take_close(struct sdw_sink *sink)
{
	(void)sink; /* the owner still reads what is behind it */
	return 0;
}

static const struct sdw_sink_ops filter_ops = {
	.recording = take_recording,
	.process = take_process,
	.thread = take_thread,
	.code = take_code,
	.frame = take_frame,
	.stack = take_stack,
	.sample = take_sample,
	.signal_sample = take_signal_sample,
	.lost = take_lost,
	.totals = take_totals,
	.flush = take_flush,
	.close = take_close,
};

/* "from 1.5 s, until 2 s, thread worker, function A.run". NULL: out of memory. */
static char *describe(const struct sdw_filter *filter)
{
	const struct {
		const char *what, *name;
	} names[] = {{"thread", filter->thread},
		     {"process", filter->process},
		     {"container", filter->container},
		     {"function", filter->function}};
	const char *separator = "";
	char *text = NULL;
	size_t bytes;
	FILE *file = open_memstream(&text, &bytes);

	if (!file)
		return NULL;
	if (filter->from_s > 0) {
		fprintf(file, "from %.9g s", filter->from_s);
		separator = ", ";
	}
	if (filter->until_s > 0) {
		fprintf(file, "%suntil %.9g s", separator, filter->until_s);
		separator = ", ";
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (!names[i].name)
			continue;
		fprintf(file, "%s%s %s", separator, names[i].what, names[i].name);
		separator = ", ";
	}
	if (fclose(file)) {
		free(text);
		return NULL;
	}
	return text;
}

int sdw_filter_sink_init(struct sdw_filter_sink *sink, const struct sdw_filter *filter,
			 struct sdw_sink *next)
{
	*sink = (struct sdw_filter_sink){.sink.ops = &filter_ops, .filter = filter, .next = next};
	sink->text = describe(filter);
	/* id 0 of each: none */
	if (!sink->text || set_mark(&sink->processes, 0, false) ||
	    set_mark(&sink->threads, 0, false) || set_mark(&sink->codes, 0, false) ||
	    set_mark(&sink->frames, 0, false) || set_mark(&sink->stacks, 0, false))
		return -ENOMEM;
	return 0;
}

void sdw_filter_sink_free(struct sdw_filter_sink *sink)
{
	free(sink->text);
	free(sink->processes.items);
	free(sink->threads.items);
	free(sink->codes.items);
	free(sink->frames.items);
	free(sink->stacks.items);
	*sink = (struct sdw_filter_sink){0};
}
