// SPDX-License-Identifier: MIT
/*
 * test_code_table.c - code objects get their names and lines, from records and from a process's
 * memory.
 *
 * The process is an array of bytes; the layout of its objects is made up for the test.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "symbol/code_table.h"

#define PID	  77u
#define EPOCH	  5u
#define BASE	  0x10000ull /* address of the process's first byte */
#define CODE_AT	  BASE
#define NAME_AT	  (BASE + 0x100)
#define FILE_AT	  (BASE + 0x10000)
#define TABLE_AT  (BASE + 0x20000)
#define UNLIMITED (1ull << 30)

static const struct sdw_pylayout LAYOUT = {
	.version = 0x030c,
	.code_filename = 16,
	.code_name = 24,
	.code_qualname = 32,
	.code_firstlineno = 40,
	.code_linetable = 48,
	.code_span = 64,
	.bytes_size = 16,
	.bytes_data = 32,
	.unicode_length = 16,
	.unicode_state = 32,
	.unicode_state_kind = 2,
	.unicode_ascii_data = 40,
	.unicode_compact_data = 56,
};

static struct {
	uint8_t bytes[0x400000];
	unsigned int reads;
	bool gone;
	unsigned int change_after; /* reads, after which the code object is another; 0: never */
} process;

static int read_process(uint32_t pid, uint64_t address, void *to, size_t size)
{
	if (process.gone || pid != PID)
		return -ESRCH;
	if (address < BASE || address - BASE > sizeof(process.bytes) ||
	    size > sizeof(process.bytes) - (address - BASE))
		return -EFAULT;
	memcpy(to, process.bytes + (address - BASE), size);
	if (++process.reads == process.change_after)
		memset(process.bytes + (CODE_AT - BASE), 0x55, 64);
	return 0;
}

static void poke(uint64_t address, const void *bytes, size_t size)
{
	memcpy(process.bytes + (address - BASE), bytes, size);
}

static void poke_word(uint64_t address, uint64_t word)
{
	poke(address, &word, sizeof(word));
}

/* A compact str: kind 1, 2 or 4, or 0 for ASCII. */
static void poke_string(uint64_t address, uint32_t kind, const void *text, size_t length)
{
	uint32_t state = (kind ? kind : 1) << 2 | 1u << 5 | (kind ? 0u : 1u << 6);

	poke_word(address + 16, length);
	poke(address + 32, &state, sizeof(state));
	poke(address + (kind ? 56 : 40), text, length * (kind ? kind : 1));
}

struct fixture {
	struct sdw_strings strings;
	struct sdw_code_table *table;
	struct sdw_record_code record;
	uint8_t sent[0x10000]; /* what follows the record */
	size_t used;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	memset(&process, 0, sizeof(process));
	assert_int_equal(sdw_code_table_create(&f->strings, UNLIMITED, read_process, &f->table), 0);
	f->record.record.type = SDW_RECORD_CODE;
	f->record.record.pid = PID;
	f->record.record.epoch = EPOCH;
	f->record.id = 1000;
	f->record.addr = CODE_AT;
	f->record.first_line = 7;
	f->record.version = 0x030c;
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	sdw_code_table_free(f->table);
	sdw_strings_free(&f->strings);
	free(f);
	return 0;
}

/* Adds the next text, in the order name, qualname, filename, linetable. */
static void send_text(struct fixture *f, struct sdw_text *text, uint32_t kind, const void *bytes,
		      uint32_t size, uint64_t length)
{
	text->kind = kind;
	text->bytes = size;
	text->length = length;
	memcpy(f->sent + f->used, bytes, size);
	f->used += size;
}

static void send_ascii(struct fixture *f, struct sdw_text *text, const char *bytes)
{
	send_text(f, text, SDW_TEXT_ASCII, bytes, (uint32_t)strlen(bytes), strlen(bytes));
}

/* line 8 for four bytes of code, then 10 for two */
static const uint8_t LINES[] = {0x80 | 11 << 3 | 1, 0, 0, 0x80 | 12 << 3, 0, 0};

static void send_lines(struct fixture *f)
{
	send_text(f, &f->record.linetable, SDW_TEXT_BYTES, LINES, sizeof(LINES), sizeof(LINES));
}

