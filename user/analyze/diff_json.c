// SPDX-License-Identifier: MIT
/*
 * diff_json.c - a difference as one object:
 *
 * base, new   what each recording was (as "recording" of a report)
 * by, sort    as asked for; of: "share", "rate" or "amount"
 * unit        of figures: "share" (0 to 1), "s/s", "s", "events/s" or "events"
 * false_share of the rows that are marked as changed at most this part did not, on average
 * changed     rows that are marked so, by `sort`
 * moved       functions that were found in another file of the same name
 * rows        changed ones first, then by size of change: kind, name, file, line (of a thread or
 *             process or container: name, process), self and total:
 *             {base, new: {samples, weight, value}, change, error (standard error of change),
 *              low, high (95 % confidence of change), changed}
 */
#include <errno.h>
#include <json-c/json.h>

#include "analyze/diff.h"
#include "view/escape.h"
#include "view/report_header.h"

static const char *const by_names[] = {
	[SDW_REPORT_FUNCTION] = "function",   [SDW_REPORT_LINE] = "line",
	[SDW_REPORT_FILE] = "file",	      [SDW_REPORT_MODULE] = "module",
	[SDW_REPORT_THREAD] = "thread",	      [SDW_REPORT_PROCESS] = "process",
	[SDW_REPORT_CONTAINER] = "container",
};
static const char *const of_names[] = {
	[SDW_DIFF_SHARE] = "share", [SDW_DIFF_RATE] = "rate", [SDW_DIFF_AMOUNT] = "amount"};

static const char *unit_of(const struct sdw_diff *diff)
{
	if (diff->options->of == SDW_DIFF_SHARE)
		return "share";
	if (diff->options->of == SDW_DIFF_RATE)
		return diff->is_clock ? "s/s" : "events/s";
	return diff->is_clock ? "s" : "events";
}

static void add(struct json_object *object, const char *key, struct json_object *value)
{
	json_object_object_add(object, key, value);
}

static struct json_object *amount_json(const struct sdw_report_amount *amount, double value)
{
	struct json_object *object = json_object_new_object();

	if (object) {
		add(object, "samples", json_object_new_uint64(amount->samples));
		add(object, "weight", json_object_new_uint64(amount->weight));
		add(object, "value", sdw_json_number(value));
	}
	return object;
}

static struct json_object *figure_json(const struct sdw_diff_figure *figure)
{
	struct json_object *object = json_object_new_object();
	double reach = figure->error * SDW_DIFF_CONFIDENCE;

	if (!object)
		return NULL;
	add(object, "base", amount_json(&figure->base_amount, figure->base));
	add(object, "new", amount_json(&figure->new_amount, figure->new));
	add(object, "change", sdw_json_number(figure->change));
	add(object, "error", sdw_json_number(figure->error));
	add(object, "low", sdw_json_number(figure->change - reach));
	add(object, "high", sdw_json_number(figure->change + reach));
	add(object, "changed", json_object_new_boolean(figure->is_changed));
	return object;
}

static struct json_object *row_json(const struct sdw_diff *diff, const struct sdw_diff_row *row)
{
	static const char *const kinds[] = {"python", "native", "kernel", "marker"};
	bool is_thread = diff->options->report.by == SDW_REPORT_THREAD;
	struct json_object *object = json_object_new_object();
	bool is_owner = row->row.kind >= SDW_CODE_KIND_COUNT;

	if (!object)
		return NULL;
	add(object, "kind",
	    json_object_new_string(is_owner ? by_names[diff->options->report.by]
					    : kinds[row->row.kind]));
	add(object, "name", sdw_json_text(row->row.name));
	if (is_owner && is_thread)
		add(object, "process", sdw_json_text(row->row.file));
	if (!is_owner) {
		add(object, "file", sdw_json_text(row->row.file));
		add(object, "line", json_object_new_uint64(row->row.line));
	}
	add(object, "self", figure_json(&row->self));
	add(object, "total", figure_json(&row->total));
	return object;
}

int sdw_diff_print_json(const struct sdw_diff *diff, FILE *file)
{
	const struct sdw_report_options *report = &diff->options->report;
	struct json_object *object = json_object_new_object(), *rows = json_object_new_array();
	const char *text = NULL;

	if (!object || !rows) {
		json_object_put(rows);
		json_object_put(object);
		return -ENOMEM;
	}
	add(object, "base", sdw_report_header_json(&diff->base.view));
	add(object, "new", sdw_report_header_json(&diff->new.view));
	add(object, "by", json_object_new_string(by_names[report->by]));
	add(object, "sort",
	    json_object_new_string(report->sort == SDW_REPORT_TOTAL ? "total" : "self"));
	add(object, "of", json_object_new_string(of_names[diff->options->of]));
	add(object, "unit", json_object_new_string(unit_of(diff)));
	add(object, "false_share", sdw_json_number(SDW_DIFF_FALSE_SHARE));
	add(object, "changed", json_object_new_uint64(diff->changed));
	add(object, "moved", json_object_new_uint64(diff->matched.moved));
	add(object, "rows", rows);
	for (size_t i = 0; i < diff->rows.count && (!report->limit || i < report->limit); i++)
		json_object_array_add(rows, row_json(diff, &diff->rows.items[i]));
	text = json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN |
							      JSON_C_TO_STRING_NOSLASHESCAPE);
	if (text)
		sdw_escape_json_line(file, text);
	json_object_put(object);
	return text ? 0 : -ENOMEM;
}
