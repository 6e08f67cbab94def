// SPDX-License-Identifier: MIT
/*
 * top_model.c - see top_model.h.
 *
 * Samples of equal thread, stack and status are added up in a cell of the newest slot. An update
 * closes it: its cells are walked, frame by frame, into the counts. When a slot leaves the window
 * its cells are walked once more, to take them away from what is "now". So an update costs as much
 * as there were distinct stacks in that time, however long the recording is.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "events.h"
#include "ui/top_model.h"

#define SLOT_NS	   200000000u /* updates come no faster than this in a recording */
#define MAX_CELLS  (1u << 20) /* in all slots together: 64 bytes each */
#define MAX_OWNERS (1u << 16) /* threads, and processes */
#define MAX_EDGES  (1u << 20)

struct cell {
	uint32_t thread, stack;
	uint8_t status; /* enum sdw_status, or SDW_TOP_ROW_BEYOND */
	uint64_t samples, amount, weight, gil, gc, kernel;
};

struct sdw_top_slot {
	uint64_t begin_ns;
	struct sdw_map64 index; /* thread, stack, status -> place in cells */
	SDW_PROFILE_ARRAY(struct cell) cells;
	struct cell beyond; /* samples of all cells that are too many */
};

static struct sdw_top_model *model_of(struct sdw_sink *sink)
{
	return (struct sdw_top_model *)sink; /* its first member */
}

/* ---- the events ---- */

/* Hands a definition on to the profile. */
#define FORWARD(operation, type)                                                     \
	static int take_##operation(struct sdw_sink *sink, const struct type *event) \
	{                                                                            \
		struct sdw_sink *names = &model_of(sink)->profile.sink;              \
                                                                                     \
		return names->ops->operation(names, event);                          \
	}

FORWARD(code, sdw_code_event)
FORWARD(frame, sdw_frame_event)
FORWARD(stack, sdw_stack_event)

static int take_recording(struct sdw_sink *sink, const struct sdw_recording *recording)
{
	struct sdw_top_model *model = model_of(sink);
	struct sdw_sink *names = &model->profile.sink;

	model->weighted = strcmp(recording->unit, "ns") != 0;
	model->slots[model->newest_slot].begin_ns = recording->start_ns;
	return names->ops->recording(names, recording);
}

/* Ids are dense: after the first that is not kept, none is. */
static int take_process(struct sdw_sink *sink, const struct sdw_process_event *event)
{
	struct sdw_top_model *model = model_of(sink);
	struct sdw_process_event kept = *event;

	if (model->profile.processes.count > MAX_OWNERS)
		return 0;
	if (kept.parent >= model->profile.processes.count)
		kept.parent = 0;
	return model->profile.sink.ops->process(&model->profile.sink, &kept);
}

static int take_thread(struct sdw_sink *sink, const struct sdw_thread_event *event)
{
	struct sdw_top_model *model = model_of(sink);

	if (model->profile.threads.count > MAX_OWNERS ||
	    event->process >= model->profile.processes.count)
		model->owners_full = true;
	if (model->owners_full)
		return 0;
	return model->profile.sink.ops->thread(&model->profile.sink, event);
}

static struct cell *cell_of(struct sdw_top_model *model, const struct sdw_sample_event *event)
{
	struct sdw_top_slot *slot = &model->slots[model->newest_slot];
	uint32_t thread = event->thread < model->profile.threads.count ? event->thread : 0;
	/* a status is a nibble, a thread has 17 bits: no two cells have one key */
	uint64_t key = ((uint64_t)thread << 36 | (uint64_t)event->status << 32 | event->stack) + 1;
	const uint64_t *place = sdw_map64_find(&slot->index, key);
	struct cell *cell;

	if (place)
		return &slot->cells.items[*place];
	if (slot->cells.count >= model->cells_at_most)
		return &slot->beyond;
	if (sdw_array_reserve(&slot->cells, 1) ||
	    sdw_map64_set(&slot->index, key, slot->cells.count))
		return NULL;
	cell = &slot->cells.items[slot->cells.count++];
	*cell = (struct cell){.thread = thread, .stack = event->stack, .status = event->status};
	return cell;
}

