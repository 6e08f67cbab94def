// SPDX-License-Identifier: MIT
/* agreement.c - see agreement.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/agreement.h"
#include "base/array.h"

static uint64_t hash_text(uint64_t hash, const char *text)
{
	for (; text && *text; text++)
		hash = (hash ^ (unsigned char)*text) * 0x100000001b3ull; /* FNV-1a */
	return sdw_mix64(hash);
}

static uint64_t hash_code(const struct sdw_profile_code *code)
{
	uint64_t hash = sdw_mix64(0xcbf29ce484222325ull + code->kind);

	hash = hash_text(hash, code->name);
	hash = hash_text(hash, code->file);
	return sdw_mix64(hash ^ code->first_line);
}

static bool same_text(const char *a, const char *b)
{
	return a == b || strcmp(a ? a : "", b ? b : "") == 0;
}

static bool is_same_function(const struct sdw_profile_code *a, const struct sdw_profile_code *b)
{
	return a->kind == b->kind && a->first_line == b->first_line &&
	       same_text(a->name, b->name) && same_text(a->file, b->file);
}

/* Finds for each code the first one that is the same function. */
static int unify_codes(struct sdw_agreement *agreement)
{
	const struct sdw_profile *profile = agreement->profile;
	struct sdw_map64 by_hash = {0};
	int err = 0;

	for (size_t i = 1; i < profile->codes.count && !err; i++) {
		const struct sdw_profile_code *code = &profile->codes.items[i];
		uint64_t hash = hash_code(code);
		const uint64_t *first;

		/* two functions with one hash: the next key after it that is free */
		while ((first = sdw_map64_find(&by_hash, hash)) &&
		       !is_same_function(&profile->codes.items[*first], code))
			hash = sdw_mix64(hash + 1);
		agreement->same_code[i] = first ? (uint32_t)*first : (uint32_t)i;
		if (!first)
			err = sdw_map64_set(&by_hash, hash, i);
	}
	sdw_map64_free(&by_hash);
	return err;
}

int sdw_agreement_init(struct sdw_agreement *agreement, const struct sdw_profile *profile)
{
	*agreement = (struct sdw_agreement){.profile = profile};
	agreement->same_code = calloc(profile->codes.count + 1, sizeof(*agreement->same_code));
	return agreement->same_code ? unify_codes(agreement) : -ENOMEM;
}

void sdw_agreement_free(struct sdw_agreement *agreement)
{
	sdw_map64_free(&agreement->known);
	sdw_map64_free(&agreement->by_difference);
	free(agreement->same_code);
	free(agreement->verdicts.items);
	free(agreement->disagreements.items);
	free(agreement->frames[0].items);
	free(agreement->frames[1].items);
	*agreement = (struct sdw_agreement){0};
}

/* 0 for a frame that does not exist: the reader lets none through, but a trace is not trusted */
static uint32_t function_of(const struct sdw_agreement *agreement, uint32_t frame)
{
	const struct sdw_profile *profile = agreement->profile;
	uint32_t code = frame < profile->frames.count ? profile->frames.items[frame].code : 0;

	return code < profile->codes.count ? agreement->same_code[code] : 0;
}

/* The next frame of `kind` at or after *at; 0 at the end. Steps past it. */
static uint32_t next_of(const struct sdw_agreement *agreement,
			const struct sdw_stack_frames *frames, size_t *at, uint8_t kind)
{
	while (*at < frames->count) {
		uint32_t frame = frames->items[(*at)++];

		if (sdw_frame_code(agreement->profile, frame)->kind == kind)
			return frame;
	}
	return 0;
}

/* Returns whether both have the same functions of `kind`; *any: whether there are such frames. */
static bool compare_functions(const struct sdw_agreement *agreement, uint8_t kind, bool *any,
			      uint32_t at[2])
{
	size_t left = 0, right = 0;

	*any = false;
	for (;;) {
		uint32_t a = next_of(agreement, &agreement->frames[0], &left, kind);
		uint32_t b = next_of(agreement, &agreement->frames[1], &right, kind);

		if (!a && !b)
			return true;
		*any = true;
		if (a && b && function_of(agreement, a) == function_of(agreement, b))
			continue;
		at[0] = a;
		at[1] = b;
		return false;
	}
}

