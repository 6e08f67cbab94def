// SPDX-License-Identifier: MIT
/* test_text.c - what a target's strings look like to people. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <linux/types.h>

#include "events.h"
#include "symbol/pycode.h"

static void check(uint32_t kind, const void *bytes, size_t size, int front, int back,
		  const char *expected)
{
	/* a copy of exact size, so that the sanitizer sees a read beyond it */
	char *exact = malloc(size ? size : 1);
	char *text;

	assert_non_null(exact);
	memcpy(exact, bytes, size);
	text = sdw_text_decode(kind, exact, size, front, back);
	assert_non_null(text);
	assert_string_equal(text, expected);
	free(text);
	free(exact);
}

static void test_ascii_names_are_kept(void **state)
{
	(void)state;
	check(SDW_TEXT_ASCII, "run_forever", 11, 0, 0, "run_forever");
	check(SDW_TEXT_ASCII, "", 0, 0, 0, "");
	check(SDW_TEXT_ASCII, "a;b\n<c>\x1b", 8, 0, 0, "a;b\n<c>\x1b");
}

static void test_ascii_that_is_not_is_shown_as_bytes(void **state)
{
	(void)state;
	check(SDW_TEXT_ASCII, "a\xff\x80z", 4, 0, 0, "a\\xff\\x80z");
}

static void test_latin1_becomes_utf8(void **state)
{
	(void)state;
	check(SDW_TEXT_LATIN1, "caf\xe9\xff", 5, 0, 0, "caf\xc3\xa9\xc3\xbf");
}

static void test_ucs2_becomes_utf8(void **state)
{
	static const uint16_t name[] = {0x540d, 0x524d, 'x', 0x7ff, 0x800, 0xffff};

	(void)state;
	check(SDW_TEXT_UCS2, name, sizeof(name), 0, 0,
	      "\xe5\x90\x8d\xe5\x89\x8dx\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf");
}

static void test_ucs4_becomes_utf8(void **state)
{
	static const uint32_t name[] = {'f', 0x1f40d, 0x10ffff};

	(void)state;
	check(SDW_TEXT_UCS4, name, sizeof(name), 0, 0, "f\xf0\x9f\x90\x8d\xf4\x8f\xbf\xbf");
}

static void test_lone_surrogates_are_escaped(void **state)
{
	static const uint16_t two[] = {'a', 0xd800, 0xdfff, 0xdc80};
	static const uint32_t four[] = {0xdcff, 0x1f40d};

	(void)state;
	check(SDW_TEXT_UCS2, two, sizeof(two), 0, 0, "a\\ud800\\udfff\\udc80");
	check(SDW_TEXT_UCS4, four, sizeof(four), 0, 0, "\\udcff\xf0\x9f\x90\x8d");
}

static void test_nul_is_escaped_in_every_kind(void **state)
{
	static const uint16_t two[] = {'a', 0};
	static const uint32_t four[] = {0, 'b'};

	(void)state;
	check(SDW_TEXT_ASCII, "a\0b", 3, 0, 0, "a\\x00b");
	check(SDW_TEXT_LATIN1, "\0\xe9", 2, 0, 0, "\\x00\xc3\xa9");
	check(SDW_TEXT_UCS2, two, sizeof(two), 0, 0, "a\\x00");
	check(SDW_TEXT_UCS4, four, sizeof(four), 0, 0,
	      "\\x00"
	      "b");
	check(SDW_TEXT_BYTES, "\0x", 2, 0, 0, "\\x00x");
}

static void test_values_beyond_unicode_become_the_replacement_character(void **state)
{
	static const uint32_t name[] = {0x110000, 0xffffffff};

	(void)state;
	check(SDW_TEXT_UCS4, name, sizeof(name), 0, 0, "\xef\xbf\xbd\xef\xbf\xbd");
}

static void test_bytes_that_are_utf8_are_kept(void **state)
{
	static const char path[] = "/t\xc3\xa9/\xe5\x90\x8d/\xf0\x9f\x90\x8d.py";

	(void)state;
	check(SDW_TEXT_BYTES, path, sizeof(path) - 1, 0, 0, path);
}

