// SPDX-License-Identifier: MIT
/*
 * test_frame_table.c - finding unwind information in ELF files: with and without a search table, in
 * .eh_frame and .debug_frame, and in files that were damaged on purpose.
 *
 * The files are copies of this program in memory, with section names or contents changed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "unwind/cfi_check.h"
#include "unwind/frame_table.h"
#include "unwind/unwind.h"

/* Both kinds of tables for this file's functions. */
__asm__(".cfi_sections .eh_frame, .debug_frame");

struct image {
	uint8_t *bytes;
	size_t size;
};

static struct image read_self(void)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct image image;
	struct stat status;

	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &status), 0);
	image.size = (size_t)status.st_size;
	image.bytes = malloc(image.size);
	assert_non_null(image.bytes);
	assert_int_equal(read(fd, image.bytes, image.size), image.size);
	close(fd);
	return image;
}

static Elf64_Shdr *find_section(const struct image *image, const char *name)
{
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)image->bytes;
	Elf64_Shdr *sections = (Elf64_Shdr *)(image->bytes + header->e_shoff);
	const char *names = (const char *)image->bytes + sections[header->e_shstrndx].sh_offset;

	for (int i = 0; i < header->e_shnum; i++) {
		if (strcmp(names + sections[i].sh_name, name) == 0)
			return &sections[i];
	}
	return NULL;
}

/* Makes a section one that nobody looks for. */
static void hide_section(const struct image *image, const char *name)
{
	Elf64_Shdr *section = find_section(image, name);

	assert_non_null(section);
	section->sh_name = 0;
}

static struct sdw_elf *open_image(const struct image *image)
{
	struct sdw_elf *elf;

	assert_int_equal(sdw_elf_open_memory(image->bytes, image->size, &elf), 0);
	return elf;
}

/* Addresses to ask for: all over the text of the program. */
static uint64_t text_start, text_end;

static void find_text(const struct image *image)
{
	const Elf64_Shdr *text = find_section(image, ".text");

	assert_non_null(text);
	text_start = text->sh_addr;
	text_end = text->sh_addr + text->sh_size;
}

static bool is_same(const struct sdw_frame_entry *a, const struct sdw_frame_entry *b)
{
	return a->start == b->start && a->end == b->end && a->code_align == b->code_align &&
	       a->data_align == b->data_align && a->signal_frame == b->signal_frame;
}

static uint64_t vaddr_of_function(struct sdw_elf *elf, const char *name)
{
	struct sdw_elf_symbol symbol;

	assert_int_equal(sdw_elf_symbol_named(elf, name, &symbol), 0);
	return symbol.vaddr;
}

static void test_index_finds_what_the_search_table_finds(void **state)
{
	struct sdw_frame_tables with_tables = {0}, without_tables = {0};
	struct image image = read_self();
	struct sdw_elf *with, *without;
	struct sdw_frame_entry found, indexed;
	size_t hits = 0;

	(void)state;
	find_text(&image);
	with = open_image(&image);
	hide_section(&image, ".eh_frame_hdr");
	hide_section(&image, ".debug_frame");
	without = open_image(&image);
	for (uint64_t vaddr = text_start; vaddr < text_end; vaddr += 7) {
		int err = sdw_frame_table_find(&with_tables, with, vaddr, &found);

		assert_int_equal(sdw_frame_table_find(&without_tables, without, vaddr, &indexed),
				 err);
		if (err)
			continue;
		assert_true(is_same(&found, &indexed));
		assert_in_range(vaddr, found.start, found.end - 1);
		hits++;
	}
	/* gcc makes tables for all but a few bytes */
	assert_true(hits > (text_end - text_start) / 7 / 2);
	sdw_frame_tables_free(&with_tables);
	sdw_frame_tables_free(&without_tables);
	sdw_elf_unref(with);
	sdw_elf_unref(without);
	free(image.bytes);
}

static void test_debug_frame_is_used_where_there_is_no_eh_frame(void **state)
{
	struct sdw_frame_tables tables = {0};
	struct image image = read_self();
	struct sdw_frame_entry frames, debug;
	struct sdw_elf *with, *without;
	uint64_t vaddr;

	(void)state;
	with = open_image(&image);
	hide_section(&image, ".eh_frame_hdr");
	hide_section(&image, ".eh_frame");
	without = open_image(&image);
	vaddr = vaddr_of_function(with, "main");
	assert_int_equal(sdw_frame_table_find(&tables, with, vaddr, &frames), 0);
	assert_int_equal(sdw_frame_table_find(&tables, without, vaddr, &debug), 0);
	assert_int_equal(debug.start, vaddr);
	assert_true(is_same(&frames, &debug));
	assert_int_equal(sdw_frame_table_find(&tables, without, 1, &debug), -ENOENT);
	sdw_frame_tables_free(&tables);
	sdw_elf_unref(with);
	sdw_elf_unref(without);
	free(image.bytes);
}

