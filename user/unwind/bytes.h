/* SPDX-License-Identifier: MIT */
/*
 * bytes.h - reads numbers out of bytes that may be forged. What lies past the end reads as 0 and
 * sets `bad`; nothing is read after that. Host-endian, as every file that gets here.
 */
#ifndef SDW_BYTES_H
#define SDW_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct sdw_bytes {
	const uint8_t *at, *end;
	bool bad;
};

/* Moves on by `size` bytes; returns where they start, or NULL. */
static inline const uint8_t *sdw_bytes_skip(struct sdw_bytes *bytes, uint64_t size)
{
	const uint8_t *start = bytes->at;

	if (bytes->bad || size > (uint64_t)(bytes->end - bytes->at)) {
		bytes->bad = true;
		return NULL;
	}
	bytes->at += size;
	return start;
}

static inline uint64_t sdw_bytes_unsigned(struct sdw_bytes *bytes, size_t size)
{
	const uint8_t *start = sdw_bytes_skip(bytes, size);
	uint64_t value = 0;

	if (start)
		memcpy(&value, start, size);
	return value;
}

static inline int64_t sdw_bytes_signed(struct sdw_bytes *bytes, size_t size)
{
	unsigned int shift = 64 - 8 * (unsigned int)size;

	return (int64_t)(sdw_bytes_unsigned(bytes, size) << shift) >> shift;
}

/* LEB128 numbers (DWARF 5, section 7.6); more than 64 bits are an error. */
static inline uint64_t sdw_bytes_uleb(struct sdw_bytes *bytes)
{
	uint64_t value = 0;

	for (unsigned int shift = 0; shift < 64; shift += 7) {
		uint64_t byte = sdw_bytes_unsigned(bytes, 1);

		value |= (byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
	bytes->bad = true;
	return 0;
}

static inline int64_t sdw_bytes_sleb(struct sdw_bytes *bytes)
{
	uint64_t value = 0;

	for (unsigned int shift = 0; shift < 64;) {
		uint64_t byte = sdw_bytes_unsigned(bytes, 1);

		value |= (byte & 0x7f) << shift;
		shift += 7;
		if (!(byte & 0x80)) {
			if ((byte & 0x40) && shift < 64)
				value |= ~0ull << shift;
			return (int64_t)value;
		}
	}
	bytes->bad = true;
	return 0;
}

#endif
