// SPDX-License-Identifier: MIT
/*
 * reader_events.c - checks and converts events (see reader_events.h).
 *
 * Fields are looked up by name once and then read by index, in the order of ctf_format.c.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "view/reader_events.h"

void sdw_reader_init(struct sdw_reader *reader, struct sdw_sink *sink)
{
	*reader = (struct sdw_reader){
		.sink = sink, .processes = 1, .threads = 1, .codes = 1, .frames = 1, .stacks = 1};
}

static void free_texts(struct sdw_reader *reader)
{
	while (reader->text_count)
		free(reader->texts[--reader->text_count]);
}

void sdw_reader_free(struct sdw_reader *reader)
{
	free_texts(reader);
}

__attribute__((format(printf, 2, 3))) static int broken(struct sdw_reader *reader,
							const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(reader->problem, sizeof(reader->problem), format, args);
	va_end(args);
	return -EINVAL;
}

const char *sdw_reader_text(struct sdw_reader *reader, const char *text)
{
	char *repaired;

	if (!text[sdw_utf8_valid_prefix(text)])
		return text;
	repaired = reader->text_count < SDW_READER_TEXTS ? sdw_utf8_repair(text) : NULL;
	if (repaired)
		reader->texts[reader->text_count++] = repaired;
	return repaired;
}

static const char *env_text(struct sdw_reader *reader, const bt_trace *trace, const char *key)
{
	const bt_value *value = bt_trace_borrow_environment_entry_value_by_name_const(trace, key);

	if (!value || !bt_value_is_string(value))
		return "";
	return sdw_reader_text(reader, bt_value_string_get(value));
}

static uint64_t env_number(const bt_trace *trace, const char *key)
{
	const bt_value *value = bt_trace_borrow_environment_entry_value_by_name_const(trace, key);
	int64_t number;

	if (!value || !bt_value_is_signed_integer(value))
		return 0;
	number = bt_value_integer_signed_get(value);
	return number < 0 ? 0 : (uint64_t)number;
}

int sdw_reader_begin(struct sdw_reader *reader, const bt_trace *trace)
{
	struct sdw_recording recording;
	const char *tracer = env_text(reader, trace, "tracer_name");
	uint64_t format = env_number(trace, "trace_format"), path = env_number(trace, "path");
	int err;

	if (reader->begun)
		return broken(reader, "it has more than one stream");
	if (!tracer || strcmp(tracer, SDW_CTF_TRACER))
		return broken(reader, "it was not recorded by Sidewinder");
	if (format != SDW_CTF_FORMAT)
		return broken(reader, "its format is %llu, this version reads %d",
			      (unsigned long long)format, SDW_CTF_FORMAT);
	if (path >= SDW_PATH_COUNT)
		return broken(reader, "its stacks came by an unknown path %llu",
			      (unsigned long long)path);
	recording = (struct sdw_recording){
		.version = env_text(reader, trace, "version"),
		.hostname = env_text(reader, trace, "hostname"),
		.command = env_text(reader, trace, "command"),
		.event = env_text(reader, trace, "event_name"),
		.unit = env_text(reader, trace, "unit"),
		.period = env_number(trace, "period"),
		.frequency = env_number(trace, "frequency"),
		.start_ns = env_number(trace, "start_ns"),
		.start_unix_ns = env_number(trace, "start_unix_ns"),
		.native = env_number(trace, "native"),
		.kernel = env_number(trace, "kernel"),
		.path = (uint8_t)path,
	};
	if (!recording.version || !recording.hostname || !recording.command || !recording.event ||
	    !recording.unit)
		return -ENOMEM;
	reader->begun = true;
	reader->period = recording.period;
	err = reader->sink->ops->recording(reader->sink, &recording);
	free_texts(reader);
	return err;
}

static bool has_type(const bt_field_class *class, enum sdw_ctf_type type)
{
	static const uint8_t bits[] = {
		[SDW_CTF_U8] = 8,	  [SDW_CTF_U16] = 16,	     [SDW_CTF_U32] = 32,
		[SDW_CTF_U64] = 64,	  [SDW_CTF_STATUS_ENUM] = 8, [SDW_CTF_LOST_ENUM] = 8,
		[SDW_CTF_KIND_ENUM] = 8,  [SDW_CTF_LATER_U16] = 16,  [SDW_CTF_LATER_U32] = 32,
		[SDW_CTF_LATER_U64] = 64,
	};
	bt_field_class_type is = bt_field_class_get_type(class);

	if (type == SDW_CTF_TEXT || type == SDW_CTF_LATER_TEXT)
		return is == BT_FIELD_CLASS_TYPE_STRING;
	return bt_field_class_type_is(is, BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER) &&
	       bt_field_class_integer_get_field_value_range(class) <= bits[type];
}

int sdw_reader_find_member(const bt_field_class *payload, const struct sdw_ctf_field *field)
{
	uint64_t count = bt_field_class_structure_get_member_count(payload);

	for (uint64_t i = 0; i < count && i < UINT8_MAX; i++) {
		const bt_field_class_structure_member *member =
			bt_field_class_structure_borrow_member_by_index_const(payload, i);

		if (strcmp(bt_field_class_structure_member_get_name(member), field->name))
			continue;
		return has_type(bt_field_class_structure_member_borrow_field_class_const(member),
				field->type)
			       ? (int)i
			       : -1;
	}
	/* older traces may lack a reason that came later */
	return field->type >= SDW_CTF_LATER_TEXT || !strncmp(field->name, "lost_", 5) ? UINT8_MAX
										      : -1;
}

