/* SPDX-License-Identifier: MIT */
/*
 * cfi_check.h - says whether call frame instructions may be given to libunwind.
 *
 * libunwind trusts them: a register number out of range reads outside its tables, a CFA that is
 * never defined hits an assertion, an expression that branches backwards never ends, one that
 * divides can trap. Nothing of that comes from a compiler; a forged file must not get that far.
 */
#ifndef SDW_CFI_CHECK_H
#define SDW_CFI_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Checks the instructions common to many entries and those of one entry, which run after them.
 * *depends_on_pc: an expression reads the program counter.
 */
bool sdw_cfi_is_safe(const uint8_t *initial, size_t initial_size, const uint8_t *program,
		     size_t program_size, bool *depends_on_pc);

#endif
