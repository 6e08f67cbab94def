// SPDX-License-Identifier: MIT
/* test_elf_file.c - symbols and sections of ELF files, honest, stripped, forged and shrinking. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

#include "symbol/elf_file.h"

#include "elf_builder.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct built_symbol functions[] = {
	{"outer", BUILT_TEXT + 0x100, 0x100, STT_FUNC, STB_GLOBAL},
	{"inner", BUILT_TEXT + 0x120, 0x10, STT_FUNC, STB_LOCAL},
	{"next", BUILT_TEXT + 0x200, 0x10, STT_FUNC, STB_LOCAL},
	{"assembler", BUILT_TEXT + 0x400, 0, STT_FUNC, STB_LOCAL},
	{"after", BUILT_TEXT + 0x500, 0x10, STT_FUNC, STB_LOCAL},
	{"__wide", BUILT_TEXT + 0x600, 0x20, STT_FUNC, STB_GLOBAL},
	{"wide@@LIB_2.1", BUILT_TEXT + 0x600, 0x20, STT_FUNC, STB_WEAK},
	{"_wide", BUILT_TEXT + 0x600, 0x20, STT_FUNC, STB_GLOBAL},
	{"data_named_like_code", BUILT_TEXT + 0x700, 0x20, STT_OBJECT, STB_GLOBAL},
	{"$d", BUILT_TEXT + 0x780, 0, STT_NOTYPE, STB_LOCAL},
	{"last", BUILT_TEXT + 0xf00, 0xffffffffffff, STT_FUNC, STB_GLOBAL},
};

static struct sdw_elf *open_built(const struct built_elf *built)
{
	struct sdw_elf *elf = NULL;

	assert_int_equal(sdw_elf_open_memory(built->bytes, built->size, &elf), 0);
	return elf;
}

static struct sdw_elf *build(uint32_t table, const struct built_symbol *symbols, size_t count)
{
	struct built_elf built;

	built_start(&built, table, symbols, count);
	built_sections(&built, ".extra", 0, NULL, 0);
	return open_built(&built);
}

static void check_at(struct sdw_elf *elf, uint64_t offset, const char *name)
{
	struct sdw_elf_symbol symbol;
	int err = sdw_elf_symbol_at(elf, BUILT_TEXT + offset, &symbol);

	if (!name) {
		assert_int_equal(err, -ENOENT);
		return;
	}
	assert_int_equal(err, 0);
	assert_string_equal(symbol.name, name);
}

static void test_a_function_reaches_as_far_as_its_size(void **state)
{
	struct sdw_elf *elf = build(SHT_SYMTAB, functions, COUNT(functions));

	(void)state;
	check_at(elf, 0x0ff, NULL);
	check_at(elf, 0x100, "outer");
	check_at(elf, 0x1ff, "outer");
	check_at(elf, 0x200, "next");
	check_at(elf, 0x20f, "next");
	check_at(elf, 0x210, NULL);
	check_at(elf, 0x510, NULL);
	sdw_elf_unref(elf);
}

static void test_a_function_goes_on_behind_one_inside_it(void **state)
{
	struct sdw_elf *elf = build(SHT_SYMTAB, functions, COUNT(functions));

	(void)state;
	check_at(elf, 0x11f, "outer");
	check_at(elf, 0x12f, "inner");
	check_at(elf, 0x130, "outer");
	sdw_elf_unref(elf);
}

static void test_a_function_without_size_reaches_to_the_next_one(void **state)
{
	struct sdw_elf *elf = build(SHT_SYMTAB, functions, COUNT(functions));

	(void)state;
	check_at(elf, 0x400, "assembler");
	check_at(elf, 0x4ff, "assembler");
	check_at(elf, 0x500, "after");
	sdw_elf_unref(elf);
}

static void test_without_a_full_table_a_function_without_size_is_not_trusted(void **state)
{
	struct sdw_elf *elf = build(SHT_DYNSYM, functions, COUNT(functions));

	(void)state;
	check_at(elf, 0x4ff, NULL);
	check_at(elf, 0x1ff, "outer");
	sdw_elf_unref(elf);
}

static void test_of_several_names_the_plain_one_is_shown_without_version(void **state)
{
	struct sdw_elf *elf = build(SHT_SYMTAB, functions, COUNT(functions));

	(void)state;
	check_at(elf, 0x610, "wide");
	sdw_elf_unref(elf);
}

static void test_data_and_marks_are_no_functions(void **state)
{
	struct sdw_elf *elf = build(SHT_SYMTAB, functions, COUNT(functions));
	struct sdw_elf_symbol symbol;

	(void)state;
	check_at(elf, 0x710, NULL);
	check_at(elf, 0x780, NULL);
	assert_int_equal(sdw_elf_symbol_named(elf, "data_named_like_code", &symbol), 0);
	assert_int_equal(symbol.vaddr, BUILT_TEXT + 0x700);
	assert_int_equal(symbol.size, 0x20);
	assert_int_equal(sdw_elf_symbol_named(elf, "data_named", &symbol), -ENOENT);
	sdw_elf_unref(elf);
}

static void test_a_size_beyond_the_section_ends_with_it(void **state)
{
	struct sdw_elf *elf = build(SHT_SYMTAB, functions, COUNT(functions));

	(void)state;
	check_at(elf, 0xfff, "last");
	check_at(elf, 0x1000, NULL);
	check_at(elf, 0x80000000, NULL);
	sdw_elf_unref(elf);
}

static void test_all_parts_of_the_evaluation_function_count(void **state)
{
	static const struct built_symbol parts[] = {
		{"_PyEval_EvalFrameDefault", BUILT_TEXT, 0x10, STT_FUNC, STB_GLOBAL},
		{"_PyEval_EvalFrameDefault.cold", BUILT_TEXT + 0x10, 0x10, STT_FUNC, STB_LOCAL},
		{"_PyEval_EvalFrameDefault.lto_priv.0.cold", BUILT_TEXT + 0x30, 0x10, STT_FUNC,
		 STB_LOCAL},
		{"_PyEval_EvalFrameDefault.constprop.0", BUILT_TEXT + 0x40, 0x10, STT_FUNC,
		 STB_LOCAL},
		{"_PyEval_EvalFrame", BUILT_TEXT + 0x20, 0x10, STT_FUNC, STB_LOCAL},
		{"_PyEval_EvalFrameDefaults", BUILT_TEXT + 0x50, 0x10, STT_FUNC, STB_LOCAL},
	};
	struct sdw_elf *elf = build(SHT_SYMTAB, parts, COUNT(parts));

	(void)state;
	assert_true(sdw_elf_is_evaluation(elf, BUILT_TEXT));
	assert_true(sdw_elf_is_evaluation(elf, BUILT_TEXT + 0x1f));
	assert_false(sdw_elf_is_evaluation(elf, BUILT_TEXT + 0x20));
	assert_true(sdw_elf_is_evaluation(elf, BUILT_TEXT + 0x30));
	assert_true(sdw_elf_is_evaluation(elf, BUILT_TEXT + 0x4f));
	assert_false(sdw_elf_is_evaluation(elf, BUILT_TEXT + 0x50));
	sdw_elf_unref(elf);
}

static void test_segments_give_bytes_and_addresses(void **state)
{
	struct sdw_elf *elf = build(SHT_SYMTAB, functions, COUNT(functions));
	uint8_t bytes[4];
	uint64_t vaddr;
	size_t size;

	(void)state;
	assert_int_equal(sdw_elf_read(elf, BUILT_TEXT + 0xffc, bytes, 4), 0);
	assert_memory_equal(bytes, "\xfc\xfd\xfe\xff", 4);
	assert_int_equal(sdw_elf_read(elf, BUILT_TEXT + 0xffd, bytes, 4), -EFAULT);
	assert_int_equal(sdw_elf_read(elf, BUILT_TEXT - 1, bytes, 4), -EFAULT);
	assert_int_equal(sdw_elf_read(elf, UINT64_MAX, bytes, 4), -EFAULT);
	assert_int_equal(sdw_elf_offset_to_vaddr(elf, BUILT_TEXT_AT + 8, &vaddr), 0);
	assert_int_equal(vaddr, BUILT_TEXT + 8);
	assert_int_equal(sdw_elf_offset_to_vaddr(elf, 8, &vaddr), -ENOENT);
	assert_memory_equal(sdw_elf_build_id(elf, &size), "\xde\xad\xbe\xef", 4);
	assert_int_equal(size, 4);
	sdw_elf_unref(elf);
}

static int section_of(struct built_elf *built, const char *name, uint64_t flags, const void *extra,
		      size_t size, uint8_t *first, size_t *length)
{
	struct sdw_elf_section section;
	struct sdw_elf *elf;
	int err;

	built_start(built, SHT_SYMTAB, functions, COUNT(functions));
	built_sections(built, name, flags, extra, size);
	elf = open_built(built);
	err = sdw_elf_section(elf, name, &section);
	*length = section.size;
	*first = section.size ? section.data[0] : 0;
	sdw_elf_unref(elf);
	return err;
}

static void test_sections_are_read_by_name(void **state)
{
	struct built_elf built;
	uint8_t first;
	size_t length;

	(void)state;
	assert_int_equal(section_of(&built, ".eh_frame", SHF_ALLOC, "xyz", 3, &first, &length), 0);
	assert_int_equal(length, 3);
	assert_int_equal(first, 'x');
	assert_int_equal(section_of(&built, ".eh_frame", SHF_ALLOC, NULL, 0, &first, &length),
			 -ENOEXEC);
}

static size_t compress_section(uint8_t *to, size_t room, uint64_t declared, const void *from,
			       size_t size)
{
	Elf64_Chdr header = {.ch_type = ELFCOMPRESS_ZLIB, .ch_size = declared, .ch_addralign = 1};
	uLongf used = room - sizeof(header);

	memcpy(to, &header, sizeof(header));
	assert_int_equal(compress2(to + sizeof(header), &used, from, size, 9), Z_OK);
	return sizeof(header) + used;
}

static void test_compressed_sections_are_inflated_as_far_as_declared(void **state)
{
	static uint8_t contents[100000];
	uint8_t packed[2048], first;
	struct built_elf built;
	size_t size, length;

	(void)state;
	memset(contents, 7, sizeof(contents));
	size = compress_section(packed, sizeof(packed), sizeof(contents), contents,
				sizeof(contents));
	assert_int_equal(
		section_of(&built, ".debug_frame", SHF_COMPRESSED, packed, size, &first, &length),
		0);
	assert_int_equal(length, sizeof(contents));
	assert_int_equal(first, 7);
	/* one that declares what no file here may have, and one that declares less than it holds */
	size = compress_section(packed, sizeof(packed), 1ull << 40, contents, sizeof(contents));
	assert_int_equal(
		section_of(&built, ".debug_frame", SHF_COMPRESSED, packed, size, &first, &length),
		-ENOEXEC);
	size = compress_section(packed, sizeof(packed), 10, contents, sizeof(contents));
	assert_int_equal(
		section_of(&built, ".debug_frame", SHF_COMPRESSED, packed, size, &first, &length),
		-ENOEXEC);
}

