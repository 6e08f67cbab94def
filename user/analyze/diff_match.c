// SPDX-License-Identifier: MIT
/*
 * diff_match.c - see diff_match.h.
 *
 * Both sides' functions are sorted by what has to agree, and runs of equal ones are paired; in
 * stages, where less has to agree and it has to be more certain.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/diff_match.h"
#include "view/frame_text.h"

#define NO_MATCH UINT32_MAX

enum stage {
	STAGE_FILE,    /* kind, name, file; of several in one file by first line, then in order */
	STAGE_TAIL,    /* kind, name, and the end of the file's path; one of each side */
	STAGE_PARTNER, /* kind, name, and the file in which another function was found so */
	STAGE_NAME,    /* native name; one of each side */
	STAGE_COUNT,
};

/* One function, however many codes of processes are it. */
struct function {
	uint8_t kind;
	const char *name, *file;
	uint32_t first_line;
	uint32_t match; /* place in the other side's list */
};

struct side {
	SDW_PROFILE_ARRAY(struct function) functions; /* sorted by kind, name, file, first line */
	uint32_t *of_code;			      /* by code id: place in functions */
	uint32_t *todo; /* places of those without a match, in the order of a stage */
	size_t todo_count;
};

struct key {
	const struct side *side;
	enum stage stage;
};

/* The part of a path that a copy elsewhere has too: of names that many files have, two parts. */
static const char *tail_of(const struct function *function)
{
	const char *base = sdw_base_name(function->file), *at = base;

	if (function->name[0] != '<' && strcmp(base, "__init__.py") != 0)
		return base;
	if (at - function->file >= 2)
		for (at -= 2; at > function->file && at[-1] != '/';)
			at--;
	return at;
}

static int compare_numbers(uint32_t a, uint32_t b)
{
	return a == b ? 0 : a < b ? -1 : 1;
}

/* By what has to agree in a stage. */
static int compare_for(enum stage stage, const struct function *a, const struct function *b)
{
	int order = compare_numbers(a->kind, b->kind);

	if (!order)
		order = strcmp(a->name, b->name);
	if (!order && (stage == STAGE_FILE || stage == STAGE_PARTNER))
		order = strcmp(a->file, b->file);
	if (!order && stage == STAGE_TAIL)
		order = strcmp(tail_of(a), tail_of(b));
	return order;
}

static int compare_functions(const void *left, const void *right)
{
	const struct function *a = left, *b = right;
	int order = compare_for(STAGE_FILE, a, b);

	return order ? order : compare_numbers(a->first_line, b->first_line);
}

static int compare_todo(const void *left, const void *right, void *context)
{
	const struct key *key = context;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	const struct function *functions = key->side->functions.items;
	int order = compare_for(key->stage, &functions[a], &functions[b]);

	return order ? order : compare_numbers(a, b);
}

static struct function function_of(const struct sdw_profile_code *code)
{
	return (struct function){.kind = code->kind,
				 .name = code->name,
				 .file = code->file,
				 .first_line = code->first_line,
				 .match = NO_MATCH};
}

static int make_side(struct side *side, const struct sdw_profile *profile)
{
	size_t count = profile->codes.count, kept = 0;
	struct function *functions = calloc(count + 1, sizeof(*functions));

	side->functions.items = functions;
	side->of_code = calloc(count + 1, sizeof(*side->of_code));
	side->todo = calloc(count + 1, sizeof(*side->todo));
	if (!functions || !side->of_code || !side->todo)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		functions[i] = function_of(&profile->codes.items[i]);
	qsort(functions, count, sizeof(*functions), compare_functions);
	for (size_t i = 0; i < count; i++)
		if (!kept || compare_functions(&functions[kept - 1], &functions[i]) != 0)
			functions[kept++] = functions[i];
	side->functions.count = kept;
	for (size_t i = 0; i < count; i++) {
		struct function wanted = function_of(&profile->codes.items[i]);
		const struct function *found =
			bsearch(&wanted, functions, kept, sizeof(*functions), compare_functions);

		side->of_code[i] = found ? (uint32_t)(found - functions) : 0;
	}
	return 0;
}

static void free_side(struct side *side)
{
	free(side->functions.items);
	free(side->of_code);
	free(side->todo);
}

/* A marker is its name; a name alone tells only native functions apart. */
static bool is_for(enum stage stage, const struct function *function)
{
	if (function->match != NO_MATCH || !*function->name)
		return false;
	return stage == STAGE_NAME ? function->kind == SDW_CODE_NATIVE
				   : stage == STAGE_FILE || *function->file;
}

static void collect(struct side *side, enum stage stage)
{
	struct key key = {side, stage};

	side->todo_count = 0;
	for (size_t i = 0; i < side->functions.count; i++)
		if (is_for(stage, &side->functions.items[i]))
			side->todo[side->todo_count++] = (uint32_t)i;
	qsort_r(side->todo, side->todo_count, sizeof(*side->todo), compare_todo, &key);
}

/* How many from `from` on are alike. */
static size_t run_of(const struct side *side, size_t from, enum stage stage)
{
	const struct function *functions = side->functions.items;
	size_t end = from + 1;

	while (end < side->todo_count &&
	       compare_for(stage, &functions[side->todo[from]], &functions[side->todo[end]]) == 0)
		end++;
	return end - from;
}

