/* SPDX-License-Identifier: MIT */
/*
 * kernel.h - names of kernel functions, from /proc/kallsyms.
 *
 * Where the kernel hides addresses (kernel.kptr_restrict) they are all zero: that is noticed and
 * said once, and no address gets a name.
 */
#ifndef SDW_KERNEL_H
#define SDW_KERNEL_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct sdw_kernel_symbol {
	uint64_t start;
	const char *name;   /* owned by the table */
	const char *module; /* "" for the kernel itself */
};

struct sdw_kernel_symbols;

/* Reads /proc/kallsyms. Returns 0 (also where addresses are hidden) or -errno. */
int sdw_kernel_symbols_read(struct sdw_kernel_symbols **symbols);

/* The same from a file in that format. */
int sdw_kernel_symbols_parse(FILE *file, struct sdw_kernel_symbols **symbols);

void sdw_kernel_symbols_free(struct sdw_kernel_symbols *symbols); /* NULL is allowed */

/* The function that holds `address`. Returns 0 or -ENOENT. */
int sdw_kernel_symbol_at(const struct sdw_kernel_symbols *symbols, uint64_t address,
			 struct sdw_kernel_symbol *symbol);

#endif