static void test_files_for_other_machines_and_kinds_are_refused(void **state)
{
	static const struct {
		size_t at;
		uint8_t value;
	} changes[] = {
		{EI_MAG1, 'e'},
		{EI_CLASS, ELFCLASS32},
		{EI_DATA, ELFDATA2MSB},
		{offsetof(Elf64_Ehdr, e_machine), EM_386},
		{offsetof(Elf64_Ehdr, e_type), ET_REL},
		{offsetof(Elf64_Ehdr, e_type), ET_CORE},
		{offsetof(Elf64_Ehdr, e_phentsize), 1},
		{offsetof(Elf64_Ehdr, e_shentsize), 1},
		{offsetof(Elf64_Ehdr, e_phoff) + 7, 0xff},
		{offsetof(Elf64_Ehdr, e_shoff) + 7, 0xff},
		{offsetof(Elf64_Ehdr, e_shnum) + 1, 0x7f},
	};
	struct built_elf built;
	struct sdw_elf *elf;

	(void)state;
	for (size_t i = 0; i < COUNT(changes); i++) {
		built_start(&built, SHT_SYMTAB, functions, COUNT(functions));
		built_sections(&built, ".extra", 0, NULL, 0);
		built.bytes[changes[i].at] = changes[i].value;
		assert_int_equal(sdw_elf_open_memory(built.bytes, built.size, &elf), -ENOEXEC);
	}
}