static void send_usual(struct fixture *f)
{
	f->record.qualname.addr = NAME_AT;
	send_ascii(f, &f->record.name, "run");
	send_ascii(f, &f->record.qualname, "App.run");
	send_ascii(f, &f->record.filename, "/srv/app.py");
	send_lines(f);
}

/* Sends the record in a buffer of exactly its size. */
static int add_sized(struct fixture *f, size_t size, const struct sdw_pylayout *layout)
{
	struct sdw_record_code *copy = malloc(size ? size : 1);
	size_t head = size < sizeof(*copy) ? size : sizeof(*copy);
	int err;

	assert_non_null(copy);
	memcpy(copy, &f->record, head);
	memcpy((uint8_t *)copy + head, f->sent, size - head);
	err = sdw_code_table_add(f->table, copy, size, layout);
	free(copy);
	return err;
}

static int add(struct fixture *f, const struct sdw_pylayout *layout)
{
	f->record.record.size = (uint32_t)(sizeof(f->record) + f->used);
	return add_sized(f, f->record.record.size, layout);
}

static void expect(struct fixture *f, uint64_t id, const char *name, const char *file)
{
	const struct sdw_code *code = sdw_code_table_find(f->table, id);

	assert_string_equal(code->name, name);
	assert_string_equal(code->file, file);
}

static uint32_t line(struct fixture *f, uint64_t id, int32_t instruction)
{
	return sdw_code_table_line(f->table, sdw_code_table_find(f->table, id), instruction);
}

static const struct sdw_code_statistics *statistics(struct fixture *f)
{
	return sdw_code_table_statistics(f->table);
}

static void test_a_whole_record_gives_name_file_and_lines(void **state)
{
	struct fixture *f = *state;

	send_usual(f);
	assert_int_equal(add(f, &LAYOUT), 0);
	expect(f, 1000, "App.run", "/srv/app.py");
	assert_int_equal(sdw_code_table_find(f->table, 1000)->first_line, 7);
	assert_int_equal(line(f, 1000, -1), 7);
	assert_int_equal(line(f, 1000, 0), 8);
	assert_int_equal(line(f, 1000, 4), 10);
	assert_int_equal(statistics(f)->records, 1);
	assert_int_equal(statistics(f)->incomplete, 0);
	assert_int_equal(process.reads, 0);    /* nothing was missing */
	assert_int_equal(line(f, 1000, 6), 7); /* behind its end */
	assert_int_equal(statistics(f)->lines_unknown, 1);
}

static void test_versions_without_qualified_names_have_the_plain_one(void **state)
{
	static const uint8_t lnotab[] = {4, 3};
	struct fixture *f = *state;

	f->record.version = 0x0308;
	send_ascii(f, &f->record.name, "run");
	send_ascii(f, &f->record.filename, "app.py");
	send_text(f, &f->record.linetable, SDW_TEXT_BYTES, lnotab, 2, 2);
	assert_int_equal(add(f, NULL), 0);
	expect(f, 1000, "run", "app.py");
	assert_int_equal(line(f, 1000, 2), 7);
	assert_int_equal(line(f, 1000, 200), 10);
}

static void test_names_of_2_7_are_bytes(void **state)
{
	static const uint8_t lnotab[] = {4, 200};
	struct fixture *f = *state;

	f->record.version = 0x0207;
	send_text(f, &f->record.name, SDW_TEXT_BYTES, "r\xe9", 2, 2);
	send_text(f, &f->record.filename, SDW_TEXT_BYTES, "/\xc3\xa9.py", 6, 6);
	send_text(f, &f->record.linetable, SDW_TEXT_BYTES, lnotab, 2, 2);
	assert_int_equal(add(f, NULL), 0);
	expect(f, 1000, "r\\xe9", "/\xc3\xa9.py");
	assert_int_equal(line(f, 1000, 4), 207);
}

static void test_every_string_kind_is_decoded(void **state)
{
	static const uint16_t two[] = {0x540d, 0xd800};
	static const uint32_t four[] = {0x1f40d};
	struct fixture *f = *state;

	f->record.qualname.addr = NAME_AT;
	send_text(f, &f->record.name, SDW_TEXT_LATIN1, "\xe9", 1, 1);
	send_text(f, &f->record.qualname, SDW_TEXT_UCS4, four, 4, 1);
	send_text(f, &f->record.filename, SDW_TEXT_UCS2, two, 4, 2);
	send_lines(f);
	assert_int_equal(add(f, NULL), 0);
	expect(f, 1000, "\xf0\x9f\x90\x8d", "\xe5\x90\x8d\\ud800");
}

