// SPDX-License-Identifier: MIT
/* report_rows.c - adds the samples up; see report_rows.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/map64.h"
#include "view/report_rows.h"

/* One pass over the buckets. */
struct pass {
	struct sdw_report_rows *rows;
	struct sdw_map64 edge_index; /* (caller, callee) to its place in rows->edges */
	struct sdw_stack_frames frames;
	uint32_t first_status_row; /* rows for samples of which no frame counts, one a status */
	size_t bucket;		   /* 1 + number of the bucket */
};

static void add(struct sdw_report_amount *amount, const struct sdw_profile_bucket *bucket)
{
	amount->samples += bucket->samples;
	amount->weight += bucket->weight;
}

uint64_t sdw_report_value(const struct sdw_report_rows *rows,
			  const struct sdw_report_amount *amount)
{
	return rows->weighted ? amount->weight : amount->samples;
}

double sdw_report_share(const struct sdw_report_rows *rows, const struct sdw_report_amount *amount,
			const struct sdw_report_amount *of)
{
	uint64_t whole = sdw_report_value(rows, of);

	return whole ? (double)sdw_report_value(rows, amount) / (double)whole : 0;
}

static void add_total(struct pass *pass, uint32_t row, const struct sdw_profile_bucket *bucket)
{
	struct sdw_report_row *at = &pass->rows->rows.items[row];

	if (at->last_seen == pass->bucket)
		return; /* a recursive function counts once */
	at->last_seen = pass->bucket;
	add(&at->total, bucket);
}

static int add_edge(struct pass *pass, uint32_t caller, uint32_t callee,
		    const struct sdw_profile_bucket *bucket)
{
	/* SDW_REPORT_NO_ROW + 1 is 0; a key of 0 would take an edge from nothing to nothing */
	uint64_t key = (uint64_t)(caller + 1) << 32 | (uint32_t)(callee + 1);
	uint64_t *place = sdw_map64_find(&pass->edge_index, key);
	struct sdw_report_edge *edge;
	int err;

	if (!place) {
		err = sdw_array_reserve(&pass->rows->edges, 1);
		if (!err)
			err = sdw_map64_set(&pass->edge_index, key, pass->rows->edges.count);
		if (err)
			return err;
		edge = &pass->rows->edges.items[pass->rows->edges.count++];
		*edge = (struct sdw_report_edge){.caller = caller, .callee = callee};
	} else {
		edge = &pass->rows->edges.items[*place];
	}
	if (edge->last_seen != pass->bucket) {
		edge->last_seen = pass->bucket;
		add(&edge->amount, bucket);
	}
	return 0;
}

static bool is_python(const struct pass *pass, size_t i)
{
	return pass->rows->rows.items[pass->frames.items[i]].kind == SDW_CODE_PYTHON;
}

/* Turns frames into row numbers; where only Python counts, others go, unless there are no Python
 * ones. */
static void frames_to_rows(struct pass *pass)
{
	const struct sdw_report_rows *rows = pass->rows;
	size_t kept = 0, python = 0;

	for (size_t i = 0; i < pass->frames.count; i++) {
		uint32_t frame = pass->frames.items[i];

		if (frame >= rows->profile->frames.count)
			frame = 0;
		pass->frames.items[i] = rows->row_of_frame[frame];
		python += is_python(pass, i);
	}
	if (!rows->options->python_only || !python)
		return;
	for (size_t i = 0; i < pass->frames.count; i++) {
		if (is_python(pass, i))
			pass->frames.items[kept++] = pass->frames.items[i];
	}
	pass->frames.count = kept;
}

static int add_stack(struct pass *pass, const struct sdw_profile_bucket *bucket)
{
	bool edges = pass->rows->options->edges != SDW_REPORT_NO_EDGES;
	uint32_t caller = SDW_REPORT_NO_ROW;
	int err = sdw_stack_frames_get(pass->rows->profile, bucket->stack, &pass->frames);

	if (err)
		return err;
	frames_to_rows(pass);
	if (!pass->frames.count) {
		uint8_t status = bucket->status < SDW_STATUS_COUNT ? bucket->status : 0;

		err = sdw_array_reserve(&pass->frames, 1);
		if (err)
			return err;
		pass->frames.items[pass->frames.count++] = pass->first_status_row + status;
	}
	for (size_t i = 0; i < pass->frames.count && !err; i++) {
		add_total(pass, pass->frames.items[i], bucket);
		if (edges)
			err = add_edge(pass, caller, pass->frames.items[i], bucket);
		caller = pass->frames.items[i];
	}
	add(&pass->rows->rows.items[caller].self, bucket);
	if (edges && !err)
		err = add_edge(pass, caller, SDW_REPORT_NO_ROW, bucket);
	return err;
}