static void use_everything(const uint8_t *bytes, size_t size)
{
	struct sdw_elf_section section;
	struct sdw_elf_symbol symbol;
	uint64_t vaddr, length;
	struct sdw_elf *elf;
	uint8_t byte;

	if (sdw_elf_open_memory(bytes, size, &elf))
		return;
	sdw_elf_symbol_named(elf, "none", &symbol);
	for (uint64_t at = 0; at < BUILT_TEXT_SIZE; at += 0x80) {
		if (sdw_elf_symbol_at(elf, BUILT_TEXT + at, &symbol) == 0)
			assert_in_range(strlen(symbol.name), 1, size);
		sdw_elf_is_evaluation(elf, BUILT_TEXT + at);
		sdw_elf_read(elf, BUILT_TEXT + at, &byte, 1);
	}
	sdw_elf_section(elf, ".debug_frame", &section);
	sdw_elf_section(elf, ".eh_frame", &section);
	sdw_elf_section_address(elf, ".extra", &vaddr, &length);
	sdw_elf_unref(elf);
}

static void test_a_file_cut_anywhere_harms_nobody(void **state)
{
	struct built_elf built;

	(void)state;
	built_start(&built, SHT_SYMTAB, functions, COUNT(functions));
	built_sections(&built, ".debug_frame", 0, "frames", 6);
	for (size_t size = 0; size < built.size; size += size < 1024 ? 1 : 37)
		use_everything(built.bytes, size);
}

