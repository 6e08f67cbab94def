// SPDX-License-Identifier: MIT
/* reader_lttng.c - see reader_lttng.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "view/lttng_recorder.h"
#include "view/reader_events.h"
#include "view/reader_lttng.h"

#define PREFIX	     "sidewinder:"
#define THREAD_FIELD 2	 /* of a sample, ctf_format.c */
#define RECORDERS    256 /* numbers that `recorder` has */

/* beyond the events of a CTF trace */
enum { EVENT_RECORDING = SDW_CTF_EVENT_COUNT, EVENT_STATE, EVENT_OTHER };

/* Where the fields of an event are. */
struct class
{
	const bt_event_class *class;
	int event;
	struct sdw_reader_class fields;
	uint8_t recorder, time; /* members; UINT8_MAX: none */
	bool low;		/* the time is its low 32 bits */
};

struct sdw_lttng_reader {
	struct sdw_merge *merge;
	char *problem;
	size_t size;
	struct {
		struct class *items;
		size_t count, room;
	} classes;
	size_t last; /* class of the event before */
	struct sdw_lttng_recorder *recorders[RECORDERS];
};

static int broken(struct sdw_lttng_reader *reader, const char *event)
{
	snprintf(reader->problem, reader->size, "its event \"%s\" lacks fields of ours", event);
	return -EINVAL;
}

static int event_of(const char *name)
{
	if (!name || strncmp(name, PREFIX, strlen(PREFIX)) != 0)
		return EVENT_OTHER;
	name += strlen(PREFIX);
	for (int i = 0; i < SDW_CTF_EVENT_COUNT; i++)
		if (!strcmp(name, sdw_ctf_event_types[i].name))
			return i;
	if (!strcmp(name, "recording"))
		return EVENT_RECORDING;
	return strcmp(name, "state") ? EVENT_OTHER : EVENT_STATE;
}

static int find_fields(struct class *class, const bt_field_class *payload)
{
	static const struct sdw_ctf_field recorder = {"recorder", SDW_CTF_U8};
	static const struct sdw_ctf_field time = {"time_ns", SDW_CTF_U64};
	static const struct sdw_ctf_field low = {"time_low", SDW_CTF_U32};
	const struct sdw_ctf_event_type *type;
	int index = sdw_reader_find_member(payload, &recorder);

	if (index < 0)
		return -EINVAL;
	class->recorder = (uint8_t)index;
	class->time = UINT8_MAX;
	index = sdw_reader_find_member(payload, &low);
	class->low = index >= 0;
	if (index < 0)
		index = sdw_reader_find_member(payload, &time);
	if (index >= 0)
		class->time = (uint8_t)index;
	if (class->event >= SDW_CTF_EVENT_COUNT)
		return 0;
	type = &sdw_ctf_event_types[class->event];
	for (size_t i = 0; i < type->count; i++) {
		index = sdw_reader_find_member(payload, &type->fields[i]);
		if (index < 0 && class->event == SDW_CTF_SAMPLE && i == THREAD_FIELD)
			index = UINT8_MAX; /* it is that of the tid */
		if (index < 0)
			return -EINVAL;
		class->fields.member[i] = (uint8_t)index;
	}
	return 0;
}

/* Returns the class of an event, or NULL: out of memory, or (with the problem set) not proper. */
static const struct class *class_of(struct sdw_lttng_reader *reader, const bt_event_class *class)
{
	const bt_field_class *payload = bt_event_class_borrow_payload_field_class_const(class);
	const char *name = bt_event_class_get_name(class);
	struct class *new;

	if (reader->last < reader->classes.count &&
	    reader->classes.items[reader->last].class == class)
		return &reader->classes.items[reader->last];
	for (size_t i = 0; i < reader->classes.count; i++) {
		if (reader->classes.items[i].class != class)
			continue;
		reader->last = i;
		return &reader->classes.items[i];
	}
	if (sdw_array_reserve(&reader->classes, 1))
		return NULL;
	new = &reader->classes.items[reader->classes.count];
	*new = (struct class){.class = class, .event = event_of(name)};
	if (new->event != EVENT_OTHER && (!payload || find_fields(new, payload))) {
		(void)broken(reader, name);
		return NULL;
	}
	reader->last = reader->classes.count++;
	return new;
}

