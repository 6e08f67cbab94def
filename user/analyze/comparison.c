// SPDX-License-Identifier: MIT
/* comparison.c - see comparison.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/comparison.h"
#include "base/array.h"
#include "events.h"

#define LATE_NS 1000000 /* where the event is not a clock, so that its period is no time */

#define SDW_NAME(name, text, meaning)	 text,
#define SDW_MEANING(name, text, meaning) meaning,

const char *sdw_delivery_name(unsigned int delivery)
{
	static const char *const names[] = {SDW_DELIVERY_LIST(SDW_NAME)};

	return delivery < SDW_DELIVERY_COUNT ? names[delivery] : "?";
}

const char *sdw_delivery_meaning(unsigned int delivery)
{
	static const char *const meanings[] = {SDW_DELIVERY_LIST(SDW_MEANING)};

	return delivery < SDW_DELIVERY_COUNT ? meanings[delivery] : "?";
}

double sdw_agreed_share(const struct sdw_agreed *agreed)
{
	return agreed->compared ? (double)agreed->agreed / (double)agreed->compared : 1;
}

static enum sdw_delivery delivery_of(const struct sdw_pair *pair)
{
	if (pair->signal->wrong_thread)
		return SDW_DELIVERY_WRONG_THREAD;
	if (pair->signal->blocked)
		return SDW_DELIVERY_BLOCKED;
	return pair->bpf->kernel_mode ? SDW_DELIVERY_KERNEL : SDW_DELIVERY_USER;
}

/* The walk came to its end: what it has, or has not, is what it saw. */
static bool is_whole(const struct sdw_path_sample *sample)
{
	return sample->status == SDW_STATUS_COMPLETE || sample->status == SDW_STATUS_NO_PYTHON ||
	       sample->status == SDW_STATUS_NO_THREAD_STATE ||
	       sample->status == SDW_STATUS_NO_FRAME;
}

static int add_delay(struct sdw_comparison *comparison, struct sdw_delivered *delivered,
		     const struct sdw_pair *pair)
{
	uint64_t overflow = pair->bpf->time_ns, handler = pair->signal->handler_ns, delay = 0;
	int err;

	if (handler >= overflow)
		delay = handler - overflow;
	else
		comparison->handler_first++;
	comparison->late += delay >= comparison->late_after_ns;
	err = sdw_delays_add(&delivered->delays, delay);
	return err ?: sdw_delays_add(&comparison->all.delays, delay);
}

static int judge(struct sdw_comparison *comparison, struct sdw_delivered *delivered,
		 const struct sdw_verdict *verdict, enum sdw_difference what, bool same)
{
	delivered->agreed[what].compared++;
	comparison->all.agreed[what].compared++;
	delivered->agreed[what].agreed += same;
	comparison->all.agreed[what].agreed += same;
	return same ? 0 : sdw_agreement_count(&comparison->agreement, verdict, what);
}

static int add_pair(struct sdw_comparison *comparison, const struct sdw_pair *pair)
{
	struct sdw_delivered *delivered = &comparison->by_delivery[delivery_of(pair)];
	bool whole = is_whole(pair->bpf) && is_whole(pair->signal);
	struct sdw_verdict verdict;
	int err;

	delivered->pairs++;
	comparison->all.pairs++;
	comparison->incomplete += !whole;
	err = add_delay(comparison, delivered, pair);
	err = err
		      ?: sdw_agreement_of(&comparison->agreement, pair->bpf->stack,
					  pair->signal->stack, &verdict);
	if (err)
		return err;
	if (whole && verdict.has_python) {
		err = judge(comparison, delivered, &verdict, SDW_DIFFERENCE_PYTHON,
			    verdict.same_python);
		if (!err && verdict.same_python)
			err = judge(comparison, delivered, &verdict, SDW_DIFFERENCE_LINE,
				    verdict.same_lines);
	}
	if (!err && verdict.has_native)
		err = judge(comparison, delivered, &verdict, SDW_DIFFERENCE_NATIVE,
			    verdict.same_native);
	return err;
}

static uint64_t late_after_ns(const struct sdw_recording *recording)
{
	bool is_clock = recording->unit && strcmp(recording->unit, "ns") == 0;

	if (is_clock && recording->period)
		return recording->period;
	if (is_clock && recording->frequency)
		return 1000000000 / recording->frequency;
	return LATE_NS;
}

