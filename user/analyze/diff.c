// SPDX-License-Identifier: MIT
/* diff.c - see diff.h: puts two recordings into one profile, and compares what each has of it. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/diff.h"
#include "base/array.h"
#include "view/report_header.h"

#define SECOND_NS 1e9

/* What the ids of one recording become in the common profile. */
struct shift {
	uint32_t processes, threads, codes, frames, stacks;
};

static uint32_t moved(uint32_t id, uint32_t by)
{
	return id ? id + by : 0; /* "none" stays what it is */
}

static int make_room(struct sdw_profile *both, const struct sdw_profile *from)
{
	if (from->processes.count + both->processes.count > UINT32_MAX ||
	    from->threads.count + both->threads.count > UINT32_MAX ||
	    from->codes.count + both->codes.count > UINT32_MAX ||
	    from->frames.count + both->frames.count > UINT32_MAX ||
	    from->stacks.count + both->stacks.count > UINT32_MAX)
		return -ENOMEM;
	if (sdw_array_reserve(&both->processes, from->processes.count) ||
	    sdw_array_reserve(&both->threads, from->threads.count) ||
	    sdw_array_reserve(&both->codes, from->codes.count) ||
	    sdw_array_reserve(&both->frames, from->frames.count) ||
	    sdw_array_reserve(&both->stacks, from->stacks.count) ||
	    sdw_array_reserve(&both->buckets, from->buckets.count))
		return -ENOMEM;
	return 0;
}

static void append_stacks(struct sdw_profile *both, const struct sdw_profile *from,
			  const struct shift *shift)
{
	for (size_t i = 1; i < from->codes.count; i++)
		both->codes.items[both->codes.count++] = from->codes.items[i];
	for (size_t i = 1; i < from->frames.count; i++) {
		struct sdw_profile_frame frame = from->frames.items[i];

		frame.code = moved(frame.code, shift->codes);
		both->frames.items[both->frames.count++] = frame;
	}
	for (size_t i = 1; i < from->stacks.count; i++) {
		struct sdw_profile_stack stack = from->stacks.items[i];

		stack.parent = moved(stack.parent, shift->stacks);
		stack.frame = moved(stack.frame, shift->frames);
		both->stacks.items[both->stacks.count++] = stack;
	}
}

/* Appends all of `from`; names are not copied. */
static int append(struct sdw_profile *both, const struct sdw_profile *from)
{
	/* entry 0 of each is there already */
	const struct shift shift = {
		(uint32_t)both->processes.count - 1, (uint32_t)both->threads.count - 1,
		(uint32_t)both->codes.count - 1,     (uint32_t)both->frames.count - 1,
		(uint32_t)both->stacks.count - 1,
	};
	int err = make_room(both, from);

	if (err)
		return err;
	for (size_t i = 1; i < from->processes.count; i++) {
		struct sdw_profile_process process = from->processes.items[i];

		process.parent = moved(process.parent, shift.processes);
		both->processes.items[both->processes.count++] = process;
	}
	for (size_t i = 1; i < from->threads.count; i++) {
		struct sdw_profile_thread thread = from->threads.items[i];

		thread.process = moved(thread.process, shift.processes);
		both->threads.items[both->threads.count++] = thread;
	}
	append_stacks(both, from, &shift);
	for (size_t i = 0; i < from->buckets.count; i++) {
		struct sdw_profile_bucket bucket = from->buckets.items[i];

		bucket.thread = moved(bucket.thread, shift.threads);
		bucket.stack = moved(bucket.stack, shift.stacks);
		both->buckets.items[both->buckets.count++] = bucket;
	}
	return 0;
}

/* `both` seen as if only buckets from `first` on, `count` of them, were in it. */
static int look(struct sdw_diff_side *side, const struct sdw_diff *diff,
		const struct sdw_profile *whole, size_t first)
{
	struct sdw_report_sums sums;

	sdw_report_sums_make(&sums, whole);
	side->seconds = (double)sums.duration_ns / SECOND_NS;
	side->view = diff->both;
	side->view.recording = whole->recording;
	side->view.totals = whole->totals;
	side->view.lost.items = whole->lost.items;
	side->view.lost.count = whole->lost.count;
	side->view.gc_samples = whole->gc_samples;
	side->view.buckets.items = diff->both.buckets.items + first;
	side->view.buckets.count = whole->buckets.count;
	return sdw_report_rows_make(&side->rows, &side->view, &diff->options->report);
}

/* A figure and the square of its standard error. */
struct measured {
	double value, variance;
};

