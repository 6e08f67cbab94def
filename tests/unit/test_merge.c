// SPDX-License-Identifier: MIT
/*
 * test_merge.c - how Python and native frames are laid together.
 *
 * Stacks are written as text, innermost first: `n` native, `e` evaluation, `P` Python frame that is
 * the outermost of its evaluation, `p` any other; a result has `!` and the marker's letter for a
 * marker.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "unwind/merge.h"

#define MAX_FRAMES 400

struct laid {
	char text[4 * MAX_FRAMES];
	bool matched;
};

static const char marker_letters[SDW_MARKER_COUNT] = {
	[SDW_MARKER_NATIVE_END] = 'E',	     [SDW_MARKER_NATIVE_CUT] = 'C',
	[SDW_MARKER_PYTHON_TRUNCATED] = 'T', [SDW_MARKER_PYTHON_UNREADABLE] = 'U',
	[SDW_MARKER_PYTHON_BROKEN] = 'B',    [SDW_MARKER_PENDING] = 'W',
	[SDW_MARKER_UNMATCHED] = '?',
};

/* Merges; `native` and `python` in the notation above (a digit d in python: P with d - 1 empty
 * outside). */
static struct laid lay(const char *python, const char *native, struct sdw_merge_input input)
{
	uint8_t entry[MAX_FRAMES], evaluation[MAX_FRAMES];
	struct sdw_merged_frame out[2 * MAX_FRAMES + 4];
	size_t count, next_python = 0, next_native = 0;
	struct laid laid = {.matched = false};
	char *end = laid.text;

	input.python_count = strlen(python);
	input.native_count = strlen(native);
	for (size_t i = 0; i < input.python_count; i++)
		entry[i] = python[i] == 'p' ? 0 : python[i] == 'P' ? 1 : (uint8_t)(python[i] - '0');
	for (size_t i = 0; i < input.native_count; i++)
		evaluation[i] = native[i] == 'e';
	input.python_entry = entry;
	input.native_evaluation = evaluation;
	laid.matched = sdw_merge(&input, out, input.python_count + input.native_count + 4, &count);
	for (size_t i = 0; i < count; i++) {
		if (out[i].kind == SDW_MERGED_MARKER) {
			*end++ = '!';
			*end++ = marker_letters[out[i].index];
		} else if (out[i].kind == SDW_MERGED_PYTHON) {
			assert_int_equal(out[i].index, next_python++);
			*end++ = entry[out[i].index] ? 'P' : 'p';
		} else {
			assert_in_range(out[i].index, next_native, input.native_count - 1);
			next_native = out[i].index + 1;
			*end++ = native[out[i].index];
		}
	}
	/* no Python frame is ever lost */
	assert_int_equal(next_python, input.python_count);
	return laid;
}

static const struct sdw_merge_input whole = {.python_complete = true, .native_complete = true};
static const struct sdw_merge_input native_ends = {.python_complete = true};
static const struct sdw_merge_input native_cut = {.python_complete = true, .native_cut = true};
static const struct sdw_merge_input python_ends = {.native_complete = true};

#define assert_laid(python, native, input, expected, expect_matched) \
	do {                                                         \
		struct laid laid_ = lay(python, native, input);      \
		assert_string_equal(laid_.text, expected);           \
		assert_int_equal(laid_.matched, expect_matched);     \
	} while (0)

static void test_python_run_takes_the_place_of_its_evaluation(void **state)
{
	(void)state;
	assert_laid("pP", "nennn", whole, "npPnnn", true);
}

static void test_evaluations_stay_outside_their_python_frames_when_asked_for(void **state)
{
	struct sdw_merge_input input = whole;

	(void)state;
	input.keep_evaluations = true;
	assert_laid("pP", "nennn", input, "npPennn", true);
}

static void test_each_frame_of_old_versions_is_its_own_evaluation(void **state)
{
	(void)state;
	assert_laid("PPP", "nennennenn", whole, "nPnnPnnPnn", true);
}

static void test_c_calling_python_calling_c_alternates(void **state)
{
	(void)state;
	/* a key function inside sort inside a function */
	assert_laid("PpP", "ennnenn", whole, "PnnnpPnn", true);
}

static void test_evaluation_that_is_not_linked_yet_stands_for_no_frame(void **state)
{
	(void)state;
	assert_laid("pP", "enenn", whole, "npPnn", true);
	/* also while it calls something: clearing its frame on the way out */
	assert_laid("pP", "nnenenn", whole, "nnnpPnn", true);
	assert_laid("", "enn", whole, "nn", true);
}

