/* SPDX-License-Identifier: MIT */
/*
 * top_model.h - what live samples add up to, in the last seconds and since the start.
 *
 * In:  the events of sink.h, and the time now and then. Out: amounts by function, line, thread,
 * process and caller. Names are kept like in any profile; samples are kept, added up by stack, for
 * the window's length only. So memory grows with distinct functions and stacks, which the recorder
 * bounds (--max-memory), and not with time.
 */
#ifndef SDW_TOP_MODEL_H
#define SDW_TOP_MODEL_H

#include "base/map64.h"
#include "view/frame_text.h"

enum sdw_top_span {
	SDW_TOP_NOW,   /* the last seconds: every sample of the window counts alike */
	SDW_TOP_START, /* since the recording began */
	SDW_TOP_SPANS,
};

enum sdw_top_frames {
	SDW_TOP_PYTHON, /* of a stack with Python frames only these: what they call is theirs */
	SDW_TOP_ALL,
	SDW_TOP_FRAMES,
};

/*
 * Rows of functions and lines: the first ones are for samples without any frame, by status, and for
 * what is beyond a bound; then come codes and frames by their ids.
 */
#define SDW_TOP_ROW_BEYOND SDW_STATUS_COUNT
#define SDW_TOP_FIRST_ROW  (SDW_STATUS_COUNT + 1u)

/* An amount is the number of samples, or their weight if samples differ in it. */
struct sdw_top_row {
	struct {
		uint64_t self, total;
	} of[SDW_TOP_SPANS][SDW_TOP_FRAMES];
	uint64_t last_seen; /* private */
};

/* A thread or process. */
struct sdw_top_owner {
	uint64_t amount[SDW_TOP_SPANS];
	uint64_t gil[SDW_TOP_SPANS]; /* while it held its interpreter's lock */
};

/* Samples in whose stack `caller` called `callee`, once a stack. */
struct sdw_top_edge {
	uint32_t caller; /* row of a line; SDW_TOP_ROOT: nobody; SDW_TOP_ROW_BEYOND */
	uint32_t callee; /* row of a function */
	enum sdw_top_frames frames;
	uint64_t amount[SDW_TOP_SPANS];
	uint64_t last_seen; /* private */
};

#define SDW_TOP_ROOT 0u /* no row of a status is ever a caller */

struct sdw_top_sums {
	uint64_t samples, amount, weight; /* weight: in units of the recording */
	uint64_t gil, gc;		  /* amounts while the lock was held, the collector ran */
	/* amounts by where the processor was: by the innermost frame, or in the kernel */
	uint64_t kinds[SDW_CODE_KIND_COUNT];
	uint64_t duration_ns;
};

/* Plain numbers, so that a copy is what a paused screen goes on showing. */
struct sdw_top_counts {
	SDW_PROFILE_ARRAY(struct sdw_top_row) functions;
	SDW_PROFILE_ARRAY(struct sdw_top_row) lines;
	SDW_PROFILE_ARRAY(struct sdw_top_owner) threads; /* by id; 0: beyond the bound */
	SDW_PROFILE_ARRAY(struct sdw_top_owner) processes;
	SDW_PROFILE_ARRAY(struct sdw_top_edge) edges;
	struct sdw_top_sums sums[SDW_TOP_SPANS];
	struct sdw_totals totals;    /* the last that came */
	struct sdw_map64 edge_index; /* private; a copy has none */
};

struct sdw_top_slot;

struct sdw_top_model {
	struct sdw_sink sink; /* send events here; close() does nothing, see sdw_top_model_free() */
	struct sdw_profile profile; /* names only: it gets no sample */
	struct sdw_top_counts counts;
	bool weighted;	    /* amounts are weights */
	uint64_t window_ns; /* of what is called now */
	/* private: a ring of slots of the window, the newest is being filled */
	struct sdw_top_slot *slots;
	size_t slot_count, first_slot, newest_slot;
	size_t cells_at_most;		      /* a slot */
	struct sdw_stack_frames frames, rows; /* scratch */
	uint64_t stamp;
	bool owners_full;
};

/* The window is 1 to 60 seconds. Returns 0 or -ENOMEM; nothing is to be freed then. */
int sdw_top_model_init(struct sdw_top_model *model, double window_s);
void sdw_top_model_free(struct sdw_top_model *model);

/*
 * Brings the counts up to `now_ns` (CLOCK_MONOTONIC): what came since the last call is added, what
 * left the window subtracted. To be called every 250 ms or so. Returns 0 or -ENOMEM.
 */
int sdw_top_model_update(struct sdw_top_model *model, uint64_t now_ns);

/*
 * Counts only what a thread (or process) did, and only now: of the time before the window nobody
 * knows who did what. Replaces `counts`, which is all zeroes or was made before. Returns 0 or
 * -ENOMEM.
 */
int sdw_top_model_count_owner(struct sdw_top_model *model, bool is_thread, uint32_t id,
			      struct sdw_top_counts *counts);

/* Replaces `to`, which is all zeroes or a copy made before. Returns 0 or -ENOMEM. */
int sdw_top_counts_copy(struct sdw_top_counts *to, const struct sdw_top_counts *from);
void sdw_top_counts_free(struct sdw_top_counts *counts);

#endif
