// SPDX-License-Identifier: MIT
/* test_code_completion.c - what a code record left out is read from the process. */
#include "code_records.h"

static void test_what_was_not_sent_is_read_from_the_process(void **state)
{
	struct fixture *f = *state;

	build_process(f);
	assert_int_equal(add(f, &LAYOUT), 0);
	expect(f, 1000, "n\xe5\x90\x8d", "/srv/paged out.py");
	assert_int_equal(line(f, 1000, 4), 10);
	assert_int_equal(statistics(f)->completed, 1);
	assert_int_equal(statistics(f)->incomplete, 0);
}

static void test_nothing_is_taken_from_a_code_object_that_is_another_by_now(void **state)
{
	struct fixture *f = *state;

	build_process(f);
	poke_word(CODE_AT + 40, 8); /* another first line */
	assert_int_equal(add(f, &LAYOUT), 0);
	expect(f, 1000, "[unknown]", "[unknown]");
	assert_int_equal(statistics(f)->completed, 0);
}

static void test_what_was_read_while_the_code_object_changed_is_dropped(void **state)
{
	struct fixture *f = *state;

	build_process(f);
	process.change_after = 2; /* a string's head, its characters */
	assert_int_equal(add(f, &LAYOUT), 0);
	expect(f, 1000, "[unknown]", "[unknown]");
}

static void test_a_process_that_is_gone_leaves_what_was_sent(void **state)
{
	struct fixture *f = *state;

	build_process(f);
	process.gone = true;
	send_text(f, &f->record.qualname, SDW_TEXT_ASCII, "sta", 3, 9);
	assert_int_equal(add(f, &LAYOUT), 0);
	expect(f, 1000, "sta\xe2\x80\xa6", "[unknown]");
}

static void test_names_are_read_to_four_kilobytes_and_paths_from_their_end(void **state)
{
	static char text[9000], expected[4200];
	struct fixture *f = *state;
	const struct sdw_code *code;

	memset(text, 'x', sizeof(text));
	memcpy(text, "begin", 5);
	memcpy(text + sizeof(text) - 4, "e.py", 4);
	build_process(f);
	poke_string(NAME_AT, 0, text, sizeof(text));
	poke_string(FILE_AT, 0, text, sizeof(text));
	assert_int_equal(add(f, &LAYOUT), 0);
	code = sdw_code_table_find(f->table, 1000);
	snprintf(expected, sizeof(expected), "%.4096s\xe2\x80\xa6", text);
	assert_string_equal(code->name, expected);
	snprintf(expected, sizeof(expected), "\xe2\x80\xa6%.4096s", text + sizeof(text) - 4096);
	assert_string_equal(code->file, expected);
	assert_int_equal(statistics(f)->incomplete, 1);
	assert_false(code->incomplete); /* no later record can say more */
}

static void test_lengths_without_measure_read_nothing(void **state)
{
	struct fixture *f = *state;

	build_process(f);
	poke_word(NAME_AT + 16, UINT64_MAX);
	poke_word(FILE_AT + 16, 1ull << 63);
	poke_word(TABLE_AT + 16, UINT64_MAX - 7);
	assert_int_equal(add(f, &LAYOUT), 0);
	expect(f, 1000, "[unknown]", "[unknown]");
	assert_int_equal(line(f, 1000, 4), 7);
}

static void test_a_long_line_table_is_read_to_its_end(void **state)
{
	enum { ENTRIES = 30000 };
	struct fixture *f = *state;

	build_process(f);
	poke_word(TABLE_AT + 16, 3ull * ENTRIES);
	for (uint64_t i = 0; i < ENTRIES; i++)
		poke(TABLE_AT + 32 + 3 * i, (uint8_t[]){0x80 | 11 << 3, 0, 0}, 3);
	send_text(f, &f->record.linetable, SDW_TEXT_BYTES, process.bytes + (TABLE_AT - BASE) + 32,
		  SDW_MAX_LINETABLE_BYTES, 3ull * ENTRIES);
	assert_int_equal(add(f, &LAYOUT), 0);
	assert_int_equal(line(f, 1000, 2 * ENTRIES - 2), 7 + ENTRIES);
	assert_int_equal(statistics(f)->lines_unknown, 0);
}

static void test_a_layout_without_sense_reads_nothing(void **state)
{
	struct fixture *f = *state;
	struct sdw_pylayout layout;

	memset(&layout, 0xee, sizeof(layout));
	build_process(f);
	assert_int_equal(add(f, &layout), 0);
	expect(f, 1000, "[unknown]", "[unknown]");
	layout = LAYOUT;
	layout.unicode_length = UINT32_MAX - 3;
	layout.unicode_state = 61;
	f->record.id = 1001;
	assert_int_equal(add(f, &layout), 0);
	expect(f, 1001, "[unknown]", "[unknown]");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_what_was_not_sent_is_read_from_the_process),
		TEST(test_nothing_is_taken_from_a_code_object_that_is_another_by_now),
		TEST(test_what_was_read_while_the_code_object_changed_is_dropped),
		TEST(test_a_process_that_is_gone_leaves_what_was_sent),
		TEST(test_names_are_read_to_four_kilobytes_and_paths_from_their_end),
		TEST(test_lengths_without_measure_read_nothing),
		TEST(test_a_long_line_table_is_read_to_its_end),
		TEST(test_a_layout_without_sense_reads_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
