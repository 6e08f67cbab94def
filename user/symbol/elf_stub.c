// SPDX-License-Identifier: MIT
/*
 * elf_stub.c - whom the stubs of the procedure linkage table call.
 *
 * Stubs have no symbols. Each jumps through a word that the dynamic linker fills in; the relocation
 * of that word names the function. Only a stub that decodes and has such a relocation is given a
 * name.
 */
#include <errno.h>
#include <string.h>

#include "symbol/elf_internal.h"

#define MAX_STUB_BYTES 16u

static const struct {
	const char *section;
	uint64_t bytes; /* of a stub; .plt.got has shorter ones where there is no endbr64 */
} kinds[SDW_ELF_STUB_KINDS] = {{".plt", 16}, {".plt.sec", 16}, {".plt.got", 8}, {".plt.got", 16}};

/* Looks the sections up once: a process that forks asks for the same stubs again and again. */
static void find_sections(struct sdw_elf *elf)
{
	if (elf->stub_sections_tried)
		return;
	elf->stub_sections_tried = true;
	for (size_t i = 0; i < SDW_ELF_STUB_KINDS; i++) {
		uint64_t from, size;

		if (!sdw_elf_section_address(elf, kinds[i].section, &from, &size) &&
		    size <= UINT64_MAX - from)
			elf->stub_sections[i] = (struct sdw_elf_range){from, from + size};
	}
}

/* Where the stub that holds vaddr starts. Returns its size, or 0: there is none. */
static uint64_t stub_start(struct sdw_elf *elf, uint64_t vaddr, uint64_t *start)
{
	find_sections(elf);
	for (size_t i = 0; i < SDW_ELF_STUB_KINDS; i++) {
		uint64_t from = elf->stub_sections[i].start;
		uint8_t first[4];

		if (vaddr < from || vaddr >= elf->stub_sections[i].end)
			continue;
		/* stubs of sixteen bytes there begin with endbr64 */
		if (i >= 2 && (sdw_elf_read(elf, from, first, sizeof(first)) ||
			       (first[0] == 0xf3) != (kinds[i].bytes == 16)))
			continue;
		*start = from + (vaddr - from) / kinds[i].bytes * kinds[i].bytes;
		return kinds[i].bytes;
	}
	return 0;
}

/* The address of the word that a stub jumps through. Returns 0 or -ENOENT. */
static int decode(const uint8_t *code, size_t size, uint64_t vaddr, uint64_t *slot)
{
#ifdef __x86_64__
	static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
	size_t at = 0;
	int32_t displacement;

	if (!memcmp(code, endbr64, sizeof(endbr64)))
		at = sizeof(endbr64);
	if (code[at] == 0xf2) /* bnd, of older linkers */
		at++;
	/* jmp *displacement(%rip) */
	if (size - at < 6 || code[at] != 0xff || code[at + 1] != 0x25)
		return -ENOENT;
	memcpy(&displacement, code + at + 2, sizeof(displacement));
	*slot = vaddr + at + 6 + (uint64_t)(int64_t)displacement;
	return 0;
#else
	(void)code, (void)size, (void)vaddr, (void)slot;
	return -ENOENT;
#endif
}

/* The name of the symbol with this index, of the table that a section of relocations names. */
static const char *symbol_name(struct sdw_elf *elf, const GElf_Shdr *relocations, uint64_t index)
{
	Elf_Scn *section = elf_getscn(elf->elf, relocations->sh_link);
	Elf_Data *symbols;
	GElf_Shdr header;
	GElf_Sym symbol;

	if (!index || index > INT32_MAX || !section || !gelf_getshdr(section, &header) ||
	    (header.sh_type != SHT_DYNSYM && header.sh_type != SHT_SYMTAB))
		return NULL;
	symbols = sdw_elf_section_data(elf, section);
	if (!symbols || !gelf_getsym(symbols, (int)index, &symbol))
		return NULL;
	section = elf_getscn(elf->elf, header.sh_link);
	return section ? sdw_elf_string(sdw_elf_section_data(elf, section), symbol.st_name) : NULL;
}

/* A file's own function that is chosen by processor: its name is that of the one who chooses. */
static const char *resolver_name(struct sdw_elf *elf, const GElf_Rela *entry)
{
#ifdef __x86_64__
	struct sdw_elf_symbol chooser;
	uint64_t vaddr = (uint64_t)entry->r_addend;

	if (GELF_R_TYPE(entry->r_info) == R_X86_64_IRELATIVE &&
	    !sdw_elf_symbol_at(elf, vaddr, &chooser) && chooser.vaddr == vaddr)
		return chooser.name;
#else
	(void)elf, (void)entry;
#endif
	return NULL;
}

/* Whom the dynamic linker puts into the word at `slot`; NULL if that is not written down. */
static const char *target_of(struct sdw_elf *elf, uint64_t slot)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(elf->elf, section)) != NULL) {
		Elf_Data *data;
		GElf_Rela entry;

		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_RELA)
			continue;
		data = sdw_elf_section_data(elf, section);
		for (int i = 0; data && gelf_getrela(data, i, &entry); i++) {
			if (entry.r_offset != slot)
				continue;
			if (GELF_R_SYM(entry.r_info))
				return symbol_name(elf, &header, GELF_R_SYM(entry.r_info));
			return resolver_name(elf, &entry);
		}
	}
	return NULL;
}

/* The name for the stub at `start`; NULL if it does not decode or its target is not known. */
static const char *stub_name(struct sdw_elf *elf, uint64_t start, uint64_t size)
{
	uint64_t slot, *known = sdw_map64_find(&elf->stub_names, start);
	uint8_t code[MAX_STUB_BYTES];
	const char *name = NULL;

	if (known)
		return (const char *)(uintptr_t)*known;
	if (!sdw_elf_read(elf, start, code, size) && !decode(code, size, start, &slot))
		name = target_of(elf, slot); /* in the file's own data, there as long as it is */
	(void)sdw_map64_set(&elf->stub_names, start, (uintptr_t)name);
	return name;
}

int sdw_elf_stub_at(struct sdw_elf *elf, uint64_t vaddr, struct sdw_elf_symbol *symbol)
{
	uint64_t start, size = stub_start(elf, vaddr, &start);
	const char *name = size ? stub_name(elf, start, size) : NULL;

	if (!name || !name[0])
		return -ENOENT;
	*symbol = (struct sdw_elf_symbol){.vaddr = start, .size = size, .name = name};
	return 0;
}
