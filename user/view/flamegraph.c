// SPDX-License-Identifier: MIT
/*
 * flamegraph.c - puts the data of a profile into a page whose parts (flamegraph/) are in the
 * program.
 *
 * Written directly, not as json-c objects: the arrays have millions of numbers.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/embed.h"
#include "view/export.h"
#include "view/frame_text.h"
#include "view/page.h"
#include "view/report_header.h"
#include "view/time_slots.h"

SDW_EMBED(page_html, "user/view/flamegraph/page.html");
SDW_EMBED(style_css, "user/view/flamegraph/style.css");
SDW_EMBED(tree_js, "user/view/flamegraph/tree.js");
SDW_EMBED(time_js, "user/view/flamegraph/time.js");
SDW_EMBED(draw_js, "user/view/flamegraph/draw.js");
SDW_EMBED(change_js, "user/view/flamegraph/change.js");
SDW_EMBED(words_js, "user/view/flamegraph/words.js");
SDW_EMBED(act_js, "user/view/flamegraph/act.js");
SDW_EMBED(head_js, "user/view/flamegraph/head.js");

/* What a page is made of; base is NULL in one of a single recording. */
struct page {
	const struct sdw_profile *profile;   /* all definitions, all samples */
	const struct sdw_profile *recording; /* what it was */
	const struct sdw_profile *base;	     /* what the other one was */
	uint32_t base_threads;
	const struct sdw_time_slots *times; /* NULL: not told */
};

static void write_member(FILE *file, const char *key, const char *text)
{
	fprintf(file, "\"%s\":", key);
	sdw_page_write_string(file, text);
	fputc(',', file);
}

static void write_counts(FILE *file, const char *key, const uint64_t *counts, unsigned int count,
			 const char *(*meaning)(unsigned int))
{
	const char *separator = "";

	fprintf(file, "\"%s\":[", key);
	for (unsigned int i = 0; i < count; i++) {
		if (!counts[i])
			continue;
		fprintf(file, "%s[%" PRIu64 ",", separator, counts[i]);
		sdw_page_write_string(file, meaning(i));
		fputc(']', file);
		separator = ",";
	}
	fputs("],\n", file);
}

static void write_recording(const struct sdw_profile *profile, FILE *file)
{
	const struct sdw_recording *recording = &profile->recording;
	struct sdw_report_sums sums;

	sdw_report_sums_make(&sums, profile);
	sums.status[SDW_STATUS_COMPLETE] = 0; /* what goes without saying */
	write_member(file, "command", recording->command);
	write_member(file, "host", recording->hostname);
	write_member(file, "event", recording->event);
	write_member(file, "unit", recording->unit);
	write_member(file, "only", recording->filter);
	fprintf(file, "\"weighted\":%s,\"complete\":%s,",
		sdw_profile_is_weighted(profile) ? "true" : "false",
		profile->totals.complete ? "true" : "false");
	fprintf(file, "\"period\":%" PRIu64 ",\"frequency\":%" PRIu64 ",", recording->period,
		recording->frequency);
	fprintf(file, "\"startMs\":%" PRIu64 ",\"durationMs\":%" PRIu64 ",",
		recording->start_unix_ns / 1000000, sums.duration_ns / 1000000);
	fprintf(file, "\"samples\":%" PRIu64 ",\"lost\":%" PRIu64 ",\n", sums.samples,
		sums.lost_all);
	write_counts(file, "lostBy", sums.lost, SDW_LOST_COUNT, sdw_lost_meaning);
	write_counts(file, "statusBy", sums.status, SDW_STATUS_COUNT, sdw_status_meaning);
}

static void write_owners(const struct sdw_profile *profile, FILE *file)
{
	fputs("\"processes\":[", file);
	for (size_t i = 0; i < profile->processes.count; i++) {
		const struct sdw_profile_process *process = &profile->processes.items[i];
		char *text = *process->container ? sdw_process_text(process) : NULL;

		fprintf(file, "%s[%" PRIu32 ",", i ? "," : "", process->pid);
		sdw_page_write_string(file, text ? text : process->comm);
		fputc(']', file);
		free(text);
	}
	fputs("],\n\"threads\":[", file);
	for (size_t i = 0; i < profile->threads.count; i++) {
		const struct sdw_profile_thread *thread = &profile->threads.items[i];

		fprintf(file, "%s[%" PRIu32 ",%" PRIu32 ",", i ? "," : "", thread->process,
			thread->tid);
		sdw_page_write_string(file, thread->name);
		fputc(']', file);
	}
	fputs("],\n", file);
}

static void write_codes(const struct sdw_profile *profile, FILE *file)
{
	fputs("\"codes\":[", file);
	for (size_t i = 0; i < profile->codes.count; i++) {
		const struct sdw_profile_code *code = &profile->codes.items[i];

		fprintf(file, "%s[%u,", i ? "," : "", code->kind);
		sdw_page_write_string(file, code->name);
		fputc(',', file);
		sdw_page_write_string(file, code->file);
		fprintf(file, ",%" PRIu32 "]", code->first_line);
	}
	fputs("],\n", file);
}

