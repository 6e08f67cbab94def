/* SPDX-License-Identifier: MIT */
/*
 * reader_events.h - from messages of libbabeltrace2 to the events of sink.h.
 *
 * In:  a trace that anybody may have written. Out: events of which every field has been checked.
 */
#ifndef SDW_READER_EVENTS_H
#define SDW_READER_EVENTS_H

#include <babeltrace2/babeltrace.h>

#include "sink.h"
#include "sink/ctf_format.h"

#define SDW_READER_TEXTS 5 /* repaired strings alive at once: those of the recording */

/* Where the fields of an event are, found once per trace. */
struct sdw_reader_class {
	const bt_event_class *class;	    /* NULL: not met yet */
	uint8_t member[SDW_CTF_MAX_FIELDS]; /* UINT8_MAX: not there */
};

struct sdw_reader {
	struct sdw_sink *sink;
	bool begun; /* the recording was sent */
	bool loose; /* ids and what they refer to are for the sink to check */
	uint64_t period, last_ns;
	/* the next id of each kind */
	uint32_t processes, threads, codes, frames, stacks;
	struct sdw_reader_class classes[SDW_CTF_EVENT_COUNT];
	char *texts[SDW_READER_TEXTS]; /* strings that had to be repaired, freed after each event */
	size_t text_count;
	char problem[1024]; /* what is wrong with the trace; "" if nothing is */
};

void sdw_reader_init(struct sdw_reader *reader, struct sdw_sink *sink);
void sdw_reader_free(struct sdw_reader *reader);

/*
 * Checks whose trace this is and sends the recording. Returns 0, -EINVAL (then `problem` is set),
 * -ENOMEM, or the sink's error.
 */
int sdw_reader_begin(struct sdw_reader *reader, const bt_trace *trace);

/* Checks and sends one event. Errors as above. */
int sdw_reader_event(struct sdw_reader *reader, const bt_message *message);

/* The text, or a copy that is valid UTF-8 until the next event. NULL: out of memory. */
const char *sdw_reader_text(struct sdw_reader *reader, const char *text);

/* Index of a member of that name and type, UINT8_MAX if it need not be there, else -1. */
int sdw_reader_find_member(const bt_field_class *payload, const struct sdw_ctf_field *field);

/*
 * Checks and sends an event of another kind of trace, which has the fields of ctf_format.c at the
 * indexes `member`. Errors as above.
 */
int sdw_reader_payload(struct sdw_reader *reader, enum sdw_ctf_event id, const bt_field *payload,
		       const uint8_t *member, uint64_t time_ns);

#endif
