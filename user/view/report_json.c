// SPDX-License-Identifier: MIT
/*
 * report_json.c - a report as one JSON object. Its keys, all of them stable:
 *
 *   recording  command, event, unit (of weights), period, frequency, duration_s, complete (it ended
 * in order), only (which part of it was asked for), samples, weight, status {name: samples}, lost
 * {reason: overflows} by, sort   as --by and --sort take them;  weighted: shares are of weights,
 * not of samples rows       hottest first: kind ("python", "native", "kernel", "marker", "thread",
 * "process", "container"), name, file, line (by function: the first; by line: the one running),
 * pid, tid (threads and processes only), container (its id) and
 * inner_pid (in its own pid namespace; of these too), id, pod (containers only; "": in none), self
 * and total: {samples, weight, share}; a share is from 0 to 1 with --callers or --callees instead
 * of rows: functions  kind, name, file, line, total, and callers or callees: kind, name, file,
 * line, samples, weight, share of the function's total; the marker "root of the stack" or "itself"
 * stands for samples without such a neighbour
 */
#include <errno.h>
#include <stdlib.h>

#include "view/escape.h"
#include "view/report.h"
#include "view/report_edges.h"
#include "view/report_header.h"

static const char *const by_names[] = {
	[SDW_REPORT_FUNCTION] = "function",   [SDW_REPORT_LINE] = "line",
	[SDW_REPORT_FILE] = "file",	      [SDW_REPORT_MODULE] = "module",
	[SDW_REPORT_THREAD] = "thread",	      [SDW_REPORT_PROCESS] = "process",
	[SDW_REPORT_CONTAINER] = "container",
};

static void add_text(struct json_object *object, const char *key, const char *text)
{
	json_object_object_add(object, key, sdw_json_text(text));
}

static void add_number(struct json_object *object, const char *key, uint64_t number)
{
	json_object_object_add(object, key, json_object_new_uint64(number));
}

static void add_amount(struct json_object *object, const struct sdw_report_rows *rows,
		       const struct sdw_report_amount *amount, const struct sdw_report_amount *of)
{
	add_number(object, "samples", amount->samples);
	add_number(object, "weight", amount->weight);
	json_object_object_add(object, "share",
			       sdw_json_number(sdw_report_share(rows, amount, of)));
}

static struct json_object *amount_json(const struct sdw_report_rows *rows,
				       const struct sdw_report_amount *amount)
{
	struct json_object *object = json_object_new_object();

	if (object)
		add_amount(object, rows, amount, &rows->all);
	return object;
}

static struct json_object *identity_json(const struct sdw_report_rows *rows,
					 const struct sdw_report_row *row)
{
	static const char *const kinds[] = {"python", "native", "kernel", "marker"};
	struct json_object *object = json_object_new_object();
	const char *kind = by_names[rows->options->by]; /* of a row that is no frame */

	if (!object)
		return NULL;
	add_text(object, "kind", row->kind < SDW_CODE_KIND_COUNT ? kinds[row->kind] : kind);
	add_text(object, "name", row->name);
	if (row->pod) {
		add_text(object, "id", row->file);
		add_text(object, "pod", row->pod);
		return object;
	}
	if (row->kind == SDW_CODE_KIND_COUNT) {
		add_number(object, "pid", row->pid);
		if (rows->options->by == SDW_REPORT_THREAD)
			add_number(object, "tid", row->tid);
		add_text(object, "container", row->process->container);
		add_number(object, "inner_pid", row->process->inner_pid);
		return object;
	}
	add_text(object, "file", row->file);
	add_number(object, "line", row->line);
	return object;
}

static int add_rows(struct json_object *list, const struct sdw_report_rows *rows)
{
	uint32_t limit = rows->options->limit;

	for (size_t i = 0; i < rows->order_count && (!limit || i < limit); i++) {
		const struct sdw_report_row *row = &rows->rows.items[rows->order[i]];
		struct json_object *object = identity_json(rows, row);

		if (!object)
			return -ENOMEM;
		json_object_object_add(object, "self", amount_json(rows, &row->self));
		json_object_object_add(object, "total", amount_json(rows, &row->total));
		json_object_array_add(list, object);
	}
	return 0;
}

static int add_neighbours(struct json_object *function, const struct sdw_report_rows *rows,
			  const struct sdw_report_row *row,
			  const struct sdw_report_neighbours *neighbours)
{
	bool callers = rows->options->edges == SDW_REPORT_CALLERS;
	struct json_object *list = json_object_new_array();

	if (!list)
		return -ENOMEM;
	json_object_object_add(function, callers ? "callers" : "callees", list);
	for (size_t i = 0; i < neighbours->list.count; i++) {
		const struct sdw_report_neighbour *at = &neighbours->list.items[i];
		struct json_object *object = identity_json(rows, &at->row);

		if (!object)
			return -ENOMEM;
		add_amount(object, rows, &at->amount, &row->total);
		json_object_array_add(list, object);
	}
	return 0;
}

static int add_functions(struct json_object *list, const struct sdw_report_rows *rows)
{
	struct sdw_report_neighbours neighbours = {0};
	bool one = rows->options->function && *rows->options->function;
	uint32_t limit = one ? 0 : rows->options->limit;
	int err = 0;

	for (size_t i = 0; i < rows->order_count && !err; i++) {
		const struct sdw_report_row *row = &rows->rows.items[rows->order[i]];
		struct json_object *object;

		if (limit && json_object_array_length(list) >= limit)
			break;
		if (!sdw_report_row_wanted(rows, row))
			continue;
		err = sdw_report_neighbours_find(rows, rows->order[i], &neighbours);
		object = err ? NULL : identity_json(rows, row);
		if (!object)
			break;
		json_object_array_add(list, object);
		json_object_object_add(object, "total", amount_json(rows, &row->total));
		err = add_neighbours(object, rows, row, &neighbours);
	}
	free(neighbours.list.items);
	if (!err && one && !json_object_array_length(list))
		return -ENOENT;
	return err;
}

int sdw_report_print_json(const struct sdw_profile *profile,
			  const struct sdw_report_options *options, FILE *file)
{
	bool edges = options->edges != SDW_REPORT_NO_EDGES;
	struct json_object *object = json_object_new_object(), *list = json_object_new_array();
	struct sdw_report_rows rows;
	const char *text;
	int err = sdw_report_rows_make(&rows, profile, options);

	if (!err && (!object || !list))
		err = -ENOMEM;
	if (!err)
		err = edges ? add_functions(list, &rows) : add_rows(list, &rows);
	if (err)
		goto out;
	json_object_object_add(object, "recording", sdw_report_header_json(profile));
	add_text(object, "by", by_names[options->by]);
	add_text(object, "sort", options->sort == SDW_REPORT_TOTAL ? "total" : "self");
	json_object_object_add(object, "weighted", json_object_new_boolean(rows.weighted));
	json_object_object_add(object, edges ? "functions" : "rows", json_object_get(list));
	text = json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN |
							      JSON_C_TO_STRING_NOSLASHESCAPE);
	if (text)
		sdw_escape_json_line(file, text);
	else
		err = -ENOMEM;
out:
	json_object_put(list);
	json_object_put(object);
	sdw_report_rows_free(&rows);
	return err;
}
