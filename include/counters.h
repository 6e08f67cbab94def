/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * counters.h - every outcome of an overflow, in one list.
 *
 * An overflow that reaches the BPF program either becomes a sample, and then has exactly one
 * status, or is lost for exactly one reason:  overflows == sum(samples by status) + sum(lost). The
 * names are what --json, the trace and the summary print; they are stable.
 */
#ifndef SDW_COUNTERS_H
#define SDW_COUNTERS_H

/* X(NAME, "name", "meaning"): how far the walk of the Python stack came */
#define SDW_STATUS_LIST(X)                                                                                       \
	X(COMPLETE, "complete", "every Python frame was read")                                                   \
	X(NO_PYTHON, "no_python", "the process runs no CPython that is supported")                               \
	X(PENDING, "pending", "the process was not yet looked at: its Python frames are missing")                \
	X(NO_THREAD_STATE, "no_thread_state", "the thread has no Python thread state")                           \
	X(NO_FRAME, "no_frame",                                                                                  \
	  "the thread has a Python thread state but runs no Python code, as when an interpreter starts or ends") \
	X(TRUNCATED, "truncated", "deeper than the limit: the outermost frames are missing")                     \
	X(UNREADABLE, "unreadable",                                                                              \
	  "a frame could not be read: the frames outside it are missing")                                        \
	X(BROKEN, "broken", "the frame chain is not valid: the frames outside it are missing")                   \
	X(KERNEL_THREAD, "kernel_thread", "a kernel thread: there is no user stack")

/* X(NAME, "name", "meaning"): why an overflow did not become a sample */
#define SDW_LOST_LIST(X)                                                                          \
	X(RING_FULL, "ring_full", "the ring buffer of the processor was full")                    \
	X(NOT_DELIVERED, "not_delivered",                                                         \
	  "counted by the kernel, but the program did not run (throttled, or threads too short)") \
	X(NO_SCRATCH, "no_scratch", "the processor is beyond those known at the start")           \
	X(OUTSIDE_TARGET, "outside_target",                                                       \
	  "the task is not part of the target, or the processor was idle")                        \
	X(OUTSIDE_NAMESPACE, "outside_namespace",                                                 \
	  "the task has no pid in the profiler's own pid namespace")                              \
	X(CONSUMER, "consumer",                                                                   \
	  "dropped by the consumer: it was out of memory or found the record broken")             \
	X(MERGED, "merged",                                                                       \
	  "its signal came while one was pending: the handler ran once for both")                 \
	X(CUT, "cut", "the process ended in the middle of its signal")                            \
	X(LTTNG, "lttng",                                                                         \
	  "recorded, but not in this trace: discarded by LTTng, or its daemon was gone")

#define SDW_ENUM_STATUS(name, text, meaning) SDW_STATUS_##name,
enum sdw_status { SDW_STATUS_LIST(SDW_ENUM_STATUS) SDW_STATUS_COUNT };
#undef SDW_ENUM_STATUS

#define SDW_ENUM_LOST(name, text, meaning) SDW_LOST_##name,
enum sdw_lost { SDW_LOST_LIST(SDW_ENUM_LOST) SDW_LOST_COUNT };
#undef SDW_ENUM_LOST

#endif