static void test_evaluation_without_frames_in_the_middle_is_told_by_the_walker(void **state)
{
	(void)state;
	/* __del__ (2) runs while the evaluation outside it has unlinked its only frame */
	assert_laid("2pP", "nennennenn", whole, "nPnnnnpPnn", true);
}

static void test_native_stack_that_ends_early_is_matched_from_the_leaf(void **state)
{
	(void)state;
	assert_laid("PpPP", "nenen", native_ends, "nPnpPn!EP", true);
	assert_laid("PpPP", "nenen", native_cut, "nPnpPn!CP", true);
	assert_laid("pP", "nn", native_ends, "nn!EpP", true);
	/* every evaluation was seen: only native frames are missing */
	assert_laid("P", "nen", native_ends, "nPn!E", true);
}

static void test_missing_python_frames_are_marked_where_they_would_be(void **state)
{
	struct sdw_merge_input input = python_ends;

	(void)state;
	assert_laid("Pp", "nenennenn", input, "nPnp!Tnnnn", true);
	assert_laid("P", "nenennenn", input, "nPn!Tnnnn", true);
	input.python_marker = SDW_MARKER_PYTHON_UNREADABLE;
	assert_laid("Pp", "nenenn", input, "nPnp!Unn", true);
	input.python_marker = SDW_MARKER_PENDING;
	assert_laid("", "nennenn", input, "n!Wnnnn", true);
	/* no evaluation: nothing of Python is missing here */
	assert_laid("", "nnn", input, "nnn", true);
}

static void test_both_stacks_cut_keep_both_markers(void **state)
{
	struct sdw_merge_input input = {0};

	(void)state;
	assert_laid("Pp", "nenennn", input, "nPnp!Tnnn!E", true);
	assert_laid("PPPp", "nen", input, "nPn!EPPp!T", true);
}

static void test_one_kind_alone_is_kept(void **state)
{
	(void)state;
	assert_laid("ppP", "", whole, "ppP", true);
	assert_laid("", "nnn", whole, "nnn", true);
	assert_laid("", "nnn", native_ends, "nnn!E", true);
	assert_laid("", "", whole, "", true);
}

static void test_disagreement_is_marked_and_loses_nothing(void **state)
{
	(void)state;
	/* two evaluations too many: shown as what they are; the outer ones still match */
	assert_laid("P", "nenenen", whole, "nene!?nPn", false);
	/* a run too many: its evaluation was not recognised */
	assert_laid("pPP", "nnen", whole, "nn!?pPPn", false);
	/* no evaluation recognised at all */
	assert_laid("pP", "nnn", whole, "nnn!?pP", false);
}

static void test_output_is_bounded(void **state)
{
	const uint8_t entry[2] = {0, 1}, evaluation[3] = {0, 1, 0};
	struct sdw_merge_input input = {entry, 2, true, 0, evaluation, 3, true, false, false};
	struct sdw_merged_frame out[3] = {0};
	size_t count = 99;

	(void)state;
	sdw_merge(&input, out, 2, &count);
	assert_int_equal(count, 2);
	assert_int_equal(out[2].kind, 0);
	assert_int_equal(out[2].index, 0);
}

/* A stack as it was: `frames` as in a result with evaluations kept, innermost first. */
struct truth {
	char frames[MAX_FRAMES];
	size_t count, native, python;
};

static void add(struct truth *truth, char frame)
{
	assert_in_range(truth->count, 0, MAX_FRAMES - 2);
	truth->frames[truth->count++] = frame;
	if (frame == 'n' || frame == 'e')
		truth->native++;
	else
		truth->python++;
}

static struct truth random_truth(unsigned int *seed)
{
	struct truth truth = {.count = 0};
	int evaluations = rand_r(seed) % 6;

	for (int i = rand_r(seed) % 4; i > 0; i--)
		add(&truth, 'n');
	for (int i = 0; i < evaluations; i++) {
		/* now and then the innermost evaluation has no frame */
		if (i > 0 || rand_r(seed) % 4) {
			for (int k = rand_r(seed) % 4; k > 0; k--)
				add(&truth, 'p');
			add(&truth, 'P');
		}
		add(&truth, 'e');
		for (int k = rand_r(seed) % 4; k > 0; k--)
			add(&truth, 'n');
	}
	add(&truth, 'n');
	return truth;
}

static void split(const struct truth *truth, char *python, char *native)
{
	for (size_t i = 0; i < truth->count; i++) {
		if (truth->frames[i] == 'n' || truth->frames[i] == 'e')
			*native++ = truth->frames[i];
		else
			*python++ = truth->frames[i];
	}
	*python = *native = 0;
}

