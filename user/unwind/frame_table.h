/* SPDX-License-Identifier: MIT */
/*
 * frame_table.h - finds the unwind information of an address in an ELF file.
 *
 * By the search table of .eh_frame_hdr; where there is none, by an index made of .eh_frame or
 * .debug_frame at first use. Only headers are read here; what the instructions mean is libunwind's.
 */
#ifndef SDW_FRAME_TABLE_H
#define SDW_FRAME_TABLE_H

#include "base/map64.h"
#include "symbol/elf_file.h"

/* A frame description entry with its common part, as far as unwinding needs it. */
struct sdw_frame_entry {
	uint64_t start, end; /* vaddr of the code it is about */
	uint64_t from, to;   /* part of it, around the address asked for, that has no other entry */
	uint64_t code_align;
	int64_t data_align;
	bool signal_frame;  /* its return address is where the code was interrupted */
	bool depends_on_pc; /* an expression reads the program counter, as in the linker's .plt */
	const uint8_t *initial, *program; /* instructions; owned by the file */
	size_t initial_size, program_size;
};

/* Indexes of the files that need one. All zeroes is an empty one. */
struct sdw_frame_tables {
	struct sdw_map64 by_elf; /* address of the struct sdw_elf: of the struct frame_index */
};

/* Returns 0, -ENOENT (no entry that can be used), or -ENOMEM. */
int sdw_frame_table_find(struct sdw_frame_tables *tables, struct sdw_elf *elf, uint64_t vaddr,
			 struct sdw_frame_entry *entry);

void sdw_frame_tables_free(struct sdw_frame_tables *tables);

#endif