/* Unwinds a made-up stack through `elf`, as if it were this process's program. */
static void unwind_through(struct sdw_maps *maps, struct sdw_elf *elf, bool sorted,
			   unsigned int *seed)
{
	struct sdw_unwind_statistics statistics = {0};
	struct sdw_unwinder *unwinder;
	uint64_t stack[256], pcs[64];
	struct sdw_mapping mapping = {.start = 0x400000,
				      .end = 0x400000 + text_end,
				      .inode = 1,
				      .executable = true,
				      .path = "forged"};
	struct sdw_mapping *added;
	size_t count;

	assert_int_equal(sdw_maps_add(maps, &mapping), 0);
	added = sdw_maps_find(maps, mapping.start);
	added->elf = sdw_elf_ref(elf);
	added->file_tried = true;
	assert_int_equal(sdw_unwinder_create(maps, true, true, &statistics, &unwinder), 0);
	for (int i = 0; i < 20; i++) {
		struct sdw_registers registers = {.sp = 0x7fff0000, .bp = 0x7fff0080};

		for (size_t k = 0; k < 256; k++)
			stack[k] = mapping.start + text_start +
				   (uint64_t)rand_r(seed) % (text_end - text_start);
		registers.ip = stack[255];
		sdw_unwind(unwinder, &registers, stack, sizeof(stack), pcs, 64, &count);
		assert_in_range(count, 1, 64);
	}
	/* in a search table that is out of order, what is found depends on what was asked before */
	if (sorted)
		assert_int_equal(statistics.differed, 0);
	sdw_unwinder_free(unwinder);
}

static void test_damaged_tables_never_lead_astray(void **state)
{
	static const char *const damaged[] = {".eh_frame", ".eh_frame_hdr"};
	struct image image = read_self(), copy;
	struct sdw_file_cache *cache;
	unsigned int seed = 11;

	(void)state;
	find_text(&image);
	copy.size = image.size;
	copy.bytes = malloc(copy.size);
	assert_non_null(copy.bytes);
	assert_int_equal(sdw_file_cache_create(&cache), 0);
	for (int turn = 0; turn < 150; turn++) {
		struct sdw_maps maps;
		struct sdw_elf *elf;

		memcpy(copy.bytes, image.bytes, image.size);
		/* the search table: left alone, damaged, or hidden */
		for (size_t which = 0; which < (turn % 3 == 1 ? 2 : 1); which++) {
			const Elf64_Shdr *section = find_section(&copy, damaged[which]);

			for (int i = rand_r(&seed) % 2000; i > 0; i--)
				copy.bytes[section->sh_offset +
					   (uint64_t)rand_r(&seed) % section->sh_size] ^=
					(uint8_t)(1 << rand_r(&seed) % 8);
		}
		if (turn % 3 == 0)
			hide_section(&copy, ".eh_frame_hdr");
		elf = open_image(&copy);
		sdw_maps_init(&maps, (uint32_t)getpid(), cache);
		unwind_through(&maps, elf, turn % 3 != 1, &seed);
		sdw_maps_free(&maps);
		sdw_elf_unref(elf);
	}
	sdw_file_cache_free(cache);
	free(copy.bytes);
	free(image.bytes);
}

#define assert_safe(expected, ...)                                                     \
	do {                                                                           \
		const uint8_t program_[] = {__VA_ARGS__};                              \
		bool depends_;                                                         \
		const uint8_t initial_[] = {0x0c, 7, 8, 0x90, 1};                      \
		assert_int_equal(sdw_cfi_is_safe(initial_, sizeof(initial_), program_, \
						 sizeof(program_), &depends_),         \
				 expected);                                            \
	} while (0)

static void test_instructions_that_could_harm_libunwind_are_refused(void **state)
{
	bool depends;
	const uint8_t only_advance[] = {0x41, 0x0e, 16};

	(void)state;
	assert_safe(true, 0x41, 0x0e, 16, 0x86, 2, 0x0a, 0x43, 0xc6, 0x0b);
	assert_safe(true, 0x10, 16, 3, 0x76, 0x78, 0x06);
	assert_safe(false, 0x09, 3, 40);	       /* in a register that there is not */
	assert_safe(false, 0x91, 1);		       /* save of such a one */
	assert_safe(false, 0x0b);		       /* restore without remember */
	assert_safe(false, 0x0e);		       /* operand past the end */
	assert_safe(false, 0x10, 3, 0x7f, 0x76);       /* expression past the end */
	assert_safe(false, 0x0f, 3, 0x2f, 0xfd, 0xff); /* expression that jumps to itself */
	assert_safe(false, 0x0f, 3, 0x30, 0x30, 0x1b); /* division by zero */
	assert_safe(false, 0x01, 0, 0, 0, 0);	       /* set_loc: depends on where it lies */
	/* a row without a CFA */
	assert_false(
		sdw_cfi_is_safe(only_advance, 0, only_advance, sizeof(only_advance), &depends));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_index_finds_what_the_search_table_finds),
		cmocka_unit_test(test_debug_frame_is_used_where_there_is_no_eh_frame),
		cmocka_unit_test(test_damaged_tables_never_lead_astray),
		cmocka_unit_test(test_instructions_that_could_harm_libunwind_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
