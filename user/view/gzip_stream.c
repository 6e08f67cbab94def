// SPDX-License-Identifier: MIT
/* gzip_stream.c - see gzip_stream.h. */
#include <errno.h>

#include "view/gzip_stream.h"

#define GZIP_WINDOW (15 + 16) /* the largest window, and gzip's header: zlib.h, deflateInit2() */

static void deflate_all(struct sdw_gzip_stream *stream, const uint8_t *bytes, size_t count,
			int flush)
{
	uint8_t out[16384];
	int status;

	/* deflate() counts in unsigned int: a piece that is longer is an error, not cut short */
	stream->zlib.next_in = (uint8_t *)(uintptr_t)bytes;
	stream->zlib.avail_in = (uInt)count;
	if (count > UINT32_MAX)
		stream->err = -EOVERFLOW;
	do {
		stream->zlib.next_out = out;
		stream->zlib.avail_out = sizeof(out);
		status = deflate(&stream->zlib, flush);
		if (status == Z_STREAM_ERROR)
			stream->err = -EIO;
		fwrite(out, 1, sizeof(out) - stream->zlib.avail_out, stream->file);
	} while (!stream->err && stream->zlib.avail_out == 0);
}

static void append(ProtobufCBuffer *buffer, size_t count, const uint8_t *bytes)
{
	struct sdw_gzip_stream *stream = (struct sdw_gzip_stream *)buffer; /* its first member */

	if (count && !stream->err)
		deflate_all(stream, bytes, count, Z_NO_FLUSH);
}

int sdw_gzip_stream_open(struct sdw_gzip_stream *stream, FILE *file)
{
	*stream = (struct sdw_gzip_stream){.buffer.append = append, .file = file};
	if (deflateInit2(&stream->zlib, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, 8,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		return -ENOMEM;
	return 0;
}

int sdw_gzip_stream_close(struct sdw_gzip_stream *stream)
{
	if (!stream->err)
		deflate_all(stream, NULL, 0, Z_FINISH);
	deflateEnd(&stream->zlib);
	return stream->err;
}
