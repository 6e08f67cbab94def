// SPDX-License-Identifier: MIT
/*
 * test_template.c - what is learned of functions whose unwind information is written here by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

#include "unwind/template.h"

/* Never run: only their tables matter. A label stands before the instruction that it names. */
__asm__(".text\n"
	".type by_hand, @function\n"
	"by_hand:\n"
	".cfi_startproc\n"
	"at_entry: push %rbp\n"
	".cfi_adjust_cfa_offset 8\n"
	".cfi_rel_offset %rbp, 0\n"
	"after_push: mov %rsp, %rbp\n"
	".cfi_def_cfa_register %rbp\n"
	"with_frame_pointer: push %rbx\n"
	".cfi_offset %rbx, -24\n"
	"push %r15\n"
	".cfi_offset %r15, -32\n"
	"with_saved: nop\n"
	".cfi_undefined %r12\n"
	"with_undefined: nop\n"
	".cfi_register %r13, %r14\n"
	"with_moved: nop\n"
	".cfi_endproc\n"
	".size by_hand, . - by_hand\n"
	".type thread_start, @function\n"
	"thread_start:\n"
	".cfi_startproc\n"
	".cfi_undefined %rip\n"
	"at_end: nop\n"
	".cfi_endproc\n"
	".size thread_start, . - thread_start\n"
	/* the CFA is in the word at bp - 8, as in a main() that aligns its stack */
	".type realigned, @function\n"
	"realigned:\n"
	".cfi_startproc\n"
	".cfi_escape 0x0f, 0x03, 0x76, 0x78, 0x06\n"
	"with_expression: nop\n"
	".cfi_endproc\n"
	".size realigned, . - realigned\n"
	".type handler_return, @function\n"
	"handler_return:\n"
	".cfi_startproc\n"
	".cfi_signal_frame\n"
	"in_signal_frame: nop\n"
	".cfi_endproc\n"
	".size handler_return, . - handler_return\n"
	".type with_long_row, @function\n"
	"with_long_row:\n"
	".cfi_startproc\n"
	"long_row: .skip 16, 0x90\n"
	".cfi_endproc\n"
	".size with_long_row, . - with_long_row\n"
	".type no_information, @function\n"
	"no_information: nop\n"
	"nop\n"
	".size no_information, . - no_information\n"
	".type behind_it, @function\n"
	"behind_it:\n"
	".cfi_startproc\n"
	"nop\n"
	".cfi_endproc\n"
	".size behind_it, . - behind_it\n");

extern const char at_entry[], long_row[], after_push[], with_frame_pointer[], with_saved[],
	with_undefined[], with_moved[], at_end[], with_expression[], in_signal_frame[],
	no_information[];

static struct sdw_file_cache *cache;
static struct sdw_maps maps;
static struct sdw_library *library;

static struct sdw_template learn(struct sdw_templates *templates, const char *code)
{
	struct sdw_frame frame = {.pc = (uintptr_t)code};
	const struct sdw_template *form;

	assert_null(sdw_template_find(templates, &frame));
	assert_int_equal(sdw_template_learn(templates, library, &maps, &frame, &form), 0);
	assert_non_null(form);
	assert_ptr_equal(sdw_template_find(templates, &frame), form);
	/* the same for a return address just behind it, if there are tables */
	frame = (struct sdw_frame){.pc = (uintptr_t)code + 1, .caller = true};
	if (form->kind != SDW_TEMPLATE_NO_TABLES)
		assert_ptr_equal(sdw_template_find(templates, &frame), form);
	return *form;
}

static void assert_step(const struct sdw_template *form, int base, int cfa_offset, int saved)
{
	assert_int_equal(form->kind, SDW_TEMPLATE_STEP);
	assert_int_equal(form->base, base);
	assert_int_equal(form->cfa_offset, cfa_offset);
	assert_int_equal(form->saved, saved);
	assert_int_equal(form->slots[SDW_REGISTER_SP], -8); /* the return address */
}

