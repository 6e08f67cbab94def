/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * pywalk_state.h - the state of one walk over a Python stack (pywalk.h), and the bounds it keeps.
 */
#ifndef SDW_PYWALK_STATE_H
#define SDW_PYWALK_STATE_H

#include "counters.h"
#include "events.h"
#include "pylayout.h"

#define SDW_PAGE_BYTES	 4096u
#define SDW_SPAN_BYTES	 128u  /* at most, of one frame */
#define SDW_THREAD_SPAN	 192u  /* from the start of a thread state: holds every field used */
#define SDW_WINDOW_BYTES 2048u /* of frames read at once, ending with the current one */
#define SDW_WINDOW_ROOM	 4096u /* a power of two: window offsets are masked with it */
/* and above: FRAME_OWNED_BY_CSTACK, CPython 3.12, 3.13 pycore_frame.h; FRAME_OWNED_BY_INTERPRETER,
   3.14 pycore_interpframe_structs.h */
#define SDW_FRAME_OWNER_SHIM 3

#define SDW_FIELD_MASK 0x7fu /* offsets inside a frame, below SDW_SPAN_BYTES */

struct sdw_walk {
	struct sdw_pylayout layout;
	__u32 cpu;  /* processor it runs on, for SDW_WALK_CODE */
	__u64 seed; /* of the image: stacks and code objects of different images differ */

	__u64 frame;	     /* the next to look at; 0: the chain is over */
	__u64 inner_frame;   /* the one looked at before */
	__u64 outer_current; /* 3.11, 3.12: current frame of the evaluation outside, see below */
	__u32 check_outer;   /* it is known and not yet compared */
	__u32 count;	     /* frames written */
	__u32 steps;	     /* frames and shims looked at */
	__u32 status;	     /* enum sdw_status, valid when the walk is over */
	__u64 hash;

	__u64 window_address; /* what `bytes` holds: [window_address, + window_size) */
	__u32 window_size;
	__u8 thread[SDW_THREAD_SPAN + 8]; /* head of the thread state */
	/* a window of the data stack, and behind it room for a single frame */
	__u8 bytes[SDW_WINDOW_ROOM + 2 * SDW_SPAN_BYTES];

	/* directly in front of `frames` on purpose: both go out as one record */
	struct sdw_record_stack stack;
	struct sdw_python_frame frames[SDW_MAX_FRAMES];
};

#endif
