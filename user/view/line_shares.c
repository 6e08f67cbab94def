// SPDX-License-Identifier: MIT
/* line_shares.c - see line_shares.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/map64.h"
#include "view/frame_text.h"
#include "view/line_shares.h"
#include "view/places.h"

struct adding {
	const struct sdw_profile *profile;
	struct sdw_line_shares *shares;
	struct sdw_places places;
	uint32_t *file_of;	  /* by function: its file, UINT32_MAX: not Python */
	struct sdw_map64 by_line; /* file and line -> 1 + the place in lines */
	struct sdw_map64 by_span; /* hash -> place in spans, probed upwards on collision */
	struct sdw_stack_frames frames;
};

/* Functions are sorted by kind and file: those of one file follow one another. */
static int find_files(struct adding *adding)
{
	struct sdw_line_shares *shares = adding->shares;
	const char *before = NULL;
	int err = 0;

	adding->file_of = calloc(adding->places.functions.count + 1, sizeof(*adding->file_of));
	if (!adding->file_of)
		return -ENOMEM;
	for (size_t i = 0; i < adding->places.functions.count && !err; i++) {
		const struct sdw_profile_code *code = &adding->places.functions.items[i];

		adding->file_of[i] = UINT32_MAX;
		if (code->kind != SDW_CODE_PYTHON)
			continue;
		if (!before || strcmp(before, code->file) != 0) {
			err = sdw_array_reserve(&shares->files, 1);
			if (!err)
				shares->files.items[shares->files.count++] =
					(struct sdw_file_shares){.path = code->file};
		}
		before = code->file;
		adding->file_of[i] = (uint32_t)shares->files.count - 1;
	}
	return err;
}

/* The line of a file, made if it is new. NULL: out of memory. */
static struct sdw_line_share *line_at(struct adding *adding, uint32_t file, uint32_t line)
{
	struct sdw_line_shares *shares = adding->shares;
	uint64_t key = ((uint64_t)file + 1) << 32 | line;
	const uint64_t *at = sdw_map64_find(&adding->by_line, key);

	if (at)
		return &shares->lines.items[*at - 1];
	if (sdw_array_reserve(&shares->lines, 1) ||
	    sdw_map64_set(&adding->by_line, key, shares->lines.count + 1))
		return NULL;
	shares->lines.items[shares->lines.count] =
		(struct sdw_line_share){.file = file, .line = line};
	return &shares->lines.items[shares->lines.count++];
}

static bool is_span(const struct sdw_span_share *span, uint32_t file,
		    const struct sdw_profile_frame *frame)
{
	return span->file == file && span->line == frame->line &&
	       span->end_line == frame->end_line && span->column == frame->column &&
	       span->end_column == frame->end_column;
}

/* The expression of a frame, made if it is new. NULL: out of memory. */
static struct sdw_span_share *span_at(struct adding *adding, uint32_t file,
				      const struct sdw_profile_frame *frame)
{
	struct sdw_line_shares *shares = adding->shares;
	uint64_t hash = sdw_mix64((uint64_t)file << 32 | frame->line);
	const uint64_t *at;

	hash = sdw_mix64(hash ^ ((uint64_t)frame->end_line << 32 | (uint32_t)frame->column << 16 |
				 frame->end_column));
	for (; (at = sdw_map64_find(&adding->by_span, hash)); hash = hash + 1 ? hash + 1 : 1)
		if (is_span(&shares->spans.items[*at], file, frame))
			return &shares->spans.items[*at];
	if (sdw_array_reserve(&shares->spans, 1) ||
	    sdw_map64_set(&adding->by_span, hash, shares->spans.count))
		return NULL;
	shares->spans.items[shares->spans.count] =
		(struct sdw_span_share){.file = file,
					.line = frame->line,
					.end_line = frame->end_line,
					.column = frame->column,
					.end_column = frame->end_column};
	return &shares->spans.items[shares->spans.count++];
}

static int add_span(struct adding *adding, uint32_t file, const struct sdw_profile_frame *frame,
		    uint64_t amount, size_t bucket, bool is_inner)
{
	struct sdw_span_share *span;

	if (!frame->column || !frame->line)
		return 0;
	span = span_at(adding, file, frame);
	if (!span)
		return -ENOMEM;
	span->self += is_inner ? amount : 0;
	span->total += span->last_seen != bucket + 1 ? amount : 0;
	span->last_seen = bucket + 1;
	return 0;
}

