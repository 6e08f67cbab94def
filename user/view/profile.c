// SPDX-License-Identifier: MIT
/*
 * profile.c - keeps a recording in memory (see profile.h).
 *
 * The recorder feeds it live: a sample is one hash lookup and a few additions. What does not keep
 * to the schema (an id that skips, a reference to something not defined) is refused with -EINVAL.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/map64.h"
#include "base/strings.h"
#include "events.h"
#include "view/line_merge.h"
#include "view/profile.h"

struct sdw_profile_index {
	struct sdw_strings strings;
	struct sdw_map64 by_key;	  /* hash of a bucket's key -> first bucket + 1 */
	SDW_PROFILE_ARRAY(uint32_t) next; /* per bucket: next with the same hash + 1, 0: none */
	struct sdw_line_merge merge;
};

static struct sdw_profile *profile_of(struct sdw_sink *sink)
{
	return (struct sdw_profile *)sink; /* its first member */
}

/* Keeps a copy of *text and makes *text point to it. */
static int keep_text(struct sdw_profile *profile, const char **text)
{
	*text = sdw_strings_keep(&profile->index->strings, *text ? *text : "");
	return *text ? 0 : -ENOMEM;
}

/* Appends an entry whose id must be the next place in its array. Returns 0, -EINVAL or -ENOMEM. */
#define add_checked(array, new_id, ...)                                                           \
	({                                                                                        \
		int add_err = (new_id) == (array)->count ? sdw_array_reserve(array, 1) : -EINVAL; \
                                                                                                  \
		if (!add_err)                                                                     \
			(array)->items[(array)->count++] = (__VA_ARGS__);                         \
		add_err;                                                                          \
	})

static int take_recording(struct sdw_sink *sink, const struct sdw_recording *recording)
{
	struct sdw_profile *profile = profile_of(sink);
	struct sdw_recording kept = *recording;

	if (keep_text(profile, &kept.version) || keep_text(profile, &kept.hostname) ||
	    keep_text(profile, &kept.command) || keep_text(profile, &kept.event) ||
	    keep_text(profile, &kept.unit) || keep_text(profile, &kept.filter))
		return -ENOMEM;
	profile->recording = kept;
	return 0;
}

static int take_process(struct sdw_sink *sink, const struct sdw_process_event *event)
{
	struct sdw_profile *profile = profile_of(sink);
	struct sdw_profile_process process = {
		.parent = event->parent,
		.pid = event->pid,
		.inner_pid = event->inner_pid,
		.comm = event->comm,
		.container = event->container,
		.container_name = event->container_name,
		.pod = event->pod,
	};

	if (event->parent >= profile->processes.count)
		return -EINVAL;
	if (keep_text(profile, &process.comm) || keep_text(profile, &process.container) ||
	    keep_text(profile, &process.container_name) || keep_text(profile, &process.pod))
		return -ENOMEM;
	return add_checked(&profile->processes, event->id, process);
}

static int take_thread(struct sdw_sink *sink, const struct sdw_thread_event *event)
{
	struct sdw_profile *profile = profile_of(sink);
	const char *name = event->name;

	if (!event->process || event->process >= profile->processes.count)
		return -EINVAL;
	if (keep_text(profile, &name))
		return -ENOMEM;
	return add_checked(&profile->threads, event->id,
			   (struct sdw_profile_thread){.process = event->process,
						       .tid = event->tid,
						       .inner_tid = event->inner_tid,
						       .name = name,
						       .first_ns = event->time_ns});
}

static int take_code(struct sdw_sink *sink, const struct sdw_code_event *event)
{
	struct sdw_profile *profile = profile_of(sink);
	const char *name = event->name, *file = event->file;

	if (event->kind >= SDW_CODE_KIND_COUNT)
		return -EINVAL;
	if (keep_text(profile, &name) || keep_text(profile, &file))
		return -ENOMEM;
	return add_checked(&profile->codes, event->id,
			   (struct sdw_profile_code){.kind = event->kind,
						     .name = name,
						     .file = file,
						     .first_line = event->first_line});
}

static int take_frame(struct sdw_sink *sink, const struct sdw_frame_event *event)
{
	struct sdw_profile *profile = profile_of(sink);
	struct sdw_line_merge *merge = &profile->index->merge;
	struct sdw_profile_frame frame = {.code = event->code, .line = event->line};
	uint32_t id = event->id;
	int err = 0;

	if (!event->code || event->code >= profile->codes.count)
		return -EINVAL;
	if (profile->keep_columns) {
		frame.column = event->column;
		frame.end_column = event->end_column;
		frame.end_line = event->end_line;
	} else if (event->column && !merge->begun) {
		err = sdw_line_merge_begin(merge, profile);
	}
	if (!err && merge->begun) {
		err = sdw_line_merge_add_frame(merge, id, frame.code, frame.line,
					       profile->frames.count);
		if (err <= 0)
			return err;
		id = (uint32_t)profile->frames.count;
		err = 0;
	}
	return err ? err : add_checked(&profile->frames, id, frame);
}

