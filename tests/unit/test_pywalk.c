// SPDX-License-Identifier: MIT
/*
 * test_pywalk.c - the walker of the BPF program, built for user space over memory images made here.
 *
 * An image is a few pages of a target's memory; a read that touches another page fails as it does
 * in the kernel. Offsets are those of the layout table, so that the images have the shape of the
 * version.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "target/interpreter.h"

#define BASE	   0x10000000ull
#define PAGES	   64u
#define PAGE	   4096u
#define CODE_BASE  0x70000000ull /* "code objects": addresses from here on, 256 apart */
#define CODE_COUNT 4096u
#define CODE_PAGE  62u
#define C_STACK	   (BASE + 48 * PAGE) /* frames and records that lie on the C stack */

struct image {
	uint8_t bytes[PAGES * PAGE];
	uint8_t absent[PAGES];
	unsigned int reads;
};

static struct image *image;

static int image_read(void *to, size_t size, uint64_t address)
{
	uint64_t at = address - BASE;

	if (address >= CODE_BASE) /* of the first ones there are contents, too */
		at = CODE_PAGE * PAGE + (address - CODE_BASE);
	image->reads++;
	if (at >= sizeof(image->bytes) || size > sizeof(image->bytes) - at)
		return -1;
	for (uint64_t page = at / PAGE; page <= (at + size - 1) / PAGE; page++) {
		if (image->absent[page])
			return -1;
	}
	memcpy(to, image->bytes + at, size);
	return 0;
}

/* Ids are small numbers: the index of the code object, + 1. */
static uint64_t image_code(uint64_t address)
{
	if (address < CODE_BASE || address >= CODE_BASE + CODE_COUNT * 256 || address % 256)
		return 0;
	return (address - CODE_BASE) / 256 + 1;
}

#define SDW_WALK_READ(to, size, address) image_read((to), (size), (address))
#define SDW_WALK_CODE(walk, address)	 image_code(address)
#define SDW_WALK_HIDE(value)		 (value)
#include "pywalk.h"

static struct sdw_walk walk;

static void put(uint64_t address, uint64_t value, size_t size)
{
	assert_true(address >= BASE && address + size <= BASE + sizeof(image->bytes));
	memcpy(image->bytes + (address - BASE), &value, size);
}

static uint64_t code(unsigned int index)
{
	return CODE_BASE + index * 256ull;
}

static void start(unsigned int version)
{
	memset(image, 0, sizeof(*image));
	memset(&walk, 0, sizeof(walk));
	assert_int_equal(sdw_layout_for_version(version, &walk.layout), 0);
	walk.seed = 1;
}

/* As 3.14 and 3.15 say of themselves; without a GIL a field lies before the owner. */
static void start_self_described(enum sdw_frame_kind kind, uint8_t free_threaded)
{
	start(0x030c);
	walk.layout.version = kind == SDW_FRAMES_SHIM_BASE ? 0x030f : 0x030e;
	walk.layout.frame_kind = (uint8_t)kind;
	walk.layout.cframe_current_frame = SDW_NO_OFFSET;
	walk.layout.cframe_previous = SDW_NO_OFFSET;
	walk.layout.thread_frame = 72;
	walk.layout.frame_owner = free_threaded ? 78 : 74;
	walk.layout.frame_span = walk.layout.frame_owner + 1;
	walk.layout.frame_code_tags = 3;
	walk.layout.free_threaded = free_threaded;
	walk.layout.frame_copy = free_threaded ? 72 : 0;
	walk.layout.code_copies = free_threaded ? 200 : 0;
}

/* A frame that executes its code at bytecode offset `instruction`. */
static void frame(uint64_t at, uint64_t previous, unsigned int index, int instruction, int owner)
{
	const struct sdw_pylayout *layout = &walk.layout;

	put(at + layout->frame_previous, previous, 8);
	put(at + layout->frame_code, code(index), 8);
	if (layout->frame_kind == SDW_FRAMES_OBJECTS) {
		put(at + layout->frame_instruction,
		    (uint64_t)(instruction / (int)layout->lasti_scale), 4);
		return;
	}
	put(at + layout->frame_instruction,
	    code(index) + layout->code_bytecode + (uint64_t)(int64_t)instruction, 8);
	put(at + layout->frame_owner, (uint64_t)owner, 1);
}