static void test_an_id_without_record_is_unknown(void **state)
{
	struct fixture *f = *state;

	expect(f, 4242, "[unknown]", "[unknown]");
	assert_true(sdw_code_table_find(f->table, 4242)->incomplete);
	expect(f, 0, "[unknown]", "[unknown]");
	assert_int_equal(line(f, 4242, 10), 0);
}

static void test_torn_records_are_refused_and_counted(void **state)
{
	struct fixture *f = *state;
	size_t whole;

	send_usual(f);
	whole = sizeof(f->record) + f->used;
	for (size_t size = 0; size < whole + 8; size++) {
		f->record.record.size = (uint32_t)whole;
		if (size != whole)
			assert_int_equal(add_sized(f, size, NULL), -EINVAL);
	}
	assert_int_equal(statistics(f)->broken, whole + 7);
	expect(f, 1000, "[unknown]", "[unknown]");
}

static void test_records_that_contradict_themselves_are_refused(void **state)
{
	struct fixture *f = *state;
	struct sdw_record_code good;

	send_usual(f);
	good = f->record;
	f->record.name.bytes++; /* the parts are more than the whole */
	assert_int_equal(add(f, NULL), -EINVAL);
	f->record = good;
	f->record.name.bytes += 0x80000000u; /* sums that wrap */
	f->record.qualname.bytes += 0x80000000u;
	assert_int_equal(add(f, NULL), -EINVAL);
	f->record = good;
	f->record.name.kind = SDW_TEXT_NONE; /* nothing, in three bytes */
	assert_int_equal(add(f, NULL), -EINVAL);
	f->record.name.kind = SDW_TEXT_BYTES; /* a name is no bytes object, but in 2.7 */
	assert_int_equal(add(f, NULL), -EINVAL);
	f->record.name.kind = 99;
	assert_int_equal(add(f, NULL), -EINVAL);
	f->record = good;
	f->record.linetable.kind = SDW_TEXT_ASCII;
	assert_int_equal(add(f, NULL), -EINVAL);
	f->record = good;
	f->record.id = 0;
	assert_int_equal(add(f, NULL), -EINVAL);
	f->record = good;
	assert_int_equal(add(f, NULL), 0);
}

static void test_what_was_cut_is_marked_and_a_path_keeps_its_end(void **state)
{
	struct fixture *f = *state;

	f->record.qualname.addr = NAME_AT;
	send_ascii(f, &f->record.name, "");
	send_text(f, &f->record.qualname, SDW_TEXT_ASCII, "long_na", 7, 5000);
	send_text(f, &f->record.filename, SDW_TEXT_ASCII, "ir/app.py", 9, UINT64_MAX);
	send_lines(f);
	assert_int_equal(add(f, NULL), 0);
	expect(f, 1000, "long_na\xe2\x80\xa6", "\xe2\x80\xa6ir/app.py");
	assert_int_equal(statistics(f)->incomplete, 1);
}

static void test_what_nobody_could_read_is_unknown_and_keeps_the_first_line(void **state)
{
	struct fixture *f = *state;

	f->record.name.addr = f->record.qualname.addr = NAME_AT;
	f->record.linetable.addr = TABLE_AT;
	assert_int_equal(add(f, NULL), 0);
	expect(f, 1000, "[unknown]", "[unknown]");
	assert_int_equal(line(f, 1000, 4), 7);
	assert_int_equal(statistics(f)->incomplete, 1);
	assert_int_equal(statistics(f)->lines_unknown, 1);
}

static void test_the_plain_name_stands_in_for_a_qualified_one_that_is_not_known(void **state)
{
	struct fixture *f = *state;

	f->record.qualname.addr = NAME_AT;
	send_ascii(f, &f->record.name, "run");
	send_ascii(f, &f->record.filename, "a.py");
	send_lines(f);
	assert_int_equal(add(f, NULL), 0);
	expect(f, 1000, "run", "a.py");
}

