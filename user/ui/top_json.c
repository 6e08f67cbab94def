// SPDX-License-Identifier: MIT
/*
 * top_json.c - a view as one JSON object. Its keys, all of them stable:
 *
 *   command, only (which samples were asked for, if not all), event, unit (of weights), native
 * (native frames were recorded), weighted (amounts are weights, not samples), complete (it ended in
 * order) now, since_start: seconds, samples, samples_per_s, cpus (processors in use; clocks only),
 * python, native, kernel, unknown (shares by where the processor was; without native frames user
 * and kernel), gil_held, gc (shares) lost {reason: overflows}, status {name: samples} by, sort,
 * rows: hottest first: kind ("python", "native", "kernel", "marker", "thread", "process"), name,
 * and file and line, or pid and tid; now and since_start: of functions and lines self and total, of
 * threads and processes share and gil_held: {amount, share}
 *
 * A share is from 0 to 1.
 */
#include <errno.h>
#include <string.h>

#include "ui/top_json.h"
#include "view/escape.h"
#include "view/report_header.h"

static const char *const span_names[] = {"now", "since_start"};

static bool by_owner(const struct sdw_top_view *view)
{
	return view->by == SDW_TOP_BY_THREAD || view->by == SDW_TOP_BY_PROCESS;
}

static void add(struct json_object *object, const char *key, struct json_object *value)
{
	json_object_object_add(object, key, value);
}

static void add_share(struct json_object *object, const char *key, uint64_t amount, uint64_t of)
{
	add(object, key, sdw_json_number(of ? (double)amount / (double)of : 0));
}

static struct json_object *sums_json(const struct sdw_top_model *model, enum sdw_top_span span)
{
	const struct sdw_top_sums *sums = &model->counts.sums[span];
	const struct sdw_recording *recording = &model->profile.recording;
	double seconds = (double)sums->duration_ns / 1e9;
	struct json_object *object = json_object_new_object();

	if (!object)
		return NULL;
	add(object, "seconds", sdw_json_number(seconds));
	add(object, "samples", json_object_new_uint64(sums->samples));
	add(object, "samples_per_s",
	    sdw_json_number(sums->duration_ns ? (double)sums->samples / seconds : 0));
	if (strcmp(recording->unit, "ns") == 0)
		add_share(object, "cpus", sums->weight, sums->duration_ns);
	if (recording->native) {
		add_share(object, "python", sums->kinds[SDW_CODE_PYTHON], sums->amount);
		add_share(object, "native", sums->kinds[SDW_CODE_NATIVE], sums->amount);
		add_share(object, "unknown", sums->kinds[SDW_CODE_MARKER], sums->amount);
	} else {
		add_share(object, "user", sums->amount - sums->kinds[SDW_CODE_KERNEL],
			  sums->amount);
	}
	add_share(object, "kernel", sums->kinds[SDW_CODE_KERNEL], sums->amount);
	add_share(object, "gil_held", sums->gil, sums->amount);
	add_share(object, "gc", sums->gc, sums->amount);
	return object;
}

static struct json_object *counters_json(const uint64_t *counters, size_t count,
					 const char *(*name)(unsigned int))
{
	struct json_object *object = json_object_new_object();

	for (unsigned int i = 0; i < count && object; i++)
		add(object, name(i), json_object_new_uint64(counters[i]));
	return object;
}

static struct json_object *figures_json(const struct sdw_top_list *list,
					const struct sdw_top_item *item,
					const struct sdw_top_view *view, enum sdw_top_span span)
{
	static const char *const names[2][2] = {{"self", "total"}, {"share", "gil_held"}};
	struct json_object *object = json_object_new_object();

	for (unsigned int i = 0; i < 2 && object; i++) {
		uint64_t amount = item->amounts[2 * span + i];
		struct json_object *figure = json_object_new_object();

		if (!figure)
			continue;
		add(figure, "amount", json_object_new_uint64(amount));
		add_share(figure, "share", amount, list->whole[span]);
		add(object, names[by_owner(view)][i], figure);
	}
	return object;
}

static struct json_object *row_json(const struct sdw_top_list *list,
				    const struct sdw_top_item *item,
				    const struct sdw_top_view *view)
{
	static const char *const kinds[] = {"python", "native", "kernel", "marker"};
	const char *owner = view->by == SDW_TOP_BY_THREAD ? "thread" : "process";
	struct json_object *object = json_object_new_object();

	if (!object)
		return NULL;
	add(object, "kind",
	    sdw_json_text(item->kind < SDW_CODE_KIND_COUNT ? kinds[item->kind] : owner));
	add(object, "name", sdw_json_text(item->name));
	if (by_owner(view)) {
		add(object, "pid", json_object_new_uint64(item->pid));
		if (view->by == SDW_TOP_BY_THREAD)
			add(object, "tid", json_object_new_uint64(item->tid));
	} else {
		add(object, "file", sdw_json_text(item->file));
		add(object, "line", json_object_new_uint64(item->line));
	}
	for (enum sdw_top_span span = 0; span < SDW_TOP_SPANS; span++)
		add(object, span_names[span], figures_json(list, item, view, span));
	return object;
}

static void fill(struct json_object *object, const struct sdw_top_model *model,
		 const struct sdw_top_view *view)
{
	static const char *const by[] = {"function", "line", "thread", "process"};
	static const char *const sorts[] = {"self-now", "total-now", "self-start", "total-start"};
	const struct sdw_recording *recording = &model->profile.recording;
	const struct sdw_totals *totals = &model->counts.totals;

	add(object, "command", sdw_json_text(recording->command));
	if (recording->filter && *recording->filter)
		add(object, "only", sdw_json_text(recording->filter));
	add(object, "event", sdw_json_text(recording->event));
	add(object, "unit", sdw_json_text(recording->unit));
	add(object, "native", json_object_new_boolean(recording->native));
	add(object, "weighted", json_object_new_boolean(model->weighted));
	add(object, "complete", json_object_new_boolean(totals->complete));
	for (enum sdw_top_span span = 0; span < SDW_TOP_SPANS; span++)
		add(object, span_names[span], sums_json(model, span));
	add(object, "lost", counters_json(totals->lost, SDW_LOST_COUNT, sdw_lost_name));
	add(object, "status", counters_json(totals->status, SDW_STATUS_COUNT, sdw_status_name));
	add(object, "by", sdw_json_text(by[view->by]));
	add(object, "sort", sdw_json_text(sorts[view->sort]));
}

int sdw_top_print_json(const struct sdw_top_model *model, const struct sdw_top_list *list,
		       const struct sdw_top_view *view, size_t limit, FILE *to)
{
	struct json_object *object = json_object_new_object(), *rows = json_object_new_array();
	const char *text = NULL;
	int err = 0;

	if (!object || !rows) {
		err = -ENOMEM;
		goto out;
	}
	fill(object, model, view);
	for (size_t i = 0; i < list->count && (!limit || i < limit); i++)
		json_object_array_add(rows, row_json(list, &list->items[i], view));
	add(object, "rows", json_object_get(rows));
	text = json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN |
							      JSON_C_TO_STRING_NOSLASHESCAPE);
	if (text)
		sdw_escape_json_line(to, text);
	else
		err = -ENOMEM;
out:
	json_object_put(rows);
	json_object_put(object);
	return err;
}
