// SPDX-License-Identifier: MIT
/* merge.c - see merge.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/map64.h"
#include "base/strings.h"
#include "view/merge.h"

#define MAX_COMM    512 /* bytes of "COMM@HOST", with its NUL */
#define MAX_COMMAND 4096

enum kind { PROCESSES, THREADS, CODES, FRAMES, STACKS, KIND_COUNT };

struct input {
	struct sdw_sink sink;
	struct sdw_merge *merge;
	bool begun;
	struct sdw_recording recording; /* strings are the merge's */
	int64_t shift_ns;		/* from its clock to the merge's */
	struct sdw_totals totals;
	struct sdw_map64 ids[KIND_COUNT]; /* by an id of the recording, that in the merge */
	uint32_t lost_code, lost_frame, lost_stack; /* stand for what was not defined */
};

struct input_slot {
	struct input *input;
};

struct sdw_merge {
	struct sdw_sink *next;
	struct {
		struct input_slot *items;
		size_t count, room;
	} inputs;
	struct sdw_strings strings;
	uint32_t used[KIND_COUNT]; /* ids given so far */
	const char *host;	   /* the first; NULL: none yet */
	bool hosts_differ;
	struct sdw_recording recording;
	char problem[256];
};

static struct input *input_of(struct sdw_sink *sink)
{
	return (struct input *)sink; /* its first member */
}

static uint64_t shifted(const struct input *input, uint64_t time_ns)
{
	return time_ns + (uint64_t)input->shift_ns;
}

/* The id in the merge, 0 if there is none. */
static uint32_t find(const struct input *input, enum kind kind, uint32_t id)
{
	const uint64_t *found = id ? sdw_map64_find(&input->ids[kind], id) : NULL;

	return found ? (uint32_t)*found : 0;
}

/* Gives an id in the merge. Returns 1, 0 if `id` has one already, or -errno. */
static int give(struct input *input, enum kind kind, uint32_t id, uint32_t *given)
{
	if (find(input, kind, id))
		return 0;
	if (!id || input->merge->used[kind] >= UINT32_MAX - 2)
		return -EINVAL;
	*given = ++input->merge->used[kind];
	return sdw_map64_set(&input->ids[kind], id, *given) ?: 1;
}

static int keep_text(struct sdw_merge *merge, const char **text)
{
	*text = sdw_strings_keep(&merge->strings, *text ? *text : "");
	return *text ? 0 : -ENOMEM;
}

int sdw_merge_add_host(struct sdw_merge *merge, const char *host)
{
	if (!host || !*host)
		return 0;
	if (!merge->host)
		return keep_text(merge, &host) ?: (merge->host = host, 0);
	merge->hosts_differ = merge->hosts_differ || strcmp(merge->host, host) != 0;
	return 0;
}

static int keep_recording(struct input *input, const struct sdw_recording *recording)
{
	struct sdw_merge *merge = input->merge;
	struct sdw_recording kept = *recording;

	if (keep_text(merge, &kept.version) || keep_text(merge, &kept.hostname) ||
	    keep_text(merge, &kept.command) || keep_text(merge, &kept.event) ||
	    keep_text(merge, &kept.unit) || keep_text(merge, &kept.filter))
		return -ENOMEM;
	input->recording = kept;
	return sdw_merge_add_host(merge, kept.hostname);
}

/* "A; B" of what the recordings have, in their order; each once. */
static int join(struct sdw_merge *merge, const char **all, const char *one)
{
	char text[MAX_COMMAND];

	if (!strcmp(*all, one))
		return 0;
	snprintf(text, sizeof(text), "%s; %s", *all, one);
	*all = text;
	return keep_text(merge, all);
}

/* Adds the recording to that of all. */
static int join_recording(struct input *input)
{
	struct sdw_recording *all = &input->merge->recording, *one = &input->recording;
	struct sdw_merge *merge = input->merge;
	uint64_t start;

	if (merge->inputs.count == 1 || !all->version) {
		*all = *one;
		return 0;
	}
	if (strcmp(all->event, one->event) || strcmp(all->unit, one->unit) ||
	    all->path != one->path) {
		snprintf(merge->problem, sizeof(merge->problem),
			 "samples of %.60s and of %.60s cannot be added up: one of them at a time",
			 all->event, one->event);
		return -EINVAL;
	}
	input->shift_ns = (int64_t)(one->start_unix_ns - one->start_ns -
				    (all->start_unix_ns - all->start_ns));
	start = shifted(input, one->start_ns);
	if (start < all->start_ns) {
		all->start_unix_ns -= all->start_ns - start;
		all->start_ns = start;
	}
	if (all->period != one->period)
		all->period = 0;
	if (all->frequency != one->frequency)
		all->frequency = 0;
	all->native = all->native || one->native;
	all->kernel = all->kernel || one->kernel;
	return join(merge, &all->hostname, one->hostname)
		       ?: join(merge, &all->command, one->command);
}

