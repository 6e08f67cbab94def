// SPDX-License-Identifier: MIT
/* places.c - see places.h. Sorted by what they are, so that the numbers are the same each time. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "view/frame_text.h"
#include "view/places.h"

#define SDW_STATUS_CODE(name_, text, meaning) {.kind = SDW_CODE_MARKER, .name = (text), .file = ""},

static const struct sdw_profile_code status_codes[] = {SDW_STATUS_LIST(SDW_STATUS_CODE)};

static int compare_text(const char *a, const char *b)
{
	return a == b ? 0 : strcmp(a ? a : "", b ? b : "");
}

static int compare_codes(const struct sdw_profile_code *a, const struct sdw_profile_code *b)
{
	int order = (int)a->kind - (int)b->kind;

	if (!order)
		order = compare_text(a->file, b->file);
	if (!order)
		order = compare_text(a->name, b->name);
	if (!order && a->first_line != b->first_line)
		order = a->first_line < b->first_line ? -1 : 1;
	return order;
}

/* The lines of other kinds than Python mean nothing: they have none. */
static uint32_t line_of(const struct sdw_profile *profile, uint32_t frame)
{
	bool is_python = sdw_frame_code(profile, frame)->kind == SDW_CODE_PYTHON;

	return is_python ? sdw_frame_line(profile, frame) : 0;
}

static int compare_frames(const void *left, const void *right, void *context)
{
	const struct sdw_profile *profile = context;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	uint32_t line_a = line_of(profile, a), line_b = line_of(profile, b);
	int order = compare_codes(sdw_frame_code(profile, a), sdw_frame_code(profile, b));

	if (order)
		return order;
	return line_a == line_b ? 0 : line_a < line_b ? -1 : 1;
}

bool *sdw_stacks_used(const struct sdw_profile *profile)
{
	bool *used = calloc(profile->stacks.count + 1, sizeof(*used));

	if (!used)
		return NULL;
	for (size_t i = 0; i < profile->buckets.count; i++) {
		if (profile->buckets.items[i].stack < profile->stacks.count)
			used[profile->buckets.items[i].stack] = true;
	}
	/* a parent's id is less than its child's: see profile.c */
	for (size_t i = profile->stacks.count; i-- > 1;) {
		if (used[i])
			used[profile->stacks.items[i].parent] = true;
	}
	return used;
}

/* Marks the frames of the stacks that samples have: used[frame id]. NULL: out of memory. */
static bool *find_used(const struct sdw_profile *profile)
{
	bool *stacks = sdw_stacks_used(profile);
	bool *used = calloc(profile->frames.count + 1, sizeof(*used));

	if (!stacks || !used) {
		free(used);
		used = NULL;
		goto out;
	}
	for (size_t i = 1; i < profile->stacks.count; i++)
		used[profile->stacks.items[i].frame] |= stacks[i];
out:
	free(stacks);
	return used;
}

static int add_place(struct sdw_places *places, const struct sdw_profile_code *code, uint32_t line,
		     bool is_new_function)
{
	int err = sdw_array_reserve(&places->functions, 1);

	if (!err)
		err = sdw_array_reserve(&places->places, 1);
	if (err)
		return err;
	if (is_new_function)
		places->functions.items[places->functions.count++] = *code;
	places->places.items[places->places.count++] =
		(struct sdw_place){(uint32_t)places->functions.count - 1, line};
	return 0;
}

static int number_frames(struct sdw_places *places, const struct sdw_profile *profile,
			 const uint32_t *sorted, size_t count)
{
	const struct sdw_profile_code *before = NULL;
	int err = 0;

	for (size_t i = 0; i < count && !err; i++) {
		const struct sdw_profile_code *code = sdw_frame_code(profile, sorted[i]);
		uint32_t line = line_of(profile, sorted[i]);
		bool is_new = !before || compare_codes(before, code) != 0;

		if (is_new || places->places.items[places->places.count - 1].line != line)
			err = add_place(places, code, line, is_new);
		if (!err)
			places->of_frame[sorted[i]] = (uint32_t)places->places.count - 1;
		before = code;
	}
	return err;
}

static int number_statuses(struct sdw_places *places, const struct sdw_profile *profile)
{
	bool used[SDW_STATUS_COUNT] = {false};
	int err = 0;

	for (size_t i = 0; i < profile->buckets.count; i++) {
		const struct sdw_profile_bucket *bucket = &profile->buckets.items[i];

		if (!bucket->stack && bucket->status < SDW_STATUS_COUNT)
			used[bucket->status] = true;
	}
	for (size_t i = 0; i < SDW_STATUS_COUNT && !err; i++) {
		places->of_status[i] = UINT32_MAX;
		if (!used[i])
			continue;
		err = add_place(places, &status_codes[i], 0, true);
		places->of_status[i] = (uint32_t)places->places.count - 1;
	}
	return err;
}

int sdw_places_make(struct sdw_places *places, const struct sdw_profile *profile)
{
	uint32_t *sorted = calloc(profile->frames.count + 1, sizeof(*sorted));
	bool *used = find_used(profile);
	size_t count = 0;
	int err = -ENOMEM;

	*places = (struct sdw_places){0};
	places->of_frame = calloc(profile->frames.count + 1, sizeof(*places->of_frame));
	if (!sorted || !used || !places->of_frame)
		goto out;
	for (uint32_t i = 0; i < profile->frames.count; i++) {
		if (used[i])
			sorted[count++] = i;
	}
	qsort_r(sorted, count, sizeof(*sorted), compare_frames, (void *)(uintptr_t)profile);
	err = number_frames(places, profile, sorted, count);
	if (!err)
		err = number_statuses(places, profile);
out:
	free(used);
	free(sorted);
	return err;
}

void sdw_places_free(struct sdw_places *places)
{
	free(places->functions.items);
	free(places->places.items);
	free(places->of_frame);
	*places = (struct sdw_places){0};
}

char *sdw_place_name(const struct sdw_profile_code *code)
{
	size_t bytes;
	const char *name = sdw_marker_text(code->name, &bytes);
	char *marker;

	if (code->kind < SDW_CODE_MARKER)
		return strdup(sdw_text_or_unknown(code->name));
	return asprintf(&marker, "[%.*s]", (int)bytes, name) < 0 ? NULL : marker;
}