static int find_members(struct sdw_reader *reader, const bt_event_class *class, uint64_t id)
{
	const bt_field_class *payload = bt_event_class_borrow_payload_field_class_const(class);
	const struct sdw_ctf_event_type *type = &sdw_ctf_event_types[id];
	const char *name = bt_event_class_get_name(class);

	if (!payload || !name || strcmp(name, type->name))
		return broken(reader, "event %llu is not \"%s\"", (unsigned long long)id,
			      type->name);
	for (size_t i = 0; i < type->count; i++) {
		int index = sdw_reader_find_member(payload, &type->fields[i]);

		if (index < 0)
			return broken(reader, "event \"%s\" has no proper field \"%s\"", type->name,
				      type->fields[i].name);
		reader->classes[id].member[i] = (uint8_t)index;
	}
	reader->classes[id].class = class;
	return 0;
}

/* Reads the fields of one event one after the other. */
struct cursor {
	struct sdw_reader *reader;
	const bt_field *payload;
	const uint8_t *member; /* of the next field */
	uint64_t time_ns;
};

static const bt_field *next_field(struct cursor *cursor)
{
	return bt_field_structure_borrow_member_field_by_index_const(cursor->payload,
								     *cursor->member++);
}

static uint64_t take_number(struct cursor *cursor)
{
	if (*cursor->member == UINT8_MAX) {
		cursor->member++;
		return 0;
	}
	return bt_field_integer_unsigned_get_value(next_field(cursor));
}

static const char *take_text(struct cursor *cursor)
{
	const bt_field *field = next_field(cursor);

	/* of an empty one, babeltrace2 2.0 gives the text of an event before */
	return bt_field_string_get_length(field)
		       ? sdw_reader_text(cursor->reader, bt_field_string_get_value(field))
		       : "";
}

/* A text that may be missing, as "-" says, or as the whole field is. */
static const char *take_later_text(struct cursor *cursor)
{
	const char *text;

	if (*cursor->member == UINT8_MAX) {
		cursor->member++;
		return "";
	}
	text = take_text(cursor);
	return text && strcmp(text, SDW_CTF_NO_TEXT) == 0 ? "" : text;
}

/* A number that may be missing. */
static uint64_t take_later_number(struct cursor *cursor)
{
	if (*cursor->member != UINT8_MAX)
		return take_number(cursor);
	cursor->member++;
	return 0;
}

/* An id must be the next of its kind. */
static int check_id(struct sdw_reader *reader, const char *kind, uint32_t id, uint32_t *next)
{
	if (reader->loose)
		return 0;
	if (id != *next || id == UINT32_MAX)
		return broken(reader, "%s %u comes where %u is due", kind, id, *next);
	(*next)++;
	return 0;
}

/* What is referred to must be defined, or with `optional` be none. */
static int check_known(struct sdw_reader *reader, const char *kind, uint32_t id, uint32_t next,
		       bool optional)
{
	if (reader->loose || (id < next && (id || optional)))
		return 0;
	return broken(reader, "%s %u is used but not defined", kind, id);
}

static int read_process(struct cursor *cursor)
{
	struct sdw_reader *reader = cursor->reader;
	struct sdw_process_event event = {.time_ns = cursor->time_ns};

	event.id = (uint32_t)take_number(cursor);
	event.parent = (uint32_t)take_number(cursor);
	event.pid = (uint32_t)take_number(cursor);
	event.inner_pid = (uint32_t)take_number(cursor);
	event.comm = take_text(cursor);
	event.container = take_later_text(cursor);
	event.container_name = take_later_text(cursor);
	event.pod = take_later_text(cursor);
	if (!event.comm || !event.container || !event.container_name || !event.pod)
		return -ENOMEM;
	if (check_known(reader, "process", event.parent, reader->processes, true))
		return -EINVAL;
	if (check_id(reader, "process", event.id, &reader->processes))
		return -EINVAL;
	return reader->sink->ops->process(reader->sink, &event);
}

