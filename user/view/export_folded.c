// SPDX-License-Identifier: MIT
/*
 * export_folded.c - "folded" stacks, the input of flamegraph.pl, speedscope and others.
 *
 * Samples are added up by stack, and by process or thread where those are shown, in the order in
 * which the stacks first came.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/map64.h"
#include "view/escape.h"
#include "view/export.h"
#include "view/frame_text.h"

struct folded_line {
	uint32_t owner; /* process or thread, 0 where neither is shown */
	uint32_t stack;
	uint8_t status; /* told where there is no stack */
	uint64_t amount;
};

struct folded {
	const struct sdw_profile *profile;
	const struct sdw_export_options *options;
	FILE *file;
	SDW_PROFILE_ARRAY(struct folded_line) lines;
	struct sdw_frame_text text;
	struct sdw_stack_frames frames;
};

static void render(FILE *file, const struct sdw_profile_code *code, uint32_t line)
{
	const char *name = sdw_text_or_unknown(code->name);
	size_t bytes;

	switch (code->kind) {
	case SDW_CODE_PYTHON:
		sdw_escape_write(file, name, SDW_ESCAPE_FOLDED);
		fputs(" (", file);
		sdw_escape_write(file, sdw_base_name(code->file), SDW_ESCAPE_FOLDED);
		if (line)
			fprintf(file, ":%" PRIu32, line);
		fputc(')', file);
		break;
	case SDW_CODE_NATIVE:
		sdw_escape_write(file, name, SDW_ESCAPE_FOLDED);
		fputs(" (", file);
		sdw_escape_write(file, sdw_base_name(code->file), SDW_ESCAPE_FOLDED);
		fputc(')', file);
		break;
	case SDW_CODE_KERNEL:
		sdw_escape_write(file, name, SDW_ESCAPE_FOLDED);
		fputs(" [k]", file);
		break;
	default:
		sdw_marker_text(code->name, &bytes);
		if (name[0] != '[')
			fputc('[', file);
		sdw_escape_write(file, name, SDW_ESCAPE_FOLDED);
		if (name[0] != '[')
			fputc(']', file);
	}
}

static uint32_t owner_of(const struct folded *folded, uint32_t thread)
{
	if (folded->options->threads)
		return thread;
	if (folded->options->processes || folded->options->containers)
		return sdw_thread_of(folded->profile, thread)->process;
	return 0;
}

/* A stack that is not there is told apart by its status: it takes the place of the stack's id. */
static uint64_t key_of(uint32_t owner, const struct sdw_profile_bucket *bucket)
{
	uint32_t low = bucket->stack ? bucket->stack : UINT32_MAX - bucket->status;

	return ((uint64_t)owner << 32 | low) + 1;
}

static int add_up(struct folded *folded)
{
	const struct sdw_profile *profile = folded->profile;
	bool weighted = sdw_profile_is_weighted(profile);
	struct sdw_map64 index = {0};
	int err = 0;

	for (size_t i = 0; i < profile->buckets.count && !err; i++) {
		const struct sdw_profile_bucket *bucket = &profile->buckets.items[i];
		uint32_t owner = owner_of(folded, bucket->thread);
		uint64_t amount = weighted ? bucket->weight : bucket->samples;
		uint64_t *at = sdw_map64_find(&index, key_of(owner, bucket));

		if (at) {
			folded->lines.items[*at].amount += amount;
			continue;
		}
		err = sdw_array_reserve(&folded->lines, 1);
		if (!err)
			err = sdw_map64_set(&index, key_of(owner, bucket), folded->lines.count);
		if (!err)
			folded->lines.items[folded->lines.count++] =
				(struct folded_line){owner, bucket->stack, bucket->status, amount};
	}
	sdw_map64_free(&index);
	return err;
}

static void write_owner(const struct folded *folded, uint32_t owner)
{
	const struct sdw_profile *profile = folded->profile;
	const struct sdw_profile_thread *thread = sdw_thread_of(profile, owner);
	const struct sdw_profile_process *process;
	char room[SDW_CONTAINER_TEXT_BYTES];

	process = sdw_process_of(profile, folded->options->threads ? thread->process : owner);
	if (folded->options->containers) {
		const char *container = sdw_container_text(process, room);

		fputs(*container ? "container " : "no container", folded->file);
		sdw_escape_write(folded->file, container, SDW_ESCAPE_FOLDED);
		fputc(';', folded->file);
	}
	if (folded->options->processes || folded->options->containers) {
		fprintf(folded->file, "process %" PRIu32 " ", process->pid);
		sdw_escape_write(folded->file, sdw_text_or_unknown(process->comm),
				 SDW_ESCAPE_FOLDED);
		fputc(';', folded->file);
	}
	if (folded->options->threads) {
		fprintf(folded->file, "thread %" PRIu32 " ", thread->tid);
		sdw_escape_write(folded->file, sdw_text_or_unknown(thread->name),
				 SDW_ESCAPE_FOLDED);
		fputc(';', folded->file);
	}
}

static int write_line(struct folded *folded, const struct folded_line *line)
{
	int err = sdw_stack_frames_get(folded->profile, line->stack, &folded->frames);

	if (err)
		return err;
	write_owner(folded, line->owner);
	if (!folded->frames.count)
		fprintf(folded->file, "[%s]", sdw_status_name(line->status));
	for (size_t i = 0; i < folded->frames.count; i++) {
		const char *text = sdw_frame_text_get(&folded->text, folded->frames.items[i]);

		if (!text)
			return -ENOMEM;
		if (i)
			fputc(';', folded->file);
		fputs(text, folded->file);
	}
	fprintf(folded->file, " %" PRIu64 "\n", line->amount);
	return 0;
}

int sdw_export_folded(const struct sdw_profile *profile, const struct sdw_export_options *options,
		      FILE *file)
{
	struct folded folded = {.profile = profile, .options = options, .file = file};
	int err = sdw_frame_text_init(&folded.text, profile, render);

	if (!err)
		err = add_up(&folded);
	for (size_t i = 0; i < folded.lines.count && !err && !ferror(file); i++) {
		if (folded.lines.items[i].amount)
			err = write_line(&folded, &folded.lines.items[i]);
	}
	sdw_frame_text_free(&folded.text);
	free(folded.frames.items);
	free(folded.lines.items);
	return err;
}
