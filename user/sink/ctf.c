// SPDX-License-Identifier: MIT
/*
 * ctf.c - the sink that writes a CTF 1.8 directory: one event in, its bytes into the stream's
 * packet.
 *
 * A thin writer of our own, because the libraries cost microseconds an event or lose the metadata
 * in a crash. An event that could not be written ends the trace: later ones might refer to it.
 */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "sink/ctf.h"
#include "sink/ctf_directory.h"
#include "sink/ctf_format.h"
#include "sink/ctf_stream.h"

static const char ellipsis[] = "\xe2\x80\xa6"; /* U+2026: something is missing here */

struct task {
	uint32_t pid, tid; /* tid 0 for a process */
};

struct task_array {
	struct task *items; /* by id; entry 0 is not used */
	size_t count, room;
};

struct ctf {
	struct sdw_sink sink;
	struct sdw_ctf_directory directory;
	struct sdw_ctf_stream stream;
	uint8_t uuid[SDW_CTF_UUID_BYTES];
	struct task_array processes, threads;
	uint64_t period; /* what a sample without its own weight stands for */
	bool recorded;	 /* recording() came */
	int error;	 /* of the first event that could not be written */
};

static struct ctf *ctf_of(struct sdw_sink *sink)
{
	return (struct ctf *)sink; /* its first member */
}

static uint8_t *put_u8(uint8_t *at, uint8_t value)
{
	*at = value;
	return at + 1;
}

static uint8_t *put_u16(uint8_t *at, uint16_t value)
{
	value = htole16(value);
	memcpy(at, &value, sizeof(value));
	return at + sizeof(value);
}

static uint8_t *put_u32(uint8_t *at, uint32_t value)
{
	value = htole32(value);
	memcpy(at, &value, sizeof(value));
	return at + sizeof(value);
}

static uint8_t *put_u64(uint8_t *at, uint64_t value)
{
	value = htole64(value);
	memcpy(at, &value, sizeof(value));
	return at + sizeof(value);
}

/* A string ready to be written: where it is cut, and whether that is said by an ellipsis. */
struct text {
	const char *bytes;
	size_t length;
	bool cut;
};

static struct text text_of(const char *bytes)
{
	size_t length = bytes ? strnlen(bytes, SDW_CTF_MAX_TEXT) : 0;
	struct text text = {.bytes = bytes, .length = length};

	if (length < SDW_CTF_MAX_TEXT)
		return text;
	text.cut = true;
	text.length = SDW_CTF_MAX_TEXT - sizeof(ellipsis);
	while (text.length && ((unsigned char)bytes[text.length] & 0xc0) == 0x80)
		text.length--; /* not within a character */
	return text;
}

static struct text text_or_none(const char *bytes)
{
	return text_of(bytes && *bytes ? bytes : SDW_CTF_NO_TEXT);
}

static size_t text_size(const struct text *text)
{
	return text->length + (text->cut ? sizeof(ellipsis) : 1);
}

static uint8_t *put_text(uint8_t *at, const struct text *text)
{
	if (text->length)
		memcpy(at, text->bytes, text->length);
	at += text->length;
	if (!text->cut)
		return put_u8(at, '\0');
	memcpy(at, ellipsis, sizeof(ellipsis));
	return at + sizeof(ellipsis);
}

/* Adds an event, unless one before it is missing. Returns where its payload goes, NULL on error. */
static uint8_t *add(struct ctf *ctf, enum sdw_ctf_event id, uint64_t time_ns, size_t size)
{
	uint8_t *at = NULL;

	if (!ctf->error)
		ctf->error = sdw_ctf_stream_add(&ctf->stream, id, time_ns, size, &at);
	return at;
}

static int add_task(struct task_array *array, uint32_t id, struct task task)
{
	if (!array->count)
		array->count = 1;
	if (id != array->count)
		return -EINVAL;
	if (sdw_array_reserve(array, 1))
		return -ENOMEM;
	array->items[array->count++] = task;
	return 0;
}