static void test_rows_of_a_function_are_learned_as_they_are_written(void **state)
{
	static struct sdw_templates templates;
	struct sdw_template form;

	(void)state;
	form = learn(&templates, at_entry);
	assert_step(&form, SDW_REGISTER_SP, 8, 0);
	assert_int_equal(form.span, 8);
	form = learn(&templates, after_push);
	assert_step(&form, SDW_REGISTER_SP, 16, 1 << SDW_REGISTER_BP);
	assert_int_equal(form.slots[SDW_REGISTER_BP], -16);
	form = learn(&templates, with_frame_pointer);
	assert_step(&form, SDW_REGISTER_BP, 16, 1 << SDW_REGISTER_BP);
	form = learn(&templates, with_saved);
	assert_step(&form, SDW_REGISTER_BP, 16,
		    1 << SDW_REGISTER_BP | 1 << SDW_REGISTER_BX | 1 << SDW_REGISTER_R15);
	assert_int_equal(form.slots[SDW_REGISTER_BP], -16);
	assert_int_equal(form.slots[SDW_REGISTER_BX], -24);
	assert_int_equal(form.slots[SDW_REGISTER_R15], -32);
	assert_int_equal(form.lowest, -32);
	assert_int_equal(form.span, 32);
	assert_int_equal(form.lost, 0);
	form = learn(&templates, with_undefined);
	assert_int_equal(form.kind, SDW_TEMPLATE_STEP);
	assert_int_equal(form.lost, 1 << SDW_REGISTER_R12);
	sdw_templates_free(&templates);
}

static void test_a_template_is_right_for_its_whole_row_and_no_further(void **state)
{
	static struct sdw_templates templates;
	struct sdw_template learned = learn(&templates, at_entry);
	struct sdw_frame frame = {.pc = 0};

	(void)state;
	assert_int_equal(after_push - at_entry, 1);
	frame.pc = (uintptr_t)after_push;
	assert_null(sdw_template_find(&templates, &frame));
	learned = learn(&templates, with_frame_pointer);
	for (const char *code = with_frame_pointer; code < with_saved + 1; code++) {
		const struct sdw_template *form;

		frame.pc = (uintptr_t)code;
		form = sdw_template_find(&templates, &frame);
		/* push %rbx is one byte long, then the row changes */
		if (code == with_frame_pointer)
			assert_memory_equal(form, &learned, sizeof(learned));
		else
			assert_null(form);
	}
	learned = learn(&templates, long_row);
	frame.pc = (uintptr_t)long_row + 15;
	assert_memory_equal(sdw_template_find(&templates, &frame), &learned, sizeof(learned));
	assert_int_equal(templates.rows.count, 3);
	frame.pc++;
	assert_null(sdw_template_find(&templates, &frame));
	sdw_templates_free(&templates);
}

static void test_what_is_not_linear_is_left_to_the_library(void **state)
{
	static struct sdw_templates templates;

	(void)state;
	assert_int_equal(learn(&templates, with_moved).kind, SDW_TEMPLATE_LIBRARY);
	assert_int_equal(learn(&templates, with_expression).kind, SDW_TEMPLATE_LIBRARY);
	assert_int_equal(learn(&templates, in_signal_frame).kind, SDW_TEMPLATE_LIBRARY);
	sdw_templates_free(&templates);
}

static void test_ends_are_learned_too(void **state)
{
	static struct sdw_templates templates;

	(void)state;
	assert_int_equal(learn(&templates, at_end).kind, SDW_TEMPLATE_END);
	/* never the function before it in the table */
	assert_int_equal(learn(&templates, no_information).kind, SDW_TEMPLATE_NO_TABLES);
	sdw_templates_free(&templates);
}

