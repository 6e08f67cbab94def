// SPDX-License-Identifier: MIT
/* pipeline.c - one record at a time, from the queue to the sink. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/utf8.h"
#include "capture/pipeline_internal.h"
#include "sigpath.h"

int sdw_pipeline_create(const struct sdw_config *config, struct sdw_sink *sink,
			struct sdw_programs *programs, uint64_t fixed_weight,
			struct sdw_pipeline **pipeline)
{
	struct sdw_pipeline *new = calloc(1, sizeof(*new));
	int err;

	if (!new)
		return -ENOMEM;
	new->config = config;
	new->sink = sink;
	new->programs = programs;
	new->fixed_weight = fixed_weight;
	sdw_catalog_init(&new->catalog, sink, &new->strings);
	err = sdw_images_init(&new->images, programs, &new->strings);
	err = err
		      ?: sdw_code_table_create(&new->strings, config->max_memory / 4, NULL,
					       &new->codes);
	new->images.codes = new->codes;
	new->images.python_stacks = &new->python_stacks;
	new->images.perf_maps.max = config->max_memory / 8;
	err = err
		      ?: sdw_stack_builder_init(&new->builder, &new->catalog, &new->strings,
						new->codes, config->max_memory / 2);
	if (err) {
		sdw_pipeline_free(new);
		return err;
	}
	if (config->path == SDW_PATH_BOTH) {
		err = sdw_overflow_pairs_create(config->event.is_clock ? fixed_weight : 0,
						&new->pairs);
		if (err) {
			sdw_pipeline_free(new);
			return err;
		}
	}
	if (config->kernel)
		sdw_stack_builder_read_kernel(&new->builder);
	new->builder.interpreter_frames = config->interpreter_frames;
	new->builder.columns = config->columns;
	*pipeline = new;
	return 0;
}

void sdw_pipeline_free(struct sdw_pipeline *pipeline)
{
	if (!pipeline)
		return;
	sdw_overflow_pairs_free(pipeline->pairs);
	sdw_stack_builder_free(&pipeline->builder);
	sdw_python_stacks_free(&pipeline->python_stacks);
	sdw_code_table_free(pipeline->codes);
	sdw_images_free(&pipeline->images);
	sdw_catalog_free(&pipeline->catalog);
	sdw_strings_free(&pipeline->strings);
	free(pipeline);
}

/* A process that ran before, and of whose main thread no record came yet. */
static void read_comm(struct sdw_image *image)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%u/comm", image->pid);
	file = fopen(path, "re");
	if (!file)
		return;
	if (fgets(image->comm, sizeof(image->comm), file))
		image->comm[strcspn(image->comm, "\n")] = '\0';
	fclose(file);
}

static int announce_process(struct sdw_pipeline *pipeline, struct sdw_image *image,
			    uint64_t time_ns)
{
	struct sdw_process_event event = {
		.time_ns = time_ns,
		.id = pipeline->processes + 1,
		.parent = image->parent,
		.pid = image->pid,
		.inner_pid = image->inner_pid ? image->inner_pid : image->pid,
		.container = "",
		.container_name = "",
		.pod = "",
	};
	char *comm;
	int err;

	if (image->id)
		return 0;
	sdw_images_need_container(&pipeline->images, image);
	if (!*image->comm)
		read_comm(image);
	if (image->container) {
		event.container = image->container->id;
		event.container_name = image->container->name;
		event.pod = image->container->pod;
	}
	comm = sdw_utf8_repair(image->comm); /* a process may call itself anything */
	if (!comm)
		return -ENOMEM;
	event.comm = comm;
	image->id = ++pipeline->processes;
	err = pipeline->sink->ops->process(pipeline->sink, &event);
	free(comm);
	return err;
}

int sdw_pipeline_thread(struct sdw_pipeline *pipeline, struct sdw_image *image,
			const struct sdw_record_sample *sample, uint64_t time_ns, uint32_t *id)
{
	uint64_t *known = sdw_map64_find(&image->threads, sample->tid);
	struct sdw_thread_event event = {.time_ns = time_ns, .tid = sample->tid};
	const struct sdw_new_thread *new;
	char *name;
	int err;

	if (known) {
		*id = (uint32_t)*known;
		return 0;
	}
	err = announce_process(pipeline, image, time_ns);
	if (err)
		return err;
	new = sdw_image_new_thread(image, sample->tid);
	name = sdw_utf8_repair(new ? new->comm : image->comm);
	if (!name)
		return -ENOMEM;
	*id = ++pipeline->threads;
	event.name = name;
	event.inner_tid = new &&new->inner_tid ? new->inner_tid : sample->tid;
	event.id = *id;
	event.process = image->id;
	err = pipeline->sink->ops->thread(pipeline->sink, &event);
	free(name);
	return err ?: sdw_image_announce_thread(image, sample->tid, *id);
}

int sdw_pipeline_unwind(struct sdw_pipeline *pipeline, const struct sdw_record_sample *sample,
			const uint8_t *stack, struct sdw_raw_stack *raw)
{
	const struct sdw_config *config = pipeline->config;
	struct sdw_image *image = raw->image;
	int end, err;

	if (config->native == SDW_NATIVE_NONE || raw->status == SDW_STATUS_KERNEL_THREAD)
		return 0;
	sdw_images_need_maps(image);
	if (!image->unwinder) {
		err = sdw_unwinder_create(&image->maps, config->templates, config->verify_unwind,
					  &pipeline->unwinding, &image->unwinder);
		if (err)
			return err;
	}
	end = sdw_unwind(image->unwinder, &sample->registers, stack, sample->stack_bytes,
			 pipeline->pcs, SDW_MAX_NATIVE_FRAMES, &raw->native_count);
	if (end < 0)
		return end;
	raw->native_end = end;
	raw->native_cut = end == SDW_UNWIND_NO_STACK && sample->flags & SDW_SAMPLE_STACK_CUT;
	raw->pcs = pipeline->pcs;
	return 0;
}