static int write_metadata(struct ctf *ctf, const struct sdw_recording *recording)
{
	size_t size;
	char *text = sdw_ctf_metadata(recording, ctf->uuid, &size);
	int err;

	if (!text)
		return -ENOMEM;
	err = sdw_ctf_directory_write_metadata(&ctf->directory, text, size);
	free(text);
	return err;
}

static int put_recording(struct sdw_sink *sink, const struct sdw_recording *recording)
{
	struct ctf *ctf = ctf_of(sink);

	ctf->error = write_metadata(ctf, recording);
	if (!ctf->error)
		ctf->error = sdw_ctf_stream_restart(&ctf->stream, recording->start_ns);
	ctf->period = recording->period;
	ctf->recorded = true;
	return ctf->error;
}

static int put_process(struct sdw_sink *sink, const struct sdw_process_event *event)
{
	struct text comm = text_of(event->comm), container = text_or_none(event->container);
	struct text name = text_or_none(event->container_name), pod = text_or_none(event->pod);
	struct ctf *ctf = ctf_of(sink);
	int err = add_task(&ctf->processes, event->id, (struct task){.pid = event->pid});
	uint8_t *at;

	if (err)
		return err;
	at = add(ctf, SDW_CTF_PROCESS, event->time_ns,
		 16 + text_size(&comm) + text_size(&container) + text_size(&name) +
			 text_size(&pod));
	if (!at)
		return ctf->error;
	at = put_u32(at, event->id);
	at = put_u32(at, event->parent);
	at = put_u32(at, event->pid);
	at = put_u32(at, event->inner_pid);
	at = put_text(at, &comm);
	at = put_text(at, &container);
	at = put_text(at, &name);
	put_text(at, &pod);
	return 0;
}

static int put_thread(struct sdw_sink *sink, const struct sdw_thread_event *event)
{
	struct text name = text_of(event->name);
	struct ctf *ctf = ctf_of(sink);
	uint8_t *at;
	int err;

	if (!event->process || event->process >= ctf->processes.count)
		return -EINVAL;
	err = add_task(
		&ctf->threads, event->id,
		(struct task){.pid = ctf->processes.items[event->process].pid, .tid = event->tid});
	if (err)
		return err;
	at = add(ctf, SDW_CTF_THREAD, event->time_ns, 16 + text_size(&name));
	if (!at)
		return ctf->error;
	at = put_u32(at, event->id);
	at = put_u32(at, event->process);
	at = put_u32(at, event->tid);
	at = put_u32(at, event->inner_tid);
	put_text(at, &name);
	return 0;
}

static int put_code(struct sdw_sink *sink, const struct sdw_code_event *event)
{
	struct text name = text_of(event->name), file = text_of(event->file);
	struct ctf *ctf = ctf_of(sink);
	uint8_t *at =
		add(ctf, SDW_CTF_CODE, event->time_ns, 9 + text_size(&name) + text_size(&file));

	if (!at)
		return ctf->error;
	at = put_u32(at, event->id);
	at = put_u8(at, event->kind);
	at = put_u32(at, event->first_line);
	at = put_text(at, &name);
	put_text(at, &file);
	return 0;
}

static int put_frame(struct sdw_sink *sink, const struct sdw_frame_event *event)
{
	struct ctf *ctf = ctf_of(sink);
	uint8_t *at = add(ctf, SDW_CTF_FRAME, event->time_ns, 20);

	if (!at)
		return ctf->error;
	at = put_u32(at, event->id);
	at = put_u32(at, event->code);
	at = put_u32(at, event->line);
	at = put_u16(at, event->column);
	at = put_u16(at, event->end_column);
	put_u32(at, event->end_line);
	return 0;
}