/* The thread state points at `current`; 3.11 and 3.12 through a _PyCFrame at C_STACK. */
static void thread(uint64_t current, uint64_t outer_current)
{
	const struct sdw_pylayout *layout = &walk.layout;
	uint64_t cframe = C_STACK, outer = C_STACK + 64;

	if (layout->frame_kind == SDW_FRAMES_ENTRY_FLAG ||
	    layout->frame_kind == SDW_FRAMES_SHIM_CFRAME) {
		put(cframe + layout->cframe_current_frame, current, 8);
		put(cframe + layout->cframe_previous, outer, 8);
		put(outer + layout->cframe_current_frame, outer_current, 8);
		current = cframe;
	}
	memcpy(walk.thread + layout->thread_frame, &current, 8);
}

static void put_code_word(unsigned int index, uint32_t offset, uint64_t value)
{
	put(BASE + CODE_PAGE * PAGE + index * 256ull + offset, value, 8);
}

static void run(void)
{
	unsigned int steps = 0;

	image->reads = 0;
	sdw_walk_begin(&walk);
	while (!sdw_walk_step(&walk))
		assert_true(++steps <= 2 * SDW_MAX_FRAMES + 4);
}

/* ---- 3.8 to 3.10: linked frame objects ---- */

static void test_frame_objects_are_followed_from_the_innermost_to_the_root(void **state)
{
	static const unsigned int versions[] = {0x0308, 0x0309, 0x030a};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		start(versions[i]);
		frame(BASE + 0x100, 0, 1, 8, 0);
		frame(BASE + 5 * PAGE, BASE + 0x100, 2, 16, 0);
		frame(BASE + 0x900, BASE + 5 * PAGE, 3, 24, 0);
		thread(BASE + 0x900, 0);
		run();
		assert_int_equal(walk.status, SDW_STATUS_COMPLETE);
		assert_int_equal(walk.count, 3);
		assert_int_equal(walk.frames[0].code, 4);
		assert_int_equal(walk.frames[0].instruction, 24);
		assert_int_equal(walk.frames[1].instruction, 16);
		assert_int_equal(walk.frames[2].code, 2);
		/* each is an evaluation of its own */
		assert_int_equal(walk.frames[0].entries, 1);
		assert_int_equal(walk.frames[2].entries, 1);
	}
}

static void test_a_frame_that_is_its_own_caller_is_kept_and_ends_the_walk_as_broken(void **state)
{
	(void)state;
	start(0x0309);
	frame(BASE + 0x100, BASE + 0x100, 1, 0, 0);
	frame(BASE + 0x900, BASE + 0x100, 2, 0, 0);
	thread(BASE + 0x900, 0);
	run();
	assert_int_equal(walk.status, SDW_STATUS_BROKEN);
	assert_int_equal(walk.count, 2);
	assert_int_equal(walk.frames[0].code, 3);
	assert_int_equal(walk.frames[1].code, 2);
}

static void test_a_cycle_of_frames_ends_as_truncated_at_the_limit(void **state)
{
	(void)state;
	start(0x030a);
	frame(BASE + 0x100, BASE + 0x900, 1, 0, 0);
	frame(BASE + 0x900, BASE + 0x100, 2, 0, 0);
	thread(BASE + 0x900, 0);
	run();
	assert_int_equal(walk.status, SDW_STATUS_TRUNCATED);
	assert_int_equal(walk.count, SDW_MAX_FRAMES);
}

static void test_an_absent_page_keeps_the_frames_inside_it(void **state)
{
	(void)state;
	start(0x0308);
	frame(BASE + 3 * PAGE, 0, 1, 0, 0);
	frame(BASE + 0x900, BASE + 3 * PAGE, 2, 0, 0);
	image->absent[3] = 1;
	thread(BASE + 0x900, 0);
	run();
	assert_int_equal(walk.status, SDW_STATUS_UNREADABLE);
	assert_int_equal(walk.count, 1);
}