int sdw_comparison_make(struct sdw_comparison *comparison, const struct sdw_profile *profile,
			struct sdw_path_samples *bpf, struct sdw_path_samples *signal,
			uint64_t bpf_lost, uint64_t signal_lost)
{
	int err;

	*comparison = (struct sdw_comparison){
		.bpf = bpf->count,
		.signal = signal->count,
		.bpf_lost = bpf_lost,
		.signal_lost = signal_lost,
		.late_after_ns = late_after_ns(&profile->recording),
	};
	err = sdw_agreement_init(&comparison->agreement, profile);
	err = err ?: sdw_pairs_make(&comparison->pairs, bpf, signal, bpf_lost, signal_lost);
	for (size_t i = 0; i < comparison->pairs.count && !err; i++)
		err = add_pair(comparison, &comparison->pairs.items[i]);
	if (err)
		return err;
	comparison->overflows = comparison->bpf + bpf_lost + comparison->pairs.signal_only -
				comparison->pairs.alone[SDW_ALONE_BPF_LOST];
	for (unsigned int i = 0; i < SDW_DELIVERY_COUNT; i++)
		sdw_delays_sort(&comparison->by_delivery[i].delays);
	sdw_delays_sort(&comparison->all.delays);
	sdw_agreement_sort(&comparison->agreement);
	return 0;
}

static int take_samples(struct sdw_comparison *comparison, const struct sdw_profile *profile)
{
	struct sdw_path_samples *bpf = &comparison->bpf_samples;
	struct sdw_path_samples *signal = &comparison->signal_samples;
	int err = sdw_array_reserve(bpf, profile->samples.count);

	err = err ?: sdw_array_reserve(signal, profile->signal_samples.count);
	if (err)
		return err;
	for (size_t i = 0; i < profile->samples.count; i++) {
		const struct sdw_sample_event *event = &profile->samples.items[i];

		bpf->items[bpf->count++] = (struct sdw_path_sample){
			.key = event->pair,
			.time_ns = event->time_ns,
			.thread = event->thread,
			.stack = event->stack,
			.status = event->status,
			.kernel_mode = event->flags & SDW_SAMPLE_KERNEL_MODE,
		};
	}
	for (size_t i = 0; i < profile->signal_samples.count; i++) {
		const struct sdw_signal_sample_event *event = &profile->signal_samples.items[i];

		signal->items[signal->count++] = (struct sdw_path_sample){
			.key = event->pair,
			.time_ns = event->overflow_ns,
			.handler_ns = event->handler_ns,
			.thread = event->thread,
			.stack = event->stack,
			.status = event->status,
			.kernel_mode = event->delivery & SDW_SIGNAL_AFTER_KERNEL,
			.blocked = event->delivery & SDW_SIGNAL_BLOCKED,
			.wrong_thread = event->delivery & SDW_SIGNAL_WRONG_THREAD,
			.merged = event->merged,
		};
	}
	return 0;
}

int sdw_comparison_make_of_profile(struct sdw_comparison *comparison,
				   const struct sdw_profile *profile)
{
	struct sdw_comparison taken = {0};
	uint64_t lost = 0;
	int err;

	*comparison = (struct sdw_comparison){0};
	if (profile->recording.path != SDW_PATH_BOTH)
		return -ENODATA;
	for (unsigned int i = 0; i < SDW_LOST_COUNT; i++)
		if (i != SDW_LOST_OUTSIDE_TARGET && i != SDW_LOST_NOT_DELIVERED)
			lost += profile->totals.lost[i];
	err = take_samples(&taken, profile);
	if (!err)
		err = sdw_comparison_make(comparison, profile, &taken.bpf_samples,
					  &taken.signal_samples, lost, profile->totals.signal_lost);
	comparison->not_delivered = profile->totals.lost[SDW_LOST_NOT_DELIVERED];
	comparison->bpf_samples = taken.bpf_samples;
	comparison->signal_samples = taken.signal_samples;
	return err;
}

void sdw_comparison_free(struct sdw_comparison *comparison)
{
	for (unsigned int i = 0; i < SDW_DELIVERY_COUNT; i++)
		sdw_delays_free(&comparison->by_delivery[i].delays);
	sdw_delays_free(&comparison->all.delays);
	sdw_agreement_free(&comparison->agreement);
	sdw_pairs_free(&comparison->pairs);
	free(comparison->bpf_samples.items);
	free(comparison->signal_samples.items);
	*comparison = (struct sdw_comparison){0};
}
