// SPDX-License-Identifier: MIT
/* test_layout.c - which CPythons have a layout, and what a forged _Py_DebugOffsets can do: nothing.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "target/interpreter.h"

#include "debug_offsets.h"

static int convert(const uint64_t *words, struct sdw_pylayout *layout)
{
	/* a copy of exact size, so that the sanitizer sees a read beyond it */
	uint64_t *exact = malloc(sizeof(real_offsets));
	int err;

	assert_non_null(exact);
	memcpy(exact, words, sizeof(real_offsets));
	memcpy(exact, "xdebugpy", 8);
	err = sdw_layout_from_debug_offsets(exact, sizeof(real_offsets), layout);
	free(exact);
	return err;
}

static int convert_with(enum debug_offsets_word word, uint64_t value)
{
	struct sdw_pylayout layout = {.version = 0xffff};
	uint64_t words[WORDS];
	int err;

	memcpy(words, real_offsets, sizeof(words));
	words[word] = value;
	err = convert(words, &layout);
	/* what is refused leaves nothing behind */
	if (err)
		assert_int_equal(layout.version, 0xffff);
	return err;
}

static void test_each_version_of_the_table_has_its_own_entry(void **state)
{
	struct sdw_pylayout layout;

	(void)state;
	for (unsigned int minor = 6; minor <= 12; minor++) {
		assert_int_equal(sdw_layout_for_version(0x0300 | minor, &layout), 0);
		assert_int_equal(layout.version, 0x0300 | minor);
	}
	assert_int_equal(sdw_layout_for_version(0x0207, &layout), 0);
	assert_int_equal(layout.version, 0x0207);
}

static void test_versions_beyond_the_table_are_refused(void **state)
{
	static const unsigned int versions[] = {0x0206, 0x0300, 0x0305, 0x030d, 0x030e, 0x0408, 0};
	struct sdw_pylayout layout;

	(void)state;
	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++)
		assert_int_equal(sdw_layout_for_version(versions[i], &layout), -ENOTSUP);
}

static void test_spans_of_the_table_hold_their_fields_and_fit_the_walker(void **state)
{
	struct sdw_pylayout layout;

	(void)state;
	for (unsigned int minor = 6; minor <= 13; minor++) {
		/* the last turn is 2.7's */
		assert_int_equal(
			sdw_layout_for_version(minor == 13 ? 0x0207 : 0x0300 | minor, &layout), 0);
		assert_in_range(layout.frame_span, layout.frame_code + 8, 128);
		assert_in_range(layout.frame_span, layout.frame_previous + 8, 128);
		assert_in_range(layout.frame_span, layout.frame_instruction + 4, 128);
		assert_in_range(layout.code_span, layout.code_linetable + 8, 256);
		assert_in_range(layout.code_span, layout.code_filename + 8, 256);
		assert_in_range(layout.code_span, layout.code_firstlineno + 4, 256);
	}
}

static void test_3_13_describes_itself(void **state)
{
	struct sdw_pylayout layout;

	(void)state;
	assert_int_equal(convert(real_offsets, &layout), 0);
	assert_int_equal(layout.version, 0x030d);
	assert_int_equal(layout.frame_kind, SDW_FRAMES_SHIM);
	assert_int_equal(layout.free_threaded, 0);
	assert_int_equal(layout.runtime_interpreters_head, 632);
	assert_int_equal(layout.runtime_tstate_current, SDW_NO_OFFSET);
	assert_int_equal(layout.interpreter_threads_head, 7344);
	assert_int_equal(layout.interpreter_gc_collecting, 7600);
	assert_int_equal(layout.thread_frame, 72);
	assert_int_equal(layout.thread_id, 152);
	assert_int_equal(layout.frame_span, 71);
	assert_int_equal(layout.code_linetable, 136);
	assert_int_equal(layout.code_span, 144);
	assert_int_equal(layout.unicode_compact_data, 56);
}

/* Words of Debian's 3.14.8, x86-64; what is not used is left out. */
/* clang-format off */
static const uint64_t words_3_14[95] = {
	[1] = 0x030e08f0,
	[3] = 316616, 784, 808, 225864, 7280, 7272, 7344, 7360, 7408, /* runtime, interpreter */
	[22] = 832, 0, 8, 16, 72, 152, 160, 232, 32, /* thread */
	[31] = 88, 8, 0, 56, 80, 74, 64, 0, /* frame */
	[39] = 216, 112, 120, 128, 136, 68, 52, 96, 104, 208, 0, 16, 8, /* code, object */
	[74] = 40, 16, 32, 64, 32, 16, 40, 264, 192, /* bytes, unicode, gc */
};
/* clang-format on */

static void test_later_versions_have_more_words(void **state)
{
	struct sdw_pylayout layout;
	uint64_t words[95];

	(void)state;
	memcpy(words, words_3_14, sizeof(words));
	memcpy(words, "xdebugpy", 8);
	assert_int_equal(sdw_layout_from_debug_offsets(words, sizeof(words) - 1, &layout), -EINVAL);
	assert_int_equal(sdw_layout_from_debug_offsets(words, sizeof(words), &layout), 0);
	assert_int_equal(layout.version, 0x030e);
	assert_int_equal(layout.frame_kind, SDW_FRAMES_SHIM);
	assert_int_equal(layout.runtime_interpreters_head, 808);
	assert_int_equal(layout.interpreter_gc_collecting, 7600);
	assert_int_equal(layout.thread_frame, 72);
	assert_int_equal(layout.frame_owner, 74);
	assert_int_equal(layout.frame_code_tags, 3);
	assert_int_equal(layout.code_bytecode, 208);
	assert_int_equal(layout.unicode_ascii_data, 40);
	assert_int_equal(layout.code_copies, 0);
	/* without a GIL threads run copies of the bytecode */
	words[2] = 1;
	assert_int_equal(sdw_layout_from_debug_offsets(words, sizeof(words), &layout), -EINVAL);
	words[38] = 72;
	words[49] = 200;
	assert_int_equal(sdw_layout_from_debug_offsets(words, sizeof(words), &layout), 0);
	assert_int_equal(layout.frame_copy, 72);
	assert_int_equal(layout.frame_span, 76);
	assert_int_equal(layout.code_copies, 200);
	assert_int_equal(layout.unicode_state_kind, 8);
	words[2] = 0;
	/* 3.15 has 111 words */
	words[1] = 0x030f00f0;
	assert_int_equal(sdw_layout_from_debug_offsets(words, sizeof(words), &layout), -EINVAL);
}