static void test_what_is_no_code_object_is_not_shown(void **state)
{
	(void)state;
	start(0x0309);
	frame(BASE + 0x100, 0, 1, 0, 0);
	frame(BASE + 0x900, BASE + 0x100, 2, 0, 0);
	put(BASE + 0x100 + walk.layout.frame_code, 0xdeadbeef, 8);
	thread(BASE + 0x900, 0);
	run();
	assert_int_equal(walk.status, SDW_STATUS_BROKEN);
	assert_int_equal(walk.count, 1);
}

/* ---- 3.11 on: the data stack ---- */

/* `count` frames one above the other from `at`, `size` bytes each; returns the innermost. */
static uint64_t chain(uint64_t at, unsigned int count, unsigned int size, int owner)
{
	uint64_t previous = 0;

	for (unsigned int i = 0; i < count; i++) {
		frame(at, previous, i, (int)i * 2, i == 0 ? owner : 0);
		previous = at;
		at += size;
	}
	return previous;
}

static void test_frames_over_page_boundaries_are_all_found_at_every_alignment(void **state)
{
	(void)state;
	for (unsigned int size = 88; size <= 168; size += 8) {
		for (unsigned int shift = 0; shift < PAGE; shift += 8 * 37) {
			start(0x030b);
			thread(chain(BASE + 32 + shift, 100, size, 1), 0);
			run();
			assert_int_equal(walk.status, SDW_STATUS_COMPLETE);
			assert_int_equal(walk.count, 100);
			for (unsigned int i = 0; i < 100; i++) {
				assert_int_equal(walk.frames[i].code, 100 - i);
				assert_int_equal(walk.frames[i].instruction, 2 * (99 - i));
				assert_int_equal(walk.frames[i].entries, i == 99);
			}
		}
	}
}

static void test_a_window_brings_many_frames_with_one_read(void **state)
{
	(void)state;
	start(0x030b);
	thread(chain(BASE + 32, 40, 96, 1), 0);
	run();
	assert_int_equal(walk.count, 40);
	/* 40 * 96 bytes are two windows; two more reads are the _PyCFrames */
	assert_true(image->reads <= 2 + 3);
}

static void test_a_generator_frame_elsewhere_is_followed_back_to_the_data_stack(void **state)
{
	uint64_t inner;

	(void)state;
	start(0x030b);
	inner = chain(BASE + 32, 30, 112, 1);
	frame(BASE + 20 * PAGE + 8, inner, 50, 6, 0); /* in its generator object */
	thread(BASE + 20 * PAGE + 8, 0);
	run();
	assert_int_equal(walk.status, SDW_STATUS_COMPLETE);
	assert_int_equal(walk.count, 31);
	assert_int_equal(walk.frames[0].code, 51);
	assert_int_equal(walk.frames[30].code, 1);
}

static void test_a_newly_linked_cframe_with_garbage_is_passed_over(void **state)
{
	uint64_t outer;

	(void)state;
	/* 3.11: the new _PyCFrame still holds a frame of a moment ago, whose caller is another */
	start(0x030b);
	outer = chain(BASE + 32, 3, 96, 1);
	frame(BASE + 9 * PAGE, BASE + 32, 70, 0, 1);
	thread(BASE + 9 * PAGE, outer);
	run();
	assert_int_equal(walk.status, SDW_STATUS_COMPLETE);
	assert_int_equal(walk.count, 3);
	assert_int_equal(walk.frames[0].code, 3);

	/* or an address that is none */
	thread(0xdead0000, outer);
	run();
	assert_int_equal(walk.status, SDW_STATUS_COMPLETE);
	assert_int_equal(walk.count, 3);
}