static int take_recording(struct sdw_sink *sink, const struct sdw_recording *recording)
{
	struct input *input = input_of(sink);
	struct sdw_merge *merge = input->merge;
	int err;

	if (input->begun)
		return -EINVAL;
	err = keep_recording(input, recording) ?: join_recording(input);
	if (err)
		return err;
	input->begun = true;
	return merge->next->ops->recording(merge->next, &merge->recording);
}

static int take_process(struct sdw_sink *sink, const struct sdw_process_event *event)
{
	struct input *input = input_of(sink);
	struct sdw_merge *merge = input->merge;
	struct sdw_process_event told = *event;
	char comm[MAX_COMM];
	int given = give(input, PROCESSES, event->id, &told.id);

	if (given <= 0)
		return given;
	told.time_ns = shifted(input, event->time_ns);
	told.parent = find(input, PROCESSES, event->parent);
	if (merge->hosts_differ) {
		snprintf(comm, sizeof(comm), "%.255s@%.255s", event->comm,
			 input->recording.hostname);
		told.comm = comm;
	}
	return merge->next->ops->process(merge->next, &told);
}

static int take_thread(struct sdw_sink *sink, const struct sdw_thread_event *event)
{
	struct input *input = input_of(sink);
	struct sdw_sink *next = input->merge->next;
	struct sdw_process_event process = {.time_ns = event->time_ns,
					    .id = event->process,
					    .pid = event->tid,
					    .inner_pid = event->inner_tid,
					    .comm = "[not in this trace]"};
	struct sdw_thread_event told = *event;
	int given, err = 0;

	if (find(input, THREADS, event->id))
		return 0;
	if (!find(input, PROCESSES, event->process))
		err = take_process(sink, &process);
	given = err ?: give(input, THREADS, event->id, &told.id);
	if (given <= 0)
		return given;
	told.time_ns = shifted(input, event->time_ns);
	told.process = find(input, PROCESSES, event->process);
	return next->ops->thread(next, &told);
}

static int take_code(struct sdw_sink *sink, const struct sdw_code_event *event)
{
	struct input *input = input_of(sink);
	struct sdw_sink *next = input->merge->next;
	struct sdw_code_event told = *event;
	int given = give(input, CODES, event->id, &told.id);

	if (given <= 0)
		return given;
	told.time_ns = shifted(input, event->time_ns);
	return next->ops->code(next, &told);
}

/* Makes the marker that stands for a stack, or a part of one, of which nothing is known. */
static int make_lost(struct input *input, uint64_t time_ns)
{
	struct sdw_merge *merge = input->merge;
	struct sdw_sink *next = merge->next;
	struct sdw_code_event code = {.time_ns = time_ns,
				      .id = ++merge->used[CODES],
				      .kind = SDW_CODE_MARKER,
				      .name = "[not in this trace]",
				      .file = ""};
	struct sdw_frame_event frame = {
		.time_ns = time_ns, .id = ++merge->used[FRAMES], .code = code.id};
	struct sdw_stack_event stack = {
		.time_ns = time_ns, .id = ++merge->used[STACKS], .frame = frame.id};
	int err = next->ops->code(next, &code) ?: next->ops->frame(next, &frame);

	err = err ?: next->ops->stack(next, &stack);
	input->lost_code = code.id;
	input->lost_frame = frame.id;
	input->lost_stack = stack.id;
	return err;
}

/* The id in the merge of what an event refers to, or the marker's. Returns 0 or -errno. */
static int refer(struct input *input, enum kind kind, uint32_t id, uint64_t time_ns,
		 uint32_t *found)
{
	int err;

	*found = find(input, kind, id);
	if (*found || (kind == STACKS && !id))
		return 0;
	err = input->lost_code ? 0 : make_lost(input, shifted(input, time_ns));
	*found = kind == CODES	  ? input->lost_code
		 : kind == FRAMES ? input->lost_frame
				  : input->lost_stack;
	return err;
}

static int take_frame(struct sdw_sink *sink, const struct sdw_frame_event *event)
{
	struct input *input = input_of(sink);
	struct sdw_sink *next = input->merge->next;
	struct sdw_frame_event told = *event;
	int given, err = refer(input, CODES, event->code, event->time_ns, &told.code);

	given = err ?: give(input, FRAMES, event->id, &told.id);
	if (given <= 0)
		return given;
	told.time_ns = shifted(input, event->time_ns);
	return next->ops->frame(next, &told);
}