static void test_free_threaded_builds_are_told_apart(void **state)
{
	struct sdw_pylayout layout;
	uint64_t words[WORDS];

	(void)state;
	memcpy(words, real_offsets, sizeof(words));
	words[FREE_THREADED] = 1;
	assert_int_equal(convert(words, &layout), 0);
	assert_int_equal(layout.free_threaded, 1);
	assert_int_equal(convert_with(FREE_THREADED, 2), -ENOTSUP);
}

static void test_other_versions_are_refused(void **state)
{
	(void)state;
	assert_int_equal(convert_with(VERSION, 0x031000f0), -ENOTSUP);
	assert_int_equal(convert_with(VERSION, 0x030c01f0), -ENOTSUP);
	assert_int_equal(convert_with(VERSION, 0), -ENOTSUP);
	assert_int_equal(convert_with(VERSION, UINT64_MAX), -ENOTSUP);
}

static void test_a_wrong_cookie_and_a_short_read_are_refused(void **state)
{
	struct sdw_pylayout layout;
	char bytes[sizeof(real_offsets)];

	(void)state;
	memcpy(bytes, real_offsets, sizeof(real_offsets));
	assert_int_equal(sdw_layout_from_debug_offsets(bytes, sizeof(bytes), &layout), -EINVAL);
	memcpy(bytes, "xdebugpy", 8);
	assert_int_equal(sdw_layout_from_debug_offsets(bytes, sizeof(bytes) - 1, &layout), -EINVAL);
}

static void test_offsets_outside_their_object_are_refused(void **state)
{
	(void)state;
	assert_int_equal(convert_with(INTERPRETERS_HEAD, 283320 - 7), -EINVAL);
	assert_int_equal(convert_with(INTERPRETERS_HEAD, UINT64_MAX - 3), -EINVAL);
	assert_int_equal(convert_with(THREADS_HEAD, 1ull << 32 | 72), -EINVAL);
	assert_int_equal(convert_with(GC, 194968 - 8), -EINVAL);
	assert_int_equal(convert_with(CURRENT_FRAME, 297), -EINVAL);
	assert_int_equal(convert_with(FRAME_EXECUTABLE, 73), -EINVAL);
	assert_int_equal(convert_with(CODE_LINETABLE, 201), -EINVAL);
}

static void test_objects_of_impossible_size_are_refused(void **state)
{
	(void)state;
	assert_int_equal(convert_with(RUNTIME_SIZE, 1ull << 40), -EINVAL);
	assert_int_equal(convert_with(RUNTIME_SIZE, 0), -EINVAL);
	assert_int_equal(convert_with(INTERPRETER_SIZE, UINT64_MAX), -EINVAL);
	assert_int_equal(convert_with(THREAD_SIZE, UINT64_MAX), -EINVAL);
	assert_int_equal(convert_with(FRAME_SIZE, 0), -EINVAL);
	assert_int_equal(convert_with(CODE_SIZE, 1 << 20), -EINVAL);
	assert_int_equal(convert_with(ASCII_SIZE, UINT64_MAX), -EINVAL);
	assert_int_equal(convert_with(GC_SIZE, UINT64_MAX), -EINVAL);
}

static void test_fields_too_far_apart_for_one_read_are_refused(void **state)
{
	uint64_t words[WORDS];
	struct sdw_pylayout layout;

	(void)state;
	memcpy(words, real_offsets, sizeof(words));
	words[FRAME_SIZE] = 4096;
	words[FRAME_EXECUTABLE] = 121;
	assert_int_equal(convert(words, &layout), -EINVAL);
	words[FRAME_EXECUTABLE] = 120;
	assert_int_equal(convert(words, &layout), 0);
	assert_int_equal(layout.frame_span, 128);
	words[CODE_SIZE] = 4096;
	words[CODE_LINETABLE] = 249;
	assert_int_equal(convert(words, &layout), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_version_of_the_table_has_its_own_entry),
		cmocka_unit_test(test_versions_beyond_the_table_are_refused),
		cmocka_unit_test(test_spans_of_the_table_hold_their_fields_and_fit_the_walker),
		cmocka_unit_test(test_3_13_describes_itself),
		cmocka_unit_test(test_later_versions_have_more_words),
		cmocka_unit_test(test_free_threaded_builds_are_told_apart),
		cmocka_unit_test(test_other_versions_are_refused),
		cmocka_unit_test(test_a_wrong_cookie_and_a_short_read_are_refused),
		cmocka_unit_test(test_offsets_outside_their_object_are_refused),
		cmocka_unit_test(test_objects_of_impossible_size_are_refused),
		cmocka_unit_test(test_fields_too_far_apart_for_one_read_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
