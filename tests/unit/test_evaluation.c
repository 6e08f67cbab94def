// SPDX-License-Identifier: MIT
/*
 * test_evaluation.c - finds the part of the evaluation function that the compiler moved away,
 * without its name. This program has a function of that name, split by the compiler as Python's is;
 * the symbols that would give the answer away are taken out of a copy.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "symbol/elf_file.h"

#define EVALUATION "_PyEval_EvalFrameDefault"
#define OTHER	   "split_like_the_evaluation"

int _PyEval_EvalFrameDefault(int instruction);
int split_like_the_evaluation(int instruction);

/* What leads to a cold function is cold: gcc moves it to .text.unlikely at -O2. */
__attribute__((cold, noinline)) static void rare(volatile int *stack, int value)
{
	stack[value & 7] = value + 1;
}

__attribute__((noinline)) static void often(volatile int *stack, int value)
{
	stack[value & 7] = value;
}

#define BODY(instruction, room)                         \
	do {                                            \
		volatile int stack[room] = {0};         \
		int value = instruction;                \
                                                        \
		for (int i = 0; i < value; i++) {       \
			often(stack, value + i);        \
			if (stack[i & 3] == 42) {       \
				rare(stack, value);     \
				rare(stack, i + value); \
				value += stack[5];      \
			}                               \
			if (stack[i & 7] == 43) {       \
				rare(stack, i *value);  \
				value -= stack[2];      \
			}                               \
		}                                       \
		return value;                           \
	} while (0)

__attribute__((noinline)) int _PyEval_EvalFrameDefault(int instruction)
{
	BODY(instruction, 40);
}

__attribute__((noinline)) int split_like_the_evaluation(int instruction)
{
	BODY(instruction, 60);
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

/* Makes .symtab look like the exported symbols, and takes the real ones away. */
static void strip(uint8_t *bytes)
{
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)bytes;
	Elf64_Shdr *sections = (Elf64_Shdr *)(bytes + header->e_shoff);

	for (size_t i = 0; i < header->e_shnum; i++) {
		if (sections[i].sh_type == SHT_DYNSYM)
			sections[i].sh_type = SHT_NULL;
	}
	for (size_t i = 0; i < header->e_shnum; i++) {
		if (sections[i].sh_type == SHT_SYMTAB)
			sections[i].sh_type = SHT_DYNSYM;
	}
}

static void rename_all(uint8_t *bytes, size_t size, const char *name)
{
	size_t length = strlen(name) + 1;

	for (size_t i = 0; i + length <= size; i++) {
		if (memcmp(bytes + i, name, length) == 0)
			bytes[i] = 'x';
	}
}

static void test_a_part_without_a_name_belongs_to_the_evaluation(void **state)
{
	struct sdw_elf_symbol hot, cold, other;
	struct sdw_elf *whole, *stripped;
	char name[64] = EVALUATION;
	size_t size;
	uint8_t *bytes = read_self(&size);
	bool has_part;

	(void)state;
	assert_int_equal(_PyEval_EvalFrameDefault(3), split_like_the_evaluation(3));
	strcat(name, ".cold"); /* not as one constant, which would be renamed as well */
	assert_int_equal(sdw_elf_open_memory(bytes, size, &whole), 0);
	assert_int_equal(sdw_elf_symbol_named(whole, EVALUATION, &hot), 0);
	has_part = sdw_elf_symbol_named(whole, name, &cold) == 0 && cold.size &&
		   sdw_elf_symbol_named(whole, OTHER ".cold", &other) == 0;
	if (has_part) {
		strip(bytes);
		rename_all(bytes, size, name);
		assert_int_equal(sdw_elf_open_memory(bytes, size, &stripped), 0);
		assert_int_equal(sdw_elf_symbol_named(stripped, name, &cold), -ENOENT);
		assert_true(sdw_elf_is_evaluation(stripped, hot.vaddr));
		assert_true(sdw_elf_is_evaluation(stripped, cold.vaddr));
		assert_true(sdw_elf_is_evaluation(stripped, cold.vaddr + cold.size - 1));
		assert_false(sdw_elf_is_evaluation(stripped, hot.vaddr + hot.size));
		assert_false(sdw_elf_is_evaluation(stripped, other.vaddr));
		assert_false(sdw_elf_is_evaluation(stripped, other.vaddr + other.size - 1));
		sdw_elf_unref(stripped);
	}
	sdw_elf_unref(whole);
	free(bytes);
	if (!has_part)
		skip(); /* this compiler, or this optimization, does not split functions */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_part_without_a_name_belongs_to_the_evaluation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