static int take_stack(struct sdw_sink *sink, const struct sdw_stack_event *event)
{
	struct input *input = input_of(sink);
	struct sdw_sink *next = input->merge->next;
	struct sdw_stack_event told = *event;
	int given, err = refer(input, STACKS, event->parent, event->time_ns, &told.parent);

	err = err ?: refer(input, FRAMES, event->frame, event->time_ns, &told.frame);
	given = err ?: give(input, STACKS, event->id, &told.id);
	if (given <= 0)
		return given;
	told.time_ns = shifted(input, event->time_ns);
	return next->ops->stack(next, &told);
}

static int take_sample(struct sdw_sink *sink, const struct sdw_sample_event *event)
{
	struct input *input = input_of(sink);
	struct sdw_sink *next = input->merge->next;
	struct sdw_sample_event told = *event;
	int err = refer(input, STACKS, event->stack, event->time_ns, &told.stack);

	told.thread = find(input, THREADS, event->thread);
	told.time_ns = shifted(input, event->time_ns);
	return err ?: next->ops->sample(next, &told);
}

static int take_signal_sample(struct sdw_sink *sink, const struct sdw_signal_sample_event *event)
{
	struct input *input = input_of(sink);
	struct sdw_signal_sample_event told = *event;
	int err = refer(input, STACKS, event->stack, event->time_ns, &told.stack);

	told.thread = find(input, THREADS, event->thread);
	told.time_ns = shifted(input, event->time_ns);
	told.overflow_ns = shifted(input, event->overflow_ns);
	told.handler_ns = shifted(input, event->handler_ns);
	return err ?: sdw_sink_signal_sample(input->merge->next, &told);
}

static int take_lost(struct sdw_sink *sink, const struct sdw_lost_event *event)
{
	struct input *input = input_of(sink);
	struct sdw_sink *next = input->merge->next;
	struct sdw_lost_event told = *event;

	told.time_ns = shifted(input, event->time_ns);
	told.begin_ns = shifted(input, event->begin_ns);
	return next->ops->lost(next, &told);
}

static void add_totals(struct sdw_totals *sum, const struct sdw_totals *one, uint64_t end_ns)
{
	sum->overflows += one->overflows;
	for (size_t i = 0; i < SDW_STATUS_COUNT; i++)
		sum->status[i] += one->status[i];
	for (size_t i = 0; i < SDW_LOST_COUNT; i++)
		sum->lost[i] += one->lost[i];
	sum->processes += one->processes;
	sum->threads += one->threads;
	sum->signal_samples += one->signal_samples;
	sum->signal_merged += one->signal_merged;
	sum->signal_lost += one->signal_lost;
	sum->complete = sum->complete && one->complete;
	if (end_ns > sum->time_ns)
		sum->time_ns = end_ns;
}

static int take_totals(struct sdw_sink *sink, const struct sdw_totals *totals)
{
	struct input *input = input_of(sink);
	struct sdw_merge *merge = input->merge;
	struct sdw_totals sum = {.complete = true};

	input->totals = *totals;
	if (merge->inputs.count == 1)
		return merge->next->ops->totals(merge->next, totals);
	for (size_t i = 0; i < merge->inputs.count; i++) {
		const struct input *one = merge->inputs.items[i].input;

		add_totals(&sum, &one->totals,
			   shifted(one, one->recording.start_ns + one->totals.duration_ns));
	}
	sum.duration_ns = sum.time_ns > merge->recording.start_ns
				  ? sum.time_ns - merge->recording.start_ns
				  : 0;
	return merge->next->ops->totals(merge->next, &sum);
}

static int take_flush(struct sdw_sink *sink, uint64_t now_ns)
{
	(void)sink;
	(void)now_ns;
	return 0;
}

static int take_close(struct sdw_sink *sink)
{
	(void)sink; /* the merge's */
	return 0;
}

static const struct sdw_sink_ops input_ops = {
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

int sdw_merge_create(struct sdw_sink *next, struct sdw_merge **merge)
{
	*merge = calloc(1, sizeof(**merge));
	if (!*merge)
		return -ENOMEM;
	(*merge)->next = next;
	return 0;
}

struct sdw_sink *sdw_merge_add(struct sdw_merge *merge)
{
	struct input *input = calloc(1, sizeof(*input));

	if (!input || sdw_array_reserve(&merge->inputs, 1)) {
		free(input);
		return NULL;
	}
	input->sink.ops = &input_ops;
	input->merge = merge;
	merge->inputs.items[merge->inputs.count++].input = input;
	return &input->sink;
}

const char *sdw_merge_problem(const struct sdw_merge *merge)
{
	return merge->problem;
}

void sdw_merge_free(struct sdw_merge *merge)
{
	if (!merge)
		return;
	for (size_t i = 0; i < merge->inputs.count; i++) {
		for (int kind = 0; kind < KIND_COUNT; kind++)
			sdw_map64_free(&merge->inputs.items[i].input->ids[kind]);
		free(merge->inputs.items[i].input);
	}
	free(merge->inputs.items);
	sdw_strings_free(&merge->strings);
	free(merge);
}
