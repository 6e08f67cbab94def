// SPDX-License-Identifier: MIT
/*
 * heatmap.c - a page (heatmap/) with the Python source files of a profile and each line's share.
 *
 * The sources are read when the page is made: what is not there, may not be read, or is no Python
 * source is told in its place, its lines are shown without text.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/embed.h"
#include "view/export.h"
#include "view/frame_text.h"
#include "view/line_shares.h"
#include "view/page.h"
#include "view/report_header.h"
#include "view/source_file.h"

#define MAX_SOURCES_BYTES (16u << 20) /* of all files; what a page can still be opened with */

SDW_EMBED(page_html, "user/view/heatmap/page.html");
SDW_EMBED(style_css, "user/view/heatmap/style.css");
SDW_EMBED(script_js, "user/view/heatmap/heatmap.js");

struct heatmap {
	const struct sdw_profile *profile;
	struct sdw_line_shares shares;
};

static void write_member(FILE *file, const char *key, const char *text)
{
	fprintf(file, "\"%s\":", key);
	sdw_page_write_string(file, text);
	fputc(',', file);
}

static void write_recording(const struct heatmap *map, FILE *file)
{
	const struct sdw_recording *recording = &map->profile->recording;
	struct sdw_report_sums sums;

	sdw_report_sums_make(&sums, map->profile);
	write_member(file, "command", recording->command);
	write_member(file, "host", recording->hostname);
	write_member(file, "event", recording->event);
	write_member(file, "only", recording->filter);
	fprintf(file, "\"weighted\":%s,\"complete\":%s,",
		sdw_profile_is_weighted(map->profile) ? "true" : "false",
		map->profile->totals.complete ? "true" : "false");
	fprintf(file,
		"\"frequency\":%" PRIu64 ",\"startMs\":%" PRIu64 ",\"durationMs\":%" PRIu64 ",",
		recording->frequency, recording->start_unix_ns / 1000000,
		sums.duration_ns / 1000000);
	fprintf(file, "\"samples\":%" PRIu64 ",\"lost\":%" PRIu64 ",\"all\":%" PRIu64 ",\n",
		sums.samples, sums.lost_all, map->shares.all);
}

static void write_lines(const struct heatmap *map, const struct sdw_file_shares *of, FILE *file)
{
	fputs("\"lines\":[", file); /* line, self, total */
	for (size_t i = 0; i < of->count; i++) {
		const struct sdw_line_share *line = &map->shares.lines.items[of->first + i];

		fprintf(file, "%s%" PRIu32 ",%" PRIu64 ",%" PRIu64, i ? "," : "", line->line,
			line->self, line->total);
	}
	fputc(']', file);
}

static void write_spans(const struct heatmap *map, const struct sdw_file_shares *of, FILE *file)
{
	fputs(",\"spans\":[", file); /* line, column, end line, end column, self, total */
	for (size_t i = 0; i < of->span_count; i++) {
		const struct sdw_span_share *span = &map->shares.spans.items[of->first_span + i];

		fprintf(file, "%s%" PRIu32 ",%u,%" PRIu32 ",%u,%" PRIu64 ",%" PRIu64, i ? "," : "",
			span->line, span->column, span->end_line, span->end_column, span->self,
			span->total);
	}
	fputc(']', file);
}

/* Returns the bytes of source that were written. */
static size_t write_file(const struct heatmap *map, const struct sdw_file_shares *of, size_t room,
			 FILE *file)
{
	uint64_t start_s = map->profile->recording.start_unix_ns / 1000000000;
	struct sdw_source_file source;
	size_t bytes;

	sdw_source_file_read(&source, of->path,
			     room < SDW_SOURCE_MAX_BYTES ? room : SDW_SOURCE_MAX_BYTES);
	bytes = source.bytes;
	fputc('{', file);
	write_member(file, "path", sdw_text_or_unknown(of->path));
	if (source.text)
		write_member(file, "text", source.text);
	else
		write_member(file, "problem", source.problem);
	if (source.text && source.changed_s > (int64_t)start_s)
		fputs("\"changed\":true,", file);
	fprintf(file, "\"self\":%" PRIu64 ",\"total\":%" PRIu64 ",\n", of->self, of->total);
	write_lines(map, of, file);
	if (of->span_count)
		write_spans(map, of, file);
	fputc('}', file);
	sdw_source_file_free(&source);
	return bytes;
}

static void write_data(const void *context, FILE *file)
{
	const struct heatmap *map = context;
	size_t room = MAX_SOURCES_BYTES;

	fputs("{\n", file);
	write_recording(map, file);
	fputs("\"files\":[", file);
	for (size_t i = 0; i < map->shares.files.count && !ferror(file); i++) {
		fputs(i ? ",\n" : "\n", file);
		room -= write_file(map, &map->shares.files.items[i], room, file);
	}
	fputs("]}", file);
}

static void write_style(const void *context, FILE *file)
{
	(void)context;
	fputs(style_css, file);
}

static void write_script(const void *context, FILE *file)
{
	(void)context;
	fputs(script_js, file);
}

int sdw_export_heatmap(const struct sdw_profile *profile, FILE *file)
{
	static const struct sdw_page_word words[] = {
		{"@STYLE@", write_style},
		{"@DATA@", write_data},
		{"@SCRIPT@", write_script},
		{NULL, NULL},
	};
	struct heatmap map = {.profile = profile};
	int err = sdw_line_shares_make(&map.shares, profile);

	if (!err)
		err = sdw_page_write(page_html, words, &map, file);
	sdw_line_shares_free(&map.shares);
	return err;
}
