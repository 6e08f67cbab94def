/* SPDX-License-Identifier: MIT */
/* frame.h - one native frame while a stack is unwound: program counter and callee-saved registers.
 */
#ifndef SDW_FRAME_H
#define SDW_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The registers that a caller's frame can depend on (System V ABI of x86-64, section 3.2.1). */
enum sdw_register {
	SDW_REGISTER_SP,
	SDW_REGISTER_BP,
	SDW_REGISTER_BX,
	SDW_REGISTER_R12,
	SDW_REGISTER_R13,
	SDW_REGISTER_R14,
	SDW_REGISTER_R15,
	SDW_REGISTER_COUNT,
};

#define SDW_ALL_REGISTERS ((1u << SDW_REGISTER_COUNT) - 1)

struct sdw_frame {
	uint64_t pc;
	uint64_t registers[SDW_REGISTER_COUNT];
	uint8_t known; /* bit per register: its value is known */
	bool caller;   /* pc is a return address: the call before it decides, so pc - 1 is looked up
			*/
};

/* What became of one step to the caller's frame. */
enum sdw_step {
	SDW_STEP_MOVED,	    /* the frame is the caller's now */
	SDW_STEP_END,	    /* there is no caller: the thread's start */
	SDW_STEP_NO_TABLES, /* no unwind information for the code at pc */
	SDW_STEP_NO_STACK,  /* needs memory above the captured stack bytes */
	SDW_STEP_BAD,	    /* needs what cannot be had, or leads to nonsense */
};

static inline uint64_t sdw_frame_lookup(const struct sdw_frame *frame)
{
	return frame->pc - frame->caller;
}

/* What a step depends on besides registers and memory: never 0 but for pc 0. */
static inline uint64_t sdw_frame_key(const struct sdw_frame *frame)
{
	return frame->pc << 1 | frame->caller;
}

/* User addresses of x86-64 end here (47 bits; with 5-level paging only on request). */
#define SDW_USER_ADDRESSES_END (1ull << 47)

/* True if a step from a frame whose stack pointer was `sp` leads where a stack can lead. */
static inline bool sdw_frame_is_sane(const struct sdw_frame *frame, uint64_t sp)
{
	uint64_t caller_sp = frame->registers[SDW_REGISTER_SP];

	/* at least the return address lies between */
	return caller_sp > sp && caller_sp - sp >= sizeof(frame->pc) &&
	       frame->pc < SDW_USER_ADDRESSES_END;
}

#endif
