/* SPDX-License-Identifier: MIT */
/*
 * pairs.h - which sample of the one path and which of the other are of the same overflow, and why
 * the others are alone.
 *
 * In:  the samples of both paths in any order, each with the key of its overflow and its thread.
 * Out: pairs, and for each sample without a partner exactly one cause.
 */
#ifndef SDW_PAIRS_H
#define SDW_PAIRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What one path saw of one overflow. */
struct sdw_path_sample {
	uint64_t key;	     /* of the overflow, the same on both paths; 0: none */
	uint64_t time_ns;    /* of the overflow, CLOCK_MONOTONIC */
	uint64_t handler_ns; /* signal path: when its handler began; else 0 */
	uint32_t thread;     /* id of the thread that was interrupted */
	uint32_t stack;	     /* id of what it was doing, 0: nothing is known */
	uint8_t status;	     /* enum sdw_status */
	bool kernel_mode;    /* the overflow hit the kernel */
	bool blocked;	     /* signal path: it waited because the thread had the signal blocked */
	bool wrong_thread;   /* signal path: its handler ran in another thread */
	uint32_t merged; /* signal path: overflows that its handler stands for besides its own */
};

/* X(NAME, "name", "meaning"): why a sample has no partner. The names are stable. */
#define SDW_ALONE_LIST(X)                                                                          \
	X(COALESCED, "coalesced",                                                                  \
	  "only BPF: the signal of an earlier overflow was still pending, or its handler ran")     \
	X(BEFORE_AGENT, "before_agent",                                                            \
	  "only BPF: before the thread's event was ready to signal (start, exec, new thread)")     \
	X(NO_SIGNAL, "no_signal", "only BPF: the thread never had a signal")                       \
	X(THREAD_ENDED, "thread_ended", "only BPF: the thread ended before its handler could run") \
	X(AGENT_LOST, "agent_lost", "only BPF: the handler ran, and counted its record as lost")   \
	X(BPF_LOST, "bpf_lost", "only signal: counted by the BPF path as lost")                    \
	X(SIGNAL_UNEXPLAINED, "signal_unexplained", "only BPF, for no reason that is known")       \
	X(BPF_UNEXPLAINED, "bpf_unexplained", "only signal, for no reason that is known")

#define SDW_ENUM_ALONE(name, text, meaning) SDW_ALONE_##name,
enum sdw_alone { SDW_ALONE_LIST(SDW_ENUM_ALONE) SDW_ALONE_COUNT };
#undef SDW_ENUM_ALONE

struct sdw_path_samples {
	struct sdw_path_sample *items;
	size_t count, room;
};

struct sdw_pair {
	const struct sdw_path_sample *bpf, *signal; /* into the arrays that were given */
};

struct sdw_pairs {
	struct sdw_pair *items;
	size_t count;
	uint64_t alone[SDW_ALONE_COUNT];
	uint64_t bpf_only, signal_only;
};

/*
 * Sorts both arrays by thread and time, and pairs them. `bpf_lost` and `signal_lost`: what the
 * paths counted as lost, which explains as many samples of the other. Returns 0 or -ENOMEM; to be
 * freed in either case. The pairs point into the arrays.
 */
int sdw_pairs_make(struct sdw_pairs *pairs, struct sdw_path_samples *bpf,
		   struct sdw_path_samples *signal, uint64_t bpf_lost, uint64_t signal_lost);
void sdw_pairs_free(struct sdw_pairs *pairs);

const char *sdw_alone_name(unsigned int cause);
const char *sdw_alone_meaning(unsigned int cause);

#endif
