// SPDX-License-Identifier: MIT
/* fuzz_elf.c - a forged ELF file, asked everything that is asked of the files of a target. */
#include "base/strings.h"
#include "fuzz/input.h"
#include "symbol/demangle.h"
#include "symbol/elf_file.h"
#include "target/python_file.h"

static void ask_address(struct sdw_elf *elf, uint64_t vaddr)
{
	struct sdw_elf_symbol symbol;
	char name[256];
	uint8_t bytes[64];

	if (sdw_elf_symbol_at(elf, vaddr, &symbol) == 0) {
		fuzz_assert(symbol.name && symbol.vaddr <= vaddr);
		fuzz_assert(!symbol.size || vaddr - symbol.vaddr < symbol.size);
		(void)sdw_demangle(symbol.name, name, sizeof(name));
	}
	if (sdw_elf_stub_at(elf, vaddr, &symbol) == 0)
		fuzz_assert(symbol.name && strlen(symbol.name) + 1 > 0);
	(void)sdw_elf_is_evaluation(elf, vaddr);
	(void)sdw_elf_read(elf, vaddr, bytes, sizeof(bytes));
}

static void ask_sections(struct sdw_elf *elf)
{
	static const char *const names[] = {".eh_frame",  ".eh_frame_hdr", ".debug_frame",
					    ".PyRuntime", ".bss",	   ".plt",
					    ".text"};
	struct sdw_elf_section section;
	uint64_t vaddr, size;
	uint8_t *copy;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		(void)sdw_elf_section_address(elf, names[i], &vaddr, &size);
		if (sdw_elf_section(elf, names[i], &section))
			continue;
		copy = malloc(section.size); /* all of it can be read */
		if (copy)
			memcpy(copy, section.data, section.size);
		free(copy);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sdw_elf *elf;
	struct sdw_elf_symbol symbol;
	const struct sdw_elf_segment *segments;
	size_t count, id_size;
	uint64_t vaddr;

	if (sdw_elf_open_memory(data, size, &elf))
		return 0;
	segments = sdw_elf_segments(elf, &count);
	for (size_t i = 0; i < count && i < 8; i++) {
		for (unsigned int part = 0; part < 16; part++)
			ask_address(elf, segments[i].vaddr + segments[i].file_size / 16 * part);
		ask_address(elf, segments[i].vaddr + segments[i].memory_size - 1);
		(void)sdw_elf_offset_to_vaddr(elf, segments[i].offset, &vaddr);
	}
	ask_address(elf, 0);
	ask_address(elf, UINT64_MAX);
	(void)sdw_elf_build_id(elf, &id_size);
	fuzz_assert(id_size <= 64);
	(void)sdw_elf_symbol_named(elf, "_PyRuntime", &symbol);
	(void)sdw_elf_own_symbol_named(elf, "Py_Version", &symbol);
	ask_sections(elf);
	(void)sdw_python_file_of(elf);
	sdw_elf_unref(elf);
	return 0;
}
