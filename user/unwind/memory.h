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

#define SDW_RED_ZONE_WORDS 16u /* 128 bytes (System V ABI of x86-64, section 3.2.2) */

struct sdw_memory {
	const uint8_t *stack; /* bytes from stack_start on */
	uint64_t stack_start;
	size_t stack_size;
	struct sdw_maps *maps;
	/*
	 * Words right below stack_start, counted downwards, which are not captured: what was popped
	 * from there is still in its register. A bit per word: it is known.
	 */
	uint64_t popped[SDW_RED_ZONE_WORDS];
	uint32_t popped_known;
	bool imaginary; /* stack words are their own addresses, with SDW_IMAGINARY_WORD set */
};

/* Imaginary registers and stack addresses are between these; no address of user space is. */
#define SDW_IMAGINARY_START (0x10ull << 56)
#define SDW_IMAGINARY_END   (0x20ull << 56)
#define SDW_IMAGINARY_WORD  (1ull << 63)

/* The word below the stack that `address` is; SDW_RED_ZONE_WORDS or more: it is none. */
static inline uint64_t sdw_memory_popped_word(const struct sdw_memory *memory, uint64_t address)
{
	uint64_t distance = memory->stack_start - address;

	return distance % sizeof(uint64_t) ? UINT64_MAX : distance / sizeof(uint64_t) - 1;
}

/* The word at `address`, of the stack alone. */
static inline bool sdw_memory_read_stack(const struct sdw_memory *memory, uint64_t address,
					 uint64_t *value)
{
	uint64_t offset = address - memory->stack_start, word;

	if (memory->popped_known) {
		word = sdw_memory_popped_word(memory, address);
		if (word < SDW_RED_ZONE_WORDS && memory->popped_known >> word & 1) {
			*value = memory->popped[word];
			return true;
		}
	}
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