static int take_stack(struct sdw_sink *sink, const struct sdw_stack_event *event)
{
	struct sdw_profile *profile = profile_of(sink);
	struct sdw_line_merge *merge = &profile->index->merge;
	struct sdw_profile_stack stack = {
		.parent = sdw_line_merge_stack(merge, event->parent),
		.frame = sdw_line_merge_frame(merge, event->frame),
	};
	uint32_t id = event->id;
	int err;

	if (stack.parent >= profile->stacks.count || !stack.frame ||
	    stack.frame >= profile->frames.count)
		return -EINVAL;
	stack.depth = profile->stacks.items[stack.parent].depth + 1;
	if (merge->begun) {
		err = sdw_line_merge_add_stack(merge, id, stack.parent, stack.frame,
					       profile->stacks.count);
		if (err <= 0)
			return err;
		id = (uint32_t)profile->stacks.count;
	}
	return add_checked(&profile->stacks, id, stack);
}

static uint64_t key_of(const struct sdw_sample_event *event)
{
	uint64_t key = (uint64_t)event->thread << 32 | event->stack;

	return sdw_mix64(key + event->status * 0x9e3779b97f4a7c15ull);
}

static bool is_bucket_of(const struct sdw_profile_bucket *bucket,
			 const struct sdw_sample_event *event)
{
	return bucket->thread == event->thread && bucket->stack == event->stack &&
	       bucket->status == event->status;
}

/* The bucket of a sample, made if there is none. NULL: out of memory. */
static struct sdw_profile_bucket *bucket_of(struct sdw_profile *profile,
					    const struct sdw_sample_event *event)
{
	struct sdw_profile_index *index = profile->index;
	uint64_t key = key_of(event);
	const uint64_t *first = sdw_map64_find(&index->by_key, key);
	uint32_t before = first ? (uint32_t)*first : 0;
	struct sdw_profile_bucket *bucket;

	for (uint32_t i = before; i; i = index->next.items[i - 1]) {
		bucket = &profile->buckets.items[i - 1];
		if (is_bucket_of(bucket, event))
			return bucket;
	}
	if (profile->buckets.count >= UINT32_MAX - 1 || sdw_array_reserve(&profile->buckets, 1) ||
	    sdw_array_reserve(&index->next, 1) ||
	    sdw_map64_set(&index->by_key, key, profile->buckets.count + 1))
		return NULL;
	index->next.items[index->next.count++] = before;
	bucket = &profile->buckets.items[profile->buckets.count++];
	*bucket = (struct sdw_profile_bucket){.thread = event->thread,
					      .stack = event->stack,
					      .status = event->status,
					      .first_ns = event->time_ns};
	return bucket;
}

static int take_sample(struct sdw_sink *sink, const struct sdw_sample_event *traced)
{
	struct sdw_profile *profile = profile_of(sink);
	struct sdw_sample_event sample = *traced, *event = &sample;
	struct sdw_profile_bucket *bucket;

	sample.stack = sdw_line_merge_stack(&profile->index->merge, traced->stack);
	if (!event->thread || event->thread >= profile->threads.count ||
	    event->stack >= profile->stacks.count || event->status >= SDW_STATUS_COUNT)
		return -EINVAL;
	if (profile->keep_samples && sdw_array_reserve(&profile->samples, 1))
		return -ENOMEM;
	bucket = bucket_of(profile, event);
	if (!bucket)
		return -ENOMEM;
	bucket->samples++;
	bucket->weight += event->weight;
	/* those of several recorders come in order of when they were written, not taken */
	if (event->time_ns < bucket->first_ns)
		bucket->first_ns = event->time_ns;
	if (event->time_ns > bucket->last_ns)
		bucket->last_ns = event->time_ns;
	profile->gc_samples += (event->flags & SDW_SAMPLE_GC) != 0;
	if (profile->keep_samples)
		profile->samples.items[profile->samples.count++] = *event;
	return 0;
}

