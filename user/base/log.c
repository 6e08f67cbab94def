// SPDX-License-Identifier: MIT
/* log.c - one line per message, written with one write so that lines of two writers do not mix. */
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/utf8.h"

#define LINE_BYTES 2048

static enum sdw_log_level max_level = SDW_LOG_INFO;
static unsigned int errors;

void sdw_log_set_level(enum sdw_log_level level)
{
	max_level = level;
}

enum sdw_log_level sdw_log_level(void)
{
	return max_level;
}

unsigned int sdw_log_errors(void)
{
	return errors;
}

static const char *prefix(enum sdw_log_level level)
{
	switch (level) {
	case SDW_LOG_ERROR:
		return "sidewinder: error: ";
	case SDW_LOG_WARN:
		return "sidewinder: warning: ";
	case SDW_LOG_DEBUG:
		return "sidewinder: debug: ";
	default:
		return "sidewinder: ";
	}
}

/* A control character of C0 or C1, or one that turns the direction of text or breaks a line. */
static bool acts_on_terminal(const unsigned char *at, size_t length)
{
	if (length == 1)
		return at[0] < 0x20 || at[0] == 0x7f;
	if (length == 2) /* U+0080 to U+009F, U+061C */
		return (at[0] == 0xc2 && at[1] < 0xa0) || (at[0] == 0xd8 && at[1] == 0x9c);
	if (length != 3 || at[0] != 0xe2)
		return false;
	if (at[1] == 0x80) /* U+200E, 200F, 2028 to 202E */
		return at[2] == 0x8e || at[2] == 0x8f || (at[2] >= 0xa8 && at[2] <= 0xae);
	return at[1] == 0x81 && at[2] >= 0xa6 && at[2] <= 0xa9; /* U+2066 to 2069 */
}

/* Copies `from`; what is no UTF-8, or would act on a terminal, as \xNN. Returns the bytes written.
 */
static size_t escape(char *to, size_t room, const char *from)
{
	size_t used = 0, length;

	for (; *from && used + 4 * 4 < room; from += length) {
		const unsigned char *at = (const unsigned char *)from;
		bool plain;

		length = sdw_utf8_length(from);
		plain = length && !acts_on_terminal(at, length);
		length = length ? length : 1;
		if (plain) {
			memcpy(to + used, from, length);
			used += length;
			continue;
		}
		for (size_t i = 0; i < length; i++)
			used += (size_t)snprintf(to + used, room - used, "\\x%02x", at[i]);
	}
	return used;
}

void sdw_log(enum sdw_log_level level, const char *format, ...)
{
	char text[LINE_BYTES], line[LINE_BYTES + 64];
	size_t used;
	va_list args;
	int n;

	errors += level == SDW_LOG_ERROR;
	if (level > max_level)
		return;
	va_start(args, format);
	n = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (n < 0)
		return;
	used = strlen(prefix(level));
	memcpy(line, prefix(level), used);
	used += escape(line + used, sizeof(line) - used - 1, text);
	line[used++] = '\n';
	if (write(STDERR_FILENO, line, used) < 0)
		return; /* nobody left to tell */
}
