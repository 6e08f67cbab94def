// SPDX-License-Identifier: MIT
/* test_code_table.c - code objects get their names and lines from records. */
#include "code_records.h"

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
		TEST(test_a_later_record_adds_what_was_missing),
		TEST(test_equal_code_objects_of_two_images_are_kept_once),
		TEST(test_images_that_come_and_go_leave_no_memory_behind),
		TEST(test_damaged_records_and_processes_give_some_code_or_are_refused),
		TEST(test_beyond_the_bound_code_objects_are_refused_and_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
