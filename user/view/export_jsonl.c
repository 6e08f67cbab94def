// SPDX-License-Identifier: MIT
/*
 * export_jsonl.c - one JSON object a line, for programs; see export.h for its keys.
 *
 * Written directly, not as json-c objects: a million samples of 40 frames would be 160 million
 * objects, while the text of a frame is made once and copied from then on.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "view/escape.h"
#include "view/export.h"
#include "view/frame_text.h"

struct jsonl {
	const struct sdw_profile *profile;
	FILE *file;
	struct sdw_frame_text text;
	struct sdw_stack_frames frames;
};

/* What one line tells; a bucket and a sample are both brought to it. */
struct jsonl_line {
	uint32_t thread, stack;
	uint8_t status;
	uint64_t samples, weight, time_ns;
};

static void write_string(FILE *file, const char *text)
{
	fputc('"', file);
	sdw_escape_write(file, text ? text : "", SDW_ESCAPE_JSON);
	fputc('"', file);
}

static void render(FILE *file, const struct sdw_profile_code *code, uint32_t line)
{
	static const char kinds[SDW_CODE_KIND_COUNT] = {'p', 'n', 'k', 'x'};
	uint8_t kind = code->kind < SDW_CODE_KIND_COUNT ? code->kind : SDW_CODE_MARKER;

	fprintf(file, "[\"%c\",", kinds[kind]);
	if (kind == SDW_CODE_MARKER) {
		size_t bytes;
		const char *name = sdw_marker_text(code->name, &bytes);
		char *bare = NULL;

		if (asprintf(&bare, "%.*s", (int)bytes, name) >= 0)
			write_string(file, bare);
		free(bare);
		fputs(",\"\",0]", file);
		return;
	}
	write_string(file, code->name);
	fputc(',', file);
	if (kind == SDW_CODE_KERNEL)
		fputs("\"\"", file);
	else /* of an ELF file its name is what tells, as in "libc.so.6"; of Python the whole path
	      */
		write_string(file, kind == SDW_CODE_NATIVE && code->file && *code->file
					   ? sdw_base_name(code->file)
					   : code->file);
	fprintf(file, ",%" PRIu32 "]", kind == SDW_CODE_PYTHON ? line : 0);
}

/* Seconds with nine places, without floating point: exact, and with a point in every locale. */
static void write_seconds(FILE *file, uint64_t since_ns)
{
	fprintf(file, "%" PRIu64 ".%09" PRIu64, since_ns / 1000000000, since_ns % 1000000000);
}

static void write_container(FILE *file, const struct sdw_profile_process *process,
			    const struct sdw_profile_thread *thread)
{
	char room[SDW_CONTAINER_TEXT_BYTES];

	if (process->inner_pid != process->pid || thread->inner_tid != thread->tid)
		fprintf(file, ",\"inner_pid\":%" PRIu32 ",\"inner_tid\":%" PRIu32,
			process->inner_pid, thread->inner_tid);
	if (!process->container || !*process->container)
		return;
	fputs(",\"container\":", file);
	write_string(file, sdw_container_text(process, room));
	fputs(",\"container_id\":", file);
	write_string(file, process->container);
	if (process->pod && *process->pod) {
		fputs(",\"pod\":", file);
		write_string(file, process->pod);
	}
}

static int write_line(struct jsonl *jsonl, const struct jsonl_line *line)
{
	const struct sdw_profile *profile = jsonl->profile;
	const struct sdw_profile_thread *thread = sdw_thread_of(profile, line->thread);
	const struct sdw_profile_process *process = sdw_process_of(profile, thread->process);
	uint64_t start_ns = profile->recording.start_ns;
	int err = sdw_stack_frames_get(profile, line->stack, &jsonl->frames);

	if (err)
		return err;
	fprintf(jsonl->file, "{\"pid\":%" PRIu32 ",\"tid\":%" PRIu32 ",\"comm\":", process->pid,
		thread->tid);
	write_string(jsonl->file, process->comm);
	write_container(jsonl->file, process, thread);
	fputs(",\"thread\":", jsonl->file);
	write_string(jsonl->file, thread->name);
	fprintf(jsonl->file, ",\"w\":%" PRIu64 ",\"weight\":%" PRIu64 ",\"t\":", line->samples,
		line->weight);
	write_seconds(jsonl->file, line->time_ns > start_ns ? line->time_ns - start_ns : 0);
	fputs(",\"frames\":[", jsonl->file);
	for (size_t i = 0; i < jsonl->frames.count; i++) {
		const char *text = sdw_frame_text_get(&jsonl->text, jsonl->frames.items[i]);

		if (!text)
			return -ENOMEM;
		if (i)
			fputc(',', jsonl->file);
		fputs(text, jsonl->file);
	}
	fprintf(jsonl->file, "],\"state\":\"%s\"}\n", sdw_status_name(line->status));
	return 0;
}

static int write_buckets(struct jsonl *jsonl)
{
	const struct sdw_profile *profile = jsonl->profile;
	int err = 0;

	for (size_t i = 0; i < profile->buckets.count && !err && !ferror(jsonl->file); i++) {
		const struct sdw_profile_bucket *bucket = &profile->buckets.items[i];
		struct jsonl_line line = {
			.thread = bucket->thread,
			.stack = bucket->stack,
			.status = bucket->status,
			.samples = bucket->samples,
			.weight = bucket->weight,
			.time_ns = bucket->first_ns,
		};

		err = line.samples ? write_line(jsonl, &line) : 0;
	}
	return err;
}

static int write_samples(struct jsonl *jsonl)
{
	const struct sdw_profile *profile = jsonl->profile;
	int err = 0;

	for (size_t i = 0; i < profile->samples.count && !err && !ferror(jsonl->file); i++) {
		const struct sdw_sample_event *sample = &profile->samples.items[i];
		struct jsonl_line line = {
			.thread = sample->thread,
			.stack = sample->stack,
			.status = sample->status,
			.samples = 1,
			.weight = sample->weight,
			.time_ns = sample->time_ns,
		};

		err = write_line(jsonl, &line);
	}
	return err;
}

int sdw_export_jsonl(const struct sdw_profile *profile, const struct sdw_export_options *options,
		     FILE *file)
{
	struct jsonl jsonl = {.profile = profile, .file = file};
	int err = sdw_frame_text_init(&jsonl.text, profile, render);

	if (!err)
		err = options->samples ? write_samples(&jsonl) : write_buckets(&jsonl);
	sdw_frame_text_free(&jsonl.text);
	free(jsonl.frames.items);
	return err;
}
