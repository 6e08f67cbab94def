// SPDX-License-Identifier: MIT
/* test_stack_builder.c - stacks are built once, within bounds, and say what they lack. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "capture/stack_builder.h"

#define MAX_FRAMES 64u

/* Keeps the events as they come; ids are indexes. */
struct memory_sink {
	struct sdw_sink sink;
	const char *names[MAX_FRAMES]; /* of codes; the catalog keeps the strings */
	struct sdw_frame_event frames[MAX_FRAMES];
	struct sdw_stack_event stacks[MAX_FRAMES];
	uint32_t code_count, frame_count, stack_count;
};

static int on_code(struct sdw_sink *sink, const struct sdw_code_event *event)
{
	struct memory_sink *memory = (struct memory_sink *)sink;

	assert_int_equal(event->id, ++memory->code_count);
	assert_true(event->id < MAX_FRAMES);
	memory->names[event->id] = event->name;
	return 0;
}

static int on_frame(struct sdw_sink *sink, const struct sdw_frame_event *event)
{
	struct memory_sink *memory = (struct memory_sink *)sink;

	assert_int_equal(event->id, ++memory->frame_count);
	assert_true(event->id < MAX_FRAMES);
	memory->frames[event->id] = *event;
	return 0;
}

static int on_stack(struct sdw_sink *sink, const struct sdw_stack_event *event)
{
	struct memory_sink *memory = (struct memory_sink *)sink;

	assert_int_equal(event->id, ++memory->stack_count);
	assert_true(event->id < MAX_FRAMES);
	memory->stacks[event->id] = *event;
	return 0;
}

static const struct sdw_sink_ops memory_ops = {
	.code = on_code, .frame = on_frame, .stack = on_stack};

struct fixture {
	struct memory_sink sink;
	struct sdw_strings strings;
	struct sdw_catalog catalog;
	struct sdw_code_table *codes;
	struct sdw_stack_builder builder;
	struct sdw_image image;
	uint64_t pcs[2];
	struct sdw_raw_stack raw; /* two native frames of no known file */
};

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	if (!fixture)
		return -1;
	*state = fixture;
	fixture->sink.sink.ops = &memory_ops;
	fixture->image.pid = 1;
	fixture->pcs[0] = 0x1000;
	fixture->pcs[1] = 0x2001;
	fixture->raw = (struct sdw_raw_stack){.image = &fixture->image,
					      .status = SDW_STATUS_NO_PYTHON,
					      .pcs = fixture->pcs,
					      .native_count = 2,
					      .native_end = SDW_UNWIND_COMPLETE};
	sdw_maps_init(&fixture->image.maps, 1, NULL);
	sdw_catalog_init(&fixture->catalog, &fixture->sink.sink, &fixture->strings);
	return sdw_code_table_create(&fixture->strings, 1 << 20, NULL, &fixture->codes) ||
	       sdw_stack_builder_init(&fixture->builder, &fixture->catalog, &fixture->strings,
				      fixture->codes, 1 << 16);
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	sdw_stack_builder_free(&fixture->builder);
	sdw_map64_free(&fixture->image.native_codes);
	sdw_code_table_free(fixture->codes);
	sdw_catalog_free(&fixture->catalog);
	sdw_strings_free(&fixture->strings);
	free(fixture);
	return 0;
}

static uint32_t build(struct fixture *fixture)
{
	uint32_t id = UINT32_MAX;

	assert_int_equal(sdw_stack_build(&fixture->builder, &fixture->raw, &id), 0);
	return id;
}

/* The name of the frame on top of a stack. */
static const char *top(const struct fixture *fixture, uint32_t stack)
{
	return fixture->sink.names[fixture->sink.frames[fixture->sink.stacks[stack].frame].code];
}

static void test_a_stack_is_announced_once_and_its_callers_first(void **state)
{
	struct fixture *fixture = *state;
	uint32_t id = build(fixture);

	assert_int_equal(id, 2);
	assert_string_equal(top(fixture, 2), "0x1000");
	assert_string_equal(top(fixture, 1), "0x2001");
	assert_int_equal(fixture->sink.stacks[2].parent, 1);
	assert_int_equal(fixture->sink.stacks[1].parent, 0);
	assert_int_equal(build(fixture), 2);
	assert_int_equal(fixture->sink.stack_count, 2);
}

