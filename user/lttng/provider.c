// SPDX-License-Identifier: MIT
/* provider.c - the tracepoints, each behind a function: a shared object of its own (provider.h). */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "tracepoint.h"

#include "lttng/provider.h"
#include "sink/ctf_format.h"

static bool enabled(void)
{
	return lttng_ust_tracepoint_enabled(sidewinder, recording) &&
	       lttng_ust_tracepoint_enabled(sidewinder, process) &&
	       lttng_ust_tracepoint_enabled(sidewinder, thread) &&
	       lttng_ust_tracepoint_enabled(sidewinder, code) &&
	       lttng_ust_tracepoint_enabled(sidewinder, frame) &&
	       lttng_ust_tracepoint_enabled(sidewinder, stack) &&
	       lttng_ust_tracepoint_enabled(sidewinder, sample) &&
	       lttng_ust_tracepoint_enabled(sidewinder, sample_weighted) &&
	       lttng_ust_tracepoint_enabled(sidewinder, sample_paired) &&
	       lttng_ust_tracepoint_enabled(sidewinder, signal_sample) &&
	       lttng_ust_tracepoint_enabled(sidewinder, lost) &&
	       lttng_ust_tracepoint_enabled(sidewinder, totals) &&
	       lttng_ust_tracepoint_enabled(sidewinder, state);
}

static void recording(uint8_t recorder, bool snapshot, const struct sdw_recording *told)
{
	lttng_ust_tracepoint(sidewinder, recording, recorder, SDW_CTF_FORMAT, snapshot, told);
}

static void state(uint8_t recorder, bool begins)
{
	lttng_ust_tracepoint(sidewinder, state, recorder, begins);
}

#define TRACEPOINT(name, type)                                           \
	static void name(uint8_t recorder, const type *event)            \
	{                                                                \
		lttng_ust_tracepoint(sidewinder, name, recorder, event); \
	}

TRACEPOINT(process, struct sdw_process_event)
TRACEPOINT(thread, struct sdw_thread_event)
TRACEPOINT(code, struct sdw_code_event)
TRACEPOINT(frame, struct sdw_frame_event)
TRACEPOINT(stack, struct sdw_stack_event)
TRACEPOINT(lost, struct sdw_lost_event)
TRACEPOINT(totals, struct sdw_totals)

/* of a thread: its ids go with the event */
#define THREAD_TRACEPOINT(name, type)                                                     \
	static void name(uint8_t recorder, uint32_t pid, uint32_t tid, const type *event) \
	{                                                                                 \
		lttng_ust_tracepoint(sidewinder, name, recorder, pid, tid, event);        \
	}

THREAD_TRACEPOINT(sample, struct sdw_sample_event)
THREAD_TRACEPOINT(sample_weighted, struct sdw_sample_event)
THREAD_TRACEPOINT(sample_paired, struct sdw_sample_event)
THREAD_TRACEPOINT(signal_sample, struct sdw_signal_sample_event)

const struct sdw_lttng_provider sdw_lttng_provider = {
	.enabled = enabled,
	.recording = recording,
	.process = process,
	.thread = thread,
	.code = code,
	.frame = frame,
	.stack = stack,
	.sample = sample,
	.sample_weighted = sample_weighted,
	.sample_paired = sample_paired,
	.signal_sample = signal_sample,
	.lost = lost,
	.totals = totals,
	.state = state,
};
