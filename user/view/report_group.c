// SPDX-License-Identifier: MIT
/*
 * report_group.c - which frames make one row.
 *
 * Codes with different ids can be one function (of two processes), so frames are sorted by what
 * they are, and equal neighbours share a row.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "view/report_rows.h"

/* Where modules are installed: the next component is a top-level package. */
static const char *after_library(const char *path)
{
	static const char *const folders[] = {"/site-packages/", "/dist-packages/"};
	const char *best = NULL;

	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++) {
		for (const char *at = path; (at = strstr(at, folders[i]));) {
			at += strlen(folders[i]);
			if (!best || at > best)
				best = at;
			at--; /* the slash may begin the next one */
		}
	}
	if (best)
		return best;
	/* the standard library: lib/python3.11/json/decoder.py */
	for (const char *at = path; (at = strstr(at, "/python"));) {
		at += strlen("/python");
		if (!isdigit((unsigned char)*at))
			continue;
		at += strspn(at, "0123456789.dt");
		if (*at == '/')
			return at + 1;
	}
	return NULL;
}

char *sdw_report_module_name(const char *path)
{
	const char *start = path && *path ? after_library(path) : NULL;
	size_t bytes;

	if (!start) /* a program of its own: its file is all that is known */
		return strdup(sdw_base_name(path));
	bytes = strcspn(start, "/");
	if (!start[bytes] && bytes > 3 && strcmp(start + bytes - 3, ".py") == 0)
		bytes -= 3;
	return bytes ? strndup(start, bytes) : strdup(sdw_base_name(path));
}

static int name_modules(struct sdw_report_rows *rows)
{
	const struct sdw_profile *profile = rows->profile;

	rows->modules = calloc(profile->codes.count + 1, sizeof(*rows->modules));
	if (!rows->modules)
		return -ENOMEM;
	for (size_t i = 1; i < profile->codes.count; i++) {
		if (profile->codes.items[i].kind != SDW_CODE_PYTHON)
			continue;
		rows->modules[i] = sdw_report_module_name(profile->codes.items[i].file);
		if (!rows->modules[i])
			return -ENOMEM;
	}
	return 0;
}

static const char *or_empty(const char *text)
{
	return text ? text : "";
}

/* What the row of a frame says. */
static struct sdw_report_row describe(const struct sdw_report_rows *rows, uint32_t frame)
{
	const struct sdw_profile *profile = rows->profile;
	const struct sdw_profile_code *code = sdw_frame_code(profile, frame);
	struct sdw_report_row row = {.kind = code->kind, .name = or_empty(code->name)};

	if (code->kind >= SDW_CODE_KIND_COUNT)
		row.kind = SDW_CODE_MARKER;
	if (row.kind == SDW_CODE_MARKER)
		return row;
	row.file = or_empty(code->file);
	if (row.kind == SDW_CODE_KERNEL && !*row.file)
		row.file = "[kernel]";
	switch (rows->options->by) {
	case SDW_REPORT_LINE:
		row.line = row.kind == SDW_CODE_PYTHON ? sdw_frame_line(profile, frame) : 0;
		break;
	case SDW_REPORT_FILE:
	case SDW_REPORT_MODULE:
		row.name = row.file;
		if (rows->options->by == SDW_REPORT_MODULE && row.kind == SDW_CODE_PYTHON)
			row.name = rows->modules[code - profile->codes.items];
		row.file = "";
		break;
	default:
		row.line = code->first_line;
	}
	return row;
}

/* Of a line also its function must be the same, which the row does not show. */
static uint32_t first_line_of(const struct sdw_report_rows *rows, uint32_t frame)
{
	if (rows->options->by != SDW_REPORT_LINE && rows->options->by != SDW_REPORT_FUNCTION)
		return 0;
	return sdw_frame_code(rows->profile, frame)->first_line;
}

static int compare_frames(const void *left, const void *right, void *context)
{
	const struct sdw_report_rows *rows = context;
	uint32_t first = *(const uint32_t *)left, second = *(const uint32_t *)right;
	struct sdw_report_row a = describe(rows, first), b = describe(rows, second);
	uint32_t a_first = first_line_of(rows, first), b_first = first_line_of(rows, second);
	int order;

	if (a.kind != b.kind)
		return a.kind < b.kind ? -1 : 1;
	if (a.line != b.line)
		return a.line < b.line ? -1 : 1;
	if (a_first != b_first)
		return a_first < b_first ? -1 : 1;
	order = strcmp(a.name, b.name);
	return order ? order : strcmp(or_empty(a.file), or_empty(b.file));
}