static void test_bytes_that_are_not_utf8_are_escaped_one_by_one(void **state)
{
	(void)state;
	check(SDW_TEXT_BYTES,
	      "a\xff"
	      "b",
	      3, 0, 0, "a\\xffb");
	check(SDW_TEXT_BYTES, "\xc0\x80", 2, 0, 0, "\\xc0\\x80");	   /* overlong */
	check(SDW_TEXT_BYTES, "\xe0\x80\x80", 3, 0, 0, "\\xe0\\x80\\x80"); /* overlong */
	check(SDW_TEXT_BYTES, "\xed\xa0\x80", 3, 0, 0, "\\xed\\xa0\\x80"); /* surrogate */
	check(SDW_TEXT_BYTES, "\xf4\x90\x80\x80", 4, 0, 0, "\\xf4\\x90\\x80\\x80");
	check(SDW_TEXT_BYTES, "\xe5\x90", 2, 0, 0, "\\xe5\\x90"); /* ends early */
	check(SDW_TEXT_BYTES, "\xe5\x90\xc3\xa9", 4, 0, 0, "\\xe5\\x90\xc3\xa9");
}

static void test_missing_characters_are_marked_where_they_are_missing(void **state)
{
	(void)state;
	check(SDW_TEXT_ASCII, "lib/x.py", 8, 1, 0, "\xe2\x80\xa6lib/x.py");
	check(SDW_TEXT_ASCII, "long_na", 7, 0, 1, "long_na\xe2\x80\xa6");
	check(SDW_TEXT_ASCII, "mid", 3, 1, 1, "\xe2\x80\xa6mid\xe2\x80\xa6");
	check(SDW_TEXT_NONE, "", 0, 0, 1, "\xe2\x80\xa6");
}

static void test_a_character_split_by_a_cut_is_part_of_what_is_missing(void **state)
{
	static const uint8_t torn[] = {'a', 0, 'b', 0, 'c'};

	(void)state;
	check(SDW_TEXT_BYTES, "\x90\x8d/x", 4, 1, 0, "\xe2\x80\xa6/x");
	check(SDW_TEXT_BYTES, "x/\xe5\x90", 4, 0, 1, "x/\xe2\x80\xa6");
	check(SDW_TEXT_UCS2, torn, sizeof(torn), 0, 0, "ab\xe2\x80\xa6");
	check(SDW_TEXT_UCS4, torn, 3, 0, 0, "\xe2\x80\xa6");
}

static void test_unknown_kinds_give_nothing(void **state)
{
	(void)state;
	check(SDW_TEXT_NONE, "abc", 3, 0, 0, "");
	check(6, "abc", 3, 0, 0, "");
	check(0xffffffff, "abc", 3, 0, 0, "");
}

static void test_the_longest_escapes_fit(void **state)
{
	uint8_t bytes[256];

	(void)state;
	for (uint32_t kind = SDW_TEXT_ASCII; kind <= SDW_TEXT_BYTES; kind++) {
		for (int fill = 0; fill < 256; fill++) {
			char *text;

			memset(bytes, fill, sizeof(bytes));
			text = sdw_text_decode(kind, bytes, sizeof(bytes), 1, 1);
			assert_non_null(text);
			assert_in_range(strlen(text), 6, 4 * sizeof(bytes) + 6);
			free(text);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ascii_names_are_kept),
		cmocka_unit_test(test_ascii_that_is_not_is_shown_as_bytes),
		cmocka_unit_test(test_latin1_becomes_utf8),
		cmocka_unit_test(test_ucs2_becomes_utf8),
		cmocka_unit_test(test_ucs4_becomes_utf8),
		cmocka_unit_test(test_lone_surrogates_are_escaped),
		cmocka_unit_test(test_nul_is_escaped_in_every_kind),
		cmocka_unit_test(test_values_beyond_unicode_become_the_replacement_character),
		cmocka_unit_test(test_bytes_that_are_utf8_are_kept),
		cmocka_unit_test(test_bytes_that_are_not_utf8_are_escaped_one_by_one),
		cmocka_unit_test(test_missing_characters_are_marked_where_they_are_missing),
		cmocka_unit_test(test_a_character_split_by_a_cut_is_part_of_what_is_missing),
		cmocka_unit_test(test_unknown_kinds_give_nothing),
		cmocka_unit_test(test_the_longest_escapes_fit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
