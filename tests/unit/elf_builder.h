/* SPDX-License-Identifier: MIT */
/*
 * elf_builder.h - small ELF files in memory, for tests: one loaded segment of 4 KiB of code at
 * BUILT_TEXT, a build id, the symbols that a test wants, and one section of its choice.
 */
#ifndef SDW_TEST_ELF_BUILDER_H
#define SDW_TEST_ELF_BUILDER_H

#include <elf.h>
#include <stdint.h>
#include <string.h>

#define BUILT_TEXT	0x401000u
#define BUILT_TEXT_SIZE 0x1000u
#define BUILT_ROOM	16384u
#define BUILT_TEXT_AT	0x1000u /* offset in the file */
#ifdef __aarch64__
#define BUILT_MACHINE EM_AARCH64
#else
#define BUILT_MACHINE EM_X86_64
#endif

struct built_symbol {
	const char *name;
	uint64_t vaddr, size;
	uint8_t type, binding;
};

enum built_section {
	BUILT_NULL,
	BUILT_CODE,
	BUILT_SYMBOLS,
	BUILT_STRINGS,
	BUILT_NAMES,
	BUILT_EXTRA,
	BUILT_SECTIONS,
};

struct built_elf {
	uint8_t bytes[BUILT_ROOM];
	size_t size;
	Elf64_Ehdr *header;
	Elf64_Phdr *segments; /* PT_LOAD, PT_NOTE */
	Elf64_Shdr *sections; /* by enum built_section */
};

/* Appends bytes at a multiple of 8. Returns their offset. */
static inline size_t built_append(struct built_elf *elf, const void *bytes, size_t size)
{
	size_t at = (elf->size + 7) & ~(size_t)7;

	memcpy(elf->bytes + at, bytes, size);
	elf->size = at + size;
	return at;
}

static inline void built_note(struct built_elf *elf)
{
	static const Elf64_Nhdr note = {.n_namesz = 4, .n_descsz = 4, .n_type = NT_GNU_BUILD_ID};
	uint8_t bytes[sizeof(note) + 8];

	memcpy(bytes, &note, sizeof(note));
	memcpy(bytes + sizeof(note), "GNU\0\xde\xad\xbe\xef", 8);
	elf->segments[1] = (Elf64_Phdr){.p_type = PT_NOTE,
					.p_offset = built_append(elf, bytes, sizeof(bytes)),
					.p_filesz = sizeof(bytes),
					.p_align = 4};
}

static inline void built_symbols(struct built_elf *elf, uint32_t type,
				 const struct built_symbol *symbols, size_t count)
{
	Elf64_Sym table[64] = {{0}};
	char strings[1024] = "";
	size_t used = 1;

	for (size_t i = 0; i < count; i++) {
		table[i + 1] = (Elf64_Sym){
			.st_name = (uint32_t)used,
			.st_info = ELF64_ST_INFO(symbols[i].binding, symbols[i].type),
			.st_shndx = BUILT_CODE,
			.st_value = symbols[i].vaddr,
			.st_size = symbols[i].size,
		};
		strcpy(strings + used, symbols[i].name);
		used += strlen(symbols[i].name) + 1;
	}
	elf->sections[BUILT_SYMBOLS] = (Elf64_Shdr){
		.sh_name = 1,
		.sh_type = type,
		.sh_offset = built_append(elf, table, (count + 1) * sizeof(table[0])),
		.sh_size = (count + 1) * sizeof(table[0]),
		.sh_link = BUILT_STRINGS,
		.sh_entsize = sizeof(table[0]),
		.sh_addralign = 8,
	};
	elf->sections[BUILT_STRINGS] = (Elf64_Shdr){.sh_name = 1,
						    .sh_type = SHT_STRTAB,
						    .sh_offset = built_append(elf, strings, used),
						    .sh_size = used,
						    .sh_addralign = 1};
}

/* `extra`: contents of a section named `name`, with `flags`; NULL for none. */
static inline void built_sections(struct built_elf *elf, const char *name, uint64_t flags,
				  const void *extra, size_t extra_size)
{
	char names[64] = "\0.table\0.text";
	size_t used = 14;

	strcpy(names + used, name);
	elf->sections[BUILT_CODE] = (Elf64_Shdr){.sh_name = 8,
						 .sh_type = SHT_PROGBITS,
						 .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
						 .sh_addr = BUILT_TEXT,
						 .sh_offset = BUILT_TEXT_AT,
						 .sh_size = BUILT_TEXT_SIZE,
						 .sh_addralign = 16};
	elf->sections[BUILT_NAMES] =
		(Elf64_Shdr){.sh_name = 1,
			     .sh_type = SHT_STRTAB,
			     .sh_offset = built_append(elf, names, sizeof(names)),
			     .sh_size = sizeof(names),
			     .sh_addralign = 1};
	elf->sections[BUILT_EXTRA] = (Elf64_Shdr){.sh_name = (uint32_t)used,
						  .sh_type = SHT_PROGBITS,
						  .sh_flags = flags,
						  .sh_addr = 0x5000,
						  .sh_addralign = 8};
	if (extra) {
		elf->sections[BUILT_EXTRA].sh_offset = built_append(elf, extra, extra_size);
		elf->sections[BUILT_EXTRA].sh_size = extra_size;
	}
}

/* table: SHT_SYMTAB or SHT_DYNSYM. The caller adds what it wants with built_sections. */
static inline void built_start(struct built_elf *elf, uint32_t table,
			       const struct built_symbol *symbols, size_t count)
{
	memset(elf, 0, sizeof(*elf));
	elf->header = (Elf64_Ehdr *)elf->bytes;
	elf->segments = (Elf64_Phdr *)(elf->bytes + sizeof(Elf64_Ehdr));
	elf->sections = (Elf64_Shdr *)(elf->bytes + 512);
	*elf->header = (Elf64_Ehdr){
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			    EV_CURRENT},
		.e_type = ET_DYN,
		.e_machine = BUILT_MACHINE,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(Elf64_Ehdr),
		.e_shoff = 512,
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 2,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = BUILT_SECTIONS,
		.e_shstrndx = BUILT_NAMES,
	};
	elf->segments[0] = (Elf64_Phdr){
		.p_type = PT_LOAD,
		.p_flags = PF_R | PF_X,
		.p_offset = BUILT_TEXT_AT,
		.p_vaddr = BUILT_TEXT,
		.p_filesz = BUILT_TEXT_SIZE,
		.p_memsz = BUILT_TEXT_SIZE,
		.p_align = 0x1000,
	};
	for (size_t i = 0; i < BUILT_TEXT_SIZE; i++)
		elf->bytes[BUILT_TEXT_AT + i] = (uint8_t)i;
	elf->size = BUILT_TEXT_AT + BUILT_TEXT_SIZE;
	built_note(elf);
	built_symbols(elf, table, symbols, count);
}

#endif