/* Compilers store the current frame before its caller, or after it (3.11.7, gcc 12: before). */
static void test_a_frame_without_its_caller_yet_is_passed_over_or_marked(void **state)
{
	uint64_t outer;

	(void)state;
	start(0x030b);
	outer = chain(BASE + 32, 3, 96, 1);
	frame(BASE + 9 * PAGE, 0, 70, 0, 0);
	thread(BASE + 9 * PAGE, outer);
	run();
	assert_int_equal(walk.status, SDW_STATUS_COMPLETE);
	assert_int_equal(walk.count, 3);
	assert_int_equal(walk.frames[0].code, 3);

	/* the first evaluation of the thread has nothing outside */
	thread(BASE + 9 * PAGE, 0);
	run();
	assert_int_equal(walk.status, SDW_STATUS_COMPLETE);
	assert_int_equal(walk.count, 1);

	/* 3.13 and later do not tell what is outside */
	start_self_described(SDW_FRAMES_SHIM, 0);
	frame(BASE + 9 * PAGE, 0, 70, 0, 0);
	thread(BASE + 9 * PAGE, 0);
	run();
	assert_int_equal(walk.status, SDW_STATUS_BROKEN);
	assert_int_equal(walk.count, 1);
}

/* As Nuitka links those of the functions that it compiled, which no evaluation runs. */
static void test_frames_without_any_evaluation_are_a_whole_stack(void **state)
{
	(void)state;
	start_self_described(SDW_FRAMES_SHIM, 0);
	frame(BASE + 9 * PAGE, BASE + 8 * PAGE, 70, 0, 1);
	frame(BASE + 8 * PAGE, 0, 71, 0, 1);
	thread(BASE + 9 * PAGE, 0);
	run();
	assert_int_equal(walk.status, SDW_STATUS_COMPLETE);
	assert_int_equal(walk.count, 2);
}

static void test_shim_frames_are_hidden_and_end_evaluations(void **state)
{
	uint64_t shim_outer = C_STACK + 1024, shim_inner = C_STACK + 256;
	uint64_t first = BASE + 64, second = BASE + 64 + 96, third = BASE + 64 + 192;

	(void)state;
	start(0x030c);
	frame(shim_outer, 0, 0, 0, SDW_FRAME_OWNER_SHIM);
	put(shim_outer + walk.layout.frame_code, 0, 8);
	frame(first, shim_outer, 1, 0, 0);
	frame(second, first, 2, 0, 0);
	frame(shim_inner, second, 0, 0, SDW_FRAME_OWNER_SHIM);
	put(shim_inner + walk.layout.frame_code, 0, 8);
	frame(third, shim_inner, 3, 0, 0);
	thread(third, second);
	run();
	assert_int_equal(walk.status, SDW_STATUS_COMPLETE);
	assert_int_equal(walk.count, 3);
	assert_int_equal(walk.frames[0].code, 4);
	assert_int_equal(walk.frames[0].entries, 1);
	assert_int_equal(walk.frames[1].entries, 0);
	assert_int_equal(walk.frames[2].entries, 1);
}

static void test_two_shims_in_a_row_are_counted(void **state)
{
	uint64_t outer = C_STACK + 1024, empty = C_STACK + 512, inner = C_STACK + 256;

	(void)state;
	start(0x030c);
	frame(outer, 0, 0, 0, SDW_FRAME_OWNER_SHIM);
	frame(BASE + 64, outer, 1, 0, 0);
	frame(empty, BASE + 64, 0, 0, SDW_FRAME_OWNER_SHIM); /* its frame was unlinked already */
	frame(inner, empty, 0, 0, SDW_FRAME_OWNER_SHIM);
	frame(BASE + 160, inner, 2, 0, 0);
	thread(BASE + 160, empty);
	run();
	assert_int_equal(walk.count, 2);
	assert_int_equal(walk.frames[0].entries, 2);
	assert_int_equal(walk.frames[1].entries, 1);
}

static void test_more_frames_than_the_limit_keep_the_innermost(void **state)
{
	(void)state;
	start(0x030b);
	thread(chain(BASE + 32, 1500, 96, 1), 0);
	run();
	assert_int_equal(walk.status, SDW_STATUS_TRUNCATED);
	assert_int_equal(walk.count, SDW_MAX_FRAMES);
	assert_int_equal(walk.frames[0].code, 1500);
}

