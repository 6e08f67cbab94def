/* SPDX-License-Identifier: MIT */
/* elf_internal.h - what elf_file.c and elf_symbols.c share; nobody else looks inside an ELF file.
 */
#ifndef SDW_ELF_INTERNAL_H
#define SDW_ELF_INTERNAL_H

#include <gelf.h>

#include "base/map64.h"
#include "symbol/elf_file.h"

struct sdw_elf_range {
	uint64_t start, end;
};

/* A function, or a label in code; `reach` lets a search backwards stop. */
struct sdw_elf_function {
	uint64_t vaddr, size;
	uint64_t limit; /* where its section ends */
	uint64_t reach; /* the highest end of this function and of all before it */
	const char *name;
	uint8_t rank; /* among functions of one address: the lowest is shown */
};

#define SDW_ELF_LOADED_MAX 32
#define SDW_ELF_STUB_KINDS 4

struct sdw_elf {
	Elf *elf;
	int fd;	      /* -1: over `memory` */
	void *memory; /* the copy of sdw_elf_open_memory */
	uint64_t file_size;
	uint64_t budget; /* bytes of sections that may still be read */
	struct {
		size_t index;
		Elf_Data *data; /* NULL: cannot be had */
	} loaded[SDW_ELF_LOADED_MAX];
	size_t loaded_count;
	unsigned int references;
	struct sdw_elf_segment *segments;
	size_t segment_count;
	uint8_t build_id[64];
	size_t build_id_size;
	struct sdw_elf *debug; /* the debug file of the same build id, or NULL */
	bool debug_tried;
	struct sdw_elf_function *functions; /* by vaddr, one per address */
	size_t function_count, function_room;
	bool functions_tried;
	bool functions_complete; /* a .symtab was there, not only what is exported */
	struct sdw_elf_range *evaluation;
	size_t evaluation_count, evaluation_room;
	bool evaluation_tried;
	const char *evaluation_name;	    /* of the function that the ranges are parts of */
	struct sdw_elf_range *instructions; /* by start, not overlapping */
	size_t instruction_count;
	bool instructions_tried;
	struct sdw_elf_range stub_sections[SDW_ELF_STUB_KINDS]; /* start == end: not there */
	bool stub_sections_tried;
	struct sdw_map64 stub_names; /* by start: what target_of() found, 0 for nothing */
	void *note;
	void (*note_release)(void *note);
};

/* Contents of a section in memory, uncompressed, counted against the budget; NULL if not usable. */
Elf_Data *sdw_elf_section_data(struct sdw_elf *elf, Elf_Scn *section);

/* A terminated string inside a string table, or NULL. */
const char *sdw_elf_string(const Elf_Data *strings, uint64_t offset);

/* The first section of a type, with its header, or NULL. */
Elf_Scn *sdw_elf_section_of_type(struct sdw_elf *elf, uint32_t type, GElf_Shdr *header);

/* Fills `functions` at first use. */
void sdw_elf_load_functions(struct sdw_elf *elf);

/* The instruction that vaddr lies in where instructions are functions (elf_instructions.c), or
 * NULL. */
const struct sdw_elf_range *sdw_elf_instruction_at(struct sdw_elf *elf, uint64_t vaddr);

/* The debug file, looked for at first use; NULL if there is none. */
struct sdw_elf *sdw_elf_debug_file(struct sdw_elf *elf);

/*
 * Where a jump with a 32-bit distance goes, if one may be at code[at], at < size; `vaddr` is that
 * of code[0]. Instructions are not decoded, so other bytes can look like a jump: the caller checks
 * that the target is the start of something.
 */
bool sdw_elf_jump_target(const uint8_t *code, size_t size, size_t at, uint64_t vaddr,
			 uint64_t *target);

#endif