/* True if the innermost evaluation is without a frame: with a part missing, nothing tells that. */
static bool starts_empty(const struct truth *truth)
{
	size_t first = strspn(truth->frames, "n");

	return truth->frames[first] == 'e';
}

static void test_random_stacks_come_out_as_they_were(void **state)
{
	unsigned int seed = 1;

	(void)state;
	for (int turn = 0; turn < 5000; turn++) {
		struct truth truth = random_truth(&seed);
		struct sdw_merge_input input = whole;
		char python[MAX_FRAMES], native[MAX_FRAMES];

		input.keep_evaluations = true;
		split(&truth, python, native);
		assert_laid(python, native, input, truth.frames, true);
	}
}

/* Cuts the native stack after `kept` frames: Python frames whose evaluation is gone follow the
 * marker. */
static void expect_native_cut(const struct truth *truth, size_t kept, char *expected)
{
	size_t native = 0, held = 0;
	char later[MAX_FRAMES];

	for (size_t i = 0; i < truth->count; i++) {
		char frame = truth->frames[i];

		if (frame != 'n' && frame != 'e') {
			later[held++] = frame;
			continue;
		}
		if (native++ >= kept)
			continue;
		if (frame == 'e') {
			memcpy(expected, later, held);
			expected += held;
			held = 0;
		}
		*expected++ = frame;
	}
	*expected++ = '!';
	*expected++ = 'E';
	memcpy(expected, later, held);
	expected[held] = 0;
}

static void test_random_stacks_with_every_native_cut(void **state)
{
	unsigned int seed = 2;

	(void)state;
	for (int turn = 0; turn < 1000; turn++) {
		struct truth truth = random_truth(&seed);
		struct sdw_merge_input input = native_ends;
		char python[MAX_FRAMES], native[MAX_FRAMES], expected[2 * MAX_FRAMES];

		if (starts_empty(&truth))
			continue;
		input.keep_evaluations = true;
		split(&truth, python, native);
		for (size_t kept = truth.native; kept > 0; kept--) {
			native[kept] = 0;
			expect_native_cut(&truth, kept, expected);
			assert_laid(python, native, input, expected, true);
		}
	}
}

/* Cuts the Python stack after `kept` frames: the marker stands for the first that is missing. */
static void expect_python_cut(const struct truth *truth, size_t kept, char *expected)
{
	size_t python = 0;

	for (size_t i = 0; i < truth->count; i++) {
		char frame = truth->frames[i];

		if (frame == 'n' || frame == 'e') {
			*expected++ = frame;
		} else if (python++ < kept) {
			*expected++ = frame;
		} else if (python == kept + 1) {
			*expected++ = '!';
			*expected++ = 'T';
		}
	}
	*expected = 0;
}

static void test_random_stacks_with_every_python_cut(void **state)
{
	unsigned int seed = 3;

	(void)state;
	for (int turn = 0; turn < 1000; turn++) {
		struct truth truth = random_truth(&seed);
		struct sdw_merge_input input = python_ends;
		char python[MAX_FRAMES], native[MAX_FRAMES], expected[2 * MAX_FRAMES];

		if (starts_empty(&truth))
			continue;
		input.keep_evaluations = true;
		split(&truth, python, native);
		for (size_t kept = 0; kept < truth.python; kept++) {
			split(&truth, python, native);
			python[kept] = 0;
			expect_python_cut(&truth, kept, expected);
			assert_laid(python, native, input, expected, true);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_python_run_takes_the_place_of_its_evaluation),
		cmocka_unit_test(test_evaluations_stay_outside_their_python_frames_when_asked_for),
		cmocka_unit_test(test_each_frame_of_old_versions_is_its_own_evaluation),
		cmocka_unit_test(test_c_calling_python_calling_c_alternates),
		cmocka_unit_test(test_evaluation_that_is_not_linked_yet_stands_for_no_frame),
		cmocka_unit_test(
			test_evaluation_without_frames_in_the_middle_is_told_by_the_walker),
		cmocka_unit_test(test_native_stack_that_ends_early_is_matched_from_the_leaf),
		cmocka_unit_test(test_missing_python_frames_are_marked_where_they_would_be),
		cmocka_unit_test(test_both_stacks_cut_keep_both_markers),
		cmocka_unit_test(test_one_kind_alone_is_kept),
		cmocka_unit_test(test_disagreement_is_marked_and_loses_nothing),
		cmocka_unit_test(test_output_is_bounded),
		cmocka_unit_test(test_random_stacks_come_out_as_they_were),
		cmocka_unit_test(test_random_stacks_with_every_native_cut),
		cmocka_unit_test(test_random_stacks_with_every_python_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
