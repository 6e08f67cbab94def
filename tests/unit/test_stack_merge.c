// SPDX-License-Identifier: MIT
/* test_stack_merge.c - Python frames laid into native ones, and where a greenlet's stack begins. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "unwind/merge.h"

#define ROOM 32

/*
 * Merges stacks that are written outermost first: of Python, a capital letter begins an evaluation;
 * of native frames, E is an evaluation, e what entered it and G one of greenlet. The result:
 * Python's letters, native frames as n or G, evaluations that are shown as E, markers as their
 * number.
 */
static const char *merge_of(const char *python, const char *native, bool subinterpreter)
{
	static char text[ROOM];
	uint8_t entry[ROOM] = {0}, kind[ROOM] = {0};
	struct sdw_merged_frame out[ROOM];
	struct sdw_merge_input input = {
		.python_entry = entry,
		.python_count = strlen(python),
		.python_complete = true,
		.native_kind = kind,
		.native_count = strlen(native),
		.native_complete = true,
		.subinterpreter = subinterpreter,
	};
	size_t count;

	for (size_t i = 0; i < input.python_count; i++)
		entry[i] = python[input.python_count - 1 - i] < 'a';
	for (size_t i = 0; i < input.native_count; i++) {
		char letter = native[input.native_count - 1 - i];

		kind[i] = letter == 'E'	  ? SDW_NATIVE_FRAME_EVALUATION
			  : letter == 'e' ? SDW_NATIVE_FRAME_ENTRY
			  : letter == 'G' ? SDW_NATIVE_FRAME_GREENLET
					  : SDW_NATIVE_FRAME_PLAIN;
	}
	sdw_merge(&input, out, ROOM, &count);
	for (size_t i = 0; i < count; i++) {
		const struct sdw_merged_frame *frame = &out[count - 1 - i];

		text[i] = frame->kind == SDW_MERGED_PYTHON
				  ? python[input.python_count - 1 - frame->index]
			  : frame->kind == SDW_MERGED_NATIVE
				  ? native[input.native_count - 1 - frame->index]
				  : (char)('0' + frame->index);
	}
	text[count] = '\0';
	return text;
}

static const char *merged(const char *python, const char *native)
{
	return merge_of(python, native, false);
}

#define OTHER	 "8"
#define GREENLET "7" /* the marker's number */
#define UNKNOWN	 "6"

static void test_python_takes_the_place_of_its_evaluations(void **state)
{
	(void)state;
	assert_string_equal(merged("AbCd", "nEnEn"), "nAbnCdn");
	assert_string_equal(merged("Ab", "nEnE"), "nAbn"); /* the inner one has no frame yet */
	assert_string_equal(merged("A", "nEnEE"), "nAn" UNKNOWN "EE");
	assert_string_equal(merged("AbCd", "neEnneEn"), "nAbnnCdn");
}

static void test_frames_of_a_subinterpreter_are_those_inside(void **state)
{
	(void)state;
	assert_string_equal(merge_of("Ab", "nEnEn", true), "n" OTHER "nAbn");
	assert_string_equal(merge_of("AbC", "nEnnEnEEn", true), "n" OTHER "nn" OTHER "nAbCn");
	assert_string_equal(merge_of("AbCd", "nEnEn", true), "nAbnCdn");
}

static void test_what_is_outside_of_a_greenlet_is_left_out(void **state)
{
	(void)state;
	/* made by the first one, which was three functions deep; and by another greenlet */
	assert_string_equal(merged("P", "nEnEnGGGGEn"), GREENLET "GPn");
	assert_string_equal(merged("Pq", "nEnGGGGnEnGGGGnEn"), GREENLET "GnPqn");
	/* its own evaluations stay apart, and the inner one may have no frame yet */
	assert_string_equal(merged("PqR", "nEnGGGGnEnEn"), GREENLET "GnPqnRn");
	assert_string_equal(merged("P", "nEnGGGGnEnE"), GREENLET "GnPn");
	/* before its first frame */
	assert_string_equal(merged("", "nEnGGGG"), GREENLET "nGGGG");
	assert_string_equal(merged("", "nEnGGGGnE"), GREENLET "Gn");
}

static void test_the_first_greenlet_has_the_threads_stack(void **state)
{
	(void)state;
	assert_string_equal(merged("Ab", "nEn"), "nAbn");
	assert_string_equal(merged("Ab", "nEG"), "nAbG"); /* greenlet.getcurrent() */
	/* a function that greenlet calls at each switch is of the same chain */
	assert_string_equal(merged("AB", "nEGGnE"), "nAGGnB");
}

static void test_amid_a_switch_the_outer_frames_are_nobodys(void **state)
{
	(void)state;
	assert_string_equal(merged("Ab", "nEnGGGGn"), GREENLET "AbnGGGGn");
	assert_string_equal(merged("P", "nEnGGGGnEnGGG"), GREENLET "PnGGG");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_python_takes_the_place_of_its_evaluations),
		cmocka_unit_test(test_frames_of_a_subinterpreter_are_those_inside),
		cmocka_unit_test(test_what_is_outside_of_a_greenlet_is_left_out),
		cmocka_unit_test(test_the_first_greenlet_has_the_threads_stack),
		cmocka_unit_test(test_amid_a_switch_the_outer_frames_are_nobodys),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
