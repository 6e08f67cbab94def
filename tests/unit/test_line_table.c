// SPDX-License-Identifier: MIT
/*
 * test_line_table.c - lines from tables written by hand after the formats' descriptions, and from
 * junk. Tables of real compilers: make lines.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "symbol/pycode.h"

#define LINE(version, table, first, instruction) \
	line_of(version, table, sizeof(table), first, instruction, 0)
#define BROKEN_LINE(version, table, size, first, instruction) \
	line_of(version, table, size, first, instruction, 1)

static uint32_t line_of(uint16_t version, const uint8_t *table, size_t size, int32_t first,
			int32_t instruction, int expect_broken)
{
	int broken = 2;
	uint32_t line = sdw_line_of(version, table, size, first, instruction, &broken);

	assert_int_equal(broken, expect_broken);
	return line;
}

static void test_code_that_was_not_started_is_at_its_first_line(void **state)
{
	static const uint8_t table[] = {0xff};
	static const uint16_t versions[] = {0x306, 0x308, 0x309, 0x30a, 0x30b, 0x30c, 0x30d};

	(void)state;
	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
		assert_int_equal(LINE(versions[i], table, 17, -1), 17);
		assert_int_equal(LINE(versions[i], table, 17, INT32_MIN), 17);
	}
}

static void test_lnotab_steps_forward_and_backward(void **state)
{
	/* lines 10, 11 from 4, 9 from 6, and on to the end */
	static const uint8_t table[] = {4, 1, 2, 0xfe};

	(void)state;
	assert_int_equal(LINE(0x308, table, 10, 0), 10);
	assert_int_equal(LINE(0x308, table, 10, 3), 10);
	assert_int_equal(LINE(0x308, table, 10, 4), 11);
	assert_int_equal(LINE(0x308, table, 10, 6), 9);
	assert_int_equal(LINE(0x309, table, 10, 60000), 9);
}

static void test_lnotab_of_2_7_only_steps_forward(void **state)
{
	static const uint8_t table[] = {4, 1, 2, 0xfe};

	(void)state;
	assert_int_equal(LINE(0x207, table, 10, 4), 11);
	assert_int_equal(LINE(0x207, table, 10, 6), 265);
	assert_int_equal(LINE(0x306, table, 10, 6), 9);
}

static void test_lnotab_adds_up_steps_larger_than_a_byte(void **state)
{
	/* 300 bytes of code, then 300 lines on: (255, 0) (45, 127) (0, 127) (0, 46) */
	static const uint8_t table[] = {255, 0, 45, 127, 0, 127, 0, 46};

	(void)state;
	assert_int_equal(LINE(0x308, table, 1, 299), 1);
	assert_int_equal(LINE(0x308, table, 1, 300), 301);
}

static void test_an_empty_lnotab_means_one_line(void **state)
{
	(void)state;
	assert_int_equal(line_of(0x309, (const uint8_t *)"", 0, 5, 100, 0), 5);
}

static void test_a_lnotab_without_its_last_byte_is_broken_only_where_it_counts(void **state)
{
	static const uint8_t table[] = {4, 1, 2};

	(void)state;
	assert_int_equal(LINE(0x309, table, 10, 2), 10);
	assert_int_equal(LINE(0x309, table, 10, 5), 11);
	assert_int_equal(BROKEN_LINE(0x309, table, 3, 10, 6), 10);
}

static void test_ranges_of_310_give_lines_and_none(void **state)
{
	/* [0, 4) line 11, [4, 6) no line, [6, 10) line 8, an empty range that only steps, [10, 12)
	 * 138 */
	static const uint8_t table[] = {4, 1, 2, 0x80, 4, 0xfd, 0, 127, 2, 3};

	(void)state;
	assert_int_equal(LINE(0x30a, table, 10, 0), 11);
	assert_int_equal(LINE(0x30a, table, 10, 3), 11);
	assert_int_equal(LINE(0x30a, table, 10, 4), 0);
	assert_int_equal(LINE(0x30a, table, 10, 6), 8);
	assert_int_equal(LINE(0x30a, table, 10, 9), 8);
	assert_int_equal(LINE(0x30a, table, 10, 10), 138);
}