/* Pairs of numbers follow one another in one array: smaller, and quicker to parse, than objects. */
static void write_stacks(const struct sdw_profile *profile, FILE *file)
{
	fputs("\"frames\":[", file); /* code, line */
	for (size_t i = 0; i < profile->frames.count; i++)
		fprintf(file, "%s%" PRIu32 ",%" PRIu32, i ? "," : "", profile->frames.items[i].code,
			profile->frames.items[i].line);
	fputs("],\n\"stacks\":[", file); /* parent, frame */
	for (size_t i = 0; i < profile->stacks.count; i++)
		fprintf(file, "%s%" PRIu32 ",%" PRIu32, i ? "," : "",
			profile->stacks.items[i].parent, profile->stacks.items[i].frame);
	fputs("],\n\"status\":[", file); /* names, by number */
	for (unsigned int i = 0; i < SDW_STATUS_COUNT; i++)
		fprintf(file, "%s\"%s\"", i ? "," : "", sdw_status_name(i));
	fputs("],\n\"buckets\":[", file); /* thread, stack, status, samples, weight */
	for (size_t i = 0; i < profile->buckets.count; i++) {
		const struct sdw_profile_bucket *bucket = &profile->buckets.items[i];

		fprintf(file, "%s%" PRIu32 ",%" PRIu32 ",%u,%" PRIu64 ",%" PRIu64, i ? "," : "",
			bucket->thread, bucket->stack, bucket->status, bucket->samples,
			bucket->weight);
	}
	fputs("]", file);
}

/* For each bucket: how many entries, and of each the slots since the one before, samples, weight.
 */
static void write_times(const struct page *page, FILE *file)
{
	const struct sdw_time_slots *times = page->times;
	bool is_weighted = sdw_profile_is_weighted(page->profile);
	size_t at = 0;

	fprintf(file,
		",\n\"times\":{\"slots\":%" PRIu32 ",\"beginMs\":%.6f,\"slotMs\":%.6f,\"of\":[",
		times->slots,
		((double)times->begin_ns - (double)page->recording->recording.start_ns) / 1e6,
		(double)times->slot_ns / 1e6);
	for (size_t bucket = 0; bucket < page->profile->buckets.count; bucket++) {
		size_t end = at;
		uint32_t slot = 0;

		while (end < times->entries.count && times->entries.items[end].bucket == bucket)
			end++;
		fprintf(file, "%s%zu", bucket ? "," : "", end - at);
		for (; at < end; at++) {
			const struct sdw_time_entry *entry = &times->entries.items[at];

			fprintf(file, ",%" PRIu32 ",%" PRIu64, entry->slot - slot, entry->samples);
			if (is_weighted)
				fprintf(file, ",%" PRIu64, entry->weight);
			slot = entry->slot;
		}
	}
	fputs("]}", file);
}

static void write_data(const void *context, FILE *file)
{
	const struct page *page = context;

	fputs("{\n", file);
	write_recording(page->recording, file);
	if (page->base) {
		fprintf(file, "\"baseThreads\":%" PRIu32 ",\"base\":{", page->base_threads);
		write_recording(page->base, file);
		fputs("\"threads\":[]},\n", file);
	}
	write_owners(page->profile, file);
	write_codes(page->profile, file);
	write_stacks(page->profile, file);
	if (page->times)
		write_times(page, file);
	fputs("\n}", file);
}

static void write_style(const void *context, FILE *file)
{
	(void)context;
	fputs(style_css, file);
}

static void write_script(const void *context, FILE *file)
{
	const char *const parts[] = {tree_js,  change_js, time_js, draw_js,
				     words_js, act_js,	  head_js};

	(void)context;
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		fputs(parts[i], file);
}

static int write_page(const struct page *page, FILE *file)
{
	static const struct sdw_page_word words[] = {
		{"@STYLE@", write_style},
		{"@DATA@", write_data},
		{"@SCRIPT@", write_script},
		{NULL, NULL},
	};

	return sdw_page_write(page_html, words, page, file);
}

int sdw_export_flamegraph(const struct sdw_profile *profile, FILE *file)
{
	struct sdw_time_slots times;
	struct page page = {.profile = profile, .recording = profile};
	int err = sdw_time_slots_make(&times, profile);

	if (!err && times.slots)
		page.times = &times;
	if (!err)
		err = write_page(&page, file);
	sdw_time_slots_free(&times);
	return err;
}

int sdw_export_flamegraph_diff(const struct sdw_profile *both, uint32_t base_threads,
			       const struct sdw_profile *base, const struct sdw_profile *new,
			       FILE *file)
{
	const struct page page = {both, new, base, base_threads, NULL};

	return write_page(&page, file);
}
