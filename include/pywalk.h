/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * pywalk.h - walks the Python stack of one thread, by the layout of its interpreter.
 *
 * One walker for every place that reads a Python stack: the BPF program compiles it over
 * bpf_probe_read_user, tests and remote readers over their own reads. Before including it, define
 *
 *   SDW_WALK_READ(to, size, address)  0 if `size` bytes at `address` of the target were read
 *   SDW_WALK_CODE(walk, address)      the id (not 0) of the code object there; 0: not a code object
 *   SDW_WALK_HIDE(value)              keeps the compiler from moving a bound away from its use
 *
 * In:  struct sdw_walk with `layout` set and the thread's state found (sdw_walk_begin).
 * Out: walk->frames, innermost first, the hash of the stack, and a status that says why it ended.
 * Every address and offset comes from the target or its layout: each is masked into the buffer.
 */
#ifndef SDW_PYWALK_H
#define SDW_PYWALK_H

#include "pywalk_state.h"

/*
 * A word at any address of a buffer. The BPF machine loads it as it lies; there, a copy would be
 * made byte by byte.
 */
#ifdef __bpf__
#define SDW_LOAD_WORD(from) (*(const __u64 *)(from))
#else
#define SDW_LOAD_WORD(from)                                      \
	({                                                       \
		__u64 word_;                                     \
		__builtin_memcpy(&word_, (from), sizeof(word_)); \
		word_;                                           \
	})
#endif

static inline __attribute__((always_inline)) __u64 sdw_mix(__u64 x)
{
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93ull;
	x ^= x >> 32;
	return x;
}

static inline __attribute__((always_inline)) __u64 sdw_walk_hash(__u64 hash, __u64 word)
{
	hash = (hash << 7 | hash >> 57) ^ word;
	return hash * 0x9e3779b97f4a7c15ull;
}

/* A field of the thread state's head; the layout's offset is masked into it. */
static inline __attribute__((always_inline)) __u64 sdw_thread_word(const struct sdw_walk *walk,
								   __u32 offset)
{
	if (offset > SDW_THREAD_SPAN - 8)
		return 0;
	offset = SDW_WALK_HIDE(offset);
	offset &= 0xff;
	if (offset > SDW_THREAD_SPAN - 8)
		return 0;
	return SDW_LOAD_WORD(walk->thread + offset);
}

/* A field of the frame whose bytes start at `at` in walk->bytes. */
static inline __attribute__((always_inline)) __u64 sdw_frame_word(const struct sdw_walk *walk,
								  __u32 at, __u32 offset)
{
	at = SDW_WALK_HIDE(at + (offset & SDW_FIELD_MASK));
	if (at > sizeof(walk->bytes) - 8)
		return 0;
	return SDW_LOAD_WORD(walk->bytes + at);
}

/*
 * Sets the walk up from the thread state's head (already in walk->thread).
 *
 * 3.11 and 3.12 keep the current frame in a _PyCFrame on the C stack. A new evaluation links its
 * _PyCFrame a few instructions before it fills in the current frame, which then is garbage, often a
 * frame of a moment ago. What tells: the caller of an evaluation's outermost frame must be the
 * current frame of the _PyCFrame outside. It is compared when the walk gets there.
 */
static inline __attribute__((always_inline)) void sdw_walk_begin(struct sdw_walk *walk)
{
	__u64 cframe, words[4], outer;
	const struct sdw_pylayout *layout = &walk->layout;

	walk->frame = sdw_thread_word(walk, layout->thread_frame);
	walk->inner_frame = 0;
	walk->check_outer = 0;
	walk->count = 0;
	walk->steps = 0;
	walk->window_size = 0;
	walk->window_address = 0;
	walk->hash = walk->seed;
	walk->status = SDW_STATUS_COMPLETE;
	if (layout->frame_kind != SDW_FRAMES_ENTRY_FLAG &&
	    layout->frame_kind != SDW_FRAMES_SHIM_CFRAME)
		return;

	cframe = walk->frame;
	walk->frame = 0;
	if (!cframe || SDW_WALK_READ(words, sizeof(words), cframe))
		return;
	walk->frame = words[(layout->cframe_current_frame / 8) & 3];
	outer = words[(layout->cframe_previous / 8) & 3];
	if (!outer || SDW_WALK_READ(&walk->outer_current, 8, outer + layout->cframe_current_frame))
		return;
	walk->check_outer = 1;
}

/* Starts again at the evaluation outside. Returns 0 (go on), or 1 if that was done already. */
static inline __attribute__((always_inline)) int sdw_walk_restart(struct sdw_walk *walk)
{
	if (!walk->check_outer)
		return 1;
	walk->check_outer = 0;
	walk->frame = walk->outer_current;
	walk->inner_frame = 0;
	walk->count = 0;
	walk->hash = walk->seed;
	return 0;
}

/*
 * Ends the walk. If not even the first frame is one, the _PyCFrame was not filled in yet; once a
 * frame was kept, what was read is kept, and the status says that something is missing.
 */
