/* SPDX-License-Identifier: MIT */
/*
 * memory.h - what a step may read: the captured stack, and files where they are what memory is.
 *
 * Or, to learn a template, an imaginary memory in which each word tells its own address: see
 * template.c.
 */
#ifndef SDW_MEMORY_H
#define SDW_MEMORY_H

#include <string.h>

#include "target/maps.h"

struct sdw_memory {
	const uint8_t *stack; /* bytes from stack_start on */
	uint64_t stack_start;
	size_t stack_size;
	struct sdw_maps *maps;
	bool imaginary; /* stack words are their own addresses, with SDW_IMAGINARY_WORD set */
};

/* Imaginary registers and stack addresses are between these; no address of user space is. */
#define SDW_IMAGINARY_START (0x10ull << 56)
#define SDW_IMAGINARY_END   (0x20ull << 56)
#define SDW_IMAGINARY_WORD  (1ull << 63)

/* The word at `address`, of the stack alone. */
static inline bool sdw_memory_read_stack(const struct sdw_memory *memory, uint64_t address,
					 uint64_t *value)
{
	uint64_t offset = address - memory->stack_start;

	if (memory->stack_size < sizeof(*value) || offset > memory->stack_size - sizeof(*value))
		return false;
	memcpy(value, memory->stack + offset, sizeof(*value));
	return true;
}

/* The word at `address`: of the stack, or of a mapped file's read-only part. */
bool sdw_memory_read(const struct sdw_memory *memory, uint64_t address, uint64_t *value);

/* True if `address` may lie in the part of the stack that was not captured. */
static inline bool sdw_memory_is_above(const struct sdw_memory *memory, uint64_t address)
{
	return address >= memory->stack_start && address < 1ull << 47;
}

#endif