/* To be called where the functions are the same. `at` becomes the innermost that differs. */
static bool compare_lines(const struct sdw_agreement *agreement, uint32_t at[2])
{
	size_t left = 0, right = 0;
	bool same = true;

	for (;;) {
		uint32_t a = next_of(agreement, &agreement->frames[0], &left, SDW_CODE_PYTHON);
		uint32_t b = next_of(agreement, &agreement->frames[1], &right, SDW_CODE_PYTHON);

		if (!a || !b)
			return same;
		if (sdw_frame_line(agreement->profile, a) == sdw_frame_line(agreement->profile, b))
			continue;
		same = false;
		at[0] = a;
		at[1] = b;
	}
}

static int compare_stacks(struct sdw_agreement *agreement, uint32_t bpf, uint32_t signal,
			  struct sdw_verdict *verdict)
{
	int err = sdw_stack_frames_get(agreement->profile, bpf, &agreement->frames[0]);

	err = err ?: sdw_stack_frames_get(agreement->profile, signal, &agreement->frames[1]);
	if (err)
		return err;
	*verdict = (struct sdw_verdict){0};
	verdict->same_python = compare_functions(agreement, SDW_CODE_PYTHON, &verdict->has_python,
						 verdict->at[SDW_DIFFERENCE_PYTHON]);
	verdict->same_lines =
		verdict->same_python && compare_lines(agreement, verdict->at[SDW_DIFFERENCE_LINE]);
	verdict->same_native = compare_functions(agreement, SDW_CODE_NATIVE, &verdict->has_native,
						 verdict->at[SDW_DIFFERENCE_NATIVE]);
	return 0;
}

int sdw_agreement_of(struct sdw_agreement *agreement, uint32_t bpf, uint32_t signal,
		     struct sdw_verdict *verdict)
{
	uint64_t key = ((uint64_t)bpf << 32 | signal) + 1; /* + 1: no key is 0 */
	const uint64_t *known = sdw_map64_find(&agreement->known, key);
	int err;

	if (known) {
		*verdict = agreement->verdicts.items[*known - 1];
		return 0;
	}
	err = compare_stacks(agreement, bpf, signal, verdict);
	err = err ?: sdw_array_reserve(&agreement->verdicts, 1);
	if (err)
		return err;
	agreement->verdicts.items[agreement->verdicts.count++] = *verdict;
	return sdw_map64_set(&agreement->known, key, agreement->verdicts.count);
}

/* Differences in functions are the same whatever the lines; those in lines are not. */
static uint64_t difference_key(const struct sdw_agreement *agreement, enum sdw_difference what,
			       const uint32_t at[2])
{
	uint64_t key = (uint64_t)what + 1;

	for (int i = 0; i < 2; i++) {
		key = sdw_mix64(key + function_of(agreement, at[i]));
		if (what == SDW_DIFFERENCE_LINE)
			key = sdw_mix64(key + sdw_frame_line(agreement->profile, at[i]));
	}
	return key;
}

int sdw_agreement_count(struct sdw_agreement *agreement, const struct sdw_verdict *verdict,
			enum sdw_difference what)
{
	const uint32_t *at = verdict->at[what];
	uint64_t key = difference_key(agreement, what, at);
	const uint64_t *known = sdw_map64_find(&agreement->by_difference, key);
	int err;

	if (known) {
		agreement->disagreements.items[*known - 1].count++;
		return 0;
	}
	err = sdw_array_reserve(&agreement->disagreements, 1);
	if (err)
		return err;
	agreement->disagreements.items[agreement->disagreements.count++] =
		(struct sdw_disagreement){what, at[0], at[1], 1};
	return sdw_map64_set(&agreement->by_difference, key, agreement->disagreements.count);
}

static int by_count(const void *left, const void *right)
{
	const struct sdw_disagreement *a = left, *b = right;

	if (a->count != b->count)
		return a->count > b->count ? -1 : 1;
	if (a->what != b->what)
		return a->what < b->what ? -1 : 1;
	return (a->bpf > b->bpf) - (a->bpf < b->bpf);
}

void sdw_agreement_sort(struct sdw_agreement *agreement)
{
	if (agreement->disagreements.count)
		qsort(agreement->disagreements.items, agreement->disagreements.count,
		      sizeof(*agreement->disagreements.items), by_count);
	sdw_map64_clear(&agreement->by_difference); /* the indices are no longer theirs */
}
