// SPDX-License-Identifier: MIT
/* elf_jump.c - where a jump in a file's machine code goes. */
#include <string.h>

#include "symbol/elf_internal.h"

bool sdw_elf_jump_target(const uint8_t *code, size_t size, size_t at, uint64_t vaddr,
			 uint64_t *target)
{
#ifdef __x86_64__
	size_t operand = at + 1;
	int32_t distance;

	if (code[at] == 0x0f && operand < size && (code[operand] & 0xf0) == 0x80) /* jcc */
		operand++;
	else if (code[at] != 0xe9) /* jmp */
		return false;
	if (operand + sizeof(distance) > size)
		return false;
	memcpy(&distance, code + operand, sizeof(distance));
	*target = vaddr + operand + sizeof(distance) + (uint64_t)(int64_t)distance;
	return true;
#else
	(void)code, (void)size, (void)at, (void)vaddr, (void)target;
	return false;
#endif
}