static void test_a_cut_lnotab_does_not_go_on_for_ever(void **state)
{
	static const uint8_t lnotab[] = {4, 1, 4, 1};
	struct fixture *f = *state;

	f->record.version = 0x0309;
	send_ascii(f, &f->record.name, "f");
	send_ascii(f, &f->record.filename, "a.py");
	send_text(f, &f->record.linetable, SDW_TEXT_BYTES, lnotab, 4, 100);
	assert_int_equal(add(f, NULL), 0);
	assert_int_equal(line(f, 1000, 3), 7);
	assert_int_equal(line(f, 1000, 4), 8);
	assert_int_equal(statistics(f)->lines_unknown, 0);
	assert_int_equal(line(f, 1000, 50), 7);
	assert_int_equal(statistics(f)->lines_unknown, 1);
}

/* Puts the code object that the record announces into the process. */
static void build_process(struct fixture *f)
{
	static const uint16_t name[] = {'n', 0x540d};

	poke_word(CODE_AT + 16, FILE_AT);
	poke_word(CODE_AT + 24, NAME_AT);
	poke_word(CODE_AT + 32, NAME_AT);
	poke_word(CODE_AT + 40, 7);
	poke_word(CODE_AT + 48, TABLE_AT);
	poke_string(NAME_AT, 2, name, 2);
	poke_string(FILE_AT, 0, "/srv/paged out.py", 17);
	poke_word(TABLE_AT + 16, sizeof(LINES));
	poke(TABLE_AT + 32, LINES, sizeof(LINES));
	f->record.name.addr = f->record.qualname.addr = NAME_AT;
	f->record.filename.addr = FILE_AT;
	f->record.linetable.addr = TABLE_AT;
}

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

static void test_a_later_record_adds_what_was_missing(void **state)
{
	struct fixture *f = *state;

	f->record.qualname.addr = NAME_AT;
	assert_int_equal(add(f, NULL), 0);
	expect(f, 1000, "[unknown]", "[unknown]");
	send_usual(f);
	assert_int_equal(add(f, NULL), 0);
	expect(f, 1000, "App.run", "/srv/app.py");
	assert_int_equal(statistics(f)->records, 1);
}

static void test_equal_code_objects_of_two_images_are_kept_once(void **state)
{
	struct fixture *f = *state;
	const struct sdw_code *parent;
	uint64_t bytes;

	send_usual(f);
	assert_int_equal(add(f, NULL), 0);
	parent = sdw_code_table_find(f->table, 1000);
	bytes = sdw_code_table_bytes(f->table);
	f->record.record.pid = PID + 1;
	f->record.id = 2000;
	assert_int_equal(add(f, NULL), 0);
	assert_ptr_equal(sdw_code_table_find(f->table, 2000), parent);
	assert_in_range(sdw_code_table_bytes(f->table) - bytes, 1, 100);
	sdw_code_table_forget(f->table, PID, EPOCH);
	expect(f, 1000, "[unknown]", "[unknown]");
	expect(f, 2000, "App.run", "/srv/app.py");
	assert_int_equal(line(f, 2000, 0), 8);
	sdw_code_table_forget(f->table, PID + 1, EPOCH + 1); /* another image of that pid */
	expect(f, 2000, "App.run", "/srv/app.py");
	sdw_code_table_forget(f->table, PID + 1, EPOCH);
	expect(f, 2000, "[unknown]", "[unknown]");
}

static void test_images_that_come_and_go_leave_no_memory_behind(void **state)
{
	struct fixture *f = *state;
	uint64_t bytes = 0;

	send_usual(f);
	for (uint32_t image = 1; image <= 500; image++) {
		f->record.record.epoch = image;
		for (int i = 0; i < 20; i++) {
			f->record.id = image * 1000ull + (uint64_t)i;
			f->record.first_line = i;
			assert_int_equal(add(f, NULL), 0);
		}
		sdw_code_table_forget(f->table, PID, image);
		if (image == 1)
			bytes = sdw_code_table_bytes(f->table);
	}
	assert_int_equal(sdw_code_table_bytes(f->table), bytes);
	assert_int_equal(statistics(f)->records, 10000);
}