static inline __attribute__((always_inline)) int sdw_walk_end(struct sdw_walk *walk,
							      enum sdw_status status)
{
	if (!walk->count && !sdw_walk_restart(walk))
		return 0;
	walk->status = status;
	return 1;
}

/*
 * Reads a window that ends with the frame. Frames of 3.11 and later lie one above the other in a
 * chunk of the data stack, callers below: one read brings a dozen. It does not reach over the
 * page's start, since a read that meets an absent page costs microseconds and gives nothing.
 */
static inline __attribute__((always_inline)) int sdw_walk_window(struct sdw_walk *walk, __u64 frame)
{
	__u64 in_page = frame & (SDW_PAGE_BYTES - 1);
	__u64 below = in_page < SDW_WINDOW_BYTES ? in_page : SDW_WINDOW_BYTES;
	__u32 size = (__u32)below + walk->layout.frame_span;

	size = SDW_WALK_HIDE(size);
	if (size == 0 || size > SDW_WINDOW_BYTES + SDW_SPAN_BYTES)
		return -1;
	if (SDW_WALK_READ(walk->bytes, size, frame - below))
		return -1;
	walk->window_address = frame - below;
	walk->window_size = size;
	return 0;
}

/* Makes the frame's bytes available. Returns where they start in walk->bytes, or -1. */
static inline __attribute__((always_inline)) int sdw_walk_fetch(struct sdw_walk *walk, __u64 frame)
{
	__u64 at = frame - walk->window_address;
	__u32 span = walk->layout.frame_span;

	/* without a sum: a frame right below the window would wrap around to its start */
	if (walk->window_size >= span && at <= walk->window_size - span)
		return (int)at;
	/* data stack: the first frame, or one right below the frame before */
	if (walk->layout.frame_kind != SDW_FRAMES_OBJECTS &&
	    (!walk->inner_frame ||
	     (frame < walk->inner_frame && walk->inner_frame - frame <= SDW_WINDOW_BYTES))) {
		if (sdw_walk_window(walk, frame))
			return -1;
		return (int)(frame - walk->window_address);
	}
	span = SDW_WALK_HIDE(span);
	if (span == 0 || span > SDW_SPAN_BYTES)
		return -1;
	if (SDW_WALK_READ(walk->bytes + SDW_WINDOW_ROOM, span, frame))
		return -1;
	return (int)SDW_WINDOW_ROOM;
}

/* The evaluation that the frame before belongs to ends here: its caller is C. */
static inline __attribute__((always_inline)) void sdw_walk_mark_entry(struct sdw_walk *walk)
{
	__u32 last = walk->count - 1;

	walk->hash = sdw_walk_hash(walk->hash, 1);
	last = SDW_WALK_HIDE(last);
	if (last < SDW_MAX_FRAMES)
		walk->frames[last].entries++;
}

/*
 * Where the bytecode begins that a frame runs; 0: not known. Without a GIL, each thread but the
 * first has a copy of its own from 3.14 on (CPython 3.14 Include/cpython/code.h, _PyCodeArray).
 */
static inline __attribute__((always_inline)) __u64 sdw_walk_bytecode(struct sdw_walk *walk,
								     __u64 code, __u32 at)
{
	const struct sdw_pylayout *layout = &walk->layout;
	__u64 copies = 0, count = 0, start = 0;
	__u32 copy = 0;

	if (layout->code_copies)
		copy = (__u32)sdw_frame_word(walk, at, layout->frame_copy);
	if (!copy)
		return code + layout->code_bytecode;
	if (SDW_WALK_READ(&copies, sizeof(copies), code + layout->code_copies) || !copies ||
	    SDW_WALK_READ(&count, sizeof(count), copies) || copy >= count ||
	    SDW_WALK_READ(&start, sizeof(start), copies + 8 + 8ull * copy))
		return 0;
	return start;
}

static inline __attribute__((always_inline)) int sdw_walk_keep(struct sdw_walk *walk, __u64 code,
							       __u32 at)
{
	const struct sdw_pylayout *layout = &walk->layout;
	__u64 word = sdw_frame_word(walk, at, layout->frame_instruction);
	__u32 n = walk->count;
	__s32 instruction;
	__u64 id, start;

	id = SDW_WALK_CODE(walk, code);
	if (!id)
		return -1;
	if (layout->frame_kind == SDW_FRAMES_OBJECTS)
		instruction = (__s32)((__u32)word * layout->lasti_scale);
	else if ((start = sdw_walk_bytecode(walk, code, at)) != 0)
		instruction = (__s32)(word - start);
	else
		instruction = -1;
	n = SDW_WALK_HIDE(n);
	if (n >= SDW_MAX_FRAMES)
		return -1;
	walk->frames[n].code = id;
	walk->frames[n].instruction = instruction;
	walk->frames[n].entries = 0;
	walk->count = n + 1;
	walk->hash = sdw_walk_hash(walk->hash, id ^ ((__u64)(__u32)instruction << 32));
	return 0;
}

/* 3.11, 3.12: an evaluation's outermost frame was met; does what is outside agree? */
static inline __attribute__((always_inline)) int sdw_walk_outer_agrees(struct sdw_walk *walk,
								       __u64 previous)
{
	if (!walk->check_outer)
		return 1;
	if (previous != walk->outer_current)
		return 0;
	walk->check_outer = 0;
	return 1;
}