/* The signal path alone: its samples are the recording's. */
static int take_signal_sample(struct sdw_sink *sink, const struct sdw_signal_sample_event *event)
{
	struct sdw_profile *profile = profile_of(sink);
	struct sdw_sample_event sample = {
		.time_ns = event->time_ns,
		.thread = event->thread,
		.stack = event->stack,
		.weight = event->weight,
		.cpu = event->cpu,
		.status = event->status,
		.flags = event->flags,
	};
	uint32_t stack = sdw_line_merge_stack(&profile->index->merge, event->stack);

	if (!event->thread || event->thread >= profile->threads.count ||
	    stack >= profile->stacks.count || event->status >= SDW_STATUS_COUNT)
		return -EINVAL;
	if (profile->keep_samples) {
		if (sdw_array_reserve(&profile->signal_samples, 1))
			return -ENOMEM;
		profile->signal_samples.items[profile->signal_samples.count] = *event;
		profile->signal_samples.items[profile->signal_samples.count++].stack = stack;
	}
	return profile->recording.path == SDW_PATH_SIGNAL ? take_sample(sink, &sample) : 0;
}

static int take_lost(struct sdw_sink *sink, const struct sdw_lost_event *event)
{
	struct sdw_profile *profile = profile_of(sink);

	if (event->reason >= SDW_LOST_COUNT)
		return -EINVAL;
	if (sdw_array_reserve(&profile->lost, 1))
		return -ENOMEM;
	profile->lost.items[profile->lost.count++] = *event;
	return 0;
}

static int take_totals(struct sdw_sink *sink, const struct sdw_totals *totals)
{
	profile_of(sink)->totals = *totals;
	return 0;
}

static int take_flush(struct sdw_sink *sink, uint64_t now_ns)
{
	(void)sink;
	(void)now_ns;
	return 0;
}

static int take_close(struct sdw_sink *sink)
{
	(void)sink; /* the owner still reads it */
	return 0;
}

static const struct sdw_sink_ops profile_ops = {
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

/* Entry 0 of each array that ids index: "none", with empty names. */
static int add_empty_entries(struct sdw_profile *profile)
{
	int err;

	err = add_checked(&profile->processes, 0,
			  (struct sdw_profile_process){
				  .comm = "", .container = "", .container_name = "", .pod = ""});
	if (!err)
		err = add_checked(&profile->threads, 0, (struct sdw_profile_thread){.name = ""});
	if (!err)
		err = add_checked(
			&profile->codes, 0,
			(struct sdw_profile_code){.kind = SDW_CODE_MARKER, .name = "", .file = ""});
	if (!err)
		err = add_checked(&profile->frames, 0, (struct sdw_profile_frame){0});
	if (!err)
		err = add_checked(&profile->stacks, 0, (struct sdw_profile_stack){0});
	return err;
}

int sdw_profile_init(struct sdw_profile *profile, bool keep_samples)
{
	int err;

	*profile = (struct sdw_profile){
		.sink.ops = &profile_ops,
		.keep_samples = keep_samples,
		.recording = {.version = "",
			      .hostname = "",
			      .command = "",
			      .event = "",
			      .unit = "",
			      .filter = ""},
	};
	profile->index = calloc(1, sizeof(*profile->index));
	err = profile->index ? add_empty_entries(profile) : -ENOMEM;
	if (err)
		sdw_profile_free(profile);
	return err;
}

void sdw_profile_free(struct sdw_profile *profile)
{
	if (profile->index) {
		sdw_strings_free(&profile->index->strings);
		sdw_map64_free(&profile->index->by_key);
		sdw_line_merge_free(&profile->index->merge);
		free(profile->index->next.items);
		free(profile->index);
	}
	free(profile->processes.items);
	free(profile->threads.items);
	free(profile->codes.items);
	free(profile->frames.items);
	free(profile->stacks.items);
	free(profile->buckets.items);
	free(profile->samples.items);
	free(profile->signal_samples.items);
	free(profile->lost.items);
	*profile = (struct sdw_profile){0};
}

static int compare_samples(const void *a, const void *b)
{
	const struct sdw_sample_event *left = a, *right = b;

	if (left->time_ns != right->time_ns)
		return left->time_ns < right->time_ns ? -1 : 1;
	return left->thread < right->thread ? -1 : left->thread > right->thread;
}

static bool is_sorted(const struct sdw_profile *profile)
{
	for (size_t i = 1; i < profile->samples.count; i++) {
		if (profile->samples.items[i].time_ns < profile->samples.items[i - 1].time_ns)
			return false;
	}
	return true;
}

void sdw_profile_sort(struct sdw_profile *profile)
{
	if (!is_sorted(profile))
		qsort(profile->samples.items, profile->samples.count,
		      sizeof(*profile->samples.items), compare_samples);
}
