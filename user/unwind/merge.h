/* SPDX-License-Identifier: MIT */
/*
 * merge.h - lays Python frames into the native stack where they ran.
 *
 * Each native evaluation (a frame in the interpreter's evaluation function) stands for the run of
 * Python frames up to the next entry frame. Pure function over arrays, innermost first; no lookups.
 */
#ifndef SDW_MERGE_H
#define SDW_MERGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sdw_merged_kind {
	SDW_MERGED_PYTHON, /* index: into the Python frames */
	SDW_MERGED_NATIVE, /* index: into the native frames */
	SDW_MERGED_MARKER, /* index: enum sdw_marker */
};

enum sdw_marker {
	SDW_MARKER_NATIVE_END,	      /* "[native stack ends]": outer native frames are missing */
	SDW_MARKER_NATIVE_CUT,	      /* "[native stack cut]": by the limit of bytes copied */
	SDW_MARKER_PYTHON_TRUNCATED,  /* "[truncated]": outer Python frames beyond the limit */
	SDW_MARKER_PYTHON_UNREADABLE, /* "[unreadable]" */
	SDW_MARKER_PYTHON_BROKEN,     /* "[broken frame chain]" */
	SDW_MARKER_PENDING,	      /* "[Python not yet found]" */
	SDW_MARKER_UNMATCHED, /* "[native order not known]": evaluations and entries disagree */
	SDW_MARKER_GREENLET,  /* "[greenlet]": its stack begins here; outside are remains of others
			       */
	SDW_MARKER_INTERPRETER, /* "[other interpreter]": an evaluation of another one, whose frames
				   are not told */
	SDW_MARKER_COUNT,
};

enum sdw_native_kind {
	SDW_NATIVE_FRAME_PLAIN,
	SDW_NATIVE_FRAME_EVALUATION, /* in the interpreter's evaluation function, or an instruction
				      */
	SDW_NATIVE_FRAME_ENTRY,	     /* in that function, which called the instruction inside */
	SDW_NATIVE_FRAME_GREENLET,   /* in greenlet, which switches stacks */
};

struct sdw_merged_frame {
	uint8_t kind; /* enum sdw_merged_kind */
	uint32_t index;
};

struct sdw_merge_input {
	/*
	 * Per Python frame: 0, or 1 if it is the outermost of its evaluation, or 1 + n if moreover
	 * the next n evaluations outside have no Python frame (3.12 and later unlink a frame before
	 * they clear it, so that a __del__ of its locals runs inside an evaluation that has only
	 * its shim left).
	 */
	const uint8_t *python_entry;
	size_t python_count;
	bool python_complete;	    /* false: outer frames are missing */
	uint32_t python_marker;	    /* enum sdw_marker to put where they are; 0: "[truncated]" */
	const uint8_t *native_kind; /* per native frame: enum sdw_native_kind */
	size_t native_count;
	bool native_complete; /* false: outer frames are missing */
	bool native_cut;      /* ... because of the limit of bytes */
	/* the Python frames are of the innermost evaluations; those outside are of an interpreter
	   that called this one */
	bool subinterpreter;
	bool keep_evaluations; /* --interpreter-frames: show the evaluation frames too */
};

/*
 * Writes at most `max` frames, innermost first, and their number to *count. Returns true if every
 * evaluation met its run of Python frames. An innermost evaluation that has not linked its frame
 * yet, or has unlinked it already, counts as met: it stands for no Python frame.
 *
 * Both stacks complete: the counts say which evaluation is which. Outer part of one missing: they
 * are laid together from the leaf; Python frames whose evaluation was not seen follow after the
 * marker. Where they do not agree, a marker says so, evaluations left over are shown as the native
 * frames that they are, and every Python frame and every native frame that is not a met evaluation
 * is still there, once. Needs room for python_count + native_count + 4.
 *
 * A greenlet has a chain of Python frames of its own, which ends at the function that it was made
 * with. Its native frames go on into those of who switched to it first, or what is left there by
 * now: they are left out, and a marker says so.
 */
bool sdw_merge(const struct sdw_merge_input *input, struct sdw_merged_frame *out, size_t max,
	       size_t *count);

#endif