static int put_stack(struct sdw_sink *sink, const struct sdw_stack_event *event)
{
	struct ctf *ctf = ctf_of(sink);
	uint8_t *at = add(ctf, SDW_CTF_STACK, event->time_ns, 12);

	if (!at)
		return ctf->error;
	at = put_u32(at, event->id);
	at = put_u32(at, event->parent);
	put_u32(at, event->frame);
	return 0;
}

static int put_sample(struct sdw_sink *sink, const struct sdw_sample_event *event)
{
	struct ctf *ctf = ctf_of(sink);
	bool paired = event->pair, weighted = paired || event->weight != ctf->period;
	enum sdw_ctf_event id = SDW_CTF_SAMPLE;
	const struct task *thread;
	uint8_t *at;

	if (!event->thread || event->thread >= ctf->threads.count)
		return -EINVAL;
	if (weighted)
		id = paired ? SDW_CTF_SAMPLE_PAIRED : SDW_CTF_SAMPLE_WEIGHTED;
	at = add(ctf, id, event->time_ns, 20u + weighted * 8u + paired * 8u);
	if (!at)
		return ctf->error;
	thread = &ctf->threads.items[event->thread];
	at = put_u32(at, thread->pid);
	at = put_u32(at, thread->tid);
	at = put_u32(at, event->thread);
	at = put_u32(at, event->stack);
	at = put_u16(at, event->cpu);
	at = put_u8(at, event->status);
	at = put_u8(at, event->flags);
	if (weighted)
		at = put_u64(at, event->weight);
	if (paired)
		put_u64(at, event->pair);
	return 0;
}

static int put_signal_sample(struct sdw_sink *sink, const struct sdw_signal_sample_event *event)
{
	struct ctf *ctf = ctf_of(sink);
	const struct task *thread;
	uint8_t *at;

	if (!event->thread || event->thread >= ctf->threads.count)
		return -EINVAL;
	at = add(ctf, SDW_CTF_SIGNAL_SAMPLE, event->time_ns, 57);
	if (!at)
		return ctf->error;
	thread = &ctf->threads.items[event->thread];
	at = put_u32(at, thread->pid);
	at = put_u32(at, thread->tid);
	at = put_u32(at, event->thread);
	at = put_u32(at, event->stack);
	at = put_u16(at, event->cpu);
	at = put_u8(at, event->status);
	at = put_u8(at, event->flags);
	at = put_u8(at, event->delivery);
	at = put_u32(at, event->merged);
	at = put_u64(at, event->overflow_ns);
	at = put_u64(at, event->handler_ns);
	at = put_u64(at, event->pair);
	put_u64(at, event->weight);
	return 0;
}

/*
 * CTF counts as discarded what the tracer had and could not keep, and readers warn of it. Overflows
 * that it never saw, or that nobody asked about, are in the lost events and in the totals alone.
 */
static bool is_discarded(uint8_t reason)
{
	return reason == SDW_LOST_RING_FULL || reason == SDW_LOST_NO_SCRATCH ||
	       reason == SDW_LOST_CONSUMER;
}

static int put_lost(struct sdw_sink *sink, const struct sdw_lost_event *event)
{
	struct ctf *ctf = ctf_of(sink);
	uint8_t *at = add(ctf, SDW_CTF_LOST, event->time_ns, 25);

	if (!at)
		return ctf->error;
	at = put_u64(at, event->begin_ns);
	at = put_u64(at, event->time_ns);
	at = put_u64(at, event->count);
	put_u8(at, event->reason);
	if (is_discarded(event->reason))
		ctf->stream.discarded += event->count;
	return 0;
}