static void test_what_is_remembered_has_a_bound_and_ids_stay(void **state)
{
	struct fixture *fixture = *state;

	for (uint32_t i = 0; i < 50000; i++) {
		fixture->image.maps.generation = i; /* all that was known is void */
		assert_int_equal(build(fixture), 2);
	}
	assert_true(fixture->builder.known.room * sizeof(struct sdw_map64_slot) <= (1 << 16) / 4);
	assert_int_equal(fixture->builder.out_of_memory, 0);
	assert_int_equal(fixture->sink.stack_count, 2);
}

static void test_a_python_stack_that_was_not_kept_is_marked(void **state)
{
	struct fixture *fixture = *state;

	fixture->raw.status = SDW_STATUS_COMPLETE;
	fixture->raw.python_id = 7;
	assert_string_equal(top(fixture, build(fixture)), "[beyond --max-memory]");
	assert_int_equal(fixture->builder.out_of_memory, 1);
}

static void test_names_without_end_have_a_bound(void **state)
{
	struct fixture *fixture = *state;
	char name[1024];

	memset(name, 'n', sizeof(name) - 1);
	for (unsigned int i = 0; fixture->strings.bytes <= 1 << 16; i++) {
		snprintf(name + sizeof(name) - 8, 8, "%u", i);
		assert_non_null(sdw_strings_keep(&fixture->strings, name));
	}
	assert_string_equal(top(fixture, build(fixture)), "[beyond --max-memory]");
	assert_int_equal(fixture->builder.out_of_memory, 1);
}

static void test_addresses_of_code_that_comes_and_goes_have_a_bound(void **state)
{
	struct fixture *fixture = *state;

	for (uint64_t pc = 0x10000; pc < 0x10000 + 70000; pc++)
		assert_int_equal(sdw_map64_set(&fixture->image.native_codes, pc, UINT32_MAX), 0);
	assert_string_equal(top(fixture, build(fixture)), "0x1000");
	assert_in_range(fixture->image.native_codes.count, 1, 2);
}

static void test_python_stacks_go_with_their_image(void **state)
{
	struct {
		struct sdw_record_stack stack;
		struct sdw_python_frame frames[2];
	} record = {.stack = {.record = {.pid = 3, .epoch = 4}, .frames = 2}};
	struct sdw_python_stacks stacks = {0};
	size_t of_one;

	(void)state;
	record.stack.id = 100;
	assert_int_equal(sdw_python_stacks_add(&stacks, &record.stack, sizeof(record)), 0);
	of_one = stacks.bytes;
	assert_true(of_one > sizeof(record.frames));
	record.stack.id = 101;
	assert_int_equal(sdw_python_stacks_add(&stacks, &record.stack, sizeof(record)), 0);
	record.stack.record.epoch = 5;
	record.stack.id = 102;
	assert_int_equal(sdw_python_stacks_add(&stacks, &record.stack, sizeof(record)), 0);
	assert_int_equal(stacks.bytes, 3 * of_one);
	sdw_python_stacks_forget(&stacks, 3, 4);
	assert_null(sdw_python_stacks_find(&stacks, 100));
	assert_null(sdw_python_stacks_find(&stacks, 101));
	assert_non_null(sdw_python_stacks_find(&stacks, 102));
	assert_int_equal(stacks.bytes, of_one);
	sdw_python_stacks_free(&stacks);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_stack_is_announced_once_and_its_callers_first),
		TEST(test_what_is_remembered_has_a_bound_and_ids_stay),
		TEST(test_a_python_stack_that_was_not_kept_is_marked),
		TEST(test_names_without_end_have_a_bound),
		TEST(test_addresses_of_code_that_comes_and_goes_have_a_bound),
		cmocka_unit_test(test_python_stacks_go_with_their_image),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