static uint64_t number(const bt_field *payload, uint8_t member)
{
	return bt_field_integer_unsigned_get_value(
		bt_field_structure_borrow_member_field_by_index_const(payload, member));
}

/* What the event tells of, from all 64 bits or from the low half and when it was written. */
static uint64_t time_of(const struct class *class, const bt_field *payload, uint64_t written_ns)
{
	uint64_t value;

	if (class->time == UINT8_MAX)
		return written_ns;
	value = number(payload, class->time);
	return class->low ? written_ns - (uint32_t)((uint32_t)written_ns - (uint32_t)value) : value;
}

/* A sample's pid and tid are its first fields (ctf_format.c). */
static void tell_task(struct sdw_lttng_recorder *recorder, const struct class *class,
		      const bt_field *payload)
{
	if (class->event == SDW_CTF_SAMPLE || class->event == SDW_CTF_SAMPLE_WEIGHTED ||
	    class->event == SDW_CTF_SAMPLE_PAIRED || class->event == SDW_CTF_SIGNAL_SAMPLE)
		sdw_lttng_recorder_task(recorder,
					(uint32_t)number(payload, class->fields.member[0]),
					(uint32_t)number(payload, class->fields.member[1]));
}

static int read_recording(struct sdw_lttng_reader *reader, struct sdw_lttng_recorder *recorder,
			  const bt_field *payload)
{
	int err = sdw_lttng_recorder_begin(recorder, payload);

	if (err != -EPROTO)
		return err;
	snprintf(reader->problem, reader->size,
		 "its event \"recording\" is not of a format that this version reads");
	return -EINVAL;
}

int sdw_lttng_reader_event(struct sdw_lttng_reader *reader, const bt_message *message)
{
	const bt_event *event = bt_message_event_borrow_event_const(message);
	const bt_field *payload = bt_event_borrow_payload_field_const(event);
	const struct class *class = class_of(reader, bt_event_borrow_class_const(event));
	struct sdw_lttng_recorder **slot, *recorder;
	uint64_t time_ns;
	int err;

	if (!class)
		return *reader->problem ? -EINVAL : -ENOMEM;
	if (class->event == EVENT_OTHER)
		return 0;
	slot = &reader->recorders[number(payload, class->recorder) % RECORDERS];
	err = *slot ? 0 : sdw_lttng_recorder_create(reader->merge, slot);
	if (err)
		return err;
	recorder = *slot;
	time_ns = time_of(class, payload,
			  bt_clock_snapshot_get_value(
				  bt_message_event_borrow_default_clock_snapshot_const(message)));
	if (class->event == EVENT_RECORDING)
		return read_recording(reader, recorder, payload);
	if (class->event == EVENT_STATE)
		return 0;
	tell_task(recorder, class, payload);
	err = sdw_reader_payload(sdw_lttng_recorder_reader(recorder),
				 (enum sdw_ctf_event) class->event, payload, class->fields.member,
				 time_ns);
	if (err == -EINVAL && !*reader->problem)
		snprintf(reader->problem, reader->size, "%s",
			 sdw_lttng_recorder_reader(recorder)->problem);
	return err;
}

int sdw_lttng_reader_finish(struct sdw_lttng_reader *reader, bool *any)
{
	int err = 0;

	for (size_t i = 0; i < RECORDERS && !err; i++) {
		if (!reader->recorders[i])
			continue;
		err = sdw_lttng_recorder_finish(reader->recorders[i], any);
	}
	return err;
}

int sdw_lttng_reader_create(struct sdw_merge *merge, char *problem, size_t size,
			    struct sdw_lttng_reader **reader)
{
	*reader = calloc(1, sizeof(**reader));
	if (!*reader)
		return -ENOMEM;
	(*reader)->merge = merge;
	(*reader)->problem = problem;
	(*reader)->size = size;
	return 0;
}

void sdw_lttng_reader_free(struct sdw_lttng_reader *reader)
{
	if (!reader)
		return;
	for (size_t i = 0; i < RECORDERS; i++)
		sdw_lttng_recorder_free(reader->recorders[i]);
	free(reader->classes.items);
	free(reader);
}