/*
 * The chain has no more frames. If it was one, that must have been an evaluation's outermost: an
 * evaluation that has stored its first frame, but not yet that frame's caller, has a chain that
 * ends too early. 3.11 and 3.12 tell what is outside; later versions leave nothing but the mark.
 * Longer chains that no evaluation ends are those of compiled functions (Nuitka links frames, too).
 */
static inline __attribute__((always_inline)) int sdw_walk_finish(struct sdw_walk *walk)
{
	if (walk->check_outer)
		return walk->outer_current ? sdw_walk_restart(walk) : 1;
	if (walk->count == 1 && !walk->frames[0].entries &&
	    walk->layout.frame_kind != SDW_FRAMES_OBJECTS)
		walk->status = SDW_STATUS_BROKEN;
	return 1;
}

/* Looks at one frame. Returns 0 while the walk goes on, 1 when walk->status is final. */
static inline __attribute__((always_inline)) int sdw_walk_step(struct sdw_walk *walk)
{
	const struct sdw_pylayout *layout = &walk->layout;
	__u64 frame = walk->frame, previous, code;
	__u8 owner = 0;
	int at;

	if (!frame)
		return sdw_walk_finish(walk);
	if (walk->count >= SDW_MAX_FRAMES || walk->steps >= 2 * SDW_MAX_FRAMES)
		return sdw_walk_end(walk, SDW_STATUS_TRUNCATED);
	walk->steps++;
	at = sdw_walk_fetch(walk, frame);
	if (at < 0)
		return sdw_walk_end(walk, SDW_STATUS_UNREADABLE);
	previous = sdw_frame_word(walk, (__u32)at, layout->frame_previous);
	code = sdw_frame_word(walk, (__u32)at, layout->frame_code);
	code &= ~(__u64)layout->frame_code_tags;
	if (layout->frame_kind != SDW_FRAMES_OBJECTS)
		owner = (__u8)sdw_frame_word(walk, (__u32)at, layout->frame_owner);
	if (layout->frame_kind >= SDW_FRAMES_SHIM_CFRAME && owner >= SDW_FRAME_OWNER_SHIM) {
		if (previous == frame)
			return sdw_walk_end(walk, SDW_STATUS_BROKEN);
		if (!sdw_walk_outer_agrees(walk, previous))
			return sdw_walk_restart(walk);
		if (previous || layout->frame_kind != SDW_FRAMES_SHIM_BASE)
			sdw_walk_mark_entry(walk);
		/* the shim lies on the C stack: the next frame follows the one before it */
		walk->frame = previous;
		return 0;
	}
	if (sdw_walk_keep(walk, code, (__u32)at) || previous == frame)
		return sdw_walk_end(walk, SDW_STATUS_BROKEN);
	if (layout->frame_kind == SDW_FRAMES_OBJECTS ||
	    (layout->frame_kind == SDW_FRAMES_ENTRY_FLAG && owner)) {
		if (!sdw_walk_outer_agrees(walk, previous))
			return sdw_walk_restart(walk);
		sdw_walk_mark_entry(walk);
	}
	walk->inner_frame = frame;
	walk->frame = previous;
	return 0;
}

/* A word of a code object's or string's head, of `room` bytes; the layout's offset is masked into
 * it. */
static inline __attribute__((always_inline)) __u64 sdw_head_word(const __u8 *head, __u32 room,
								 __u32 offset)
{
	offset = SDW_WALK_HIDE(offset);
	if (offset > room - 8)
		return 0;
	return SDW_LOAD_WORD(head + offset);
}

/*
 * Tells a code object from another that has taken its address: where its names and tables are, its
 * first line, and the head of its name, since a freed string's address is soon used again, too.
 */
static inline __attribute__((always_inline)) __u64
sdw_code_fingerprint(const struct sdw_pylayout *layout, const __u8 *code, __u32 code_room,
		     const __u8 *name, __u32 name_room)
{
	__u64 hash = layout->version;

	hash = sdw_walk_hash(hash, sdw_head_word(code, code_room, layout->code_filename));
	hash = sdw_walk_hash(hash, sdw_head_word(code, code_room, layout->code_name));
	hash = sdw_walk_hash(hash, sdw_head_word(code, code_room, layout->code_linetable));
	hash = sdw_walk_hash(hash, (__u32)sdw_head_word(code, code_room, layout->code_firstlineno));
	hash = sdw_walk_hash(hash, sdw_head_word(name, name_room, layout->unicode_length));
	hash = sdw_walk_hash(hash, sdw_head_word(name, name_room, layout->unicode_ascii_data));
	hash = sdw_walk_hash(hash, sdw_head_word(name, name_room, layout->unicode_ascii_data + 8));
	return sdw_mix(hash);
}

/* The finished walk's stack id; never 0. */
static inline __attribute__((always_inline)) __u64 sdw_walk_id(const struct sdw_walk *walk)
{
	__u64 id = sdw_mix(walk->hash ^ walk->status);

	return id ? id : 1;
}

#endif