static int add_frame(struct adding *adding, uint32_t frame, uint64_t amount, size_t bucket,
		     bool *is_inner)
{
	const struct sdw_place *place =
		&adding->places.places.items[adding->places.of_frame[frame]];
	uint32_t number = adding->file_of[place->function];
	struct sdw_file_shares *file;
	struct sdw_line_share *line;

	if (number == UINT32_MAX)
		return 0;
	line = line_at(adding, number, place->line);
	if (!line || add_span(adding, number, &adding->profile->frames.items[frame], amount, bucket,
			      *is_inner))
		return -ENOMEM;
	file = &adding->shares->files.items[number];
	line->self += *is_inner ? amount : 0;
	file->self += *is_inner ? amount : 0;
	*is_inner = false;
	line->total += line->last_seen != bucket + 1 ? amount : 0;
	file->total += file->last_seen != bucket + 1 ? amount : 0;
	line->last_seen = file->last_seen = bucket + 1;
	return 0;
}

static int add_buckets(struct adding *adding)
{
	const struct sdw_profile *profile = adding->profile;
	bool weighted = sdw_profile_is_weighted(profile);
	int err = 0;

	for (size_t i = 0; i < profile->buckets.count && !err; i++) {
		const struct sdw_profile_bucket *bucket = &profile->buckets.items[i];
		uint64_t amount = weighted ? bucket->weight : bucket->samples;
		bool is_inner = true;

		adding->shares->all += amount;
		err = sdw_stack_frames_get(profile, bucket->stack, &adding->frames);
		for (size_t k = adding->frames.count; k-- && !err;)
			err = add_frame(adding, adding->frames.items[k], amount, i, &is_inner);
	}
	return err;
}

static int compare_lines(const void *left, const void *right)
{
	const struct sdw_line_share *a = left, *b = right;

	if (a->file != b->file)
		return a->file < b->file ? -1 : 1;
	return a->line < b->line ? -1 : a->line > b->line;
}

static int compare_spans(const void *left, const void *right)
{
	const struct sdw_span_share *a = left, *b = right;

	if (a->file != b->file)
		return a->file < b->file ? -1 : 1;
	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	if (a->column != b->column)
		return a->column < b->column ? -1 : 1;
	if (a->end_line != b->end_line)
		return a->end_line < b->end_line ? -1 : 1;
	return a->end_column < b->end_column ? -1 : a->end_column > b->end_column;
}

static void sort_spans(struct sdw_line_shares *shares)
{
	if (!shares->spans.count)
		return;
	qsort(shares->spans.items, shares->spans.count, sizeof(*shares->spans.items),
	      compare_spans);
	for (size_t i = 0; i < shares->spans.count; i++) {
		struct sdw_file_shares *file = &shares->files.items[shares->spans.items[i].file];

		if (!file->span_count++)
			file->first_span = i;
	}
}

static int compare_files(const void *left, const void *right)
{
	const struct sdw_file_shares *a = left, *b = right;

	if (a->self != b->self)
		return a->self > b->self ? -1 : 1;
	if (a->total != b->total)
		return a->total > b->total ? -1 : 1;
	return strcmp(a->path, b->path);
}

static void sort(struct sdw_line_shares *shares)
{
	if (!shares->lines.count)
		return;
	qsort(shares->lines.items, shares->lines.count, sizeof(*shares->lines.items),
	      compare_lines);
	for (size_t i = 0; i < shares->lines.count; i++) {
		struct sdw_file_shares *file = &shares->files.items[shares->lines.items[i].file];

		if (!file->count++)
			file->first = i;
	}
	sort_spans(shares);
	qsort(shares->files.items, shares->files.count, sizeof(*shares->files.items),
	      compare_files);
}

int sdw_line_shares_make(struct sdw_line_shares *shares, const struct sdw_profile *profile)
{
	struct adding adding = {.profile = profile, .shares = shares};
	int err = sdw_places_make(&adding.places, profile);

	*shares = (struct sdw_line_shares){0};
	if (!err)
		err = find_files(&adding);
	if (!err)
		err = add_buckets(&adding);
	if (!err)
		sort(shares);
	sdw_places_free(&adding.places);
	sdw_map64_free(&adding.by_line);
	sdw_map64_free(&adding.by_span);
	free(adding.file_of);
	free(adding.frames.items);
	return err;
}

void sdw_line_shares_free(struct sdw_line_shares *shares)
{
	free(shares->files.items);
	free(shares->lines.items);
	free(shares->spans.items);
	*shares = (struct sdw_line_shares){0};
}
