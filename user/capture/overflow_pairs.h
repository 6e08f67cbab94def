/* SPDX-License-Identifier: MIT */
/*
 * overflow_pairs.h - which sample of the BPF program and which signal are of the same overflow.
 *
 * Both sides have the time of the overflow: BPF its clock when it ran, the kernel that of its
 * record for the thread's buffer, in the same interrupt. A thread has one overflow at a time, so
 * the nearest sample of the thread that has no signal yet is it, unless that is further away than
 * half a period.
 */
#ifndef SDW_OVERFLOW_PAIRS_H
#define SDW_OVERFLOW_PAIRS_H

#include <stdint.h>

struct sdw_overflow_pairs;

/* period_ns: between overflows of a thread, 0: not known. Returns 0 or -ENOMEM. */
int sdw_overflow_pairs_create(uint64_t period_ns, struct sdw_overflow_pairs **pairs);
void sdw_overflow_pairs_free(struct sdw_overflow_pairs *pairs);

/* Numbers a sample: 1, 2, 3 ... Returns 0: out of memory. */
uint64_t sdw_overflow_pairs_sample(struct sdw_overflow_pairs *pairs, uint32_t tid,
				   uint64_t time_ns);

/* The thread has ended. */
void sdw_overflow_pairs_forget(struct sdw_overflow_pairs *pairs, uint32_t tid);

/* The number of the sample whose overflow a signal was of; 0: there is none. */
uint64_t sdw_overflow_pairs_signal(struct sdw_overflow_pairs *pairs, uint32_t tid,
				   uint64_t overflow_ns);

#endif