static void test_equal_stacks_have_equal_ids_and_others_do_not(void **state)
{
	uint64_t id, inner;

	(void)state;
	start(0x030b);
	inner = chain(BASE + 32, 5, 96, 1);
	thread(inner, 0);
	run();
	id = sdw_walk_id(&walk);
	run();
	assert_true(sdw_walk_id(&walk) == id);
	put(inner + walk.layout.frame_instruction, code(4) + walk.layout.code_bytecode + 100, 8);
	run();
	assert_true(sdw_walk_id(&walk) != id);
	walk.seed = 2;
	put(inner + walk.layout.frame_instruction, code(4) + walk.layout.code_bytecode + 8, 8);
	run();
	assert_true(sdw_walk_id(&walk) != id);
}

/* Whatever is in the target's memory, the walk ends within its bounds (ASan watches the buffers).
 */
static void test_any_memory_and_any_layout_end_the_walk(void **state)
{
	static const unsigned int versions[] = {0x0308, 0x030a, 0x030b, 0x030c};

	(void)state;
	srandom(12345);
	for (unsigned int round = 0; round < 20000; round++) {
		start(versions[round % 4]);
		/* words that are mostly addresses in the image or codes */
		for (size_t i = 0; i < 512; i++) {
			uint64_t where = (uint64_t)random() % (sizeof(image->bytes) / 8) * 8;
			uint64_t word = random() % 2 ? BASE + (uint64_t)random() % (PAGES * PAGE)
						     : code((unsigned int)random() % CODE_COUNT);

			memcpy(image->bytes + where, &word, 8);
		}
		if (round % 3 == 0)
			walk.layout.frame_span = (uint32_t)random() % 256;
		if (round % 5 == 0)
			walk.layout.frame_code = (uint32_t)random();
		if (round % 7 == 0)
			walk.layout.thread_frame = (uint32_t)random();
		for (size_t i = 0; i < sizeof(walk.thread); i += 8) {
			uint64_t word = BASE + (uint64_t)random() % (PAGES * PAGE);

			memcpy(walk.thread + i, &word, 8);
		}
		run();
		assert_true(walk.count <= SDW_MAX_FRAMES);
		assert_true(walk.status < SDW_STATUS_COUNT);
	}
}

/* ---- 3.14 and later ---- */

static void test_tags_of_a_reference_are_no_part_of_the_address(void **state)
{
	(void)state;
	start_self_described(SDW_FRAMES_SHIM, 0);
	frame(C_STACK + 128, 0, 0, 0, 3);
	frame(BASE + 0x100, C_STACK + 128, 1, 2, 0);
	frame(BASE + 0x160, BASE + 0x100, 2, 4, 1);
	put(BASE + 0x100 + walk.layout.frame_code, code(1) | 1, 8);
	thread(BASE + 0x160, 0);
	run();
	assert_int_equal(walk.status, SDW_STATUS_COMPLETE);
	assert_int_equal(walk.count, 2);
	assert_int_equal(walk.frames[1].code, 2);
	assert_int_equal(walk.frames[1].instruction, 2);
	assert_int_equal(walk.frames[1].entries, 1);
}

static void test_a_frame_owned_by_the_c_stack_is_a_shim_too(void **state)
{
	(void)state;
	start_self_described(SDW_FRAMES_SHIM, 0);
	frame(C_STACK + 128, 0, 0, 0, 4);
	frame(BASE + 0x100, C_STACK + 128, 1, 2, 0);
	thread(BASE + 0x100, 0);
	run();
	assert_int_equal(walk.count, 1);
	assert_int_equal(walk.frames[0].entries, 1);
}

