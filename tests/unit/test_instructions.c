// SPDX-License-Identifier: MIT
/*
 * test_instructions.c - instructions that are functions of their own, in this program, which has a
 * table of them as CPython has: found by name, and without names by the table.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "symbol/elf_file.h"

#define NAME_START "_TAIL_CALL_"

/*
 * 200 instructions that jump to the next one, or on into a part that is not in the table, or to a
 * function that is called elsewhere too; 56 opcodes that do not exist.
 */
__asm__(".text\n"
	".macro function name\n"
	".type \\name, @function\n"
	"\\name:\n"
	".cfi_startproc\n"
	".endm\n"
	".macro end name\n"
	".cfi_endproc\n"
	".size \\name, . - \\name\n"
	".endm\n"
	".macro instruction number\n"
	"function _TAIL_CALL_\\number\n"
	"je shared_exit\n"
	".byte 0xe9\n" /* jmp with a 32-bit distance */
	".long called_elsewhere - . - 4\n"
	"end _TAIL_CALL_\\number\n"
	".endm\n"
	"function shared_exit\n"
	"nop\n"
	".byte 0xe9\n"
	".long exit_of_exit - . - 4\n"
	"end shared_exit\n"
	"function exit_of_exit\n"
	"nop\n"
	"ret\n"
	"end exit_of_exit\n"
	"function called_elsewhere\n"
	"ret\n"
	"end called_elsewhere\n"
	"function caller\n"
	"call called_elsewhere\n"
	"ret\n"
	"end caller\n"
	".altmacro\n"
	".set number, 0\n"
	".rept 200\n"
	"instruction %number\n"
	".set number, number + 1\n"
	".endr\n"
	"function _TAIL_CALL_UNKNOWN\n"
	"ud2\n"
	"end _TAIL_CALL_UNKNOWN\n"
	".section .data.rel.ro, \"aw\", @progbits\n"
	".balign 8\n"
	".quad 0\n"
	".macro address number\n"
	".quad _TAIL_CALL_\\number\n"
	".endm\n"
	".set number, 0\n"
	".rept 200\n"
	"address %number\n"
	".set number, number + 1\n"
	".endr\n"
	".rept 56\n"
	".quad _TAIL_CALL_UNKNOWN\n"
	".endr\n"
	".quad 0\n"
	".noaltmacro\n"
	".text\n");

__attribute__((noinline, used)) int _PyEval_EvalFrameDefault(int x);
__attribute__((noinline, used)) int _PyEval_EvalFrameDefault(int x)
{
	return x + 1;
}

static uint8_t *read_self(size_t *size)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct stat status;
	uint8_t *bytes;

	assert_int_equal(fstat(fd, &status), 0);
	*size = (size_t)status.st_size;
	bytes = malloc(*size);
	assert_non_null(bytes);
	assert_int_equal(read(fd, bytes, *size), *size);
	close(fd);
	return bytes;
}

static uint64_t address_of(struct sdw_elf *elf, const char *name)
{
	struct sdw_elf_symbol symbol;

	assert_int_equal(sdw_elf_symbol_named(elf, name, &symbol), 0);
	return symbol.vaddr;
}

/* Makes every name that begins like an instruction's begin otherwise. */
static void rename_instructions(uint8_t *bytes, size_t size)
{
	char start[] = "-TAIL_CALL_"; /* not the name itself, which would be renamed as well */

	start[0] = '_';
	for (size_t i = 0; i + sizeof(start) <= size; i++) {
		if (memcmp(bytes + i, start, sizeof(start) - 1) == 0)
			bytes[i] = 'x';
	}
}

static void check_all(struct sdw_elf *elf, const char *first_letter, bool parts)
{
	char name[32];

	strcpy(name, NAME_START "0");
	name[0] = *first_letter;
	assert_true(sdw_elf_is_instruction(elf, address_of(elf, name)));
	strcpy(name, NAME_START "199");
	name[0] = *first_letter;
	assert_true(sdw_elf_is_instruction(elf, address_of(elf, name)));
	assert_true(sdw_elf_is_instruction(elf, address_of(elf, name) + 3));
	strcpy(name, NAME_START "UNKNOWN");
	name[0] = *first_letter;
	assert_true(sdw_elf_is_instruction(elf, address_of(elf, name)));
	assert_int_equal(sdw_elf_is_instruction(elf, address_of(elf, "shared_exit")), parts);
	assert_int_equal(sdw_elf_is_instruction(elf, address_of(elf, "exit_of_exit")), parts);
	assert_false(sdw_elf_is_instruction(elf, address_of(elf, "called_elsewhere")));
	assert_false(sdw_elf_is_instruction(elf, address_of(elf, "caller")));
	assert_false(sdw_elf_is_instruction(elf, address_of(elf, "_PyEval_EvalFrameDefault")));
	assert_false(sdw_elf_is_evaluation(elf, address_of(elf, "shared_exit")));
}

static void test_instructions_are_found_by_name(void **state)
{
	struct sdw_elf *elf;
	size_t size;
	uint8_t *bytes = read_self(&size);

	(void)state;
	assert_int_equal(sdw_elf_open_memory(bytes, size, &elf), 0);
	check_all(elf, "_", false);
	sdw_elf_unref(elf);
	free(bytes);
}

static void test_instructions_without_names_are_found_by_their_table(void **state)
{
	struct sdw_elf_symbol symbol;
	struct sdw_elf *elf;
	size_t size;
	uint8_t *bytes = read_self(&size);

	(void)state;
	rename_instructions(bytes, size);
	assert_int_equal(sdw_elf_open_memory(bytes, size, &elf), 0);
	check_all(elf, "x", true);
	assert_int_equal(sdw_elf_evaluation_at(elf, address_of(elf, "shared_exit"), &symbol), 0);
	assert_int_equal(symbol.vaddr, address_of(elf, "shared_exit"));
	assert_string_equal(symbol.name, "_PyEval_EvalFrameDefault");
	sdw_elf_unref(elf);
	free(bytes);
}

static void test_a_table_with_a_hole_is_none(void **state)
{
	struct sdw_elf *elf;
	uint64_t target;
	size_t size, changed = 0;
	uint8_t *bytes = read_self(&size);

	(void)state;
	assert_int_equal(sdw_elf_open_memory(bytes, size, &elf), 0);
	target = address_of(elf, NAME_START "100");
	sdw_elf_unref(elf);
	rename_instructions(bytes, size);
	/* the word, or the relocation's, that leads to the instruction in the middle */
	for (size_t i = 0; i + sizeof(target) <= size; i += sizeof(target)) {
		if (memcmp(bytes + i, &target, sizeof(target)) == 0) {
			bytes[i]++;
			changed++;
		}
	}
	assert_true(changed > 0);
	assert_int_equal(sdw_elf_open_memory(bytes, size, &elf), 0);
	assert_false(sdw_elf_is_instruction(elf, target));
	assert_false(sdw_elf_is_instruction(elf, address_of(elf, "shared_exit")));
	sdw_elf_unref(elf);
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_instructions_are_found_by_name),
		cmocka_unit_test(test_instructions_without_names_are_found_by_their_table),
		cmocka_unit_test(test_a_table_with_a_hole_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