static void test_code_outside_of_files_is_not_learned(void **state)
{
	static struct sdw_templates templates;
	struct sdw_frame frame = {.pc = 0x1000};
	const struct sdw_template *form;

	(void)state;
	assert_int_equal(sdw_template_learn(&templates, library, &maps, &frame, &form), 0);
	assert_null(form);
	assert_null(sdw_template_find(&templates, &frame));
	sdw_templates_free(&templates);
}

static void test_a_mapping_that_changed_takes_its_templates_with_it(void **state)
{
	static struct sdw_templates templates;
	struct sdw_mapping other = {.start = 0x10000, .end = 0x20000, .path = ""};
	struct sdw_frame frame = {.pc = (uintptr_t)at_entry};
	struct sdw_mapping *mine;

	(void)state;
	sdw_templates_check(&templates, &maps);
	learn(&templates, at_entry);
	/* another place: nothing is forgotten */
	assert_int_equal(sdw_maps_add(&maps, &other), 0);
	sdw_templates_check(&templates, &maps);
	assert_non_null(sdw_template_find(&templates, &frame));
	/* another file at the same place */
	mine = sdw_maps_find(&maps, (uintptr_t)at_entry);
	other = *mine;
	other.inode++;
	other.elf = NULL;
	other.path = "";
	assert_int_equal(sdw_maps_add(&maps, &other), 0);
	sdw_templates_check(&templates, &maps);
	assert_null(sdw_template_find(&templates, &frame));
	sdw_templates_free(&templates);
	assert_int_equal(sdw_maps_read(&maps), 0);
}

static const struct sdw_template saved_form = {
	.kind = SDW_TEMPLATE_STEP,
	.base = SDW_REGISTER_BP,
	.saved = 1 << SDW_REGISTER_BP | 1 << SDW_REGISTER_R12,
	.lost = 1 << SDW_REGISTER_R13,
	.cfa_offset = 16,
	.slots = {-8, -16, -8, -24, -8, -8, -8},
	.lowest = -24,
	.span = 24,
};

static void test_a_template_is_applied_to_the_stack(void **state)
{
	/* words of the stack from 0x7000: the CFA is 0x7020 */
	const uint64_t words[] = {1, 0x1212, 0xbbbb, 0x4444};
	struct sdw_memory memory = {.stack = (const uint8_t *)words,
				    .stack_start = 0x7000,
				    .stack_size = sizeof(words),
				    .maps = &maps};
	struct sdw_frame frame = {
		.pc = 1, .registers = {0x7000, 0x7010, 2, 3, 4, 5, 6}, .known = SDW_ALL_REGISTERS};

	(void)state;
	assert_true(sdw_template_apply(&saved_form, &memory, &frame));
	assert_int_equal(frame.pc, 0x4444);
	assert_int_equal(frame.registers[SDW_REGISTER_SP], 0x7020);
	assert_int_equal(frame.registers[SDW_REGISTER_BP], 0xbbbb);
	assert_int_equal(frame.registers[SDW_REGISTER_R12], 0x1212);
	assert_int_equal(frame.registers[SDW_REGISTER_BX], 2);
	assert_int_equal(frame.registers[SDW_REGISTER_R15], 6);
	assert_int_equal(frame.known, SDW_ALL_REGISTERS & ~(1 << SDW_REGISTER_R13));
	assert_true(frame.caller);
}

static void test_a_saved_register_that_was_not_captured_is_not_known(void **state)
{
	/* the stack starts at the return address's neighbour: r12's word is below it */
	const uint64_t words[] = {0xbbbb, 0x4444};
	struct sdw_memory memory = {.stack = (const uint8_t *)words,
				    .stack_start = 0x7010,
				    .stack_size = sizeof(words),
				    .maps = &maps};
	struct sdw_frame frame = {
		.pc = 1, .registers = {0x7010, 0x7010, 2, 3, 4, 5, 6}, .known = SDW_ALL_REGISTERS};

	(void)state;
	assert_true(sdw_template_apply(&saved_form, &memory, &frame));
	assert_int_equal(frame.pc, 0x4444);
	assert_int_equal(frame.known,
			 SDW_ALL_REGISTERS & ~(1 << SDW_REGISTER_R13) & ~(1 << SDW_REGISTER_R12));
}

