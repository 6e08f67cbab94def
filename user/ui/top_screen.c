// SPDX-License-Identifier: MIT
/* top_screen.c - see top_screen.h. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/utf8.h"
#include "ui/top_screen.h"
#include "view/escape.h"

#define ELLIPSIS "\xe2\x80\xa6"

void sdw_top_screen_begin(struct sdw_top_screen *screen, size_t width, bool ascii)
{
	for (size_t i = 0; i < screen->count; i++)
		free(screen->lines[i].text);
	screen->count = 0;
	screen->width = width;
	screen->ascii = ascii;
	screen->failed = false;
}

void sdw_top_screen_free(struct sdw_top_screen *screen)
{
	sdw_top_screen_begin(screen, 0, false);
	free(screen->lines);
	*screen = (struct sdw_top_screen){0};
}

struct sdw_top_line *sdw_top_screen_line(struct sdw_top_screen *screen)
{
	struct sdw_top_line *line;
	char *text = strdup("");

	if (!text || sdw_array_reserve_bytes((void **)&screen->lines, &screen->room, screen->count,
					     1, sizeof(*screen->lines))) {
		free(text);
		screen->failed = true;
		return NULL;
	}
	line = &screen->lines[screen->count++];
	*line = (struct sdw_top_line){.text = text};
	return line;
}

/* A copy in which every character is ASCII, as wide as it was. */
static char *to_ascii(const char *text)
{
	char *copy = malloc(2 * strlen(text) + 1), *to = copy;

	for (size_t bytes; copy && *text; text += bytes) {
		char one[5] = "";

		bytes = sdw_utf8_length(text);
		if (bytes <= 1) {
			bytes = 1;
			*to++ = *text;
			continue;
		}
		memcpy(one, text, bytes);
		for (size_t width = sdw_utf8_width(one); width; width--)
			*to++ = strcmp(one, ELLIPSIS) == 0 ? '~' : '?';
	}
	if (copy)
		*to = '\0';
	return copy;
}

static void append(struct sdw_top_line *line, enum sdw_top_style style, const char *text,
		   bool *failed)
{
	size_t bytes = strlen(text), last = line->segment_count - 1;
	char *longer = realloc(line->text, line->bytes + bytes + 1);

	if (!longer) {
		*failed = true;
		return;
	}
	line->text = longer;
	memcpy(line->text + line->bytes, text, bytes + 1);
	line->bytes += bytes;
	line->width += sdw_utf8_width(text);
	if (!line->segment_count ||
	    (line->segments[last].style != style && line->segment_count < SDW_TOP_SEGMENTS)) {
		last = line->segment_count++;
		line->segments[last].style = style;
		line->segments[last].bytes = 0;
	}
	line->segments[last].bytes += bytes;
}

void sdw_top_screen_add(struct sdw_top_screen *screen, enum sdw_top_style style, const char *text)
{
	struct sdw_top_line *line;
	char *fitted, *ascii = NULL;

	if (!screen->count || screen->failed)
		return;
	line = &screen->lines[screen->count - 1];
	fitted = sdw_utf8_fit(text, screen->width - line->width, 0);
	if (fitted && screen->ascii)
		ascii = to_ascii(fitted);
	if (!fitted || (screen->ascii && !ascii))
		screen->failed = true;
	else
		append(line, style, ascii ? ascii : fitted, &screen->failed);
	free(fitted);
	free(ascii);
}

void sdw_top_screen_addf(struct sdw_top_screen *screen, enum sdw_top_style style,
			 const char *format, ...)
{
	char *text = NULL;
	va_list arguments;
	int n;

	va_start(arguments, format);
	n = vasprintf(&text, format, arguments);
	va_end(arguments);
	if (n < 0) {
		screen->failed = true;
		return;
	}
	sdw_top_screen_add(screen, style, text);
	free(text);
}

size_t sdw_top_screen_column(const struct sdw_top_screen *screen)
{
	return screen->count ? screen->lines[screen->count - 1].width : 0;
}

void sdw_top_screen_pad(struct sdw_top_screen *screen, size_t column)
{
	size_t at = sdw_top_screen_column(screen);

	if (column > screen->width)
		column = screen->width;
	if (column > at)
		sdw_top_screen_addf(screen, SDW_TOP_PLAIN, "%*s", (int)(column - at), "");
}
