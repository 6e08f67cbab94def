// SPDX-License-Identifier: MIT
/*
 * fuzz_unwind.c - forged .eh_frame and .debug_frame sections, registers and stack bytes.
 *
 * Input: kind of section, registers, stack bytes, the section. What libunwind and what templates
 * make of them must be the same.
 */
#include <unistd.h>

#include "fuzz/input.h"
#include "unit/elf_builder.h"
#include "unwind/frame_table.h"
#include "unwind/unwind.h"

#define BIAS	  0x7f0000000000ull
#define MAX_TABLE 6000u

static struct sdw_elf *build(struct input *input, uint32_t flags)
{
	static const struct built_symbol symbols[] = {
		{"first", BUILT_TEXT, 64, STT_FUNC, STB_GLOBAL}};
	static struct built_elf built;
	size_t size = input->left < MAX_TABLE ? input->left : MAX_TABLE;
	uint8_t *table = input_block(input, &size);
	struct sdw_elf *elf;

	built_start(&built, SHT_SYMTAB, symbols, 1);
	built_sections(&built, flags & 1 ? ".debug_frame" : ".eh_frame", flags & 1 ? 0 : SHF_ALLOC,
		       table, size);
	free(table);
	if (sdw_elf_open_memory(built.bytes, built.size, &elf))
		abort();
	return elf;
}

static void find_all(struct sdw_elf *elf)
{
	struct sdw_frame_tables tables = {0};
	struct sdw_frame_entry entry;

	for (uint64_t at = BUILT_TEXT; at < BUILT_TEXT + BUILT_TEXT_SIZE; at += 16) {
		if (sdw_frame_table_find(&tables, elf, at, &entry))
			continue;
		fuzz_assert(entry.start <= at && at < entry.end);
	}
	sdw_frame_tables_free(&tables);
}

static void unwind(struct sdw_maps *maps, const struct sdw_registers *registers,
		   const uint8_t *stack, size_t stack_size)
{
	static uint64_t pcs[SDW_MAX_NATIVE_FRAMES];
	struct sdw_unwind_statistics statistics = {0};
	struct sdw_unwinder *unwinder;
	size_t count = 0;
	int end;

	if (sdw_unwinder_create(maps, true, true, &statistics, &unwinder))
		abort();
	for (int i = 0; i < 2; i++) { /* the second time by what was learned */
		end = sdw_unwind(unwinder, registers, stack, stack_size, pcs, SDW_MAX_NATIVE_FRAMES,
				 &count);
		fuzz_assert(end >= 0 && count >= 1 && count <= SDW_MAX_NATIVE_FRAMES);
		fuzz_assert(pcs[0] == registers->ip);
	}
	fuzz_assert(statistics.differed == 0);
	sdw_unwinder_free(unwinder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = {data, size};
	uint32_t flags = (uint32_t)input_number(&input, 1);
	size_t stack_size = input_number(&input, 2) % 4096;
	struct sdw_mapping mapping = {.start = BIAS + BUILT_TEXT,
				      .end = BIAS + BUILT_TEXT + BUILT_TEXT_SIZE,
				      .offset = BUILT_TEXT_AT,
				      .inode = 7,
				      .executable = true,
				      .file_tried = true,
				      .path = (char *)"/lib/forged.so"};
	struct sdw_registers registers;
	struct sdw_file_cache *cache;
	struct sdw_maps maps;
	uint8_t *stack;

	input_copy(&input, &registers, sizeof(registers));
	if (!(flags & 2)) { /* mostly where there is something */
		registers.ip = BIAS + BUILT_TEXT + registers.ip % BUILT_TEXT_SIZE;
		registers.sp = 0x7ffe00000000ull + registers.sp % 4096 * 8;
		registers.bp = registers.sp + registers.bp % 4096 * 8;
	}
	stack = input_block(&input, &stack_size);
	if (sdw_file_cache_create(&cache))
		abort();
	sdw_maps_init(&maps, 0x7ffffffe, cache);
	if (sdw_maps_add(&maps, &mapping))
		abort();
	maps.items[0].file_tried = true;
	maps.items[0].elf = build(&input, flags);
	find_all(maps.items[0].elf);
	unwind(&maps, &registers, stack, stack_size);
	sdw_maps_free(&maps);
	sdw_file_cache_free(cache);
	free(stack);
	return 0;
}
