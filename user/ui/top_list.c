// SPDX-License-Identifier: MIT
/* top_list.c - the rows of a view: found, filtered, sorted. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "ui/top_view.h"

struct maker {
	struct sdw_top_list *list;
	const struct sdw_top_model *model;
	const struct sdw_top_counts *counts;
	const struct sdw_top_view *view;
};

static const char *or_empty(const char *text)
{
	return text ? text : "";
}

/* Name and place of a row of functions or lines. */
static struct sdw_top_item describe(const struct sdw_top_model *model, uint32_t row, bool is_line)
{
	const struct sdw_profile *profile = &model->profile;
	struct sdw_top_item item = {.id = row + 1ull, .kind = SDW_CODE_MARKER, .file = ""};
	const struct sdw_profile_code *code;
	uint32_t id = row - SDW_TOP_FIRST_ROW;

	if (row < SDW_TOP_FIRST_ROW) {
		item.name = row == SDW_STATUS_COMPLETE	? "no frame"
			    : row == SDW_TOP_ROW_BEYOND ? "more than is kept"
							: sdw_status_name(row);
		return item;
	}
	code = is_line ? sdw_frame_code(profile, id) : &profile->codes.items[id];
	item.kind = code->kind < SDW_CODE_KIND_COUNT ? code->kind : SDW_CODE_MARKER;
	item.name = or_empty(code->name);
	item.file = or_empty(code->file);
	if (item.kind == SDW_CODE_KERNEL && !*item.file)
		item.file = "[kernel]";
	item.line = is_line ? sdw_frame_line(profile, id) : code->first_line;
	if (item.kind != SDW_CODE_PYTHON)
		item.line = 0;
	if (item.kind != SDW_CODE_MARKER)
		item.function = SDW_TOP_FIRST_ROW + (uint32_t)(code - profile->codes.items);
	return item;
}

struct sdw_top_item sdw_top_drilled(const struct sdw_top_model *model,
				    const struct sdw_top_view *view)
{
	return describe(model, view->drill[view->drilled - 1], false);
}

static bool holds(const char *text, const char *part)
{
	return text && strcasestr(text, part);
}

static bool is_wanted(const struct sdw_top_view *view, const struct sdw_top_item *item)
{
	char numbers[64];

	if (!*view->filter || holds(item->name, view->filter) || holds(item->file, view->filter))
		return true;
	snprintf(numbers, sizeof(numbers), ":%" PRIu32 " %" PRIu32 " %" PRIu32, item->line,
		 item->pid, item->tid);
	return item->kind == SDW_CODE_KIND_COUNT || item->line ? strstr(numbers, view->filter)
							       : false;
}

static int add_item(struct maker *maker, const struct sdw_top_item *item)
{
	struct sdw_top_list *list = maker->list;
	uint64_t any = 0;
	int err;

	for (size_t i = 0; i < SDW_TOP_SORT_COUNT; i++)
		any |= item->amounts[i];
	if (!any)
		return 0;
	list->unfiltered++;
	if (!is_wanted(maker->view, item))
		return 0;
	err = sdw_array_reserve(list, 1);
	if (!err)
		list->items[list->count++] = *item;
	return err;
}

static int add_rows(struct maker *maker)
{
	bool is_line = maker->view->by == SDW_TOP_BY_LINE;
	const struct sdw_top_row *rows =
		is_line ? maker->counts->lines.items : maker->counts->functions.items;
	size_t count = is_line ? maker->counts->lines.count : maker->counts->functions.count;
	enum sdw_top_frames which = maker->view->frames;
	int err = 0;

	for (size_t i = 0; i < count && !err; i++) {
		struct sdw_top_item item;

		if (!rows[i].of[maker->view->owner ? SDW_TOP_NOW : SDW_TOP_START][which].total)
			continue;
		item = describe(maker->model, (uint32_t)i, is_line);
		item.amounts[SDW_TOP_SORT_SELF_NOW] = rows[i].of[SDW_TOP_NOW][which].self;
		item.amounts[SDW_TOP_SORT_TOTAL_NOW] = rows[i].of[SDW_TOP_NOW][which].total;
		item.amounts[SDW_TOP_SORT_SELF_START] = rows[i].of[SDW_TOP_START][which].self;
		item.amounts[SDW_TOP_SORT_TOTAL_START] = rows[i].of[SDW_TOP_START][which].total;
		err = add_item(maker, &item);
	}
	return err;
}

static void set_amounts(struct sdw_top_item *item, const uint64_t *amount, const uint64_t *held)
{
	item->amounts[SDW_TOP_SORT_SELF_NOW] = amount[SDW_TOP_NOW];
	item->amounts[SDW_TOP_SORT_TOTAL_NOW] = held[SDW_TOP_NOW];
	item->amounts[SDW_TOP_SORT_SELF_START] = amount[SDW_TOP_START];
	item->amounts[SDW_TOP_SORT_TOTAL_START] = held[SDW_TOP_START];
}

static struct sdw_top_item describe_owner(const struct maker *maker, uint32_t id)
{
	const struct sdw_profile *profile = &maker->model->profile;
	bool by_thread = maker->view->by == SDW_TOP_BY_THREAD;
	const struct sdw_profile_thread *thread = sdw_thread_of(profile, id);
	const struct sdw_profile_process *process =
		sdw_process_of(profile, by_thread ? thread->process : id);
	struct sdw_top_item item = {.id = id + 1ull, .kind = SDW_CODE_KIND_COUNT, .owner = id};