static int send_sample(struct sdw_pipeline *pipeline, const struct sdw_record_sample *sample,
		       const struct sdw_raw_stack *raw)
{
	struct sdw_sample_event event = {
		.time_ns = raw->time_ns,
		.weight = pipeline->fixed_weight ? pipeline->fixed_weight : sample->period,
		.cpu = sample->cpu,
		.status = sample->status,
		.flags = sample->flags,
	};
	int err;

	if (pipeline->pairs)
		event.pair = sdw_overflow_pairs_sample(pipeline->pairs, sample->tid,
						       sample->record.time_ns);
	err = sdw_pipeline_thread(pipeline, raw->image, sample, raw->time_ns, &event.thread);
	err = err ?: sdw_stack_build(&pipeline->builder, raw, &event.stack);
	err = err ?: pipeline->sink->ops->sample(pipeline->sink, &event);
	if (err)
		return err;
	pipeline->status[sample->status]++;
	pipeline->samples++;
	return 0;
}

/* Does the record hold what it says it holds? */
static bool sample_is_whole(const struct sdw_record_sample *sample, size_t size)
{
	return size >= sizeof(*sample) && sample->tid &&
	       sample->kernel_frames <= SDW_MAX_KERNEL_FRAMES &&
	       sample->stack_bytes <= SDW_MAX_STACK_BYTES && sample->status < SDW_STATUS_COUNT &&
	       size >= sizeof(*sample) + sample->kernel_frames * 8 + sample->stack_bytes;
}

static int take_sample(struct sdw_pipeline *pipeline, const struct sdw_record_sample *sample,
		       size_t size)
{
	struct sdw_raw_stack raw = {.native_end = SDW_UNWIND_COMPLETE};
	const uint8_t *tail = (const uint8_t *)(sample + 1);
	int err;

	if (!sample_is_whole(sample, size)) {
		pipeline->broken++;
		return 0;
	}
	if (sample->record.time_ns > pipeline->last_ns)
		pipeline->last_ns = sample->record.time_ns;
	raw.time_ns = pipeline->last_ns;
	raw.image = sdw_images_get(&pipeline->images, sample->record.pid, sample->record.epoch);
	if (!raw.image)
		return -ENOMEM;
	raw.status = sample->status;
	raw.flags = sample->flags;
	raw.python_id = sample->python_stack;
	if (raw.python_id)
		raw.python = sdw_python_stacks_find(&pipeline->python_stacks, raw.python_id);
	raw.kernel = (const uint64_t *)tail;
	raw.kernel_count = sample->kernel_frames;
	err = sdw_pipeline_unwind(pipeline, sample, tail + sample->kernel_frames * 8, &raw);
	return err ?: send_sample(pipeline, sample, &raw);
}

/* A stack that is not kept comes again only if the BPF side forgot it: its samples say so. */
static int take_stack(struct sdw_pipeline *pipeline, const struct sdw_record_stack *stack,
		      size_t size)
{
	int err;

	if (pipeline->python_stacks.bytes >= pipeline->config->max_memory / 4)
		return 0;
	err = sdw_python_stacks_add(&pipeline->python_stacks, stack, size);
	return err == -ENOMEM ? err : 0;
}

static int take_code(struct sdw_pipeline *pipeline, const struct sdw_record_code *code, size_t size)
{
	int err;

	if (size < sizeof(*code))
		return 0;
	err = sdw_code_table_add(pipeline->codes, code, size,
				 sdw_programs_layout(pipeline->programs, code->layout));
	return err == -ENOMEM ? err : 0;
}

static int take_life(struct sdw_pipeline *pipeline, const struct sdw_record_life *life, size_t size)
{
	const struct sdw_image *image;

	if (size < sizeof(*life) || !life->tid)
		return 0;
	if (life->what == SDW_LIFE_EXIT || life->what == SDW_LIFE_THREAD_EXIT) {
		image = sdw_images_get(&pipeline->images, life->record.pid, life->record.epoch);
		if (!image)
			return -ENOMEM;
		if (!sdw_map64_find(&image->threads, life->tid))
			pipeline->silent_threads++;
		if (pipeline->pairs)
			sdw_overflow_pairs_forget(pipeline->pairs, life->tid);
	}
	return sdw_images_life(&pipeline->images, life);
}

int sdw_pipeline_record(struct sdw_pipeline *pipeline, const struct sdw_record *record, size_t size)
{
	switch (record->type) {
	case SDW_RECORD_SAMPLE:
		return take_sample(pipeline, (const void *)record, size);
	case SDW_RECORD_STACK:
		return take_stack(pipeline, (const void *)record, size);
	case SDW_RECORD_CODE:
		return take_code(pipeline, (const void *)record, size);
	case SDW_RECORD_LIFE:
		return take_life(pipeline, (const void *)record, size);
	case SDW_RECORD_SIGNAL_SAMPLE:
		return sdw_pipeline_signal(pipeline, (const void *)record, size);
	case SDW_RECORD_MAPPING:
		return sdw_images_mapping(&pipeline->images, (const void *)record);
	default:
		sdw_debug("a record of unknown type %u", record->type);
		return 0;
	}
}