static struct measured measure(const struct sdw_diff *diff, const struct sdw_diff_side *side,
			       const struct sdw_report_amount *amount)
{
	const struct sdw_report_amount *all = &side->rows.all;
	double count = (double)amount->samples, of = (double)all->samples;
	double weight, scale, p;

	if (diff->options->of == SDW_DIFF_SHARE) {
		p = (count + 1) / (of + 2);
		return (struct measured){sdw_report_share(&side->rows, amount, all),
					 p * (1 - p) / (of + 2)};
	}
	/* the number that hits is Poisson: its variance is itself */
	weight = all->samples ? (double)all->weight / of : 0;
	scale = diff->is_clock ? 1 / SECOND_NS : 1;
	if (diff->options->of == SDW_DIFF_RATE)
		scale = side->seconds > 0 ? scale / side->seconds : 0;
	return (struct measured){(double)amount->weight * scale,
				 (count + 1) * weight * weight * scale * scale};
}

static struct sdw_diff_figure compare(const struct sdw_diff *diff,
				      const struct sdw_report_amount *base,
				      const struct sdw_report_amount *new)
{
	struct measured a = measure(diff, &diff->base, base), b = measure(diff, &diff->new, new);

	return (struct sdw_diff_figure){
		.base_amount = *base,
		.new_amount = *new,
		.base = a.value,
		.new = b.value,
		.change = b.value - a.value,
		.error = sqrt(a.variance + b.variance),
	};
}

static void add_amount(struct sdw_report_amount *to, const struct sdw_report_amount *amount)
{
	to->samples += amount->samples;
	to->weight += amount->weight;
}

static int compare_owners(const void *left, const void *right)
{
	const struct sdw_diff_row *a = left, *b = right;
	int order = strcmp(a->row.name, b->row.name);

	return order ? order : strcmp(a->row.file, b->row.file);
}

/* Threads, processes and containers have other ids in each run: those of one name are one row. */
static void merge_owners(struct sdw_diff *diff)
{
	struct sdw_diff_row *rows = diff->rows.items;
	size_t kept = 0;

	qsort(rows, diff->rows.count, sizeof(*rows), compare_owners);
	for (size_t i = 0; i < diff->rows.count; i++) {
		if (!kept || compare_owners(&rows[kept - 1], &rows[i]) != 0) {
			rows[kept++] = rows[i];
			continue;
		}
		add_amount(&rows[kept - 1].self.base_amount, &rows[i].self.base_amount);
		add_amount(&rows[kept - 1].self.new_amount, &rows[i].self.new_amount);
		add_amount(&rows[kept - 1].total.base_amount, &rows[i].total.base_amount);
		add_amount(&rows[kept - 1].total.new_amount, &rows[i].total.new_amount);
	}
	diff->rows.count = kept;
}

bool sdw_diff_is_by_owner(const struct sdw_diff *diff)
{
	enum sdw_report_by by = diff->options->report.by;

	return by == SDW_REPORT_THREAD || by == SDW_REPORT_PROCESS || by == SDW_REPORT_CONTAINER;
}

/* Both sides grouped the same frames: their rows have the same numbers. */
static int collect_rows(struct sdw_diff *diff)
{
	const struct sdw_report_rows *base = &diff->base.rows, *new = &diff->new.rows;
	size_t count = base->rows.count < new->rows.count ? base->rows.count : new->rows.count;
	int err = sdw_array_reserve(&diff->rows, count);

	for (size_t i = 0; i < count && !err; i++) {
		const struct sdw_report_row *a = &base->rows.items[i], *b = &new->rows.items[i];

		if (!a->total.samples && !b->total.samples)
			continue;
		diff->rows.items[diff->rows.count++] = (struct sdw_diff_row){
			.row = *b,
			.self = {.base_amount = a->self, .new_amount = b->self},
			.total = {.base_amount = a->total, .new_amount = b->total},
		};
		if (diff->options->report.by == SDW_REPORT_CONTAINER)
			diff->rows.items[diff->rows.count - 1].row.file = "";
	}
	if (!err && diff->rows.count && sdw_diff_is_by_owner(diff))
		merge_owners(diff);
	return err;
}

static int compare_doubles(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return a == b ? 0 : a < b ? -1 : 1;
}

/* How likely a change of this size or more is when nothing changed. */
static double chance_of(const struct sdw_diff_figure *figure)
{
	if (figure->base_amount.samples + figure->new_amount.samples < SDW_DIFF_LEAST_SAMPLES ||
	    !(figure->error > 0))
		return 1;
	return erfc(fabs(figure->change) / figure->error / sqrt(2));
}

static struct sdw_diff_figure *figure_of(struct sdw_diff_row *row, enum sdw_report_sort which)
{
	return which == SDW_REPORT_TOTAL ? &row->total : &row->self;
}

