// SPDX-License-Identifier: MIT
/* test_ring_reader.c - what comes out of a ring that somebody else writes, and what never does. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "sigpath/ring_reader.h"

#define RING_BYTES 512u

struct fixture {
	struct sdw_sigpath_ring ring;
	_Alignas(8) uint8_t bytes[RING_BYTES];
	struct sdw_ring_reader reader;
	uint8_t record[SDW_SIGPATH_MAX_RECORD];
};

static int setup(void **state)
{
	static struct fixture fixture;

	fixture = (struct fixture){0};
	sdw_ring_reader_init(&fixture.reader, &fixture.ring, fixture.bytes, RING_BYTES);
	*state = &fixture;
	return 0;
}

/* Takes room as the agent does; the record is written, its size is not. Returns the position. */
static uint64_t reserve(struct fixture *f, uint32_t size, uint8_t fill)
{
	struct sdw_record record = {.type = fill, .size = size};
	uint64_t position = f->ring.head;
	uint8_t bytes[RING_BYTES];

	memset(bytes, fill, sizeof(bytes));
	memcpy(bytes, &record, sizeof(record));
	for (uint32_t i = 0; i < size; i++)
		f->bytes[(position + sizeof(struct sdw_sigpath_slot) + i) % RING_BYTES] = bytes[i];
	f->ring.head += (sizeof(struct sdw_sigpath_slot) + size + 7) & ~7ull;
	return position;
}

static void commit(struct fixture *f, uint64_t position, uint32_t size)
{
	memcpy(f->bytes + position % RING_BYTES, &size, sizeof(size));
}

static void put(struct fixture *f, uint32_t size, uint8_t fill)
{
	commit(f, reserve(f, size, fill), size);
}

static int next(struct fixture *f)
{
	sdw_ring_reader_mark(&f->reader);
	return sdw_ring_reader_next(&f->reader, f->record);
}

static void test_records_come_out_whole_over_many_rounds(void **state)
{
	struct fixture *f = *state;
	const struct sdw_record *record = (const void *)f->record;

	assert_int_equal(next(f), 0);
	for (uint32_t i = 0; i < 1000; i++) {
		uint32_t size = (uint32_t)sizeof(*record) + i * 13 % 200;

		put(f, size, (uint8_t)i);
		assert_int_equal(next(f), size);
		assert_int_equal(record->type, (uint8_t)i);
		for (uint32_t at = sizeof(*record); at < size; at++)
			assert_int_equal(f->record[at], (uint8_t)i);
		assert_int_equal(next(f), 0);
		assert_int_equal(f->ring.tail, f->ring.head);
	}
	for (size_t i = 0; i < RING_BYTES; i++)
		assert_int_equal(f->bytes[i], 0); /* given back as the agent needs it */
}

static void test_a_record_that_is_not_finished_holds_back_those_behind_it(void **state)
{
	struct fixture *f = *state;
	uint64_t first = reserve(f, 40, 1);

	put(f, 32, 2);
	assert_int_equal(next(f), 0);
	commit(f, first, 40);
	assert_int_equal(next(f), 40);
	assert_int_equal(next(f), 32);
	assert_int_equal(next(f), 0);
}

static void test_what_comes_after_the_mark_is_left_for_later(void **state)
{
	struct fixture *f = *state;

	put(f, 32, 1);
	sdw_ring_reader_mark(&f->reader);
	put(f, 40, 2);
	assert_int_equal(sdw_ring_reader_next(&f->reader, f->record), 32);
	assert_int_equal(sdw_ring_reader_next(&f->reader, f->record), 0);
	assert_int_equal(next(f), 40);
}

static void assert_broken(struct fixture *f)
{
	assert_int_equal(next(f), -EBADMSG);
	f->ring.head = f->ring.tail = 0;
	assert_int_equal(next(f), -EBADMSG); /* for ever */
}

static void test_a_position_beyond_the_ring_is_not_followed(void **state)
{
	struct fixture *f = *state;

	f->ring.head = RING_BYTES + 8;
	assert_broken(f);
}

static void test_a_position_between_records_is_not_followed(void **state)
{
	struct fixture *f = *state;

	f->ring.head = 44;
	assert_broken(f);
}

static void test_a_record_that_is_longer_than_what_was_written_is_refused(void **state)
{
	struct fixture *f = *state;

	commit(f, reserve(f, 40, 1), 48);
	assert_broken(f);
}

static void test_a_record_that_is_shorter_than_any_is_refused(void **state)
{
	struct fixture *f = *state;

	commit(f, reserve(f, 40, 1), sizeof(struct sdw_record) - 1);
	assert_broken(f);
}

static void test_a_record_of_two_sizes_is_refused(void **state)
{
	struct fixture *f = *state;

	commit(f, reserve(f, 40, 1), 39);
	assert_broken(f);
}

/* Where the ring says that it was read up to means nothing to its reader. */
static void test_the_readers_own_position_counts(void **state)
{
	struct fixture *f = *state;

	put(f, 32, 1);
	f->ring.tail = 123456;
	assert_int_equal(next(f), 32);
	assert_int_equal(f->ring.tail, f->ring.head);
}

#define TEST(name) cmocka_unit_test_setup(name, setup)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_records_come_out_whole_over_many_rounds),
		TEST(test_a_record_that_is_not_finished_holds_back_those_behind_it),
		TEST(test_what_comes_after_the_mark_is_left_for_later),
		TEST(test_a_position_beyond_the_ring_is_not_followed),
		TEST(test_a_position_between_records_is_not_followed),
		TEST(test_a_record_that_is_longer_than_what_was_written_is_refused),
		TEST(test_a_record_that_is_shorter_than_any_is_refused),
		TEST(test_a_record_of_two_sizes_is_refused),
		TEST(test_the_readers_own_position_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