static int group_frames(struct sdw_report_rows *rows)
{
	size_t count = rows->profile->frames.count;
	uint32_t *sorted = calloc(count + 1, sizeof(*sorted));
	int err = 0;

	rows->row_of_frame = calloc(count + 1, sizeof(*rows->row_of_frame));
	if (!sorted || !rows->row_of_frame) {
		free(sorted);
		return -ENOMEM;
	}
	for (size_t i = 0; i < count; i++)
		sorted[i] = (uint32_t)i;
	qsort_r(sorted, count, sizeof(*sorted), compare_frames, rows);
	for (size_t i = 0; i < count && !err; i++) {
		if (i == 0 || compare_frames(&sorted[i - 1], &sorted[i], rows) != 0) {
			err = sdw_array_reserve(&rows->rows, 1);
			if (err)
				break;
			rows->rows.items[rows->rows.count++] = describe(rows, sorted[i]);
		}
		rows->row_of_frame[sorted[i]] = (uint32_t)rows->rows.count - 1;
	}
	free(sorted);
	return err;
}

static int rows_of_threads(struct sdw_report_rows *rows)
{
	const struct sdw_profile *profile = rows->profile;
	int err = sdw_array_reserve(&rows->rows, profile->threads.count + 1);

	for (size_t i = 0; i < profile->threads.count && !err; i++) {
		const struct sdw_profile_thread *thread = &profile->threads.items[i];
		const struct sdw_profile_process *process =
			sdw_process_of(profile, thread->process);

		rows->rows.items[rows->rows.count++] = (struct sdw_report_row){
			.kind = SDW_CODE_KIND_COUNT,
			.name = or_empty(thread->name),
			.file = or_empty(process->comm),
			.pid = process->pid,
			.tid = thread->tid,
			.process = process,
		};
	}
	return err;
}

static int rows_of_processes(struct sdw_report_rows *rows)
{
	const struct sdw_profile *profile = rows->profile;
	int err = sdw_array_reserve(&rows->rows, profile->processes.count + 1);

	for (size_t i = 0; i < profile->processes.count && !err; i++) {
		const struct sdw_profile_process *process = &profile->processes.items[i];

		rows->rows.items[rows->rows.count++] = (struct sdw_report_row){
			.kind = SDW_CODE_KIND_COUNT,
			.name = or_empty(process->comm),
			.file = "",
			.pid = process->pid,
			.process = process,
		};
	}
	return err;
}

/* The row of a process's container, made if it is the first of it. Returns 0 or -ENOMEM. */
static int row_of_container(struct sdw_report_rows *rows, const struct sdw_profile_process *process,
			    uint32_t *row)
{
	const char *id = or_empty(process->container), *name = or_empty(process->container_name);
	int err;

	/* few: a machine has hundreds of containers at most, and processes of one come together */
	for (size_t i = rows->rows.count; i--;) {
		*row = (uint32_t)i;
		if (strcmp(rows->rows.items[i].file, id) == 0)
			return 0;
	}
	err = sdw_array_reserve(&rows->rows, 1);
	if (err)
		return err;
	*row = (uint32_t)rows->rows.count;
	rows->rows.items[rows->rows.count++] = (struct sdw_report_row){
		.kind = SDW_CODE_KIND_COUNT,
		.name = !*id	? "(no container)"
			: *name ? name
				: id,
		.file = id,
		.pod = or_empty(process->pod),
	};
	return 0;
}

static int rows_of_containers(struct sdw_report_rows *rows)
{
	const struct sdw_profile *profile = rows->profile;
	int err = 0;

	rows->row_of_process = calloc(profile->processes.count + 1, sizeof(*rows->row_of_process));
	if (!rows->row_of_process)
		return -ENOMEM;
	for (size_t i = 0; i < profile->processes.count && !err; i++)
		err = row_of_container(rows, &profile->processes.items[i],
				       &rows->row_of_process[i]);
	return err;
}

int sdw_report_group(struct sdw_report_rows *rows)
{
	int err = 0;

	if (rows->options->by == SDW_REPORT_THREAD)
		return rows_of_threads(rows);
	if (rows->options->by == SDW_REPORT_PROCESS)
		return rows_of_processes(rows);
	if (rows->options->by == SDW_REPORT_CONTAINER)
		return rows_of_containers(rows);
	if (rows->options->by == SDW_REPORT_MODULE)
		err = name_modules(rows);
	return err ? err : group_frames(rows);
}
