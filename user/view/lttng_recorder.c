// SPDX-License-Identifier: MIT
/* lttng_recorder.c - see lttng_recorder.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/map64.h"
#include "view/lttng_recorder.h"

enum item_type { ITEM_SAMPLE, ITEM_SIGNAL_SAMPLE, ITEM_LOST, ITEM_TOTALS };

/* An event that waits. */
struct item {
	enum item_type type;
	uint32_t pid, tid;
	union {
		struct sdw_sample_event sample;
		struct sdw_signal_sample_event signal_sample;
		struct sdw_lost_event lost;
		uint32_t totals; /* index in `totals`: they are large and few */
	};
};

struct sdw_lttng_recorder {
	struct sdw_sink sink;
	struct sdw_reader reader;
	struct sdw_merge *merge;
	struct sdw_sink *next; /* NULL: no recording yet */
	uint64_t start_ns;     /* of the recording: with it, the same told again is known */
	bool seen;	       /* an event came */
	bool whole;	       /* the recording was the first event */
	bool snapshot, by_signal;
	uint32_t pid, tid;		     /* of the sample that comes next */
	struct sdw_map64 threads, processes; /* that are known, by id */
	struct sdw_map64 by_tid;	     /* the thread defined last with tid - 1: its id */
	uint32_t thread_count, process_count;
	struct {
		struct item *items;
		size_t count, room;
	} queue;
	struct {
		struct sdw_totals *items;
		size_t count, room;
	} totals;
	/* sent on so far */
	uint64_t status[SDW_STATUS_COUNT], lost[SDW_LOST_COUNT];
	uint64_t signal_samples, signal_merged, first_ns, last_ns;
	struct sdw_totals told; /* the last that came */
};

static struct sdw_lttng_recorder *recorder_of(struct sdw_sink *sink)
{
	return (struct sdw_lttng_recorder *)sink; /* its first member */
}

static bool waits(const struct sdw_lttng_recorder *recorder)
{
	return !recorder->next || recorder->snapshot;
}

static struct item *add_item(struct sdw_lttng_recorder *recorder, enum item_type type)
{
	struct item *item;

	recorder->seen = true;
	if (sdw_array_reserve(&recorder->queue, 1))
		return NULL;
	item = &recorder->queue.items[recorder->queue.count++];
	*item = (struct item){.type = type, .pid = recorder->pid, .tid = recorder->tid};
	return item;
}

/* ---- definitions: before the recording they would be of no use, and are told again after it ----
 */

static int take_process(struct sdw_sink *sink, const struct sdw_process_event *event)
{
	struct sdw_lttng_recorder *recorder = recorder_of(sink);

	recorder->seen = true;
	if (!recorder->next || !event->id || sdw_map64_find(&recorder->processes, event->id))
		return 0;
	recorder->process_count++;
	return sdw_map64_set(&recorder->processes, event->id, 1)
		       ?: recorder->next->ops->process(recorder->next, event);
}

static int take_thread(struct sdw_sink *sink, const struct sdw_thread_event *event)
{
	struct sdw_lttng_recorder *recorder = recorder_of(sink);

	recorder->seen = true;
	if (!recorder->next || !event->id || sdw_map64_find(&recorder->threads, event->id))
		return 0;
	recorder->thread_count++;
	if (sdw_map64_set(&recorder->by_tid, event->tid + 1ull, event->id))
		return -ENOMEM;
	return sdw_map64_set(&recorder->threads, event->id, 1)
		       ?: recorder->next->ops->thread(recorder->next, event);
}

#define TAKE(name, type)                                                                      \
	static int take_##name(struct sdw_sink *sink, const type *event)                      \
	{                                                                                     \
		struct sdw_lttng_recorder *recorder = recorder_of(sink);                      \
                                                                                              \
		recorder->seen = true;                                                        \
		return recorder->next ? recorder->next->ops->name(recorder->next, event) : 0; \
	}

TAKE(code, struct sdw_code_event)
TAKE(frame, struct sdw_frame_event)
TAKE(stack, struct sdw_stack_event)

/* ---- sending on ---- */

/*
 * The thread of a sample; one that has none is of the thread that was defined last with its tid. A
 * thread whose definition LTTng has lost is known by its numbers at least.
 */
