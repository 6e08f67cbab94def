// SPDX-License-Identifier: MIT
/* pipeline_signal.c - what a signal handler saw of a stack becomes an event of the sink. */
#include <errno.h>
#include <string.h>

#include "capture/pipeline_internal.h"

#define MAPS_AGE_NS 100000000u /* how long mappings are taken to be the same without BPF */

/*
 * Without BPF nobody tells of new mappings: where the code of a sample is in none, all are read
 * again, unless that was a moment ago.
 */
static void refresh_maps(struct sdw_pipeline *pipeline, struct sdw_image *image, uint64_t pc)
{
	if (pipeline->config->path != SDW_PATH_SIGNAL || image->ended_ns || !image->maps_known ||
	    sdw_maps_find(&image->maps, pc) ||
	    pipeline->last_ns - image->maps_read_ns < MAPS_AGE_NS)
		return;
	image->maps_read_ns = pipeline->last_ns;
	image->maps_known = false;
	sdw_images_need_maps(image);
}

static int add_native(struct sdw_pipeline *pipeline, const struct sdw_record_signal_sample *record,
		      struct sdw_raw_stack *raw)
{
	const uint8_t *tail = (const uint8_t *)(record + 1);

	if (pipeline->config->native == SDW_NATIVE_NONE)
		return 0;
	sdw_images_need_maps(raw->image);
	refresh_maps(pipeline, raw->image, record->sample.registers.ip);
	if (!record->native_frames)
		return sdw_pipeline_unwind(pipeline, &record->sample, tail, raw);
	memcpy(pipeline->pcs, tail, record->native_frames * 8u);
	for (uint32_t i = 0; i < record->native_frames; i++)
		refresh_maps(pipeline, raw->image, pipeline->pcs[i]);
	raw->pcs = pipeline->pcs;
	raw->native_count = record->native_frames;
	raw->native_cut = record->native_end == SDW_SIGNAL_NATIVE_LIMIT;
	raw->native_end = record->native_end == SDW_SIGNAL_NATIVE_COMPLETE  ? SDW_UNWIND_COMPLETE
			  : record->native_end == SDW_SIGNAL_NATIVE_STOPPED ? SDW_UNWIND_NO_TABLES
									    : SDW_UNWIND_TOO_DEEP;
	return 0;
}

static int send(struct sdw_pipeline *pipeline, const struct sdw_record_signal_sample *record,
		const struct sdw_raw_stack *raw)
{
	const struct sdw_record_sample *sample = &record->sample;
	struct sdw_signal_sample_event event = {
		.time_ns = raw->time_ns,
		.overflow_ns = record->overflow_ns,
		.handler_ns = sample->record.time_ns,
		.weight = pipeline->fixed_weight ? pipeline->fixed_weight : sample->period,
		.merged = record->merged,
		.cpu = sample->cpu,
		.status = sample->status,
		.flags = sample->flags,
		.delivery = record->delivery,
	};
	int err;

	if (pipeline->pairs)
		event.pair = sdw_overflow_pairs_signal(pipeline->pairs, sample->tid,
						       record->overflow_ns);
	err = sdw_pipeline_thread(pipeline, raw->image, sample, raw->time_ns, &event.thread);
	err = err ?: sdw_stack_build(&pipeline->builder, raw, &event.stack);
	err = err ?: sdw_sink_signal_sample(pipeline->sink, &event);
	if (err)
		return err;
	pipeline->signal_samples++;
	if (pipeline->config->path != SDW_PATH_SIGNAL)
		return 0;
	pipeline->status[sample->status]++;
	pipeline->samples++;
	return 0;
}

int sdw_pipeline_signal(struct sdw_pipeline *pipeline,
			const struct sdw_record_signal_sample *record, size_t size)
{
	const struct sdw_record_sample *sample = &record->sample;
	struct sdw_raw_stack raw = {.native_end = SDW_UNWIND_COMPLETE,
				    .status = sample->status,
				    .flags = sample->flags};
	int err;

	if (size < sizeof(*record) || !sample->tid || sample->status >= SDW_STATUS_COUNT ||
	    record->native_frames > SDW_SIGPATH_MAX_FRAMES ||
	    sample->stack_bytes > SDW_MAX_STACK_BYTES ||
	    size < sizeof(*record) + record->native_frames * 8u + sample->stack_bytes) {
		pipeline->broken++;
		return 0;
	}
	if (sample->record.time_ns > pipeline->last_ns)
		pipeline->last_ns = sample->record.time_ns;
	raw.time_ns = pipeline->last_ns;
	if (sample->record.epoch) {
		raw.image =
			sdw_images_get(&pipeline->images, sample->record.pid, sample->record.epoch);
		if (!raw.image)
			return -ENOMEM;
	} else { /* with BPF: which image the process is has not been told yet */
		raw.image = sdw_images_current(&pipeline->images, sample->record.pid);
	}
	if (!raw.image) {
		pipeline->broken++;
		return 0;
	}
	raw.python_id = sample->python_stack;
	if (raw.python_id)
		raw.python = sdw_python_stacks_find(&pipeline->python_stacks, raw.python_id);
	err = add_native(pipeline, record, &raw);
	return err ?: send(pipeline, record, &raw);
}
