// SPDX-License-Identifier: MIT
/*
 * trampoline.c - recognizes CPython's perf trampolines.
 *
 * In:  a program counter in code that no file holds. Out: the step to the caller's frame.
 * Source: CPython 3.12 Python/asm_trampoline.S.
 */
#include <string.h>

#include "unwind/trampoline.h"

/* sub $8, %rsp; call *%rcx; add $8, %rsp; ret */
static const uint8_t instructions[] = {0x48, 0x83, 0xec, 0x08, 0xff, 0xd1,
				       0x48, 0x83, 0xc4, 0x08, 0xc3};

/* Where the pc can be in it, and how far the CFA is from the stack pointer there. */
static const struct {
	uint8_t at;
	bool caller; /* after the call */
	int8_t cfa_offset;
} places[] = {{0, false, 8}, {4, false, 16}, {6, true, 16}, {6, false, 16}, {10, false, 8}};

bool sdw_trampoline_find(struct sdw_maps *maps, const struct sdw_frame *frame,
			 struct sdw_template *form)
{
	const struct sdw_mapping *mapping = sdw_maps_find(maps, sdw_frame_lookup(frame));

	if (!mapping || !mapping->executable || mapping->inode || mapping->elf)
		return false;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		uint8_t there[sizeof(instructions)];

		if (places[i].caller != frame->caller ||
		    sdw_remote_read(maps->pid, frame->pc - places[i].at, there, sizeof(there)) ||
		    memcmp(there, instructions, sizeof(there)) != 0)
			continue;
		*form = (struct sdw_template){
			.kind = SDW_TEMPLATE_STEP,
			.base = SDW_REGISTER_SP,
			.cfa_offset = places[i].cfa_offset,
			.lowest = SDW_RETURN_ADDRESS_SLOT,
			.span = sizeof(uint64_t),
		};
		for (int k = 0; k < SDW_REGISTER_COUNT; k++)
			form->slots[k] = SDW_RETURN_ADDRESS_SLOT;
		return true;
	}
	return false;
}
