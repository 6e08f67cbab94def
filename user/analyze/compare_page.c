// SPDX-License-Identifier: MIT
/* compare_page.c - a comparison as one page, whose parts (page/) are in the program. */
#include <errno.h>

#include "analyze/compare_report.h"
#include "base/embed.h"
#include "view/page.h"

SDW_EMBED(compare_html, "user/analyze/page/page.html");
SDW_EMBED(compare_css, "user/analyze/page/style.css");
SDW_EMBED(draw_js, "user/analyze/page/draw.js");
SDW_EMBED(parts_js, "user/analyze/page/parts.js");

/* In JSON a '<' can only be within a string; there it must not begin an end of the element. */
static void write_data(const void *context, FILE *file)
{
	for (const char *at = context; *at; at++) {
		if (*at == '<')
			fputs("\\u003c", file);
		else
			fputc(*at, file);
	}
}

static void write_style(const void *context, FILE *file)
{
	(void)context;
	fputs(compare_css, file);
}

static void write_script(const void *context, FILE *file)
{
	(void)context;
	fputs(draw_js, file);
	fputs(parts_js, file);
}

int sdw_compare_print_page(const struct sdw_compare_report *report, FILE *file)
{
	static const struct sdw_page_word words[] = {
		{"@STYLE@", write_style},
		{"@DATA@", write_data},
		{"@SCRIPT@", write_script},
		{NULL, NULL},
	};
	struct json_object *object = sdw_compare_json(report);
	const char *text =
		object ? json_object_to_json_string_ext(
				 object, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE)
		       : NULL;
	int err = text ? sdw_page_write(compare_html, words, text, file) : -ENOMEM;

	json_object_put(object);
	return err;
}