static int know_thread(struct sdw_lttng_recorder *recorder, uint32_t *id, uint64_t time_ns)
{
	const uint64_t *last = *id ? NULL : sdw_map64_find(&recorder->by_tid, recorder->tid + 1ull);
	/* beyond the ids that a recorder gives */
	struct sdw_process_event process = {
		.time_ns = time_ns,
		.id = UINT32_MAX - recorder->pid,
		.pid = recorder->pid,
		.inner_pid = recorder->pid,
		.comm = "[not in this trace]",
	};
	struct sdw_thread_event thread = {
		.time_ns = time_ns,
		.id = *id ? *id : UINT32_MAX - recorder->tid,
		.process = process.id,
		.tid = recorder->tid,
		.inner_tid = recorder->tid,
		.name = "[not in this trace]",
	};

	if (last)
		*id = (uint32_t)*last;
	if (*id && sdw_map64_find(&recorder->threads, *id))
		return 0;
	*id = thread.id;
	return take_process(&recorder->sink, &process) ?: take_thread(&recorder->sink, &thread);
}

static void note(struct sdw_lttng_recorder *recorder, uint64_t time_ns)
{
	if (!recorder->first_ns)
		recorder->first_ns = time_ns;
	recorder->last_ns = time_ns;
}

static int send_sample(struct sdw_lttng_recorder *recorder, const struct sdw_sample_event *event)
{
	struct sdw_sample_event sample = *event;
	int err = know_thread(recorder, &sample.thread, event->time_ns);

	if (err)
		return err;
	if (!recorder->by_signal)
		recorder->status[event->status]++;
	note(recorder, event->time_ns);
	return recorder->next->ops->sample(recorder->next, &sample);
}

static int send_signal_sample(struct sdw_lttng_recorder *recorder,
			      const struct sdw_signal_sample_event *event)
{
	struct sdw_signal_sample_event sample = *event;
	int err = know_thread(recorder, &sample.thread, event->time_ns);

	if (err)
		return err;
	if (recorder->by_signal)
		recorder->status[event->status]++;
	recorder->signal_samples++;
	recorder->signal_merged += event->merged;
	note(recorder, event->time_ns);
	return sdw_sink_signal_sample(recorder->next, &sample);
}

static int send_lost(struct sdw_lttng_recorder *recorder, const struct sdw_lost_event *event)
{
	recorder->lost[event->reason] += event->count;
	return recorder->next->ops->lost(recorder->next, event);
}

static uint64_t sum(const uint64_t *numbers, size_t count)
{
	uint64_t total = 0;

	while (count)
		total += numbers[--count];
	return total;
}

/*
 * Of a trace that has all of the recording: what the recorder counted and we have not read, LTTng
 * has lost. Of a part: what was read.
 */
static int send_totals(struct sdw_lttng_recorder *recorder)
{
	struct sdw_totals totals = recorder->told;
	uint64_t sent = sum(recorder->status, SDW_STATUS_COUNT);
	uint64_t counted = sum(totals.status, SDW_STATUS_COUNT);

	memcpy(totals.status, recorder->status, sizeof(totals.status));
	if (recorder->whole && !recorder->snapshot) {
		totals.lost[SDW_LOST_LTTNG] = counted > sent ? counted - sent : 0;
	} else {
		memcpy(totals.lost, recorder->lost, sizeof(totals.lost));
		totals.duration_ns = recorder->last_ns - recorder->first_ns;
		totals.complete = totals.complete || recorder->snapshot; /* it was asked for */
		totals.processes = recorder->process_count;
		totals.threads = recorder->thread_count;
		totals.signal_samples = recorder->signal_samples;
		totals.signal_merged = recorder->signal_merged;
	}
	totals.overflows = sum(totals.status, SDW_STATUS_COUNT) + sum(totals.lost, SDW_LOST_COUNT);
	return recorder->next->ops->totals(recorder->next, &totals);
}

static int send_item(struct sdw_lttng_recorder *recorder, const struct item *item)
{
	recorder->pid = item->pid;
	recorder->tid = item->tid;
	switch (item->type) {
	case ITEM_SAMPLE:
		return send_sample(recorder, &item->sample);
	case ITEM_SIGNAL_SAMPLE:
		return send_signal_sample(recorder, &item->signal_sample);
	case ITEM_LOST:
		return send_lost(recorder, &item->lost);
	default:
		recorder->told = recorder->totals.items[item->totals];
		return 0;
	}
}

static int send_queue(struct sdw_lttng_recorder *recorder, size_t first)
{
	uint32_t pid = recorder->pid, tid = recorder->tid;
	int err = 0;

	for (size_t i = first; i < recorder->queue.count && !err; i++)
		err = send_item(recorder, &recorder->queue.items[i]);
	recorder->queue.count = recorder->totals.count = 0;
	recorder->pid = pid;
	recorder->tid = tid;
	return err;
}

/* ---- samples ---- */