static uint32_t process_of(const struct sdw_report_rows *rows, uint32_t thread)
{
	uint32_t process = sdw_thread_of(rows->profile, thread)->process;

	return process < rows->profile->processes.count ? process : 0;
}

static int add_owner(struct pass *pass, const struct sdw_profile_bucket *bucket)
{
	struct sdw_report_rows *rows = pass->rows;
	uint32_t owner = bucket->thread;

	if (rows->options->by == SDW_REPORT_PROCESS)
		owner = sdw_thread_of(rows->profile, owner)->process;
	else if (rows->options->by == SDW_REPORT_CONTAINER)
		owner = rows->row_of_process[process_of(rows, owner)];
	if (owner >= rows->rows.count)
		owner = 0;
	if (owner < rows->rows.count) {
		add(&rows->rows.items[owner].self, bucket);
		add(&rows->rows.items[owner].total, bucket);
	}
	return 0;
}

/* Rows "[no_python]" and so on, for samples without any frame that counts. */
static int make_status_rows(struct pass *pass)
{
	struct sdw_report_rows *rows = pass->rows;
	int err = sdw_array_reserve(&rows->rows, SDW_STATUS_COUNT);

	if (err)
		return err;
	pass->first_status_row = (uint32_t)rows->rows.count;
	for (unsigned int i = 0; i < SDW_STATUS_COUNT; i++)
		rows->rows.items[rows->rows.count++] = (struct sdw_report_row){
			.kind = SDW_CODE_MARKER,
			.name = i == SDW_STATUS_COMPLETE ? "no frame" : sdw_status_name(i),
			.file = "",
		};
	return 0;
}

static int add_buckets(struct sdw_report_rows *rows)
{
	bool by_owner = rows->options->by >= SDW_REPORT_THREAD;
	struct pass pass = {.rows = rows};
	int err = by_owner ? 0 : make_status_rows(&pass);

	for (size_t i = 0; i < rows->profile->buckets.count && !err; i++) {
		const struct sdw_profile_bucket *bucket = &rows->profile->buckets.items[i];

		pass.bucket = i + 1;
		add(&rows->all, bucket);
		err = by_owner ? add_owner(&pass, bucket) : add_stack(&pass, bucket);
	}
	sdw_map64_free(&pass.edge_index);
	free(pass.frames.items);
	return err;
}

static int compare_values(uint64_t left, uint64_t right)
{
	return left == right ? 0 : left > right ? -1 : 1;
}

/* Hottest first; where figures agree, by name, so that the order never depends on chance. */
static int compare_rows(const void *left, const void *right, void *context)
{
	const struct sdw_report_rows *rows = context;
	const struct sdw_report_row *a = &rows->rows.items[*(const uint32_t *)left];
	const struct sdw_report_row *b = &rows->rows.items[*(const uint32_t *)right];
	int self =
		compare_values(sdw_report_value(rows, &a->self), sdw_report_value(rows, &b->self));
	int total = compare_values(sdw_report_value(rows, &a->total),
				   sdw_report_value(rows, &b->total));
	bool by_total = rows->options->sort == SDW_REPORT_TOTAL;

	if (self || total)
		return by_total ? (total ? total : self) : (self ? self : total);
	if (strcmp(a->name, b->name) != 0)
		return strcmp(a->name, b->name);
	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	return *(const uint32_t *)left < *(const uint32_t *)right ? -1 : 1;
}

static int sort_rows(struct sdw_report_rows *rows)
{
	rows->order = calloc(rows->rows.count + 1, sizeof(*rows->order));
	if (!rows->order)
		return -ENOMEM;
	for (size_t i = 0; i < rows->rows.count; i++) {
		if (rows->rows.items[i].total.samples)
			rows->order[rows->order_count++] = (uint32_t)i;
	}
	qsort_r(rows->order, rows->order_count, sizeof(*rows->order), compare_rows, rows);
	return 0;
}

int sdw_report_rows_make(struct sdw_report_rows *rows, const struct sdw_profile *profile,
			 const struct sdw_report_options *options)
{
	int err;

	*rows = (struct sdw_report_rows){.profile = profile, .options = options};
	rows->weighted = sdw_profile_is_weighted(profile);
	err = sdw_report_group(rows);
	if (!err)
		err = add_buckets(rows);
	return err ? err : sort_rows(rows);
}

void sdw_report_rows_free(struct sdw_report_rows *rows)
{
	if (rows->modules) {
		for (size_t i = 0; i <= rows->profile->codes.count; i++)
			free(rows->modules[i]);
	}
	free(rows->modules);
	free(rows->row_of_frame);
	free(rows->row_of_process);
	free(rows->order);
	free(rows->edges.items);
	free(rows->rows.items);
	*rows = (struct sdw_report_rows){0};
}
