// SPDX-License-Identifier: MIT
/* log.c - one line per message, written with one write so that lines of two writers do not mix. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"

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

/* Copies `from` with control bytes as \xNN; UTF-8 passes. Returns the bytes written. */
static size_t escape(char *to, size_t room, const char *from)
{
	size_t used = 0;

	for (; *from && used + 5 < room; from++) {
		unsigned char c = (unsigned char)*from;

		if (c < 0x20 || c == 0x7f)
			used += (size_t)snprintf(to + used, room - used, "\\x%02x", c);
		else
			to[used++] = (char)c;
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