static void test_ranges_of_310_that_end_early_give_the_first_line(void **state)
{
	static const uint8_t table[] = {4, 1, 2, 1};

	(void)state;
	assert_int_equal(BROKEN_LINE(0x30a, table, 4, 10, 6), 10);
	assert_int_equal(BROKEN_LINE(0x30a, table, 3, 10, 4), 10);
	assert_int_equal(BROKEN_LINE(0x30a, table, 0, 10, 0), 10);
}

/* first byte of an entry of a location table */
#define ENTRY(kind, units) (0x80 | (kind) << 3 | ((units)-1))

static void test_every_kind_of_location_entry_is_understood(void **state)
{
	static const uint8_t table[] = {
		ENTRY(0, 1),
		0x12, /* [0, 2)   short form: same line, 20 */
		ENTRY(9, 2),
		0x7f, /* [2, 6)   the last short form: 20 */
		ENTRY(10, 1),
		1,
		2, /* [6, 8)   one line, + 0: 20 */
		ENTRY(11, 1),
		1,
		2, /* [8, 10)  + 1: 21 */
		ENTRY(12, 8),
		1,
		2, /* [10, 26) + 2: 23 */
		ENTRY(13, 1),
		0x07,	      /* [26, 28) no columns, - 3: 20 */
		ENTRY(15, 1), /* [28, 30) none */
		ENTRY(14, 1),
		0x48,
		0x03,
		0,
		1,
		2, /* [30, 32) long, + (8 + 3 * 64) / 2 = 100: 120 */
	};

	(void)state;
	assert_int_equal(LINE(0x30b, table, 20, 0), 20);
	assert_int_equal(LINE(0x30b, table, 20, 5), 20);
	assert_int_equal(LINE(0x30c, table, 20, 6), 20);
	assert_int_equal(LINE(0x30c, table, 20, 8), 21);
	assert_int_equal(LINE(0x30c, table, 20, 10), 23);
	assert_int_equal(LINE(0x30d, table, 20, 25), 23);
	assert_int_equal(LINE(0x30d, table, 20, 26), 20);
	assert_int_equal(LINE(0x30d, table, 20, 28), 0);
	assert_int_equal(LINE(0x30d, table, 20, 30), 120);
	assert_int_equal(BROKEN_LINE(0x30d, table, sizeof(table), 20, 32), 20);
}

static void test_an_instruction_at_line_zero_has_no_line(void **state)
{
	/* what 3.11 and later give the RESUME of a module: first line 1, step - 1 */
	static const uint8_t table[] = {ENTRY(13, 1), 0x03, ENTRY(11, 1), 0, 0};

	(void)state;
	assert_int_equal(LINE(0x30b, table, 1, 0), 0);
	assert_int_equal(LINE(0x30b, table, 1, 2), 1);
}

static void test_broken_location_entries_give_the_first_line(void **state)
{
	static const uint8_t no_start[] = {0x12, ENTRY(0, 1), 0x12};
	static const uint8_t cut[] = {ENTRY(14, 1), 0x48};
	static const uint8_t nothing[] = {ENTRY(13, 1)};
	static const uint8_t too_long[] = {ENTRY(13, 1), 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x01};
	static const uint8_t into_next[] = {ENTRY(13, 1), 0x48, ENTRY(0, 8), 0x12};

	(void)state;
	assert_int_equal(BROKEN_LINE(0x30b, no_start, sizeof(no_start), 9, 0), 9);
	assert_int_equal(BROKEN_LINE(0x30b, cut, sizeof(cut), 9, 0), 9);
	assert_int_equal(BROKEN_LINE(0x30b, nothing, sizeof(nothing), 9, 0), 9);
	assert_int_equal(BROKEN_LINE(0x30b, too_long, sizeof(too_long), 9, 0), 9);
	assert_int_equal(BROKEN_LINE(0x30b, into_next, sizeof(into_next), 9, 0), 9);
	assert_int_equal(BROKEN_LINE(0x30b, NULL, 0, 9, 0), 9);
}

static void test_lines_that_no_file_can_have_are_broken(void **state)
{
	static const uint8_t below[] = {0, 0x80, 0, 0x80, 2, 0};
	static const uint8_t above[] = {ENTRY(13, 1), 0x7e, 0x7f, 0x7f, 0x7f, 0x7f, 0x3f};

	(void)state;
	assert_int_equal(BROKEN_LINE(0x309, below, sizeof(below), 7, 2), 7);
	assert_int_equal(BROKEN_LINE(0x30c, above, sizeof(above), 7, 0), 7);
	assert_int_equal(LINE(0x30c, below, -5, -1), 0);
}

