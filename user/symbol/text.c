// SPDX-License-Identifier: MIT
/*
 * text.c - decodes a target's string objects into UTF-8.
 *
 * In:  the characters as CPython stores them (PEP 393: one, two or four bytes each, host-endian),
 * or the bytes of a bytes object; contents are hostile, the caller bounds their size. Out: a
 * NUL-terminated UTF-8 string that holds no NUL, no surrogate and no invalid sequence.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <linux/types.h>

#include "base/utf8.h"
#include "events.h"
#include "symbol/pycode.h"

#define REPLACEMENT 0xfffdu
#define ELLIPSIS    0x2026u
#define MAX_CODE    0x10ffffu

struct output {
	char *text;
	size_t used;
};

static bool is_surrogate(uint32_t c)
{
	return c >= 0xd800 && c <= 0xdfff;
}

static void put_utf8(struct output *out, uint32_t c)
{
	char *to = out->text + out->used;

	if (c < 0x80) {
		to[0] = (char)c;
		out->used += 1;
	} else if (c < 0x800) {
		to[0] = (char)(0xc0 | c >> 6);
		to[1] = (char)(0x80 | (c & 0x3f));
		out->used += 2;
	} else if (c < 0x10000) {
		to[0] = (char)(0xe0 | c >> 12);
		to[1] = (char)(0x80 | (c >> 6 & 0x3f));
		to[2] = (char)(0x80 | (c & 0x3f));
		out->used += 3;
	} else {
		to[0] = (char)(0xf0 | c >> 18);
		to[1] = (char)(0x80 | (c >> 12 & 0x3f));
		to[2] = (char)(0x80 | (c >> 6 & 0x3f));
		to[3] = (char)(0x80 | (c & 0x3f));
		out->used += 4;
	}
}

/* A backslash, `kind`, and so many digits: sprintf() is not for signal handlers. */
static void put_escape(struct output *out, char kind, uint32_t value, unsigned int digits)
{
	static const char hexadecimal[] = "0123456789abcdef";

	out->text[out->used++] = '\\';
	out->text[out->used++] = kind;
	while (digits-- > 0)
		out->text[out->used++] = hexadecimal[value >> 4 * digits & 15];
}

static void put_byte_escape(struct output *out, uint32_t byte)
{
	put_escape(out, 'x', byte, 2);
}

static void put_character(struct output *out, uint32_t c)
{
	if (!c)
		put_byte_escape(out, 0);
	else if (is_surrogate(c)) /* always a lone one: Python never stores pairs */
		put_escape(out, 'u', c, 4);
	else
		put_utf8(out, c > MAX_CODE ? REPLACEMENT : c);
}

/* Length of the UTF-8 character at the start of `size` bytes, 0 if there is none, or a NUL. */
static size_t character_length(const uint8_t *bytes, size_t size)
{
	char last[5] = ""; /* ends with the NUL that sdw_utf8_length() needs */

	if (size > 4)
		return sdw_utf8_length((const char *)bytes);
	memcpy(last, bytes, size);
	return sdw_utf8_length(last);
}

/* `size` without the start of a character whose end is missing. */
static size_t without_partial(const uint8_t *bytes, size_t size)
{
	for (size_t back = 1; back <= 3 && back <= size; back++) {
		uint8_t byte = bytes[size - back];
		size_t length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;

		if (length > back)
			return size - back;
		if ((byte & 0xc0) != 0x80)
			break;
	}
	return size;
}

/* A bytes object, which is UTF-8 as far as it can be (file names are, mostly). */
static void put_bytes(struct output *out, const uint8_t *bytes, size_t size, bool cut_front,
		      bool cut_back)
{
	size_t i = 0;

	/* a cut may have split a character: the ellipsis stands for it too */
	while (cut_front && i < size && i < 3 && (bytes[i] & 0xc0) == 0x80)
		i++;
	if (cut_back)
		size = i + without_partial(bytes + i, size - i);
	while (i < size) {
		size_t length = character_length(bytes + i, size - i);

		if (length) {
			memcpy(out->text + out->used, bytes + i, length);
			out->used += length;
			i += length;
		} else {
			put_byte_escape(out, bytes[i++]);
		}
	}
}

static void put_units(struct output *out, const uint8_t *bytes, size_t size, size_t width)
{
	for (size_t i = 0; i + width <= size; i += width) {
		uint16_t two;
		uint32_t four;

		if (width == 1) {
			four = bytes[i];
		} else if (width == 2) {
			memcpy(&two, bytes + i, sizeof(two));
			four = two;
		} else {
			memcpy(&four, bytes + i, sizeof(four));
		}
		put_character(out, four);
	}
}

/* What says it is ASCII and is not was torn or made up: such bytes are shown as bytes. */
static void put_ascii(struct output *out, const uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (bytes[i] && bytes[i] < 0x80)
			out->text[out->used++] = (char)bytes[i];
		else
			put_byte_escape(out, bytes[i]);
	}
}

static size_t unit_width(uint32_t kind)
{
	return kind == SDW_TEXT_UCS4 ? 4 : kind == SDW_TEXT_UCS2 ? 2 : 1;
}

size_t sdw_text_write(char *to, uint32_t kind, const void *bytes, size_t size, int cut_front,
		      int cut_back)
{
	struct output out = {.text = to};

	if (kind == SDW_TEXT_NONE || kind > SDW_TEXT_BYTES)
		size = 0;
	if (size % unit_width(kind))
		cut_back = 1; /* part of a character is missing */
	if (cut_front)
		put_utf8(&out, ELLIPSIS);
	if (kind == SDW_TEXT_ASCII)
		put_ascii(&out, bytes, size);
	else if (kind == SDW_TEXT_BYTES)
		put_bytes(&out, bytes, size, cut_front, cut_back);
	else
		put_units(&out, bytes, size, unit_width(kind));
	if (cut_back)
		put_utf8(&out, ELLIPSIS);
	out.text[out.used] = '\0';
	return out.used;
}

char *sdw_text_decode(uint32_t kind, const void *bytes, size_t size, int cut_front, int cut_back)
{
	char *text, *shorter;
	size_t used;

	if (size > (SIZE_MAX - SDW_TEXT_EXTRA) / SDW_TEXT_GROWTH)
		return NULL;
	text = malloc(size * SDW_TEXT_GROWTH + SDW_TEXT_EXTRA);
	if (!text)
		return NULL;
	used = sdw_text_write(text, kind, bytes, size, cut_front, cut_back);
	shorter = realloc(text, used + 1);
	return shorter ? shorter : text;
}