static void test_forged_headers_harm_nobody(void **state)
{
	static const uint8_t values[] = {0, 1, 0x7f, 0x80, 0xff};
	struct built_elf built, forged;
	size_t tables = BUILT_TEXT_AT + BUILT_TEXT_SIZE;

	(void)state;
	built_start(&built, SHT_SYMTAB, functions, COUNT(functions));
	built_sections(&built, ".debug_frame", SHF_COMPRESSED, "frames", 6);
	for (size_t at = 0; at < built.size; at++) {
		if (at == 512 + BUILT_SECTIONS * sizeof(Elf64_Shdr))
			at = tables; /* what lies in between is code */
		for (size_t i = 0; i < COUNT(values); i++) {
			forged = built;
			forged.bytes[at] = values[i];
			use_everything(forged.bytes, forged.size);
		}
	}
}

static void test_a_file_that_shrinks_gives_an_error(void **state)
{
	struct sdw_elf_section section;
	struct built_elf built;
	struct sdw_elf *elf;
	uint8_t byte;
	int fd = memfd_create("shrinking", MFD_CLOEXEC);

	(void)state;
	built_start(&built, SHT_SYMTAB, functions, COUNT(functions));
	built_sections(&built, ".eh_frame", SHF_ALLOC, "xyz", 3);
	assert_int_equal(write(fd, built.bytes, built.size), built.size);
	assert_int_equal(sdw_elf_open(fd, &elf), 0);
	assert_int_equal(sdw_elf_read(elf, BUILT_TEXT, &byte, 1), 0);
	assert_int_equal(ftruncate(fd, BUILT_TEXT_AT), 0);
	close(fd);
	assert_int_equal(sdw_elf_read(elf, BUILT_TEXT, &byte, 1), -EFAULT);
	assert_int_not_equal(sdw_elf_section(elf, ".eh_frame", &section), 0);
	check_at(elf, 0x100, NULL);
	sdw_elf_unref(elf);
}

static void test_what_is_no_regular_file_is_refused(void **state)
{
	struct sdw_elf *elf;
	int ends[2], folder = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(sdw_elf_open(ends[0], &elf), -ENOEXEC);
	assert_int_equal(sdw_elf_open(folder, &elf), -ENOEXEC);
	assert_int_equal(sdw_elf_open(-1, &elf), -EBADF);
	close(folder);
	close(ends[0]);
	close(ends[1]);
}

static void mark(void *note)
{
	*(int *)note += 1;
}

static void test_a_note_is_released_with_the_file(void **state)
{
	struct sdw_elf *elf = build(SHT_SYMTAB, functions, COUNT(functions));
	int first = 0, second = 0;

	(void)state;
	assert_null(sdw_elf_note(elf));
	sdw_elf_set_note(elf, &first, mark);
	sdw_elf_set_note(elf, &second, mark);
	assert_int_equal(first, 1);
	assert_ptr_equal(sdw_elf_note(elf), &second);
	assert_ptr_equal(sdw_elf_ref(elf), elf);
	sdw_elf_unref(elf);
	assert_int_equal(second, 0);
	sdw_elf_unref(elf);
	assert_int_equal(second, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_function_reaches_as_far_as_its_size),
		cmocka_unit_test(test_a_function_goes_on_behind_one_inside_it),
		cmocka_unit_test(test_a_function_without_size_reaches_to_the_next_one),
		cmocka_unit_test(test_without_a_full_table_a_function_without_size_is_not_trusted),
		cmocka_unit_test(test_of_several_names_the_plain_one_is_shown_without_version),
		cmocka_unit_test(test_data_and_marks_are_no_functions),
		cmocka_unit_test(test_a_size_beyond_the_section_ends_with_it),
		cmocka_unit_test(test_all_parts_of_the_evaluation_function_count),
		cmocka_unit_test(test_segments_give_bytes_and_addresses),
		cmocka_unit_test(test_sections_are_read_by_name),
		cmocka_unit_test(test_compressed_sections_are_inflated_as_far_as_declared),
		cmocka_unit_test(test_files_for_other_machines_and_kinds_are_refused),
		cmocka_unit_test(test_a_file_cut_anywhere_harms_nobody),
		cmocka_unit_test(test_forged_headers_harm_nobody),
		cmocka_unit_test(test_a_file_that_shrinks_gives_an_error),
		cmocka_unit_test(test_what_is_no_regular_file_is_refused),
		cmocka_unit_test(test_a_note_is_released_with_the_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
