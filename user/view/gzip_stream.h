/* SPDX-License-Identifier: MIT */
/*
 * gzip_stream.h - compresses what is packed into it, on its way to a stream.
 *
 * In:  bytes, through the buffer interface of protobuf-c. Out: one gzip member on a stdio stream,
 * which keeps errors of writing.
 */
#ifndef SDW_GZIP_STREAM_H
#define SDW_GZIP_STREAM_H

#include <protobuf-c/protobuf-c.h>
#include <stdio.h>
#include <zlib.h>

struct sdw_gzip_stream {
	ProtobufCBuffer buffer; /* first: what protobuf_c_message_pack_to_buffer() is given */
	FILE *file;
	z_stream zlib;
	int err;
};

/* Returns 0 or -ENOMEM; to be closed if it is 0. */
int sdw_gzip_stream_open(struct sdw_gzip_stream *stream, FILE *file);

/* Writes what is left. Returns 0, or -errno of whatever failed since it was opened. */
int sdw_gzip_stream_close(struct sdw_gzip_stream *stream);

#endif