/*
 * Of many rows some differ by chance at any level: the level is chosen so that of those that pass
 * only SDW_DIFF_FALSE_SHARE are expected to (Benjamini and Hochberg 1995).
 */
static int judge(struct sdw_diff *diff, enum sdw_report_sort which)
{
	double *chances = calloc(diff->rows.count + 1, sizeof(*chances)), level = -1;
	size_t tested = 0;

	if (!chances)
		return -ENOMEM;
	for (size_t i = 0; i < diff->rows.count; i++) {
		chances[tested] = chance_of(figure_of(&diff->rows.items[i], which));
		tested += chances[tested] < 1;
	}
	qsort(chances, tested, sizeof(*chances), compare_doubles);
	for (size_t i = 0; i < tested; i++)
		if (chances[i] <= SDW_DIFF_FALSE_SHARE * (double)(i + 1) / (double)tested)
			level = chances[i];
	free(chances);
	for (size_t i = 0; i < diff->rows.count; i++) {
		struct sdw_diff_figure *figure = figure_of(&diff->rows.items[i], which);

		figure->is_changed = chance_of(figure) <= level;
	}
	return 0;
}

const struct sdw_diff_figure *sdw_diff_sorted_figure(const struct sdw_diff *diff,
						     const struct sdw_diff_row *row)
{
	return diff->options->report.sort == SDW_REPORT_TOTAL ? &row->total : &row->self;
}

static int compare_changes(const void *left, const void *right, void *context)
{
	const struct sdw_diff_row *a = left, *b = right;
	const struct sdw_diff_figure *first = sdw_diff_sorted_figure(context, a);
	const struct sdw_diff_figure *second = sdw_diff_sorted_figure(context, b);
	double x = fabs(first->change), y = fabs(second->change);
	int order;

	if (first->is_changed != second->is_changed)
		return first->is_changed ? -1 : 1;
	if (x != y)
		return x > y ? -1 : 1;
	x = a->total.base + a->total.new;
	y = b->total.base + b->total.new;
	if (x != y)
		return x > y ? -1 : 1;
	order = strcmp(a->row.name, b->row.name);
	return order ? order : a->row.line == b->row.line ? 0 : a->row.line < b->row.line ? -1 : 1;
}

static int compare_rows(struct sdw_diff *diff)
{
	int err;

	for (size_t i = 0; i < diff->rows.count; i++) {
		struct sdw_diff_row *row = &diff->rows.items[i];

		row->self = compare(diff, &row->self.base_amount, &row->self.new_amount);
		row->total = compare(diff, &row->total.base_amount, &row->total.new_amount);
	}
	err = judge(diff, SDW_REPORT_SELF);
	if (!err)
		err = judge(diff, SDW_REPORT_TOTAL);
	if (err || !diff->rows.count)
		return err;
	qsort_r(diff->rows.items, diff->rows.count, sizeof(*diff->rows.items), compare_changes,
		diff);
	for (size_t i = 0; i < diff->rows.count; i++)
		diff->changed += sdw_diff_sorted_figure(diff, &diff->rows.items[i])->is_changed;
	return 0;
}

int sdw_diff_make(struct sdw_diff *diff, struct sdw_profile *base, const struct sdw_profile *new,
		  const struct sdw_diff_options *options)
{
	int err;

	*diff = (struct sdw_diff){.options = options};
	if (strcmp(base->recording.event, new->recording.event) != 0 ||
	    strcmp(base->recording.unit, new->recording.unit) != 0)
		return -EINVAL;
	diff->is_clock = strcmp(new->recording.unit, "ns") == 0;
	err = sdw_profile_init(&diff->both, false);
	if (!err)
		err = sdw_diff_match(base, new, &diff->matched);
	if (!err)
		err = append(&diff->both, base);
	diff->base_threads = (uint32_t)diff->both.threads.count;
	if (!err)
		err = append(&diff->both, new);
	diff->both.recording = new->recording;
	if (!err)
		err = look(&diff->base, diff, base, 0);
	if (!err)
		err = look(&diff->new, diff, new, base->buckets.count);
	if (!err)
		err = collect_rows(diff);
	return err ? err : compare_rows(diff);
}

void sdw_diff_free(struct sdw_diff *diff)
{
	if (diff->base.rows.profile)
		sdw_report_rows_free(&diff->base.rows);
	if (diff->new.rows.profile)
		sdw_report_rows_free(&diff->new.rows);
	free(diff->rows.items);
	sdw_profile_free(&diff->both);
	*diff = (struct sdw_diff){0};
}
