// SPDX-License-Identifier: MIT
/* ctf_stream.c - packs events into packets (CTF 1.8 sections 5 and 6) and writes those whole. */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sink/ctf_stream.h"

#define PAGE_BYTES	   4096u /* of the smallest page there is; larger ones hold several packets */
#define MIN_PACKET_BYTES   512u /* a shorter rest of a page is left empty */
#define MAX_HEADER_BYTES   13u	/* of an event, extended */
#define EXTENDED_ID	   31u
#define ID_BITS		   5
#define COMPACT_TIME_BITS  27
#define COMPACT_TIME_LIMIT (1ull << COMPACT_TIME_BITS)

/* two strings at their bound, and their event's other fields */
#define MAX_PAYLOAD_BYTES (2 * SDW_CTF_MAX_TEXT + 64)
#define ROOM_BYTES	  (MAX_PAYLOAD_BYTES + PAGE_BYTES)
_Static_assert(SDW_CTF_MAX_FIELDS * 8 <= MAX_PAYLOAD_BYTES, "totals fit");
_Static_assert(MIN_PACKET_BYTES >= sizeof(struct sdw_ctf_packet_start), "an empty packet fits");

static uint64_t round_up(uint64_t size)
{
	return (size + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
}

int sdw_ctf_write_all(int fd, const void *bytes, size_t size, uint64_t offset)
{
	const uint8_t *from = bytes;

	while (size) {
		ssize_t n = pwrite(fd, from, size, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return -ENOSPC;
		from += n;
		offset += (uint64_t)n;
		size -= (size_t)n;
	}
	return 0;
}

int sdw_ctf_stream_init(struct sdw_ctf_stream *stream, int fd, const uint8_t *uuid)
{
	*stream = (struct sdw_ctf_stream){.fd = fd, .packet = malloc(round_up(ROOM_BYTES))};
	memcpy(stream->uuid, uuid, SDW_CTF_UUID_BYTES);
	return stream->packet ? 0 : -ENOMEM;
}

void sdw_ctf_stream_free(struct sdw_ctf_stream *stream)
{
	free(stream->packet);
	stream->packet = NULL;
}

void sdw_ctf_stream_set_cpu(struct sdw_ctf_stream *stream, uint32_t cpu)
{
	stream->has_cpu = true;
	stream->cpu = cpu;
}

/* Bytes before the first event of a packet. */
static size_t start_bytes(const struct sdw_ctf_stream *stream)
{
	return sizeof(struct sdw_ctf_packet_start) + (stream->has_cpu ? sizeof(stream->cpu) : 0);
}

/* Begins a packet that may take what is left of the page, or whole pages if `size` needs more. */
static void begin_packet(struct sdw_ctf_stream *stream, uint64_t time_ns, size_t size)
{
	size_t left = PAGE_BYTES - stream->written % PAGE_BYTES;

	stream->used = start_bytes(stream);
	stream->limit = size > left ? round_up(size) : left;
	stream->begin_ns = time_ns;
	stream->last_ns = time_ns;
}

/* Writes the packet; fill: its page ends with it. */
static int write_packet(struct sdw_ctf_stream *stream, bool fill)
{
	size_t size = stream->used;
	struct sdw_ctf_packet_start start;
	uint32_t cpu;
	int err;

	if (fill || stream->limit - size < MIN_PACKET_BYTES) {
		memset(stream->packet + size, 0, stream->limit - size);
		size = stream->limit;
	}
	start = (struct sdw_ctf_packet_start){
		.magic = htole32(SDW_CTF_MAGIC),
		.timestamp_begin = htole64(stream->begin_ns),
		.timestamp_end = htole64(stream->last_ns),
		.content_bits = htole64(stream->used * 8),
		.packet_bits = htole64(size * 8),
		.sequence = htole64(stream->sequence),
		.discarded = htole64(stream->discarded),
	};
	memcpy(start.uuid, stream->uuid, sizeof(start.uuid));
	memcpy(stream->packet, &start, sizeof(start));
	cpu = htole32(stream->cpu);
	if (stream->has_cpu)
		memcpy(stream->packet + sizeof(start), &cpu, sizeof(cpu));
	err = sdw_ctf_write_all(stream->fd, stream->packet, size, stream->written);
	if (err) {
		/* a part of a packet would make readers refuse the whole file */
		if (ftruncate(stream->fd, (off_t)stream->written))
			return -errno;
		return err;
	}
	stream->written += size;
	stream->sequence++;
	stream->used = 0;
	return 0;
}

int sdw_ctf_stream_restart(struct sdw_ctf_stream *stream, uint64_t time_ns)
{
	int err;

	/* overwritten, then cut: at no moment is the file without a packet */
	stream->written = 0;
	stream->sequence = 0;
	begin_packet(stream, time_ns, 0);
	err = write_packet(stream, false);
	if (!err && ftruncate(stream->fd, (off_t)stream->written))
		err = -errno;
	return err;
}

int sdw_ctf_stream_flush(struct sdw_ctf_stream *stream)
{
	return stream->used ? write_packet(stream, false) : 0;
}

/* Makes room for an event of at most `size` bytes, header included. */
static int make_room(struct sdw_ctf_stream *stream, uint64_t time_ns, size_t size)
{
	int err;

	if (stream->used && stream->used + size > stream->limit) {
		err = write_packet(stream, true);
		if (err)
			return err;
	}
	if (stream->used)
		return 0;
	size += start_bytes(stream);
	if (stream->written % PAGE_BYTES + size > PAGE_BYTES && stream->written % PAGE_BYTES) {
		/* the rest of the page is too short: an empty packet takes it */
		begin_packet(stream, stream->last_ns, 0);
		err = write_packet(stream, true);
		if (err)
			return err;
	}
	begin_packet(stream, time_ns, size);
	return 0;
}

/* The short header where 27 bits say how far the clock went since the last event. */
static void put_header(struct sdw_ctf_stream *stream, uint32_t id, uint64_t time_ns)
{
	uint8_t *at = stream->packet + stream->used;
	uint32_t word;
	uint64_t full;

	if (time_ns - stream->last_ns < COMPACT_TIME_LIMIT) {
		word = htole32(id | (uint32_t)(time_ns % COMPACT_TIME_LIMIT) << ID_BITS);
		memcpy(at, &word, sizeof(word));
		stream->used += sizeof(word);
		return;
	}
	word = htole32(id);
	full = htole64(time_ns);
	at[0] = EXTENDED_ID;
	memcpy(at + 1, &word, sizeof(word));
	memcpy(at + 5, &full, sizeof(full));
	stream->used += MAX_HEADER_BYTES;
}

int sdw_ctf_stream_add(struct sdw_ctf_stream *stream, uint32_t id, uint64_t time_ns, size_t size,
		       uint8_t **at)
{
	int err;

	if (size > MAX_PAYLOAD_BYTES)
		return -E2BIG;
	if (time_ns < stream->last_ns)
		time_ns = stream->last_ns;
	err = make_room(stream, time_ns, MAX_HEADER_BYTES + size);
	if (err)
		return err;
	put_header(stream, id, time_ns);
	stream->last_ns = time_ns;
	*at = stream->packet + stream->used;
	stream->used += size;
	return 0;
}
