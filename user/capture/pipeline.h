/* SPDX-License-Identifier: MIT */
/*
 * pipeline.h - takes records in order of time, and turns samples into events of the sink.
 *
 * record -> image (who) -> unwind -> merge -> names -> sink. The only place where a sample can
 * still be lost after the ring buffer: it is counted (SDW_LOST_CONSUMER).
 */
#ifndef SDW_PIPELINE_H
#define SDW_PIPELINE_H

#include "capture/config.h"
#include "capture/image.h"
#include "capture/overflow_pairs.h"
#include "capture/python_stacks.h"
#include "capture/stack_builder.h"
#include "sink.h"

struct sdw_pipeline {
	const struct sdw_config *config;
	struct sdw_sink *sink;
	struct sdw_programs *programs;
	struct sdw_strings strings;
	struct sdw_images images;
	struct sdw_catalog catalog;
	struct sdw_code_table *codes;
	struct sdw_python_stacks python_stacks;
	struct sdw_stack_builder builder;
	struct sdw_unwind_statistics unwinding;
	uint64_t fixed_weight; /* of every sample where the period is fixed; 0: the record's */
	uint64_t status[SDW_STATUS_COUNT];
	uint64_t samples;	 /* sent to the sink */
	uint64_t broken;	 /* sample records that could not be used */
	uint64_t signal_samples; /* of handlers, sent to the sink */
	struct sdw_overflow_pairs
		*pairs;		     /* both paths: which overflow each signal was of; else NULL */
	uint32_t processes, threads; /* announced */
	uint64_t silent_threads;     /* that ended without a sample */
	uint64_t last_ns;	     /* of the last sample: time does not go back */
	uint64_t pcs[SDW_MAX_NATIVE_FRAMES];
};

/* All must outlive the pipeline. Returns 0 or -errno. */
int sdw_pipeline_create(const struct sdw_config *config, struct sdw_sink *sink,
			struct sdw_programs *programs, uint64_t fixed_weight,
			struct sdw_pipeline **pipeline);
void sdw_pipeline_free(struct sdw_pipeline *pipeline);

/*
 * Handles one record of `size` bytes. Returns 0, or -errno that ends the recording: the sink's, or
 * -ENOMEM. A record that makes no sense is counted and otherwise ignored.
 */
int sdw_pipeline_record(struct sdw_pipeline *pipeline, const struct sdw_record *record,
			size_t size);

#endif
