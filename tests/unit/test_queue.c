// SPDX-License-Identifier: MIT
/* test_queue.c - records of several sources come out in order of time, and none is lost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "capture/queue.h"

static void add(struct sdw_queue *queue, size_t source, uint64_t time_ns, uint32_t pid,
		size_t extra)
{
	uint8_t bytes[4096] = {0};
	struct sdw_record record = {.type = 1, .time_ns = time_ns, .pid = pid};

	record.size = (uint32_t)(sizeof(record) + extra);
	memcpy(bytes, &record, sizeof(record));
	assert_int_equal(sdw_queue_add(queue, source, bytes, record.size), 0);
}

static void test_records_come_out_by_time_and_keep_their_order_within_a_source(void **state)
{
	struct sdw_queue *queue;
	size_t size;

	(void)state;
	assert_int_equal(sdw_queue_create(3, &queue), 0);
	add(queue, 0, 10, 1, 0);
	add(queue, 0, 30, 2, 13);
	add(queue, 0, 30, 3, 0);
	add(queue, 1, 20, 4, 1);
	add(queue, 2, 5, 5, 7);
	add(queue, 2, 30, 6, 0);
	assert_int_equal(sdw_queue_next(queue, 100, &size)->pid, 5);
	assert_int_equal(size, sizeof(struct sdw_record) + 7);
	assert_int_equal(sdw_queue_next(queue, 100, &size)->pid, 1);
	assert_int_equal(sdw_queue_next(queue, 100, &size)->pid, 4);
	assert_int_equal(sdw_queue_next(queue, 100, &size)->pid, 2);
	assert_int_equal(size, sizeof(struct sdw_record) + 13);
	assert_int_equal(sdw_queue_next(queue, 100, &size)->pid, 3);
	assert_true(sdw_queue_bytes(queue) > 0);
	assert_int_equal(sdw_queue_next(queue, 100, &size)->pid, 6);
	assert_int_equal(sdw_queue_bytes(queue), 0);
	assert_null(sdw_queue_next(queue, 100, &size));
	sdw_queue_free(queue);
}

static void test_younger_records_wait(void **state)
{
	struct sdw_queue *queue;
	size_t size;

	(void)state;
	assert_int_equal(sdw_queue_create(2, &queue), 0);
	add(queue, 0, 10, 1, 0);
	add(queue, 1, 50, 2, 0);
	assert_int_equal(sdw_queue_next(queue, 49, &size)->pid, 1);
	assert_null(sdw_queue_next(queue, 49, &size));
	add(queue, 0, 40, 3, 0);
	assert_int_equal(sdw_queue_next(queue, 50, &size)->pid, 3);
	assert_int_equal(sdw_queue_next(queue, 50, &size)->pid, 2);
	sdw_queue_free(queue);
}

static void test_a_hundred_thousand_records_in_rounds_all_arrive_in_order(void **state)
{
	uint64_t last = 0, now = 0, taken = 0, added = 0;
	const struct sdw_record *record;
	struct sdw_queue *queue;
	size_t size;

	(void)state;
	srandom(1);
	assert_int_equal(sdw_queue_create(5, &queue), 0);
	while (added < 100000) {
		for (int i = 0; i < 100; i++) {
			now += (uint64_t)random() % 3;
			add(queue, (size_t)random() % 5, now, 1, (size_t)random() % 200);
			added++;
		}
		/* some always stay behind, as at each tick of a recording */
		while ((record = sdw_queue_next(queue, now - 20, &size))) {
			assert_true(record->time_ns >= last);
			assert_int_equal(record->size, size);
			last = record->time_ns;
			taken++;
		}
	}
	while (sdw_queue_next(queue, UINT64_MAX, &size))
		taken++;
	assert_int_equal(taken, added);
	sdw_queue_free(queue);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_records_come_out_by_time_and_keep_their_order_within_a_source),
		cmocka_unit_test(test_younger_records_wait),
		cmocka_unit_test(test_a_hundred_thousand_records_in_rounds_all_arrive_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
