/* SPDX-License-Identifier: MIT */
/* pipeline_internal.h - what samples of both paths have in common. */
#ifndef SDW_PIPELINE_INTERNAL_H
#define SDW_PIPELINE_INTERNAL_H

#include "capture/pipeline.h"
#include "sigpath.h"

/* The sink's id of a thread, announced at its first sample. Returns 0 or -errno. */
int sdw_pipeline_thread(struct sdw_pipeline *pipeline, struct sdw_image *image,
			const struct sdw_record_sample *sample, uint64_t time_ns, uint32_t *id);

/* Unwinds over the sample's registers and stack bytes into `raw`. Returns 0 or -ENOMEM. */
int sdw_pipeline_unwind(struct sdw_pipeline *pipeline, const struct sdw_record_sample *sample,
			const uint8_t *stack, struct sdw_raw_stack *raw);

/* Handles the record of a signal's handler. Returns 0 or -errno. */
int sdw_pipeline_signal(struct sdw_pipeline *pipeline,
			const struct sdw_record_signal_sample *record, size_t size);

#endif
