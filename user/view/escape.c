// SPDX-License-Identifier: MIT
/* escape.c - see escape.h. Works on code points, so that UTF-8 passes whole and nothing else does.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "view/escape.h"

#define ELLIPSIS "\xe2\x80\xa6" /* U+2026, one column */

/* Bytes of the sequence that starts with `lead`, 0 if none does (RFC 3629, table 3-7 of Unicode).
 */
static size_t sequence_bytes(unsigned char lead)
{
	if (lead < 0x80)
		return 1;
	if (lead >= 0xc2 && lead <= 0xdf)
		return 2;
	if (lead >= 0xe0 && lead <= 0xef)
		return 3;
	if (lead >= 0xf0 && lead <= 0xf4)
		return 4;
	return 0;
}

/* The character at `text` and the bytes it takes: -1 and 1 for a byte that is not valid UTF-8. */
static int32_t decode(const char *text, size_t *bytes)
{
	static const int32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
	const unsigned char *at = (const unsigned char *)text;
	size_t count = sequence_bytes(*at);
	int32_t point;

	*bytes = 1;
	if (count <= 1)
		return count ? *at : -1;
	point = *at & (0x7f >> count);
	for (size_t i = 1; i < count; i++) {
		if ((at[i] & 0xc0) != 0x80) /* also stops at the NUL */
			return -1;
		point = point << 6 | (at[i] & 0x3f);
	}
	if (point < smallest[count] || point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff))
		return -1;
	*bytes = count;
	return point;
}

static bool is_control(int32_t point)
{
	return point < 0x20 || (point >= 0x7f && point <= 0x9f);
}

/* Characters that break a line or turn the direction of the text around them. */
static bool rearranges(int32_t point)
{
	return point == 0x2028 || point == 0x2029 || point == 0x200e || point == 0x200f ||
	       point == 0x061c || (point >= 0x202a && point <= 0x202e) ||
	       (point >= 0x2066 && point <= 0x2069);
}

static bool write_plain_escape(FILE *file, int32_t point, enum sdw_escape_mode mode)
{
	if (is_control(point) || (mode == SDW_ESCAPE_FOLDED && point == ';'))
		fprintf(file, "\\x%02x", (unsigned int)point);
	else if (rearranges(point))
		fprintf(file, "\\u%04x", (unsigned int)point);
	else
		return false;
	return true;
}

static bool write_json_escape(FILE *file, int32_t point, enum sdw_escape_mode mode)
{
	bool script = mode == SDW_ESCAPE_SCRIPT;

	if (point == '"' || point == '\\')
		fprintf(file, "\\%c", (int)point);
	else if (is_control(point) || rearranges(point) ||
		 (script && (point == '<' || point == '>' || point == '&')))
		fprintf(file, "\\u%04x", (unsigned int)point);
	else
		return false;
	return true;
}

void sdw_escape_write(FILE *file, const char *text, enum sdw_escape_mode mode)
{
	bool json = mode == SDW_ESCAPE_JSON || mode == SDW_ESCAPE_SCRIPT;

	for (size_t bytes; *text; text += bytes) {
		int32_t point = decode(text, &bytes);
		bool done = false;

		if (point < 0) {
			fprintf(file, json ? "\\\\x%02x" : "\\x%02x", (unsigned char)*text);
			continue;
		}
		if (json)
			done = write_json_escape(file, point, mode);
		else if (mode != SDW_ESCAPE_NOTHING)
			done = write_plain_escape(file, point, mode);
		if (!done)
			fwrite(text, 1, bytes, file);
	}
}

void sdw_escape_json_line(FILE *file, const char *json)
{
	const char *done = json;

	for (size_t bytes; *json; json += bytes) {
		int32_t point = decode(json, &bytes);

		/* blanks and newlines between values are json-c's own */
		if (point < 0x7f || (!is_control(point) && !rearranges(point)))
			continue;
		fwrite(done, 1, (size_t)(json - done), file);
		fprintf(file, "\\u%04x", (unsigned int)point);
		done = json + bytes;
	}
	fputs(done, file);
	fputc('\n', file);
}

char *sdw_escape_text(const char *text, enum sdw_escape_mode mode)
{
	char *result = NULL;
	size_t bytes;
	FILE *file = open_memstream(&result, &bytes);
	bool failed;

	if (!file)
		return NULL;
	sdw_escape_write(file, text, mode);
	failed = ferror(file);
	if (fclose(file) || failed) {
		free(result);
		return NULL;
	}
	return result;
}

struct range {
	int32_t first, last;
};

static bool in_ranges(int32_t point, const struct range *ranges, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (point >= ranges[i].first && point <= ranges[i].last)
			return true;
	}
	return false;
}

/* The main blocks of Unicode's EastAsianWidth W and F, and of combining marks; wcwidth() would need
 * a UTF-8 locale, and the output must not depend on one. */
static size_t point_width(int32_t point)
{
	static const struct range wide[] = {
		{0x1100, 0x115f},   {0x2e80, 0x303e},	{0x3041, 0x33ff},   {0x3400, 0x4dbf},
		{0x4e00, 0xa4cf},   {0xac00, 0xd7a3},	{0xf900, 0xfaff},   {0xfe30, 0xfe6f},
		{0xff00, 0xff60},   {0xffe0, 0xffe6},	{0x1f300, 0x1f64f}, {0x1f680, 0x1f6ff},
		{0x1f900, 0x1f9ff}, {0x20000, 0x3fffd},
	};
	static const struct range none[] = {
		{0x0300, 0x036f}, {0x0483, 0x0489}, {0x0591, 0x05bd}, {0x064b, 0x065f},
		{0x200b, 0x200d}, {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f},
	};

	if (point < 0x300)
		return 1;
	if (in_ranges(point, none, sizeof(none) / sizeof(*none)))
		return 0;
	return in_ranges(point, wide, sizeof(wide) / sizeof(*wide)) ? 2 : 1;
}

size_t sdw_utf8_width(const char *text)
{
	size_t width = 0;

	for (size_t bytes; *text; text += bytes)
		width += point_width(decode(text, &bytes));
	return width;
}

/* Bytes of the longest beginning of `text` within `width` columns. */
static size_t head_bytes(const char *text, size_t width)
{
	size_t used = 0, at = 0, bytes;

	for (; text[at]; at += bytes) {
		used += point_width(decode(text + at, &bytes));
		if (used > width)
			break;
	}
	return at;
}

/* Bytes before the longest end of `text` within `width` columns. */
static size_t tail_offset(const char *text, size_t width)
{
	size_t left = sdw_utf8_width(text), at = 0, bytes;

	for (; text[at] && left > width; at += bytes)
		left -= point_width(decode(text + at, &bytes));
	return at;
}

/* A path is cut before one of its folders where its last name can be kept. */
static const char *path_start(const char *tail)
{
	const char *slash = strchr(tail, '/');

	return slash ? slash : tail;
}

char *sdw_utf8_fit(const char *text, size_t width, int is_path)
{
	size_t head_width, head;
	const char *tail;
	char *result;

	if (sdw_utf8_width(text) <= width)
		return strdup(text);
	if (width == 0)
		return strdup("");
	/* the end of a qualified name says more than its beginning: it gets two thirds */
	head_width = is_path ? 0 : (width - 1) / 3;
	head = head_bytes(text, head_width);
	tail = text + tail_offset(text, width - 1 - head_width);
	if (is_path)
		tail = path_start(tail);
	if (asprintf(&result, "%.*s" ELLIPSIS "%s", (int)head, text, tail) < 0)
		return NULL;
	return result;
}
