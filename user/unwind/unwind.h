/* SPDX-License-Identifier: MIT */
/*
 * unwind.h - finishes the native stack of a sample from registers and captured stack bytes.
 *
 * libunwind's remote interface is the authority: its accessors read the captured bytes and the
 * cached ELF files. What it does at a program counter is learned once as a template (how the
 * caller's registers follow from these, see template.h) and applied to later samples; a template is
 * only kept where the step depends on registers and saved words alone, so it gives the same stack.
 */
#ifndef SDW_UNWIND_H
#define SDW_UNWIND_H

#include <linux/types.h>

#include "events.h"
#include "target/maps.h"

#define SDW_MAX_NATIVE_FRAMES 2048u /* 3.8-3.10 take several native frames per Python frame */

enum sdw_unwind_end {
	SDW_UNWIND_COMPLETE,  /* reached the thread's start */
	SDW_UNWIND_NO_TABLES, /* the code at the last frame has no unwind information */
	SDW_UNWIND_NO_STACK,  /* the captured bytes end (cut or unreadable) before the stack does */
	SDW_UNWIND_BAD,	      /* neither pc nor stack pointer moved, or nonsense was found */
	SDW_UNWIND_TOO_DEEP,  /* SDW_MAX_NATIVE_FRAMES reached */
};

struct sdw_unwind_statistics {
	uint64_t samples;	   /* unwound */
	uint64_t template_steps;   /* steps that a template answered */
	uint64_t library_steps;	   /* steps by libunwind */
	uint64_t template_samples; /* samples that needed no step by libunwind */
	uint64_t verified;	   /* samples unwound both ways (verify mode) ... */
	uint64_t differed;	   /* ... and of these, with another result */
};

struct sdw_unwinder; /* of one process image: caches of its addresses */

/* `maps` must outlive the unwinder. templates off: every step by libunwind. verify: do both. */
int sdw_unwinder_create(struct sdw_maps *maps, bool templates, bool verify,
			struct sdw_unwind_statistics *statistics, struct sdw_unwinder **unwinder);
void sdw_unwinder_free(struct sdw_unwinder *unwinder);

/*
 * Unwinds; `stack` holds the bytes from registers->sp upwards. Writes the program counters,
 * innermost first, to pcs (the first is registers->ip, the others return addresses) and their
 * number to *count (at least 1 if max >= 1). Returns enum sdw_unwind_end, or -ENOMEM.
 */
int sdw_unwind(struct sdw_unwinder *unwinder, const struct sdw_registers *registers,
	       const void *stack, size_t stack_size, uint64_t *pcs, size_t max, size_t *count);

/*
 * The same where only ip and sp are known, as /proc tells them of a thread that sleeps: a step that
 * needs another register, which no frame inside it has saved, ends the stack as SDW_UNWIND_BAD.
 */
int sdw_unwind_sleeping(struct sdw_unwinder *unwinder, const struct sdw_registers *registers,
			const void *stack, size_t stack_size, uint64_t *pcs, size_t max,
			size_t *count);

#endif