static void test_a_register_that_was_popped_from_below_the_stack_keeps_its_value(void **state)
{
	const uint64_t words[] = {0xbbbb, 0x4444};
	struct sdw_memory memory = {.stack = (const uint8_t *)words,
				    .stack_start = 0x7010,
				    .stack_size = sizeof(words),
				    .maps = &maps};
	struct sdw_frame frame = {
		.pc = 1, .registers = {0x7010, 0x7010, 2, 3, 4, 5, 6}, .known = SDW_ALL_REGISTERS};
	uint64_t word;

	(void)state;
	sdw_template_popped(&saved_form, &frame, &memory);
	assert_true(sdw_memory_read_stack(&memory, 0x7008, &word));
	assert_int_equal(word, 3);
	assert_false(sdw_memory_read_stack(&memory, 0x7000, &word));
	assert_false(sdw_memory_read_stack(&memory, 0x7009, &word));
	assert_true(sdw_template_apply(&saved_form, &memory, &frame));
	assert_int_equal(frame.registers[SDW_REGISTER_R12], 3);
	assert_int_equal(frame.registers[SDW_REGISTER_BP], 0xbbbb);
	assert_int_equal(frame.known, SDW_ALL_REGISTERS & ~(1 << SDW_REGISTER_R13));
}

static void test_a_return_address_that_was_not_captured_gives_no_step(void **state)
{
	const uint64_t words[] = {1, 0x1212, 0xbbbb};
	struct sdw_memory memory = {.stack = (const uint8_t *)words,
				    .stack_start = 0x7000,
				    .stack_size = sizeof(words),
				    .maps = &maps};
	const struct sdw_frame before = {
		.pc = 1, .registers = {0x7000, 0x7010, 2, 3, 4, 5, 6}, .known = SDW_ALL_REGISTERS};
	struct sdw_frame frame = before;

	(void)state;
	assert_false(sdw_template_apply(&saved_form, &memory, &frame));
	assert_memory_equal(&frame, &before, sizeof(frame));
	/* nor if the register that it starts from is not known */
	memory.stack_size = 0;
	frame.known = SDW_ALL_REGISTERS & ~(1 << SDW_REGISTER_BP);
	assert_false(sdw_template_apply(&saved_form, &memory, &frame));
	assert_int_equal(frame.pc, 1);
}

static int set_up(void **state)
{
	(void)state;
	if (sdw_file_cache_create(&cache))
		return -1;
	sdw_maps_init(&maps, (uint32_t)getpid(), cache);
	return sdw_maps_read(&maps) || sdw_library_create(&maps, &library) ? -1 : 0;
}

static int tear_down(void **state)
{
	(void)state;
	sdw_library_free(library);
	sdw_maps_free(&maps);
	sdw_file_cache_free(cache);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows_of_a_function_are_learned_as_they_are_written),
		cmocka_unit_test(test_a_template_is_right_for_its_whole_row_and_no_further),
		cmocka_unit_test(test_what_is_not_linear_is_left_to_the_library),
		cmocka_unit_test(test_ends_are_learned_too),
		cmocka_unit_test(test_code_outside_of_files_is_not_learned),
		cmocka_unit_test(test_a_mapping_that_changed_takes_its_templates_with_it),
		cmocka_unit_test(test_a_template_is_applied_to_the_stack),
		cmocka_unit_test(test_a_saved_register_that_was_not_captured_is_not_known),
		cmocka_unit_test(
			test_a_register_that_was_popped_from_below_the_stack_keeps_its_value),
		cmocka_unit_test(test_a_return_address_that_was_not_captured_gives_no_step),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
