/* SPDX-License-Identifier: MIT */
/*
 * template.h - what libunwind does at a program counter, learned once and applied many times.
 *
 * A template says how the caller's registers follow from these: CFA = register + offset, return
 * address and saved registers in words at offsets from the CFA. It is learned by letting libunwind
 * step once through an imaginary memory, in which every register and every word has a value that
 * tells where it came from; twice, with other values. What is not of this form has no template.
 */
#ifndef SDW_TEMPLATE_H
#define SDW_TEMPLATE_H

#include "base/map64.h"
#include "unwind/library.h"

/* Where the call left the return address, from the CFA (System V ABI of x86-64, section 3.2.2). */
#define SDW_RETURN_ADDRESS_SLOT (-8)

enum sdw_template_kind {
	SDW_TEMPLATE_STEP = 1,
	SDW_TEMPLATE_END,	/* the thread's start */
	SDW_TEMPLATE_NO_TABLES, /* no unwind information here */
	SDW_TEMPLATE_LIBRARY,	/* not of this form: libunwind must do each step */
};

struct sdw_template {
	uint8_t kind;  /* enum sdw_template_kind */
	uint8_t base;  /* enum sdw_register that the CFA counts from */
	uint8_t saved; /* bit per register: the caller's is in a word of the stack */
	uint8_t lost;  /* bit per register: the caller's cannot be had */
	int32_t cfa_offset;
	/*
	 * Where the words are, from the CFA. That of the stack pointer, which is the CFA itself, is
	 * of the return address; a register that is not saved has the same, which is always there
	 * to be read.
	 */
	int32_t slots[SDW_REGISTER_COUNT];
	int32_t lowest; /* of the slots */
	uint32_t span;	/* bytes from the lowest slot to the end of the highest */
};

/* Code addresses for which the tables say the same: one template is right for all of them. */
struct sdw_template_row {
	uint64_t start, end;
	uint64_t form; /* index into forms */
};

#define SDW_RECENT_TEMPLATES 512u /* a power of two */

/* The templates of one process image. All zeroes is an empty set. */
struct sdw_templates {
	/* in front of by_pc: what was looked up last, by a few bits of the key */
	struct {
		uint64_t key;
		uint64_t index;
	} recent[SDW_RECENT_TEMPLATES];
	struct sdw_map64 by_pc; /* sdw_frame_key(): index into forms */
	struct {
		struct sdw_template_row *items; /* by start, not overlapping */
		size_t count, room;
	} rows;
	struct {
		struct sdw_template *items; /* each form once */
		size_t count, room;
	} forms;
	struct {
		struct sdw_mapping
			*items; /* those that held code with templates, as they were; no paths */
		size_t count, room;
	} sources;
	uint32_t generation; /* of the mappings when the sources were last compared */
};

/* Forgets all if a mapping that a template came from is not as it was. */
void sdw_templates_check(struct sdw_templates *templates, struct sdw_maps *maps);

/* The template for the frame's code, or NULL if none was learned for it or for its row. */
const struct sdw_template *sdw_template_find(struct sdw_templates *templates,
					     const struct sdw_frame *frame);

/*
 * Learns the template for frame->pc by asking libunwind, or by what trampoline.h knows. *learned:
 * valid until the next call, NULL if the pc is in no mapping that is known. Returns 0 or -ENOMEM.
 */
int sdw_template_learn(struct sdw_templates *templates, struct sdw_library *library,
		       struct sdw_maps *maps, const struct sdw_frame *frame,
		       const struct sdw_template **learned);

/*
 * Makes *frame the caller's frame. Returns true if it did, false if a register or word that it
 * needs cannot be had; then *frame is unchanged.
 */
bool sdw_template_apply(const struct sdw_template *form, const struct sdw_memory *memory,
			struct sdw_frame *frame);

/*
 * For the innermost frame: writes into *memory what was popped from below the stack pointer.
 * Compilers say of a register that is popped that it is saved there until the function has
 * returned.
 */
void sdw_template_popped(const struct sdw_template *form, const struct sdw_frame *frame,
			 struct sdw_memory *memory);

void sdw_templates_free(struct sdw_templates *templates);

#endif