static void test_the_shim_of_the_thread_state_is_no_evaluation(void **state)
{
	(void)state;
	start_self_described(SDW_FRAMES_SHIM_BASE, 0);
	frame(C_STACK + 512, 0, 0, 0, 3); /* the thread state's */
	frame(C_STACK + 128, C_STACK + 512, 0, 0, 3);
	frame(BASE + 0x100, C_STACK + 128, 1, 2, 0);
	thread(BASE + 0x100, 0);
	run();
	assert_int_equal(walk.status, SDW_STATUS_COMPLETE);
	assert_int_equal(walk.count, 1);
	assert_int_equal(walk.frames[0].entries, 1);
	/* and alone it is no frame */
	thread(C_STACK + 512, 0);
	run();
	assert_int_equal(walk.status, SDW_STATUS_COMPLETE);
	assert_int_equal(walk.count, 0);
}

static void test_instructions_of_a_copy_of_the_bytecode_are_counted_from_its_start(void **state)
{
	const uint64_t copies = BASE + 20 * PAGE, copy = BASE + 30 * PAGE;

	(void)state;
	start_self_described(SDW_FRAMES_SHIM, 1);
	frame(C_STACK + 128, 0, 0, 0, 3);
	frame(BASE + 0x100, C_STACK + 128, 1, 6, 0);
	frame(BASE + 0x160, BASE + 0x100, 2, 0, 0);
	put(BASE + 0x160 + walk.layout.frame_copy, 2, 4);
	put(BASE + 0x160 + walk.layout.frame_instruction, copy + 40, 8);
	put_code_word(2, walk.layout.code_copies, copies);
	put(copies, 3, 8);
	put(copies + 24, copy, 8);
	thread(BASE + 0x160, 0);
	run();
	assert_int_equal(walk.count, 2);
	assert_int_equal(walk.frames[0].instruction, 40);
	assert_int_equal(walk.frames[1].instruction, 6);
	/* a copy that is not there has no line */
	put(copies, 2, 8);
	run();
	assert_int_equal(walk.count, 2);
	assert_int_equal(walk.frames[0].instruction, -1);
	put_code_word(2, walk.layout.code_copies, 0);
	run();
	assert_int_equal(walk.frames[0].instruction, -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_frame_objects_are_followed_from_the_innermost_to_the_root),
		cmocka_unit_test(
			test_a_frame_that_is_its_own_caller_is_kept_and_ends_the_walk_as_broken),
		cmocka_unit_test(test_a_cycle_of_frames_ends_as_truncated_at_the_limit),
		cmocka_unit_test(test_an_absent_page_keeps_the_frames_inside_it),
		cmocka_unit_test(test_what_is_no_code_object_is_not_shown),
		cmocka_unit_test(test_frames_over_page_boundaries_are_all_found_at_every_alignment),
		cmocka_unit_test(test_a_window_brings_many_frames_with_one_read),
		cmocka_unit_test(
			test_a_generator_frame_elsewhere_is_followed_back_to_the_data_stack),
		cmocka_unit_test(test_a_newly_linked_cframe_with_garbage_is_passed_over),
		cmocka_unit_test(test_a_frame_without_its_caller_yet_is_passed_over_or_marked),
		cmocka_unit_test(test_frames_without_any_evaluation_are_a_whole_stack),
		cmocka_unit_test(test_shim_frames_are_hidden_and_end_evaluations),
		cmocka_unit_test(test_two_shims_in_a_row_are_counted),
		cmocka_unit_test(test_more_frames_than_the_limit_keep_the_innermost),
		cmocka_unit_test(test_equal_stacks_have_equal_ids_and_others_do_not),
		cmocka_unit_test(test_tags_of_a_reference_are_no_part_of_the_address),
		cmocka_unit_test(test_a_frame_owned_by_the_c_stack_is_a_shim_too),
		cmocka_unit_test(test_the_shim_of_the_thread_state_is_no_evaluation),
		cmocka_unit_test(
			test_instructions_of_a_copy_of_the_bytecode_are_counted_from_its_start),
		cmocka_unit_test(test_any_memory_and_any_layout_end_the_walk),
	};
	int failed;

	image = calloc(1, sizeof(*image));
	if (!image)
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	free(image);
	return failed;
}