/* xorshift64: the same junk on each run */
static uint64_t next_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

static void test_junk_ends_and_gives_a_line_or_the_first_one(void **state)
{
	uint64_t seed = 0x9e3779b97f4a7c15ull;

	(void)state;
	for (int turn = 0; turn < 60000; turn++) {
		uint16_t version = (uint16_t)(0x306 + next_random(&seed) % 8);
		size_t size = next_random(&seed) % 64;
		int32_t first = (int32_t)next_random(&seed);
		int32_t instruction = (int32_t)(next_random(&seed) % 600);
		uint8_t *table = malloc(size ? size : 1); /* exact: a read beyond is seen */
		int broken;
		uint32_t line;

		assert_non_null(table);
		for (size_t i = 0; i < size; i++)
			table[i] = (uint8_t)next_random(&seed);
		if (turn % 4 == 0)
			instruction = INT32_MAX;
		line = sdw_line_of(version, table, size, first, instruction, &broken);
		assert_true(line <= INT32_MAX);
		if (broken)
			assert_int_equal(line, first > 0 ? first : 0);
		free(table);
	}
}

static void expect_position(const struct sdw_position *at, uint32_t line, uint32_t end_line,
			    uint16_t column, uint16_t end_column)
{
	assert_int_equal(at->line, line);
	assert_int_equal(at->end_line, end_line);
	assert_int_equal(at->column, column);
	assert_int_equal(at->end_column, end_column);
}

static void test_columns_of_every_kind_of_location_entry(void **state)
{
	static const uint8_t table[] = {
		ENTRY(3, 1),  0x5a,    /* [0, 2)   short: column 3 * 8 + 5, 10 long */
		ENTRY(10, 1), 1,    2, /* [2, 4)   one line: 1 to 2 */
		ENTRY(13, 1), 0x00,    /* [4, 6)   none */
		ENTRY(14, 1), 0x02, 3, 0x41, 0x02, 6, /* [6, 8) + 1, 3 lines more, 129 - 1 to 5 */
		ENTRY(14, 1), 0x00, 0, 0,    0,	      /* [8, 10) none, told as 0 */
		ENTRY(11, 1), 9,    4,		      /* [10, 12) ends before it begins: none */
		ENTRY(15, 1),			      /* [12, 14) no line */
		ENTRY(14, 1), 0x00, 2, 7,	      /* [14, 16) cut: the line is there */
	};
	static const uint32_t expected[][4] = {{20, 20, 30, 40}, {20, 20, 2, 3}, {20, 0, 0, 0},
					       {21, 24, 129, 6}, {21, 0, 0, 0},	 {22, 0, 0, 0},
					       {0, 0, 0, 0},	 {22, 0, 0, 0}};
	int broken;

	(void)state;
	for (int32_t i = 0; i < 8; i++) {
		struct sdw_position at =
			sdw_position_of(0x30c, table, sizeof(table), 20, 2 * i, &broken);

		assert_false(broken);
		expect_position(&at, expected[i][0], expected[i][1], (uint16_t)expected[i][2],
				(uint16_t)expected[i][3]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_code_that_was_not_started_is_at_its_first_line),
		cmocka_unit_test(test_lnotab_steps_forward_and_backward),
		cmocka_unit_test(test_lnotab_of_2_7_only_steps_forward),
		cmocka_unit_test(test_lnotab_adds_up_steps_larger_than_a_byte),
		cmocka_unit_test(test_an_empty_lnotab_means_one_line),
		cmocka_unit_test(
			test_a_lnotab_without_its_last_byte_is_broken_only_where_it_counts),
		cmocka_unit_test(test_ranges_of_310_give_lines_and_none),
		cmocka_unit_test(test_ranges_of_310_that_end_early_give_the_first_line),
		cmocka_unit_test(test_every_kind_of_location_entry_is_understood),
		cmocka_unit_test(test_columns_of_every_kind_of_location_entry),
		cmocka_unit_test(test_an_instruction_at_line_zero_has_no_line),
		cmocka_unit_test(test_broken_location_entries_give_the_first_line),
		cmocka_unit_test(test_lines_that_no_file_can_have_are_broken),
		cmocka_unit_test(test_junk_ends_and_gives_a_line_or_the_first_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