static int take_sample(struct sdw_sink *sink, const struct sdw_sample_event *event)
{
	struct sdw_top_model *model = model_of(sink);
	uint64_t amount = model->weighted ? event->weight : 1;
	struct cell *cell;

	if (event->stack >= model->profile.stacks.count || event->status >= SDW_STATUS_COUNT)
		return -EINVAL;
	cell = cell_of(model, event);
	if (!cell)
		return -ENOMEM;
	cell->samples++;
	cell->amount += amount;
	cell->weight += event->weight;
	cell->gil += event->flags & SDW_SAMPLE_HOLDS_GIL ? amount : 0;
	cell->gc += event->flags & SDW_SAMPLE_GC ? amount : 0;
	cell->kernel += event->flags & SDW_SAMPLE_KERNEL_MODE ? amount : 0;
	return 0;
}

static int take_lost(struct sdw_sink *sink, const struct sdw_lost_event *event)
{
	(void)sink; /* the totals have them all */
	return event->reason < SDW_LOST_COUNT ? 0 : -EINVAL;
}

static int take_totals(struct sdw_sink *sink, const struct sdw_totals *totals)
{
	model_of(sink)->counts.totals = *totals;
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

static const struct sdw_sink_ops model_ops = {
	.recording = take_recording,
	.process = take_process,
	.thread = take_thread,
	.code = take_code,
	.frame = take_frame,
	.stack = take_stack,
	.sample = take_sample,
	.lost = take_lost,
	.totals = take_totals,
	.flush = take_flush,
	.close = take_close,
};

/* ---- from cells to counts ---- */

/* One cell to be added, or (for what is now only) taken away. Arithmetic is modulo 2^64. */
struct change {
	struct sdw_top_counts *counts;
	const struct cell *cell;
	enum sdw_top_span first, last; /* spans that it changes */
	uint64_t sign;		       /* 1 or -1 */
};

#define FOR_SPANS(change, span) \
	for (enum sdw_top_span span = (change)->first; (span) <= (change)->last; (span)++)

static uint8_t kind_of(const struct sdw_top_model *model, uint32_t frame)
{
	return sdw_frame_code(&model->profile, frame)->kind;
}

/* The lines' rows of the cell's stack that count, root first, into model->rows; never none. */
static int stack_rows(struct sdw_top_model *model, const struct cell *cell,
		      enum sdw_top_frames which)
{
	size_t python = 0;
	int err = sdw_array_reserve(&model->rows, model->frames.count + 1);

	if (err)
		return err;
	for (size_t i = 0; i < model->frames.count; i++)
		python += kind_of(model, model->frames.items[i]) == SDW_CODE_PYTHON;
	model->rows.count = 0;
	for (size_t i = 0; i < model->frames.count; i++) {
		uint32_t frame = model->frames.items[i];

		if (which == SDW_TOP_ALL || !python || kind_of(model, frame) == SDW_CODE_PYTHON)
			model->rows.items[model->rows.count++] = SDW_TOP_FIRST_ROW + frame;
	}
	if (!model->rows.count)
		model->rows.items[model->rows.count++] = cell->status;
	return 0;
}

static uint32_t function_row(const struct sdw_top_model *model, uint32_t row)
{
	if (row < SDW_TOP_FIRST_ROW)
		return row;
	return SDW_TOP_FIRST_ROW + model->profile.frames.items[row - SDW_TOP_FIRST_ROW].code;
}

static void add_to_row(const struct sdw_top_model *model, struct sdw_top_row *row,
		       const struct change *change, enum sdw_top_frames which, bool innermost)
{
	uint64_t amount = change->cell->amount * change->sign;
	bool seen = row->last_seen == model->stamp; /* a recursive function counts once */

	row->last_seen = model->stamp;
	FOR_SPANS(change, span)
	{
		row->of[span][which].total += seen ? 0 : amount;
		row->of[span][which].self += innermost ? amount : 0;
	}
}

static struct sdw_top_edge *edge_of(struct sdw_top_counts *counts, uint32_t caller, uint32_t callee,
				    enum sdw_top_frames which)
{
	uint64_t key = (uint64_t)callee << 33 | (uint64_t)caller << 1 | which;
	const uint64_t *place = sdw_map64_find(&counts->edge_index, sdw_mix64(key));
	struct sdw_top_edge *edge;

	if (place)
		return &counts->edges.items[*place];
	if (counts->edges.count >= MAX_EDGES && caller != SDW_TOP_ROW_BEYOND)
		return edge_of(counts, SDW_TOP_ROW_BEYOND, callee, which);
	if (sdw_array_reserve(&counts->edges, 1) ||
	    sdw_map64_set(&counts->edge_index, sdw_mix64(key), counts->edges.count))
		return NULL;
	edge = &counts->edges.items[counts->edges.count++];
	*edge = (struct sdw_top_edge){.caller = caller, .callee = callee, .frames = which};
	return edge;
}

static int add_edge(struct sdw_top_model *model, const struct change *change, uint32_t caller,
		    uint32_t callee, enum sdw_top_frames which)
{
	struct sdw_top_edge *edge = edge_of(change->counts, caller, callee, which);

	if (!edge)
		return -ENOMEM;
	if (edge->last_seen == model->stamp)
		return 0;
	edge->last_seen = model->stamp;
	FOR_SPANS(change, span)
	edge->amount[span] += change->cell->amount * change->sign;
	return 0;
}

static int add_stack(struct sdw_top_model *model, const struct change *change)
{
	struct sdw_top_counts *counts = change->counts;
	int err = 0;

	for (enum sdw_top_frames which = 0; which < SDW_TOP_FRAMES; which++) {
		uint32_t caller = SDW_TOP_ROOT;

		err = stack_rows(model, change->cell, which);
		if (err)
			break;
		model->stamp++;
		for (size_t i = 0; i < model->rows.count && !err; i++) {
			uint32_t row = model->rows.items[i], function = function_row(model, row);
			bool innermost = i + 1 == model->rows.count;

			add_to_row(model, &counts->lines.items[row], change, which, innermost);
			add_to_row(model, &counts->functions.items[function], change, which,
				   innermost);
			err = add_edge(model, change, caller, function, which);
			caller = row;
		}
	}
	return err;
}

static void add_sums(struct sdw_top_model *model, const struct change *change)
{
	const struct cell *cell = change->cell;
	uint8_t kind = SDW_CODE_MARKER;

	/* the innermost frame outside the kernel: kernel samples are known by their flag */
	for (size_t i = model->frames.count; i && kind == SDW_CODE_MARKER; i--) {
		kind = kind_of(model, model->frames.items[i - 1]);
		if (kind == SDW_CODE_KERNEL)
			kind = SDW_CODE_MARKER;
		else
			break;
	}
	FOR_SPANS(change, span)
	{
		struct sdw_top_sums *sums = &change->counts->sums[span];

		sums->samples += cell->samples * change->sign;
		sums->amount += cell->amount * change->sign;
		sums->weight += cell->weight * change->sign;
		sums->gil += cell->gil * change->sign;
		sums->gc += cell->gc * change->sign;
		sums->kinds[kind] += (cell->amount - cell->kernel) * change->sign;
		sums->kinds[SDW_CODE_KERNEL] += cell->kernel * change->sign;
	}
}

static void add_owners(struct sdw_top_model *model, const struct change *change)
{
	const struct cell *cell = change->cell;
	uint32_t process = sdw_thread_of(&model->profile, cell->thread)->process;
	struct sdw_top_owner *owners[] = {&change->counts->threads.items[cell->thread],
					  &change->counts->processes.items[process]};

	for (size_t i = 0; i < 2; i++) {
		FOR_SPANS(change, span)
		{
			owners[i]->amount[span] += cell->amount * change->sign;
			owners[i]->gil[span] += cell->gil * change->sign;
		}
	}
}

static int apply(struct sdw_top_model *model, const struct change *change)
{
	int err = sdw_stack_frames_get(&model->profile, change->cell->stack, &model->frames);

	if (err)
		return err;
	add_sums(model, change);
	add_owners(model, change);
	return add_stack(model, change);
}

static int apply_slot(struct sdw_top_model *model, const struct sdw_top_slot *slot,
		      struct change change)
{
	int err = 0;

	for (size_t i = 0; i < slot->cells.count && !err; i++) {
		change.cell = &slot->cells.items[i];
		err = apply(model, &change);
	}
	change.cell = &slot->beyond;
	return err || !slot->beyond.samples ? err : apply(model, &change);
}

/* Makes the array as long as its ids reach. */
#define GROW(array, wanted)                                        \
	({                                                         \
		size_t grow_by = (wanted) - (array)->count;        \
		int grow_err = sdw_array_reserve(array, grow_by);  \
                                                                   \
		if (!grow_err) {                                   \
			memset((array)->items + (array)->count, 0, \
			       grow_by * sizeof(*(array)->items)); \
			(array)->count += grow_by;                 \
		}                                                  \
		grow_err;                                          \
	})

static int grow_counts(const struct sdw_top_model *model, struct sdw_top_counts *counts)
{
	const struct sdw_profile *profile = &model->profile;
	int err = GROW(&counts->functions, SDW_TOP_FIRST_ROW + profile->codes.count);

	err = err ?: GROW(&counts->lines, SDW_TOP_FIRST_ROW + profile->frames.count);
	err = err ?: GROW(&counts->threads, profile->threads.count);
	return err ?: GROW(&counts->processes, profile->processes.count);
}

static void empty_slot(struct sdw_top_slot *slot, uint64_t begin_ns)
{
	sdw_map64_clear(&slot->index);
	slot->cells.count = 0;
	slot->beyond = (struct cell){.status = SDW_TOP_ROW_BEYOND};
	slot->begin_ns = begin_ns;
}

/* Takes the oldest slot out of the window. */
static int drop_slot(struct sdw_top_model *model)
{
	struct change change = {
		.counts = &model->counts,
		.first = SDW_TOP_NOW,
		.last = SDW_TOP_NOW,
		.sign = UINT64_MAX,
	};
	int err = apply_slot(model, &model->slots[model->first_slot], change);

	model->first_slot = (model->first_slot + 1) % model->slot_count;
	return err;
}

int sdw_top_model_update(struct sdw_top_model *model, uint64_t now_ns)
{
	struct change change = {
		.counts = &model->counts,
		.first = SDW_TOP_NOW,
		.last = SDW_TOP_START,
		.sign = 1,
	};
	struct sdw_top_slot *newest = &model->slots[model->newest_slot];
	uint64_t start_ns = model->profile.recording.start_ns;
	int err = grow_counts(model, &model->counts);

	err = err ?: apply_slot(model, newest, change);
	/* the oldest goes when all of it is too old, or when its place is needed */
	while (!err && model->first_slot != model->newest_slot) {
		size_t second = (model->first_slot + 1) % model->slot_count;
		size_t next = (model->newest_slot + 1) % model->slot_count;

		if (model->slots[second].begin_ns + model->window_ns > now_ns &&
		    next != model->first_slot)
			break;
		err = drop_slot(model);
	}
	if (err)
		return err;
	model->newest_slot = (model->newest_slot + 1) % model->slot_count;
	empty_slot(&model->slots[model->newest_slot], now_ns);
	model->counts.sums[SDW_TOP_NOW].duration_ns =
		now_ns - model->slots[model->first_slot].begin_ns;
	model->counts.sums[SDW_TOP_START].duration_ns = now_ns > start_ns ? now_ns - start_ns : 0;
	return 0;
}

/* As empty as in the beginning, with the memory that it has. */
static void empty_counts(struct sdw_top_counts *counts)
{
	counts->functions.count = counts->lines.count = 0;
	counts->threads.count = counts->processes.count = 0;
	counts->edges.count = 0;
	sdw_map64_clear(&counts->edge_index);
	memset(counts->sums, 0, sizeof(counts->sums));
}

int sdw_top_model_count_owner(struct sdw_top_model *model, bool is_thread, uint32_t id,
			      struct sdw_top_counts *counts)
{
	struct change change = {
		.counts = counts, .first = SDW_TOP_NOW, .last = SDW_TOP_NOW, .sign = 1};
	size_t at = model->first_slot;
	int err;

	empty_counts(counts);
	err = grow_counts(model, counts);
	/* the newest slot is not in the other counts yet either */
	for (; !err && at != model->newest_slot; at = (at + 1) % model->slot_count) {
		const struct sdw_top_slot *slot = &model->slots[at];

		for (size_t i = 0; i < slot->cells.count && !err; i++) {
			uint32_t thread = slot->cells.items[i].thread;

			change.cell = &slot->cells.items[i];
			if (id ==
			    (is_thread ? thread : sdw_thread_of(&model->profile, thread)->process))
				err = apply(model, &change);
		}
	}
	return err;
}

/* ---- life ---- */

int sdw_top_model_init(struct sdw_top_model *model, double window_s)
{
	int err;

	*model = (struct sdw_top_model){.sink.ops = &model_ops};
	model->window_ns = (uint64_t)(window_s * 1e9);
	model->slot_count = model->window_ns / SLOT_NS + 3;
	model->cells_at_most = MAX_CELLS / model->slot_count;
	model->slots = calloc(model->slot_count, sizeof(*model->slots));
	if (!model->slots)
		return -ENOMEM;
	empty_slot(&model->slots[0], 0);
	err = sdw_profile_init(&model->profile, false);
	err = err ?: grow_counts(model, &model->counts);
	if (err)
		sdw_top_model_free(model);
	return err;
}

void sdw_top_model_free(struct sdw_top_model *model)
{
	for (size_t i = 0; i < model->slot_count && model->slots; i++) {
		sdw_map64_free(&model->slots[i].index);
		free(model->slots[i].cells.items);
	}
	free(model->slots);
	sdw_profile_free(&model->profile);
	sdw_top_counts_free(&model->counts);
	free(model->frames.items);
	free(model->rows.items);
	*model = (struct sdw_top_model){0};
}

#define COPY(to, from)                                                                            \
	({                                                                                        \
		int copy_err;                                                                     \
                                                                                                  \
		(to)->count = 0;                                                                  \
		copy_err = sdw_array_reserve(to, (from)->count);                                  \
		if (!copy_err && (from)->count) {                                                 \
			memcpy((to)->items, (from)->items, (from)->count * sizeof(*(to)->items)); \
			(to)->count = (from)->count;                                              \
		}                                                                                 \
		copy_err;                                                                         \
	})

int sdw_top_counts_copy(struct sdw_top_counts *to, const struct sdw_top_counts *from)
{
	int err = COPY(&to->functions, &from->functions);

	err = err ?: COPY(&to->lines, &from->lines);
	err = err ?: COPY(&to->threads, &from->threads);
	err = err ?: COPY(&to->processes, &from->processes);
	err = err ?: COPY(&to->edges, &from->edges);
	memcpy(to->sums, from->sums, sizeof(to->sums));
	to->totals = from->totals;
	return err;
}

void sdw_top_counts_free(struct sdw_top_counts *counts)
{
	free(counts->functions.items);
	free(counts->lines.items);
	free(counts->threads.items);
	free(counts->processes.items);
	free(counts->edges.items);
	sdw_map64_free(&counts->edge_index);
	*counts = (struct sdw_top_counts){0};
}
