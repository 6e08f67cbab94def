// SPDX-License-Identifier: MIT
/*
 * merge.c - lays Python frames into the native stack where they ran.
 *
 * In:  flags per frame of the two stacks, innermost first.
 * Out: one stack, innermost first. A run of Python frames takes the place of its evaluation:
 * outside the native functions that it called, inside the native function that called it.
 */
#include "unwind/merge.h"

/* switch, g_switch, g_switchstack, slp_switch: in all versions of greenlet; other calls have fewer
 */
#define FRAMES_OF_SWITCH 3

struct merger {
	const struct sdw_merge_input *input;
	struct sdw_merged_frame *out;
	size_t max, count;
	size_t python;	    /* next Python frame */
	size_t empty;	    /* evaluations still to pass that have no Python frame */
	bool python_marked; /* the marker for missing Python frames is written */
};

static void emit(struct merger *merger, enum sdw_merged_kind kind, size_t index)
{
	if (merger->count < merger->max)
		merger->out[merger->count++] =
			(struct sdw_merged_frame){.kind = (uint8_t)kind, .index = (uint32_t)index};
}

static void mark_python_missing(struct merger *merger)
{
	uint32_t marker = merger->input->python_marker;

	if (merger->input->python_complete || merger->python_marked)
		return;
	emit(merger, SDW_MERGED_MARKER, marker ? marker : SDW_MARKER_PYTHON_TRUNCATED);
	merger->python_marked = true;
}

/* Writes the Python frames of the next evaluation: none, or all up to an entry frame. */
static void emit_evaluation(struct merger *merger)
{
	const struct sdw_merge_input *input = merger->input;
	uint8_t entry = 0;

	if (merger->empty) {
		merger->empty--;
		return;
	}
	while (merger->python < input->python_count && !entry) {
		emit(merger, SDW_MERGED_PYTHON, merger->python);
		entry = input->python_entry[merger->python++];
	}
	if (entry)
		merger->empty = entry - 1u;
	else
		mark_python_missing(merger);
}

/* Evaluations that the Python frames tell of; outer frames without an entry are one more. */
static size_t told_evaluations(const struct sdw_merge_input *input)
{
	size_t told = 0;

	for (size_t i = 0; i < input->python_count; i++)
		told += input->python_entry[i];
	if (input->python_count && !input->python_entry[input->python_count - 1])
		told++;
	return told;
}

static size_t seen_evaluations(const struct sdw_merge_input *input)
{
	size_t seen = 0;

	for (size_t i = 0; i < input->native_count; i++)
		seen += input->native_kind[i] == SDW_NATIVE_FRAME_EVALUATION;
	return seen;
}

/* How the two stacks lie together. */
struct alignment {
	size_t skipped; /* innermost evaluations that stand for no Python frame ... */
	bool unmatched; /* ... or with nothing to match: shown */
	size_t inner;	/* innermost told evaluations that were not seen */
};

static struct alignment align(const struct sdw_merge_input *input, size_t seen)
{
	size_t told = told_evaluations(input);
	struct alignment alignment = {0};

	if (seen > told && input->python_complete && !input->subinterpreter) {
		alignment.skipped = seen - told;
		alignment.unmatched = alignment.skipped > 1;
	} else if (told > seen && input->native_complete && input->native_count) {
		alignment.inner = told - seen;
		alignment.unmatched = true;
	}
	return alignment;
}

static void emit_unseen(struct merger *merger, const struct alignment *alignment)
{
	if (!alignment->inner)
		return;
	emit(merger, SDW_MERGED_MARKER, SDW_MARKER_UNMATCHED);
	for (size_t i = 0; i < alignment->inner; i++)
		emit_evaluation(merger);
}

/* An evaluation outside of those that the Python frames tell of, if it has one of its own. */
static void emit_other_interpreter(struct merger *merger, bool shown)
{
	if (merger->empty)
		merger->empty--;
	else if (!shown && merger->input->python_complete)
		emit(merger, SDW_MERGED_MARKER, SDW_MARKER_INTERPRETER);
}