static int read_thread(struct cursor *cursor)
{
	struct sdw_reader *reader = cursor->reader;
	struct sdw_thread_event event = {.time_ns = cursor->time_ns};

	event.id = (uint32_t)take_number(cursor);
	event.process = (uint32_t)take_number(cursor);
	event.tid = (uint32_t)take_number(cursor);
	event.inner_tid = (uint32_t)take_number(cursor);
	event.name = take_text(cursor);
	if (!event.name)
		return -ENOMEM;
	if (check_known(reader, "process", event.process, reader->processes, false))
		return -EINVAL;
	if (check_id(reader, "thread", event.id, &reader->threads))
		return -EINVAL;
	return reader->sink->ops->thread(reader->sink, &event);
}

static int read_code(struct cursor *cursor)
{
	struct sdw_reader *reader = cursor->reader;
	struct sdw_code_event event = {.time_ns = cursor->time_ns};

	event.id = (uint32_t)take_number(cursor);
	event.kind = (uint8_t)take_number(cursor);
	event.first_line = (uint32_t)take_number(cursor);
	event.name = take_text(cursor);
	event.file = take_text(cursor);
	if (!event.name || !event.file)
		return -ENOMEM;
	if (event.kind >= SDW_CODE_KIND_COUNT)
		return broken(reader, "code %u is of unknown kind %u", event.id, event.kind);
	if (check_id(reader, "code", event.id, &reader->codes))
		return -EINVAL;
	return reader->sink->ops->code(reader->sink, &event);
}

static int read_frame(struct cursor *cursor)
{
	struct sdw_reader *reader = cursor->reader;
	struct sdw_frame_event event = {.time_ns = cursor->time_ns};

	event.id = (uint32_t)take_number(cursor);
	event.code = (uint32_t)take_number(cursor);
	event.line = (uint32_t)take_number(cursor);
	event.column = (uint16_t)take_later_number(cursor);
	event.end_column = (uint16_t)take_later_number(cursor);
	event.end_line = (uint32_t)take_later_number(cursor);
	if (check_known(reader, "code", event.code, reader->codes, false))
		return -EINVAL;
	if (check_id(reader, "frame", event.id, &reader->frames))
		return -EINVAL;
	return reader->sink->ops->frame(reader->sink, &event);
}

static int read_stack(struct cursor *cursor)
{
	struct sdw_reader *reader = cursor->reader;
	struct sdw_stack_event event = {.time_ns = cursor->time_ns};

	event.id = (uint32_t)take_number(cursor);
	event.parent = (uint32_t)take_number(cursor);
	event.frame = (uint32_t)take_number(cursor);
	if (check_known(reader, "stack", event.parent, reader->stacks, true))
		return -EINVAL;
	if (check_known(reader, "frame", event.frame, reader->frames, false))
		return -EINVAL;
	if (check_id(reader, "stack", event.id, &reader->stacks))
		return -EINVAL;
	return reader->sink->ops->stack(reader->sink, &event);
}

/* What a sample and a signal's sample refer to. */
static int check_sample(struct sdw_reader *reader, uint32_t thread, uint32_t stack, uint8_t status)
{
	if (check_known(reader, "thread", thread, reader->threads, false))
		return -EINVAL;
	if (check_known(reader, "stack", stack, reader->stacks, true))
		return -EINVAL;
	if (status >= SDW_STATUS_COUNT)
		return broken(reader, "a sample has unknown status %u", status);
	return 0;
}

static int read_sample(struct cursor *cursor, uint64_t id)
{
	struct sdw_reader *reader = cursor->reader;
	struct sdw_sample_event event = {.time_ns = cursor->time_ns, .weight = reader->period};
	int err;

	cursor->member += 2; /* pid and tid: the thread has them too */
	event.thread = (uint32_t)take_number(cursor);
	event.stack = (uint32_t)take_number(cursor);
	event.cpu = (uint16_t)take_number(cursor);
	event.status = (uint8_t)take_number(cursor);
	event.flags = (uint8_t)take_number(cursor);
	if (id != SDW_CTF_SAMPLE)
		event.weight = take_number(cursor);
	if (id == SDW_CTF_SAMPLE_PAIRED)
		event.pair = take_number(cursor);
	err = check_sample(reader, event.thread, event.stack, event.status);
	return err ?: reader->sink->ops->sample(reader->sink, &event);
}

