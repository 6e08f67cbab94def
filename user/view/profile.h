/* SPDX-License-Identifier: MIT */
/*
 * profile.h - a recording in memory: a sink that keeps what it is sent, and what every view reads.
 *
 * In:  the events of sink.h, from the recorder or from the reader of a trace.
 * Out: arrays indexed by the events' ids (entry 0 is empty), and samples added up by thread and
 * stack.
 */
#ifndef SDW_PROFILE_H
#define SDW_PROFILE_H

#include <stddef.h>

#include "sink.h"

struct sdw_profile_process {
	uint32_t parent, pid, inner_pid;
	const char *comm;
	const char *container, *container_name, *pod; /* "" where there is none */
};

struct sdw_profile_thread {
	uint32_t process, tid, inner_tid;
	const char *name;
	uint64_t first_ns; /* when it was first seen, CLOCK_MONOTONIC */
};

struct sdw_profile_code {
	uint8_t kind; /* enum sdw_code_kind */
	const char *name, *file;
	uint32_t first_line;
};

struct sdw_profile_frame {
	uint32_t code, line;
	/* the expression, as in sink.h; 0: not known, or not kept */
	uint16_t column, end_column;
	uint32_t end_line;
};

struct sdw_profile_stack {
	uint32_t parent, frame, depth; /* depth: frames, the root's is 1 */
};

/* Samples of one thread with one stack and one status. */
struct sdw_profile_bucket {
	uint32_t thread, stack;
	uint8_t status;
	uint64_t samples;
	uint64_t weight;
	uint64_t first_ns, last_ns; /* CLOCK_MONOTONIC */
};

#define SDW_PROFILE_ARRAY(type)     \
	struct {                    \
		type *items;        \
		size_t count, room; \
	}

struct sdw_profile {
	struct sdw_sink sink; /* send events here; close() does nothing, see sdw_profile_free */
	struct sdw_recording recording;
	struct sdw_totals totals; /* the last that came */
	SDW_PROFILE_ARRAY(struct sdw_profile_process) processes;
	SDW_PROFILE_ARRAY(struct sdw_profile_thread) threads;
	SDW_PROFILE_ARRAY(struct sdw_profile_code) codes;
	SDW_PROFILE_ARRAY(struct sdw_profile_frame) frames;
	SDW_PROFILE_ARRAY(struct sdw_profile_stack) stacks;
	SDW_PROFILE_ARRAY(struct sdw_profile_bucket) buckets;
	SDW_PROFILE_ARRAY(struct sdw_sample_event) samples; /* only if asked for */
	/* only if asked for; where no BPF program took samples these are among `samples`, too */
	SDW_PROFILE_ARRAY(struct sdw_signal_sample_event) signal_samples;
	SDW_PROFILE_ARRAY(struct sdw_lost_event) lost;
	uint64_t gc_samples; /* taken while the garbage collector of their interpreter ran */
	bool keep_samples;
	/*
	 * To be set before the first event: frames keep their columns, so that several can be the
	 * same line. Otherwise those of one line are one frame, whatever a trace holds.
	 */
	bool keep_columns;
	struct sdw_profile_index *index; /* private: buckets by key, owned strings */
};

/* Makes an empty profile. keep_samples: also keep each sample. Returns 0 or -ENOMEM. */
int sdw_profile_init(struct sdw_profile *profile, bool keep_samples);
void sdw_profile_free(struct sdw_profile *profile);

/*
 * Brings the samples that were kept in order of time, if they are not: those of several recordings,
 * and of what LTTng wrote.
 */
void sdw_profile_sort(struct sdw_profile *profile);

#endif