static int take_sample(struct sdw_sink *sink, const struct sdw_sample_event *event)
{
	struct sdw_lttng_recorder *recorder = recorder_of(sink);
	struct item *item;

	if (!waits(recorder))
		return send_sample(recorder, event);
	item = add_item(recorder, ITEM_SAMPLE);
	if (item)
		item->sample = *event;
	return item ? 0 : -ENOMEM;
}

static int take_signal_sample(struct sdw_sink *sink, const struct sdw_signal_sample_event *event)
{
	struct sdw_lttng_recorder *recorder = recorder_of(sink);
	struct item *item;

	if (!waits(recorder))
		return send_signal_sample(recorder, event);
	item = add_item(recorder, ITEM_SIGNAL_SAMPLE);
	if (item)
		item->signal_sample = *event;
	return item ? 0 : -ENOMEM;
}

static int take_lost(struct sdw_sink *sink, const struct sdw_lost_event *event)
{
	struct sdw_lttng_recorder *recorder = recorder_of(sink);
	struct item *item;

	if (!waits(recorder))
		return send_lost(recorder, event);
	item = add_item(recorder, ITEM_LOST);
	if (item)
		item->lost = *event;
	return item ? 0 : -ENOMEM;
}

static int take_totals(struct sdw_sink *sink, const struct sdw_totals *totals)
{
	struct sdw_lttng_recorder *recorder = recorder_of(sink);
	struct item *item;

	if (!waits(recorder)) {
		recorder->told = *totals;
		return send_totals(recorder);
	}
	item = sdw_array_reserve(&recorder->totals, 1) ? NULL : add_item(recorder, ITEM_TOTALS);
	if (!item)
		return -ENOMEM;
	item->totals = (uint32_t)recorder->totals.count;
	recorder->totals.items[recorder->totals.count++] = *totals;
	return 0;
}

static const struct sdw_sink_ops recorder_ops = {
	.process = take_process,
	.thread = take_thread,
	.code = take_code,
	.frame = take_frame,
	.stack = take_stack,
	.sample = take_sample,
	.signal_sample = take_signal_sample,
	.lost = take_lost,
	.totals = take_totals,
};

/* ---- the recording ---- */

static const bt_field *field(const bt_field *payload, const char *name)
{
	return bt_field_structure_borrow_member_field_by_name_const(payload, name);
}

static uint64_t number(const bt_field *payload, const char *name)
{
	return bt_field_integer_unsigned_get_value(field(payload, name));
}

static const char *text(struct sdw_reader *reader, const bt_field *string)
{
	/* of an empty one, babeltrace2 2.0 gives the text of an event before */
	return bt_field_string_get_length(string)
		       ? sdw_reader_text(reader, bt_field_string_get_value(string))
		       : "";
}

static bool has_fields(const bt_field *payload)
{
	static const struct sdw_ctf_field fields[] = {
		{"trace_format", SDW_CTF_U32}, {"version", SDW_CTF_TEXT},
		{"hostname", SDW_CTF_TEXT},    {"command", SDW_CTF_TEXT},
		{"event_name", SDW_CTF_TEXT},  {"unit", SDW_CTF_TEXT},
		{"period", SDW_CTF_U64},       {"frequency", SDW_CTF_U64},
		{"start_ns", SDW_CTF_U64},     {"start_unix_ns", SDW_CTF_U64},
		{"native", SDW_CTF_U8},	       {"kernel", SDW_CTF_U8},
		{"path", SDW_CTF_U8},	       {"snapshot", SDW_CTF_U8},
	};
	const bt_field_class *class = bt_field_borrow_class_const(payload);

	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
		if (sdw_reader_find_member(class, &fields[i]) < 0)
			return false;
	return number(payload, "trace_format") == SDW_CTF_FORMAT &&
	       number(payload, "path") < SDW_PATH_COUNT;
}

/* Forgets the recording before: another recorder has its number now. */
static void reset(struct sdw_lttng_recorder *recorder)
{
	sdw_map64_clear(&recorder->threads);
	sdw_map64_clear(&recorder->processes);
	sdw_map64_clear(&recorder->by_tid);
	recorder->thread_count = recorder->process_count = 0;
	recorder->queue.count = recorder->totals.count = 0;
	memset(recorder->status, 0, sizeof(recorder->status));
	memset(recorder->lost, 0, sizeof(recorder->lost));
	recorder->signal_samples = recorder->signal_merged = 0;
	recorder->first_ns = recorder->last_ns = 0;
	recorder->told = (struct sdw_totals){0};
}

