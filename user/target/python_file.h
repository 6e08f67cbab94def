/* SPDX-License-Identifier: MIT */
/* python_file.h - what an ELF file alone says about the CPython in it; kept with the file. */
#ifndef SDW_PYTHON_FILE_H
#define SDW_PYTHON_FILE_H

#include "target/interpreter.h"

struct sdw_python_file {
	bool is_python; /* false: nothing else is set */
	bool is_guess;	/* version or layout are only likely: a living process must prove them */
	uint64_t runtime_vaddr;
	uint64_t code_type_vaddr; /* 0: not known */
	struct sdw_pylayout layout;
	char version[32];
	char problem[160]; /* why no process with this file can be walked; "" if they can */
};

/* Looks into the file at first use. Returns NULL if there is no memory for the answer. */
const struct sdw_python_file *sdw_python_file_of(struct sdw_elf *elf);

#endif
