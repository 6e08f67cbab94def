/* SPDX-License-Identifier: MIT */
/*
 * ctf_format.h - what a trace directory consists of: shared by its writer and its reader.
 *
 * DIR/metadata describes everything in TSDL (CTF 1.8 section 7); DIR/stream holds packets of
 * events. The meaning of every field is in include/sink.h; a change that an older reader would get
 * wrong raises SDW_CTF_FORMAT.
 */
#ifndef SDW_SINK_CTF_FORMAT_H
#define SDW_SINK_CTF_FORMAT_H

#include <stddef.h>
#include <stdint.h>

#include "sink.h"

#define SDW_CTF_FORMAT	     1
#define SDW_CTF_TRACER	     "sidewinder"
#define SDW_CTF_METADATA     "metadata"
#define SDW_CTF_NEW_METADATA ".metadata" /* only while it is written; readers skip hidden files */
#define SDW_CTF_STREAM	     "stream"
#define SDW_CTF_KERNEL	     "kernel" /* directory of what the scheduler did, a trace of its own */
#define SDW_CTF_CPU_STREAM   "cpu-"   /* its streams: with the processor's number behind */
#define SDW_CTF_SIGNATURE    "/* CTF 1.8 */\n/* Sidewinder trace */\n" /* metadata starts with it */
#define SDW_CTF_MAX_TEXT     (64u * 1024u) /* bytes of a string, with its NUL */
#define SDW_CTF_NO_TEXT	     "-"	   /* of SDW_CTF_LATER_TEXT */
#define SDW_CTF_UUID_BYTES   16
#define SDW_CTF_MAGIC	     0xc1fc1fc1u /* CTF 1.8 section 5.1 */

/* Packet header and packet context as the metadata declares them; little endian. */
struct sdw_ctf_packet_start {
	uint32_t magic;
	uint8_t uuid[SDW_CTF_UUID_BYTES];
	uint32_t stream_id;
	uint64_t timestamp_begin;
	uint64_t timestamp_end;
	uint64_t content_bits; /* of the whole packet, this header included */
	uint64_t packet_bits;  /* content and what is left empty behind it */
	uint64_t sequence;
	uint64_t discarded;
} __attribute__((packed));
_Static_assert(sizeof(struct sdw_ctf_packet_start) == 72, "as in the metadata");

/* ids in event headers; 31 would mean "extended" */
enum sdw_ctf_event {
	SDW_CTF_PROCESS,
	SDW_CTF_THREAD,
	SDW_CTF_CODE,
	SDW_CTF_FRAME,
	SDW_CTF_STACK,
	SDW_CTF_SAMPLE,		 /* stands for the fixed period of the recording */
	SDW_CTF_SAMPLE_WEIGHTED, /* carries its own weight */
	SDW_CTF_LOST,
	SDW_CTF_TOTALS,
	SDW_CTF_SAMPLE_PAIRED, /* carries its own weight and the number of its pair */
	SDW_CTF_SIGNAL_SAMPLE,
	SDW_CTF_EVENT_COUNT,
};

enum sdw_ctf_type {
	SDW_CTF_U8,
	SDW_CTF_U16,
	SDW_CTF_U32,
	SDW_CTF_U64,
	SDW_CTF_TEXT,
	SDW_CTF_STATUS_ENUM,
	SDW_CTF_LOST_ENUM,
	SDW_CTF_KIND_ENUM,
	/* text that older traces do not have; "-": none, as babeltrace2 2.0 shows "" as the last */
	SDW_CTF_LATER_TEXT,
	/* numbers that older traces do not have: 0 there */
	SDW_CTF_LATER_U16,
	SDW_CTF_LATER_U32,
	SDW_CTF_LATER_U64,
};

struct sdw_ctf_field {
	const char *name;
	enum sdw_ctf_type type;
};

/* of totals: its own fields and one for every status and reason */
#define SDW_CTF_MAX_FIELDS (8 + SDW_STATUS_COUNT + SDW_LOST_COUNT)

struct sdw_ctf_event_type {
	const char *name;
	size_t count;
	const struct sdw_ctf_field *fields; /* in the order in which they are written */
};

extern const struct sdw_ctf_event_type sdw_ctf_event_types[SDW_CTF_EVENT_COUNT];

/*
 * Writes the metadata of a trace. `recording` fills the env block and the clock's offset.
 * Returns the malloc'ed text and its length, or NULL (out of memory).
 */
char *sdw_ctf_metadata(const struct sdw_recording *recording,
		       const uint8_t uuid[SDW_CTF_UUID_BYTES], size_t *size);

#endif
