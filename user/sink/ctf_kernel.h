/* SPDX-License-Identifier: MIT */
/*
 * ctf_kernel.h - the trace of what the scheduler did, as LTTng's kernel tracer would write it.
 *
 * In:  records of sched_record.h, those of a processor in the order in which they came.
 * Out: a CTF 1.8 directory with LTTng's names of events and fields and its environment, one stream
 * per processor, on the same clock as the trace of samples.
 */
#ifndef SDW_SINK_CTF_KERNEL_H
#define SDW_SINK_CTF_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#include "sched_record.h"
#include "sink.h"

struct sdw_kernel_trace;

/*
 * Makes the directory `path`, which must not be there, for `processors` processors; it begins at
 * begin_ns, the time before which no record is. Returns 0 or -errno; then nothing is left.
 */
int sdw_kernel_trace_create(const char *path, const struct sdw_recording *recording,
			    uint32_t processors, uint64_t begin_ns,
			    struct sdw_kernel_trace **trace);

/* Adds a record of `size` bytes; one that is none of ours is left out. Returns 0 or -errno. */
int sdw_kernel_trace_add(struct sdw_kernel_trace *trace, uint32_t cpu, const void *record,
			 size_t size);

/* Records of a processor that were lost, all so far: events_discarded of its packets. */
int sdw_kernel_trace_set_lost(struct sdw_kernel_trace *trace, uint32_t cpu, uint64_t lost);

/* Makes readable what was added. Returns 0 or -errno. */
int sdw_kernel_trace_flush(struct sdw_kernel_trace *trace);

/* Ends the trace and frees it, also after an error. NULL: nothing. Returns 0 or -errno. */
int sdw_kernel_trace_close(struct sdw_kernel_trace *trace);

#endif
