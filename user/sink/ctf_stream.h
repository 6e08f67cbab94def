/* SPDX-License-Identifier: MIT */
/*
 * ctf_stream.h - the stream file of a trace: packets of events, each written by one system call.
 *
 * In:  payloads in the order of ctf_format.c. Out: a file that ends with a whole packet at every
 * moment. Packets are of at most one page and never cross the boundary of one: the kernel looks for
 * a SIGKILL only between pages, so that a killed profiler leaves no half packet behind. (Only an
 * event larger than a page, which is a name of kilobytes, takes several.)
 */
#ifndef SDW_SINK_CTF_STREAM_H
#define SDW_SINK_CTF_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sink/ctf_format.h"

struct sdw_ctf_stream {
	int fd; /* owned by the caller */
	uint8_t uuid[SDW_CTF_UUID_BYTES];
	uint8_t *packet;    /* being filled */
	size_t used;	    /* bytes of it, header and context included; 0: no packet begun */
	size_t limit;	    /* bytes it may take */
	uint64_t written;   /* size of the file: whole packets */
	uint64_t begin_ns;  /* time of the packet's first event */
	uint64_t last_ns;   /* time of the last event, of whatever packet */
	uint64_t sequence;  /* number of the packet */
	uint64_t discarded; /* overflows that were seen and then dropped, so far */
	bool has_cpu;	    /* the packet context ends with the processor's number */
	uint32_t cpu;
};

/* Prepares an empty stream for `fd`, an empty file. Returns 0 or -ENOMEM. */
int sdw_ctf_stream_init(struct sdw_ctf_stream *stream, int fd, const uint8_t *uuid);

/* Makes it the stream of a processor, before anything is written. */
void sdw_ctf_stream_set_cpu(struct sdw_ctf_stream *stream, uint32_t cpu);

void sdw_ctf_stream_free(struct sdw_ctf_stream *stream);

/*
 * Makes the file hold one packet without events, at time_ns: readers take a trace without any
 * packet for none. Drops what was there. Returns 0 or -errno.
 */
int sdw_ctf_stream_restart(struct sdw_ctf_stream *stream, uint64_t time_ns);

/*
 * Adds an event of id 0 to 30 and sets *at to where its `size` bytes of payload go, all of which
 * the caller fills before the next call. A time before that of the last event becomes that. On
 * error, which is that of writing the packet before it, nothing is added, and what was added is
 * kept for another try.
 */
int sdw_ctf_stream_add(struct sdw_ctf_stream *stream, uint32_t id, uint64_t time_ns, size_t size,
		       uint8_t **at);

/* Writes the packet begun, if any. Returns 0 or -errno; then the file is as before. */
int sdw_ctf_stream_flush(struct sdw_ctf_stream *stream);

/* Writes `size` bytes at `offset`, all or -errno. */
int sdw_ctf_write_all(int fd, const void *bytes, size_t size, uint64_t offset);

#endif