static void pair(struct side *base, uint32_t a, struct side *other, uint32_t b)
{
	base->functions.items[a].match = b;
	other->functions.items[b].match = a;
}

/* Two runs of functions of one name in one file, each in the order of first lines. */
static void pair_runs(struct side *base, const uint32_t *a, size_t a_count, struct side *other,
		      const uint32_t *b, size_t b_count)
{
	const struct function *bases = base->functions.items, *others = other->functions.items;

	for (size_t i = 0, j = 0; i < a_count && j < b_count;) {
		int order = compare_numbers(bases[a[i]].first_line, others[b[j]].first_line);

		if (order == 0)
			pair(base, a[i], other, b[j]);
		i += order <= 0;
		j += order >= 0;
	}
	for (size_t i = 0, j = 0; i < a_count && j < b_count;) {
		if (bases[a[i]].match != NO_MATCH)
			i++;
		else if (others[b[j]].match != NO_MATCH)
			j++;
		else
			pair(base, a[i++], other, b[j++]);
	}
}

struct partners {
	const char *from, *to; /* files */
};

static int compare_partners(const void *left, const void *right)
{
	const struct partners *a = left, *b = right;

	return strcmp(a->from, b->from);
}

/* Functions without a match are looked for where others of their file were found. */
static int follow_partners(struct side *base, const struct side *other)
{
	struct partners *known = calloc(base->functions.count + 1, sizeof(*known));
	size_t count = 0;

	if (!known)
		return -ENOMEM;
	for (size_t i = 0; i < base->functions.count; i++) {
		const struct function *at = &base->functions.items[i];

		if (at->match == NO_MATCH || !*at->file)
			continue;
		known[count++] =
			(struct partners){at->file, other->functions.items[at->match].file};
	}
	qsort(known, count, sizeof(*known), compare_partners);
	for (size_t i = 0; i < base->functions.count; i++) {
		struct function *at = &base->functions.items[i];
		const struct partners wanted = {at->file, NULL};
		const struct partners *found;

		if (at->match != NO_MATCH)
			continue;
		found = bsearch(&wanted, known, count, sizeof(*known), compare_partners);
		if (found)
			at->file = found->to;
	}
	free(known);
	return 0;
}

static size_t pair_stage(struct side *base, struct side *other, enum stage stage)
{
	size_t i = 0, j = 0, paired = 0;

	collect(base, stage);
	collect(other, stage);
	while (i < base->todo_count && j < other->todo_count) {
		const uint32_t *a = &base->todo[i], *b = &other->todo[j];
		int order =
			compare_for(stage, &base->functions.items[*a], &other->functions.items[*b]);
		size_t a_count = order <= 0 ? run_of(base, i, stage) : 0;
		size_t b_count = order >= 0 ? run_of(other, j, stage) : 0;

		if (order == 0 && (stage == STAGE_FILE || stage == STAGE_PARTNER ||
				   (a_count == 1 && b_count == 1))) {
			pair_runs(base, a, a_count, other, b, b_count);
			paired += a_count < b_count ? a_count : b_count;
		}
		i += a_count;
		j += b_count;
	}
	return paired;
}

/* A line as far from the function's first as before. */
static uint32_t moved_line(uint32_t line, uint32_t from, uint32_t to)
{
	return line >= from && line - from <= UINT32_MAX - to ? line - from + to : line;
}

static void rename_base(struct sdw_profile *base, const struct side *side, const struct side *other)
{
	for (size_t i = 0; i < base->frames.count; i++) {
		struct sdw_profile_frame *frame = &base->frames.items[i];
		const struct function *from = &side->functions.items[side->of_code[frame->code]];

		if (from->match != NO_MATCH && frame->line && from->kind == SDW_CODE_PYTHON)
			frame->line = moved_line(frame->line, from->first_line,
						 other->functions.items[from->match].first_line);
	}
	for (size_t i = 0; i < base->codes.count; i++) {
		struct sdw_profile_code *code = &base->codes.items[i];
		uint32_t match = side->functions.items[side->of_code[i]].match;

		if (match == NO_MATCH)
			continue;
		code->file = other->functions.items[match].file;
		code->first_line = other->functions.items[match].first_line;
	}
}

int sdw_diff_match(struct sdw_profile *base, const struct sdw_profile *other,
		   struct sdw_diff_matched *matched)
{
	struct side base_side = {0}, other_side = {0};
	int err = make_side(&base_side, base);

	*matched = (struct sdw_diff_matched){0};
	if (!err)
		err = make_side(&other_side, other);
	for (enum stage stage = STAGE_FILE; stage < STAGE_COUNT && !err; stage++) {
		size_t paired;

		if (stage == STAGE_PARTNER && follow_partners(&base_side, &other_side))
			err = -ENOMEM;
		paired = err ? 0 : pair_stage(&base_side, &other_side, stage);
		matched->found += paired;
		matched->moved += stage == STAGE_FILE ? 0 : paired;
	}
	if (!err)
		rename_base(base, &base_side, &other_side);
	free_side(&base_side);
	free_side(&other_side);
	return err;
}