static void test_beyond_the_bound_code_objects_are_refused_and_counted(void **state)
{
	struct fixture *f = *state;
	struct sdw_code_table *small;
	char name[32];
	int err = 0;

	assert_int_equal(sdw_code_table_create(&f->strings, 20000, read_process, &small), 0);
	sdw_code_table_free(f->table);
	f->table = small;
	for (uint64_t i = 1; i <= 1000; i++) {
		f->used = 0;
		f->record.id = i;
		f->record.qualname.addr = NAME_AT;
		snprintf(name, sizeof(name), "f%llu", (unsigned long long)i);
		send_ascii(f, &f->record.name, name);
		send_ascii(f, &f->record.qualname, name);
		send_ascii(f, &f->record.filename, "a.py");
		send_lines(f);
		err = add(f, NULL);
		assert_true(err == 0 || err == -ENOSPC);
	}
	assert_int_equal(err, -ENOSPC);
	expect(f, 1, "f1", "a.py");
	expect(f, 1000, "[out of memory bound]", "[unknown]");
	assert_in_range(statistics(f)->records, 10, 200);
	assert_int_equal(statistics(f)->records + statistics(f)->out_of_bound, 1000);
	assert_in_range(sdw_code_table_bytes(f->table), 10000, 21000);
}

/* xorshift64: the same junk on each run */
static uint64_t next_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

static void test_damaged_records_and_processes_give_some_code_or_are_refused(void **state)
{
	struct fixture *f = *state;
	uint64_t seed = 0x9e3779b97f4a7c15ull;
	struct sdw_record_code good;
	int taken = 0, refused = 0;

	build_process(f);
	send_usual(f);
	good = f->record;
	for (int turn = 0; turn < 20000; turn++) {
		uint64_t at = next_random(&seed) % (sizeof(good) - sizeof(good.record));
		const struct sdw_code *code;
		int err;

		f->record = good;
		f->record.id = 1 + (uint64_t)turn % 50;
		f->record.version = (uint16_t)(0x306 + next_random(&seed) % 8);
		((uint8_t *)&f->record)[sizeof(good.record) + at] ^= 1u << next_random(&seed) % 8;
		f->sent[next_random(&seed) % f->used] = (uint8_t)next_random(&seed);
		process.bytes[next_random(&seed) % 128] = (uint8_t)next_random(&seed);
		process.bytes[NAME_AT - BASE + next_random(&seed) % 64] ^=
			1u << next_random(&seed) % 8;
		err = add(f, turn % 2 ? &LAYOUT : NULL);
		assert_true(err == 0 || err == -EINVAL);
		taken += !err;
		refused += err != 0;
		code = sdw_code_table_find(f->table, f->record.id);
		assert_true(strlen(code->name) <= 4 * 4096 + 6);
		(void)sdw_code_table_line(f->table, code, (int32_t)(next_random(&seed) % 64));
		if (turn % 97 == 0)
			sdw_code_table_forget(f->table, PID, EPOCH);
	}
	assert_true(taken > 1000);
	assert_true(refused > 1000);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_whole_record_gives_name_file_and_lines),
		TEST(test_versions_without_qualified_names_have_the_plain_one),
		TEST(test_names_of_2_7_are_bytes),
		TEST(test_every_string_kind_is_decoded),
		TEST(test_an_id_without_record_is_unknown),
		TEST(test_torn_records_are_refused_and_counted),
		TEST(test_records_that_contradict_themselves_are_refused),
		TEST(test_what_was_cut_is_marked_and_a_path_keeps_its_end),
		TEST(test_what_nobody_could_read_is_unknown_and_keeps_the_first_line),
		TEST(test_the_plain_name_stands_in_for_a_qualified_one_that_is_not_known),
		TEST(test_a_cut_lnotab_does_not_go_on_for_ever),
		TEST(test_what_was_not_sent_is_read_from_the_process),
		TEST(test_nothing_is_taken_from_a_code_object_that_is_another_by_now),
		TEST(test_what_was_read_while_the_code_object_changed_is_dropped),
		TEST(test_a_process_that_is_gone_leaves_what_was_sent),
		TEST(test_names_are_read_to_four_kilobytes_and_paths_from_their_end),
		TEST(test_lengths_without_measure_read_nothing),
		TEST(test_a_long_line_table_is_read_to_its_end),
		TEST(test_a_layout_without_sense_reads_nothing),
		TEST(test_a_later_record_adds_what_was_missing),
		TEST(test_equal_code_objects_of_two_images_are_kept_once),
		TEST(test_images_that_come_and_go_leave_no_memory_behind),
		TEST(test_damaged_records_and_processes_give_some_code_or_are_refused),
		TEST(test_beyond_the_bound_code_objects_are_refused_and_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