	item.name = or_empty(by_thread ? thread->name : process->comm);
	item.file = by_thread ? or_empty(process->comm) : "";
	item.pid = process->pid;
	item.tid = by_thread ? thread->tid : 0;
	if (!id) {
		item.kind = SDW_CODE_MARKER;
		item.name = "more than is kept";
	}
	return item;
}

static int add_owners(struct maker *maker)
{
	bool by_thread = maker->view->by == SDW_TOP_BY_THREAD;
	const struct sdw_top_owner *owners =
		by_thread ? maker->counts->threads.items : maker->counts->processes.items;
	size_t count = by_thread ? maker->counts->threads.count : maker->counts->processes.count;
	int err = 0;

	for (size_t i = 0; i < count && !err; i++) {
		struct sdw_top_item item = describe_owner(maker, (uint32_t)i);

		set_amounts(&item, owners[i].amount, owners[i].gil);
		err = add_item(maker, &item);
	}
	return err;
}

static int add_callers(struct maker *maker)
{
	uint32_t callee = maker->view->drill[maker->view->drilled - 1];
	enum sdw_top_frames which = maker->view->frames;
	int err = 0;

	for (size_t i = 0; i < maker->counts->edges.count && !err; i++) {
		const struct sdw_top_edge *edge = &maker->counts->edges.items[i];
		struct sdw_top_item item;

		if (edge->callee != callee || edge->frames != which)
			continue;
		item = describe(maker->model, edge->caller, true);
		if (edge->caller == SDW_TOP_ROOT)
			item.name = "root of the stack";
		set_amounts(&item, edge->amount, edge->amount);
		err = add_item(maker, &item);
	}
	return err;
}

static int compare_items(const void *left, const void *right, void *context)
{
	/* the column asked for, then those that tell most beside it */
	static const enum sdw_top_sort orders[SDW_TOP_SORT_COUNT][SDW_TOP_SORT_COUNT] = {
		{SDW_TOP_SORT_SELF_NOW, SDW_TOP_SORT_TOTAL_NOW, SDW_TOP_SORT_SELF_START,
		 SDW_TOP_SORT_TOTAL_START},
		{SDW_TOP_SORT_TOTAL_NOW, SDW_TOP_SORT_SELF_NOW, SDW_TOP_SORT_TOTAL_START,
		 SDW_TOP_SORT_SELF_START},
		{SDW_TOP_SORT_SELF_START, SDW_TOP_SORT_TOTAL_START, SDW_TOP_SORT_SELF_NOW,
		 SDW_TOP_SORT_TOTAL_NOW},
		{SDW_TOP_SORT_TOTAL_START, SDW_TOP_SORT_SELF_START, SDW_TOP_SORT_TOTAL_NOW,
		 SDW_TOP_SORT_SELF_NOW},
	};
	const struct sdw_top_item *a = left, *b = right;
	const enum sdw_top_sort *order = orders[*(const enum sdw_top_sort *)context];
	int by_name;

	for (size_t i = 0; i < SDW_TOP_SORT_COUNT; i++) {
		uint64_t first = a->amounts[order[i]], second = b->amounts[order[i]];

		if (first != second)
			return first > second ? -1 : 1;
	}
	by_name = strcmp(a->name, b->name);
	return by_name ? by_name : a->id < b->id ? -1 : 1; /* never by chance */
}

static void find_whole(struct maker *maker)
{
	const struct sdw_top_view *view = maker->view;

	for (enum sdw_top_span span = 0; span < SDW_TOP_SPANS; span++) {
		maker->list->whole[span] = maker->counts->sums[span].amount;
		if (!view->drilled)
			continue;
		/* a copy that was made before has less */
		maker->list->whole[span] = 0;
		if (view->drill[view->drilled - 1] < maker->counts->functions.count)
			maker->list->whole[span] =
				maker->counts->functions.items[view->drill[view->drilled - 1]]
					.of[span][view->frames]
					.total;
	}
}

/* The selected row stays selected when its place changes. */
static void follow(const struct sdw_top_list *list, struct sdw_top_view *view)
{
	size_t place = view->selected;

	for (size_t i = 0; i < list->count && view->follow; i++) {
		if (list->items[i].id == view->follow) {
			place = i;
			break;
		}
	}
	if (!view->follow)
		place = 0;
	if (place >= list->count)
		place = list->count ? list->count - 1 : 0;
	view->selected = place;
}

int sdw_top_list_make(struct sdw_top_list *list, const struct sdw_top_model *model,
		      const struct sdw_top_counts *counts, struct sdw_top_view *view)
{
	struct maker maker = {.list = list, .model = model, .counts = counts, .view = view};
	int err;

	list->count = list->unfiltered = 0;
	find_whole(&maker);
	if (view->drilled)
		err = add_callers(&maker);
	else if (view->by == SDW_TOP_BY_FUNCTION || view->by == SDW_TOP_BY_LINE)
		err = add_rows(&maker);
	else
		err = add_owners(&maker);
	if (err)
		return err;
	if (list->count)
		qsort_r(list->items, list->count, sizeof(*list->items), compare_items, &view->sort);
	follow(list, view);
	return 0;
}

void sdw_top_list_free(struct sdw_top_list *list)
{
	free(list->items);
	*list = (struct sdw_top_list){0};
}