static int read_signal_sample(struct cursor *cursor)
{
	struct sdw_reader *reader = cursor->reader;
	struct sdw_signal_sample_event event = {.time_ns = cursor->time_ns};
	int err;

	cursor->member += 2; /* pid and tid, as above */
	event.thread = (uint32_t)take_number(cursor);
	event.stack = (uint32_t)take_number(cursor);
	event.cpu = (uint16_t)take_number(cursor);
	event.status = (uint8_t)take_number(cursor);
	event.flags = (uint8_t)take_number(cursor);
	event.delivery = (uint8_t)take_number(cursor);
	event.merged = (uint32_t)take_number(cursor);
	event.overflow_ns = take_number(cursor);
	event.handler_ns = take_number(cursor);
	event.pair = take_number(cursor);
	event.weight = take_number(cursor);
	err = check_sample(reader, event.thread, event.stack, event.status);
	return err ?: sdw_sink_signal_sample(reader->sink, &event);
}

static int read_lost(struct cursor *cursor)
{
	struct sdw_reader *reader = cursor->reader;
	struct sdw_lost_event event = {0};

	event.begin_ns = take_number(cursor);
	event.time_ns = take_number(cursor);
	event.count = take_number(cursor);
	event.reason = (uint8_t)take_number(cursor);
	if (event.reason >= SDW_LOST_COUNT)
		return broken(reader, "overflows were lost for unknown reason %u", event.reason);
	return reader->sink->ops->lost(reader->sink, &event);
}

static int read_totals(struct cursor *cursor)
{
	struct sdw_reader *reader = cursor->reader;
	struct sdw_totals totals = {.time_ns = cursor->time_ns};

	totals.duration_ns = take_number(cursor);
	totals.overflows = take_number(cursor);
	totals.processes = (uint32_t)take_number(cursor);
	totals.threads = (uint32_t)take_number(cursor);
	totals.complete = take_number(cursor);
	totals.signal_samples = take_later_number(cursor);
	totals.signal_merged = take_later_number(cursor);
	totals.signal_lost = take_later_number(cursor);
	for (size_t i = 0; i < SDW_STATUS_COUNT; i++)
		totals.status[i] = take_number(cursor);
	for (size_t i = 0; i < SDW_LOST_COUNT; i++)
		totals.lost[i] = take_number(cursor);
	return reader->sink->ops->totals(reader->sink, &totals);
}

static int read_event(struct cursor *cursor, uint64_t id)
{
	switch (id) {
	case SDW_CTF_PROCESS:
		return read_process(cursor);
	case SDW_CTF_THREAD:
		return read_thread(cursor);
	case SDW_CTF_CODE:
		return read_code(cursor);
	case SDW_CTF_FRAME:
		return read_frame(cursor);
	case SDW_CTF_STACK:
		return read_stack(cursor);
	case SDW_CTF_SAMPLE:
	case SDW_CTF_SAMPLE_WEIGHTED:
	case SDW_CTF_SAMPLE_PAIRED:
		return read_sample(cursor, id);
	case SDW_CTF_SIGNAL_SAMPLE:
		return read_signal_sample(cursor);
	case SDW_CTF_LOST:
		return read_lost(cursor);
	default:
		return read_totals(cursor);
	}
}

static int take_event(struct cursor *cursor, uint64_t id)
{
	int err = read_event(cursor, id);

	free_texts(cursor->reader);
	return err;
}

int sdw_reader_event(struct sdw_reader *reader, const bt_message *message)
{
	const bt_event *event = bt_message_event_borrow_event_const(message);
	const bt_event_class *class = bt_event_borrow_class_const(event);
	uint64_t id = bt_event_class_get_id(class);
	struct cursor cursor = {.reader = reader};
	int err;

	if (!reader->begun)
		return broken(reader, "an event comes before its stream");
	if (id >= SDW_CTF_EVENT_COUNT)
		return broken(reader, "it has an unknown event %llu", (unsigned long long)id);
	if (reader->classes[id].class != class) {
		err = find_members(reader, class, id);
		if (err)
			return err;
	}
	cursor.time_ns = bt_clock_snapshot_get_value(
		bt_message_event_borrow_default_clock_snapshot_const(message));
	if (cursor.time_ns < reader->last_ns)
		return broken(reader, "its time runs backwards");
	reader->last_ns = cursor.time_ns;
	cursor.payload = bt_event_borrow_payload_field_const(event);
	cursor.member = reader->classes[id].member;
	return take_event(&cursor, id);
}

int sdw_reader_payload(struct sdw_reader *reader, enum sdw_ctf_event id, const bt_field *payload,
		       const uint8_t *member, uint64_t time_ns)
{
	struct cursor cursor = {
		.reader = reader, .payload = payload, .member = member, .time_ns = time_ns};

	return take_event(&cursor, id);
}
