// SPDX-License-Identifier: MIT
/*
 * handler.c - the tracepoints of the agent's handler: a shared object of its own
 * (handler_events.h), which the agent opens in the sampled process.
 *
 * A tracepoint may be used in a signal handler: LTTng-UST's own design document says so ("reentrant
 * with respect to signal handlers"), and its source bears it out (2.13.5). What runs is
 * lttng_ust_tracepoint_cb: a read-side critical section of its RCU (thread-local counters), a
 * nesting counter that ends recursion (lttng_ust_ring_buffer_client: RING_BUFFER_MAX_NESTING), and
 * a reservation in the processor's ring by compare and swap; a reservation that another one
 * interrupts is committed in its turn. No lock, no allocation, no wait: without room the event is
 * dropped and counted. Two things are not so at a thread's first tracepoint, and done before by
 * init_thread(): thread-local storage of an opened library is allocated when it is touched first
 * (lttng_ust_init_thread, lttng/ust-thread.h), and RCU's reader registers itself under a lock
 * (lttng_ust_urcu_register_thread).
 */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "handler_tracepoint.h"

#include <errno.h>
#include <lttng/urcu/urcu-ust.h>
#include <lttng/ust-fork.h>
#include <lttng/ust-thread.h>

/* of liblttng-ust-common, for its own liblttng-ust-fd; in no header */
extern int lttng_ust_safe_close_fd(int fd, int (*real_close)(int fd));

static bool enabled(void)
{
	return lttng_ust_tracepoint_enabled(sidewinder, handler_process) &&
	       lttng_ust_tracepoint_enabled(sidewinder, handler_code) &&
	       lttng_ust_tracepoint_enabled(sidewinder, handler_sample);
}

static void process(uint8_t recorder, struct sdw_handler_process *told)
{
	lttng_ust_tracepoint(sidewinder, handler_process, recorder, told);
}

static void sample(uint8_t recorder, struct sdw_handler_sample *told)
{
	lttng_ust_tracepoint(sidewinder, handler_sample, recorder, told);
}

static void code(uint8_t recorder, struct sdw_handler_code *told)
{
	lttng_ust_tracepoint(sidewinder, handler_code, recorder, told);
}

static void init_thread(void)
{
	lttng_ust_init_thread();
	lttng_ust_urcu_register_thread();
}

const struct sdw_handler_provider sdw_handler_provider = {
	.enabled = enabled,
	.process = process,
	.sample = sample,
	.code = code,
	.init_thread = init_thread,
	.before_fork = lttng_ust_before_fork,
	.after_fork_parent = lttng_ust_after_fork_parent,
	.after_fork_child = lttng_ust_after_fork_child,
	.close = lttng_ust_safe_close_fd,
};
