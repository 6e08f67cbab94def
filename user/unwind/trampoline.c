// SPDX-License-Identifier: MIT
/*
 * trampoline.c - recognizes CPython's perf trampolines.
 *
 * In:  a program counter in code that no file holds. Out: the step to the caller's frame.
 * Source: CPython 3.12, 3.14 Python/asm_trampoline.S.
 */
#include <string.h>

#include "unwind/trampoline.h"

/* Where the pc can be in one, and how far the CFA is from the stack pointer there. */
struct place {
	uint8_t at;
	bool caller;	  /* after the call */
	bool bp_on_stack; /* the caller's base pointer is the word below the return address */
	int8_t cfa_offset;
};

/* 3.12, 3.13: sub $8, %rsp; call *%rcx; add $8, %rsp; ret */
static const uint8_t without_frame_pointer[] = {0x48, 0x83, 0xec, 0x08, 0xff, 0xd1,
						0x48, 0x83, 0xc4, 0x08, 0xc3};
static const struct place places_without_frame_pointer[] = {
	{0, false, false, 8},  {4, false, false, 16}, {6, true, false, 16},
	{6, false, false, 16}, {10, false, false, 8},
};

/* 3.14 and later: push %rbp; mov %rsp, %rbp; call *%rcx; pop %rbp; ret */
static const uint8_t with_frame_pointer[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd1, 0x5d, 0xc3};
static const struct place places_with_frame_pointer[] = {
	{0, false, false, 8}, {1, false, true, 16}, {4, false, true, 16},
	{6, true, true, 16},  {6, false, true, 16}, {7, false, false, 8},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct {
	const uint8_t *instructions;
	const struct place *places;
	size_t size, count;
} kinds[] = {
	{without_frame_pointer, places_without_frame_pointer, sizeof(without_frame_pointer),
	 COUNT(places_without_frame_pointer)},
	{with_frame_pointer, places_with_frame_pointer, sizeof(with_frame_pointer),
	 COUNT(places_with_frame_pointer)},
};

/* Is this code, `at` bytes before the pc, in the process? False also if it cannot be read. */
static bool is_there(const struct sdw_maps *maps, uint64_t pc, uint8_t at, const uint8_t *code,
		     size_t size)
{
	uint8_t there[sizeof(without_frame_pointer)];

	_Static_assert(sizeof(there) >= sizeof(with_frame_pointer), "room for the longest");
	return sdw_remote_read(maps->pid, pc - at, there, size) == 0 &&
	       memcmp(there, code, size) == 0;
}

static void make_form(const struct place *place, struct sdw_template *form)
{
	*form = (struct sdw_template){
		.kind = SDW_TEMPLATE_STEP,
		.base = SDW_REGISTER_SP,
		.cfa_offset = place->cfa_offset,
		.lowest = SDW_RETURN_ADDRESS_SLOT,
		.span = sizeof(uint64_t),
	};
	for (int i = 0; i < SDW_REGISTER_COUNT; i++)
		form->slots[i] = SDW_RETURN_ADDRESS_SLOT;
	if (place->bp_on_stack) {
		form->saved = 1u << SDW_REGISTER_BP;
		form->lowest -= (int32_t)sizeof(uint64_t);
		form->span += sizeof(uint64_t);
		form->slots[SDW_REGISTER_BP] = form->lowest;
	}
}

bool sdw_trampoline_find(struct sdw_maps *maps, const struct sdw_frame *frame,
			 struct sdw_template *form)
{
	const struct sdw_mapping *mapping = sdw_maps_find(maps, sdw_frame_lookup(frame));

	if (!mapping || !mapping->executable || mapping->inode || mapping->elf)
		return false;
	for (size_t kind = 0; kind < COUNT(kinds); kind++) {
		for (size_t i = 0; i < kinds[kind].count; i++) {
			const struct place *place = &kinds[kind].places[i];

			if (place->caller != frame->caller ||
			    !is_there(maps, frame->pc, place->at, kinds[kind].instructions,
				      kinds[kind].size))
				continue;
			make_form(place, form);
			return true;
		}
	}
	return false;
}