static void emit_native(struct merger *merger, const struct alignment *alignment, size_t seen)
{
	const struct sdw_merge_input *input = merger->input;
	size_t ordinal = 0;

	for (size_t i = 0; i < input->native_count; i++) {
		bool shown = input->keep_evaluations;

		if (input->native_kind[i] != SDW_NATIVE_FRAME_EVALUATION) {
			if (shown || input->native_kind[i] != SDW_NATIVE_FRAME_ENTRY)
				emit(merger, SDW_MERGED_NATIVE, i);
			continue;
		}
		if (ordinal == 0)
			emit_unseen(merger, alignment);
		if (input->subinterpreter && merger->python == input->python_count)
			emit_other_interpreter(merger, shown);
		else if (ordinal >= alignment->skipped)
			emit_evaluation(merger);
		else if (alignment->unmatched)
			shown = true;
		ordinal++;
		/* nothing more can be inside: what is missing would have been here */
		if (ordinal == seen && input->native_complete &&
		    merger->python == input->python_count)
			mark_python_missing(merger);
		if (shown)
			emit(merger, SDW_MERGED_NATIVE, i);
		if (alignment->unmatched && ordinal == alignment->skipped)
			emit(merger, SDW_MERGED_MARKER, SDW_MARKER_UNMATCHED);
	}
	if (!seen)
		emit_unseen(merger, alignment);
}

/*
 * How many of the native frames are of the greenlet that runs; all, if it is the thread's first
 * one. Its outermost frame is the one of greenlet's from which its function was called, outside
 * of as many evaluations as its Python frames tell of.
 */
static size_t own_native_frames(const struct sdw_merge_input *input)
{
	size_t told = told_evaluations(input), seen = 0;

	if (!input->python_complete || seen_evaluations(input) <= told)
		return input->native_count;
	for (size_t i = 0; i < input->native_count; i++) {
		if (input->native_kind[i] == SDW_NATIVE_FRAME_EVALUATION)
			seen++;
		else if (input->native_kind[i] == SDW_NATIVE_FRAME_GREENLET && seen >= told)
			return i + 1;
	}
	return input->native_count;
}

static bool merge_all(const struct sdw_merge_input *input, struct sdw_merged_frame *out, size_t max,
		      size_t *count)
{
	struct merger merger = {.input = input, .out = out, .max = max};
	size_t seen = seen_evaluations(input);
	struct alignment alignment = align(input, seen);

	emit_native(&merger, &alignment, seen);
	if (input->native_count && !input->native_complete)
		emit(&merger, SDW_MERGED_MARKER,
		     input->native_cut ? SDW_MARKER_NATIVE_CUT : SDW_MARKER_NATIVE_END);
	while (merger.python < input->python_count)
		emit(&merger, SDW_MERGED_PYTHON, merger.python++);
	/* a whole native stack without any evaluation has no place for Python frames */
	if (input->python_count || !input->native_count || !input->native_complete)
		mark_python_missing(&merger);
	*count = merger.count;
	return !alignment.unmatched;
}

/*
 * While greenlet exchanges the stacks, nobody knows whose the outer native frames are, and whose
 * the Python frames: how many native frames there are up to the innermost evaluation, or 0.
 */
static size_t frames_of_switch(const struct sdw_merge_input *input)
{
	size_t greenlet = 0, i;

	for (i = 0; i < input->native_count; i++) {
		if (input->native_kind[i] == SDW_NATIVE_FRAME_EVALUATION)
			break;
		greenlet += input->native_kind[i] == SDW_NATIVE_FRAME_GREENLET;
	}
	return greenlet >= FRAMES_OF_SWITCH ? i : 0;
}

bool sdw_merge(const struct sdw_merge_input *input, struct sdw_merged_frame *out, size_t max,
	       size_t *count)
{
	struct merger marker = {.input = input, .out = out, .max = max};
	struct sdw_merge_input own = *input;
	bool matched = true;

	own.native_count = frames_of_switch(input);
	if (own.native_count) {
		for (size_t i = 0; i < own.native_count; i++)
			emit(&marker, SDW_MERGED_NATIVE, i);
		for (size_t i = 0; i < input->python_count; i++)
			emit(&marker, SDW_MERGED_PYTHON, i);
		mark_python_missing(&marker);
	} else {
		own.native_count = own_native_frames(input);
		if (own.native_count == input->native_count)
			return merge_all(input, out, max, count);
		own.native_complete = true;
		matched = merge_all(&own, out, max, &marker.count);
	}
	emit(&marker, SDW_MERGED_MARKER, SDW_MARKER_GREENLET);
	*count = marker.count;
	return matched;
}