static int send_recording(struct sdw_lttng_recorder *recorder, const bt_field *payload)
{
	const char *names[] = {"version", "hostname", "command", "event_name", "unit"};
	const char *texts[sizeof(names) / sizeof(*names)];
	struct sdw_recording recording = {
		.period = number(payload, "period"),
		.frequency = number(payload, "frequency"),
		.start_ns = number(payload, "start_ns"),
		.start_unix_ns = number(payload, "start_unix_ns"),
		.native = number(payload, "native"),
		.kernel = number(payload, "kernel"),
		.path = (uint8_t)number(payload, "path"),
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		texts[i] = text(&recorder->reader, field(payload, names[i]));
		if (!texts[i])
			return -ENOMEM;
	}
	recording.version = texts[0];
	recording.hostname = texts[1];
	recording.command = texts[2];
	recording.event = texts[3];
	recording.unit = texts[4];
	recorder->start_ns = recording.start_ns;
	recorder->reader.period = recording.period;
	recorder->by_signal = recording.path == SDW_PATH_SIGNAL;
	return recorder->next->ops->recording(recorder->next, &recording);
}

int sdw_lttng_recorder_begin(struct sdw_lttng_recorder *recorder, const bt_field *payload)
{
	bool any;
	int err = 0;

	if (!has_fields(payload))
		return -EPROTO;
	if (recorder->next && recorder->start_ns == number(payload, "start_ns"))
		return 0;
	if (recorder->next) {
		err = sdw_lttng_recorder_finish(recorder, &any);
		reset(recorder);
		recorder->seen = false;
	}
	if (err)
		return err;
	recorder->whole = !recorder->seen;
	recorder->snapshot = number(payload, "snapshot");
	recorder->next = sdw_merge_add(recorder->merge);
	if (!recorder->next)
		return -ENOMEM;
	if (!recorder->snapshot)
		recorder->queue.count = recorder->totals.count = 0;
	err = send_recording(recorder, payload);
	sdw_reader_free(&recorder->reader); /* the texts that were repaired */
	return err;
}

void sdw_lttng_recorder_task(struct sdw_lttng_recorder *recorder, uint32_t pid, uint32_t tid)
{
	recorder->pid = pid;
	recorder->tid = tid;
}

/*
 * Where the part of a snapshot begins that is whole: going back from the last totals, samples are
 * as many as the recorder has counted between each two.
 */
static size_t find_window(const struct sdw_lttng_recorder *recorder)
{
	enum item_type counted = recorder->by_signal ? ITEM_SIGNAL_SAMPLE : ITEM_SAMPLE;
	const struct sdw_totals *last = NULL;
	uint64_t samples = 0, told = 0;
	size_t begin = 0;

	for (size_t i = recorder->queue.count; i--;) {
		const struct item *item = &recorder->queue.items[i];
		const struct sdw_totals *totals;

		if (item->type == counted && last)
			samples++;
		if (item->type != ITEM_TOTALS)
			continue;
		totals = &recorder->totals.items[item->totals];
		if (!last) {
			last = totals;
			told = sum(last->status, SDW_STATUS_COUNT);
		}
		if (told - sum(totals->status, SDW_STATUS_COUNT) != samples)
			return begin;
		begin = i;
	}
	return told == samples ? 0 : begin;
}

int sdw_lttng_recorder_finish(struct sdw_lttng_recorder *recorder, bool *any)
{
	int err;

	if (!recorder->next)
		return 0; /* nothing says what its samples are */
	*any = true;
	err = send_queue(recorder, recorder->snapshot ? find_window(recorder) : 0);
	return err ?: send_totals(recorder);
}

struct sdw_reader *sdw_lttng_recorder_reader(struct sdw_lttng_recorder *recorder)
{
	return &recorder->reader;
}

int sdw_lttng_recorder_create(struct sdw_merge *merge, struct sdw_lttng_recorder **recorder)
{
	*recorder = calloc(1, sizeof(**recorder));
	if (!*recorder)
		return -ENOMEM;
	(*recorder)->sink.ops = &recorder_ops;
	(*recorder)->merge = merge;
	sdw_reader_init(&(*recorder)->reader, &(*recorder)->sink);
	(*recorder)->reader.loose = true;
	return 0;
}

void sdw_lttng_recorder_free(struct sdw_lttng_recorder *recorder)
{
	if (!recorder)
		return;
	sdw_reader_free(&recorder->reader);
	sdw_map64_free(&recorder->threads);
	sdw_map64_free(&recorder->processes);
	sdw_map64_free(&recorder->by_tid);
	free(recorder->queue.items);
	free(recorder->totals.items);
	free(recorder);
}