static int put_totals(struct sdw_sink *sink, const struct sdw_totals *totals)
{
	struct ctf *ctf = ctf_of(sink);
	uint8_t *at;
	/* refers to nothing, so it may follow a gap */
	int err = sdw_ctf_stream_add(
		&ctf->stream, SDW_CTF_TOTALS, totals->time_ns,
		8 + 8 + 4 + 4 + 1 + 3 * 8 + sizeof(totals->status) + sizeof(totals->lost), &at);

	if (err)
		return err;
	at = put_u64(at, totals->duration_ns);
	at = put_u64(at, totals->overflows);
	at = put_u32(at, totals->processes);
	at = put_u32(at, totals->threads);
	at = put_u8(at, totals->complete);
	at = put_u64(at, totals->signal_samples);
	at = put_u64(at, totals->signal_merged);
	at = put_u64(at, totals->signal_lost);
	for (size_t i = 0; i < SDW_STATUS_COUNT; i++)
		at = put_u64(at, totals->status[i]);
	for (size_t i = 0; i < SDW_LOST_COUNT; i++)
		at = put_u64(at, totals->lost[i]);
	return 0;
}

static int put_flush(struct sdw_sink *sink, uint64_t now_ns)
{
	(void)now_ns;
	return sdw_ctf_stream_flush(&ctf_of(sink)->stream);
}

static void ctf_free(struct ctf *ctf)
{
	if (ctf->stream.fd >= 0)
		close(ctf->stream.fd);
	sdw_ctf_stream_free(&ctf->stream);
	sdw_ctf_directory_close(&ctf->directory);
	free(ctf->processes.items);
	free(ctf->threads.items);
	free(ctf);
}

static int put_close(struct sdw_sink *sink)
{
	struct ctf *ctf = ctf_of(sink);
	int err = ctf->error, last;

	if (ctf->recorded) {
		last = sdw_ctf_stream_flush(&ctf->stream);
		/* some file systems only notice now that they are full */
		if (!last && fdatasync(ctf->stream.fd) && errno != EINVAL)
			last = -errno;
		if (!err)
			err = last;
	} else {
		sdw_ctf_directory_remove(&ctf->directory);
	}
	ctf_free(ctf);
	return err;
}

static const struct sdw_sink_ops ctf_ops = {
	.recording = put_recording,
	.process = put_process,
	.thread = put_thread,
	.code = put_code,
	.frame = put_frame,
	.stack = put_stack,
	.sample = put_sample,
	.signal_sample = put_signal_sample,
	.lost = put_lost,
	.totals = put_totals,
	.flush = put_flush,
	.close = put_close,
};

/* Writes a trace of nothing, so that a full disk or missing rights show before recording. */
static int write_empty_trace(struct ctf *ctf)
{
	struct sdw_recording nothing = {0};
	struct timespec now;
	int err;

	if (getrandom(ctf->uuid, sizeof(ctf->uuid), 0) != sizeof(ctf->uuid))
		return -EIO;
	ctf->uuid[6] = (ctf->uuid[6] & 0x0f) | 0x40; /* RFC 4122: version 4, random */
	ctf->uuid[8] = (ctf->uuid[8] & 0x3f) | 0x80;
	err = write_metadata(ctf, &nothing);
	if (err)
		return err;
	err = sdw_ctf_directory_create_stream(&ctf->directory, SDW_CTF_STREAM);
	if (err < 0)
		return err;
	err = sdw_ctf_stream_init(&ctf->stream, err, ctf->uuid);
	if (err)
		return err;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return sdw_ctf_stream_restart(&ctf->stream,
				      (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec);
}

int sdw_ctf_create(const char *path, bool force, struct sdw_sink **sink)
{
	struct ctf *ctf = calloc(1, sizeof(*ctf));
	int err;

	if (!ctf)
		return -ENOMEM;
	ctf->sink.ops = &ctf_ops;
	ctf->stream.fd = -1;
	err = sdw_ctf_directory_create(&ctf->directory, path, force);
	if (!err) {
		err = write_empty_trace(ctf);
		if (err)
			sdw_ctf_directory_remove(&ctf->directory);
	}
	if (err) {
		ctf_free(ctf);
		return err;
	}
	*sink = &ctf->sink;
	return 0;
}
