// SPDX-License-Identifier: MIT
/*
 * pairs.c - see pairs.h.
 *
 * A table finds the partner by key. Both arrays are sorted by thread and time, and what is left
 * alone on the BPF path is explained from what lies around it in the same thread.
 */
#include <errno.h>
#include <stdlib.h>

#include "analyze/pairs.h"
#include "base/map64.h"

#define MAX_ENDED 2 /* overflows in user mode that may have no signal because the thread ended */

#define SDW_NAME(name, text, meaning)	 text,
#define SDW_MEANING(name, text, meaning) meaning,

const char *sdw_alone_name(unsigned int cause)
{
	static const char *const names[] = {SDW_ALONE_LIST(SDW_NAME)};

	return cause < SDW_ALONE_COUNT ? names[cause] : "?";
}

const char *sdw_alone_meaning(unsigned int cause)
{
	static const char *const meanings[] = {SDW_ALONE_LIST(SDW_MEANING)};

	return cause < SDW_ALONE_COUNT ? meanings[cause] : "?";
}

static int by_thread_and_time(const void *left, const void *right)
{
	const struct sdw_path_sample *a = left, *b = right;

	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	return (a->key > b->key) - (a->key < b->key);
}

static void sort(struct sdw_path_samples *samples)
{
	if (samples->count)
		qsort(samples->items, samples->count, sizeof(*samples->items), by_thread_and_time);
}

/* The samples of one thread: [begin, end) of each array. */
struct span {
	size_t begin, end;
};

static struct span next_span(const struct sdw_path_samples *samples, size_t from, uint32_t thread)
{
	struct span span = {from, from};

	while (span.end < samples->count && samples->items[span.end].thread == thread)
		span.end++;
	return span;
}

struct work {
	const struct sdw_path_samples *bpf, *signal;
	struct sdw_pairs *pairs;
	struct sdw_map64 by_key; /* of the signal samples: key -> index + 1 */
	size_t *partner; /* by index of a BPF sample: index + 1 of its signal sample; 0: none */
};

/* Keys are of the whole recording: a handler can run in a thread that its overflow was not in. */
static int pair_all(struct work *work)
{
	const struct sdw_path_samples *bpf = work->bpf, *signal = work->signal;
	int err = 0;

	for (size_t i = 0; i < signal->count && !err; i++) {
		uint64_t key = signal->items[i].key;

		if (key && !sdw_map64_find(&work->by_key, key))
			err = sdw_map64_set(&work->by_key, key, i + 1);
	}
	for (size_t i = 0; i < bpf->count && !err; i++) {
		uint64_t key = bpf->items[i].key;
		const uint64_t *found = key ? sdw_map64_find(&work->by_key, key) : NULL;

		if (!found)
			continue;
		work->partner[i] = (size_t)*found;
		work->pairs->items[work->pairs->count++] =
			(struct sdw_pair){&bpf->items[i], &signal->items[*found - 1]};
		sdw_map64_remove(&work->by_key, key); /* a second one with this key stays alone */
	}
	return err;
}

/* From here to the end of the thread there is no pair: is it so because the thread was ending? */
static bool is_ending(const struct work *work, size_t from, size_t end)
{
	size_t in_user_mode = 0;

	for (size_t i = from; i < end; i++)
		in_user_mode += !work->bpf->items[i].kernel_mode;
	return in_user_mode <= MAX_ENDED;
}

static void explain_thread(struct work *work, struct span bpf, struct span signal)
{
	uint64_t *alone = work->pairs->alone;
	size_t first = bpf.begin, last = bpf.end;
	uint64_t pending_until = 0;
	uint32_t merged = 0;

	while (first < bpf.end && !work->partner[first])
		first++;
	while (last > first && !work->partner[last - 1])
		last--;
	for (size_t i = bpf.begin; i < bpf.end; i++) {
		const struct sdw_path_sample *sample = &work->bpf->items[i];
		uint64_t handler_ns;

		if (work->partner[i]) {
			handler_ns = work->signal->items[work->partner[i] - 1].handler_ns;
			if (handler_ns > pending_until)
				pending_until = handler_ns;
			merged = work->signal->items[work->partner[i] - 1].merged;
		} else if (first == bpf.end && signal.begin == signal.end) {
			alone[SDW_ALONE_NO_SIGNAL]++;
		} else if (sample->time_ns <= pending_until || merged) {
			alone[SDW_ALONE_COALESCED]++;
			merged -= merged > 0;
		} else if (i < first) {
			alone[SDW_ALONE_BEFORE_AGENT]++;
		} else if (i >= last && is_ending(work, last, bpf.end)) {
			alone[SDW_ALONE_THREAD_ENDED]++;
		} else {
			alone[SDW_ALONE_SIGNAL_UNEXPLAINED]++;
		}
	}
}

/* What a path counted as lost explains as many samples that nothing else does. */
static void explain_by_loss(uint64_t *alone, enum sdw_alone unexplained, enum sdw_alone lost,
			    uint64_t count)
{
	if (count > alone[unexplained])
		count = alone[unexplained];
	alone[unexplained] -= count;
	alone[lost] += count;
}

static void explain_all(struct work *work)
{
	const struct sdw_path_samples *bpf = work->bpf, *signal = work->signal;
	size_t at_bpf = 0, at_signal = 0;

	while (at_bpf < bpf->count) {
		uint32_t thread = bpf->items[at_bpf].thread;
		struct span ours = next_span(bpf, at_bpf, thread), theirs;

		while (at_signal < signal->count && signal->items[at_signal].thread < thread)
			at_signal++;
		theirs = next_span(signal, at_signal, thread);
		explain_thread(work, ours, theirs);
		at_bpf = ours.end;
		at_signal = theirs.end;
	}
}

int sdw_pairs_make(struct sdw_pairs *pairs, struct sdw_path_samples *bpf,
		   struct sdw_path_samples *signal, uint64_t bpf_lost, uint64_t signal_lost)
{
	struct work work = {.bpf = bpf, .signal = signal, .pairs = pairs};
	int err = -ENOMEM;

	*pairs = (struct sdw_pairs){0};
	sort(bpf);
	sort(signal);
	pairs->items = calloc(bpf->count + 1, sizeof(*pairs->items));
	work.partner = calloc(bpf->count + 1, sizeof(*work.partner));
	if (pairs->items && work.partner)
		err = pair_all(&work);
	if (!err) {
		explain_all(&work);
		pairs->bpf_only = bpf->count - pairs->count;
		pairs->signal_only = signal->count - pairs->count;
		pairs->alone[SDW_ALONE_BPF_UNEXPLAINED] = pairs->signal_only;
		explain_by_loss(pairs->alone, SDW_ALONE_SIGNAL_UNEXPLAINED, SDW_ALONE_AGENT_LOST,
				signal_lost);
		explain_by_loss(pairs->alone, SDW_ALONE_BPF_UNEXPLAINED, SDW_ALONE_BPF_LOST,
				bpf_lost);
	}
	sdw_map64_free(&work.by_key);
	free(work.partner);
	return err;
}

void sdw_pairs_free(struct sdw_pairs *pairs)
{
	free(pairs->items);
	*pairs = (struct sdw_pairs){0};
}
