/* SPDX-License-Identifier: MIT */
/*
 * provider.h - what the shared object lttng-provider.so offers: the tracepoints of tracepoint.h.
 *
 * It is opened only for --lttng, because it loads liblttng-ust, which makes threads and connects to
 * session daemons at once.
 */
#ifndef SDW_LTTNG_PROVIDER_H
#define SDW_LTTNG_PROVIDER_H

#include "sink.h"

#define SDW_LTTNG_PROVIDER_FILE	  "lttng-provider.so"
#define SDW_LTTNG_PROVIDER_SYMBOL "sdw_lttng_provider"

/* Each call is a tracepoint: it never blocks, and does nothing where no session asked for it. */
struct sdw_lttng_provider {
	bool (*enabled)(void); /* every tracepoint is, in some session */
	void (*recording)(uint8_t recorder, bool snapshot, const struct sdw_recording *recording);
	void (*process)(uint8_t recorder, const struct sdw_process_event *event);
	void (*thread)(uint8_t recorder, const struct sdw_thread_event *event);
	void (*code)(uint8_t recorder, const struct sdw_code_event *event);
	void (*frame)(uint8_t recorder, const struct sdw_frame_event *event);
	void (*stack)(uint8_t recorder, const struct sdw_stack_event *event);
	void (*sample)(uint8_t recorder, uint32_t pid, uint32_t tid,
		       const struct sdw_sample_event *event);
	void (*sample_weighted)(uint8_t recorder, uint32_t pid, uint32_t tid,
				const struct sdw_sample_event *event);
	void (*sample_paired)(uint8_t recorder, uint32_t pid, uint32_t tid,
			      const struct sdw_sample_event *event);
	void (*signal_sample)(uint8_t recorder, uint32_t pid, uint32_t tid,
			      const struct sdw_signal_sample_event *event);
	void (*lost)(uint8_t recorder, const struct sdw_lost_event *event);
	void (*totals)(uint8_t recorder, const struct sdw_totals *totals);
	void (*state)(uint8_t recorder, bool begins);
};

extern const struct sdw_lttng_provider sdw_lttng_provider;

#endif
