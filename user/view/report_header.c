// SPDX-License-Identifier: MIT
/* report_header.c - see report_header.h. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/options.h"
#include "view/escape.h"
#include "view/frame_text.h"
#include "view/report_header.h"

static uint64_t last_time(const struct sdw_profile *profile)
{
	uint64_t last = 0;

	for (size_t i = 0; i < profile->buckets.count; i++) {
		if (profile->buckets.items[i].last_ns > last)
			last = profile->buckets.items[i].last_ns;
	}
	return last;
}

void sdw_report_sums_make(struct sdw_report_sums *sums, const struct sdw_profile *profile)
{
	const struct sdw_totals *totals = &profile->totals;
	uint64_t told[SDW_LOST_COUNT] = {0};

	*sums = (struct sdw_report_sums){.duration_ns = totals->duration_ns};
	for (size_t i = 0; i < profile->buckets.count; i++) {
		const struct sdw_profile_bucket *bucket = &profile->buckets.items[i];

		sums->samples += bucket->samples;
		sums->weight += bucket->weight;
		if (bucket->status < SDW_STATUS_COUNT)
			sums->status[bucket->status] += bucket->samples;
	}
	for (size_t i = 0; i < profile->lost.count; i++) {
		if (profile->lost.items[i].reason < SDW_LOST_COUNT)
			told[profile->lost.items[i].reason] += profile->lost.items[i].count;
	}
	/* totals are written at intervals: after a crash the single events may know more */
	for (size_t i = 0; i < SDW_LOST_COUNT; i++) {
		sums->lost[i] =
			totals->complete || totals->lost[i] > told[i] ? totals->lost[i] : told[i];
		if (i != SDW_LOST_OUTSIDE_TARGET) /* nobody asked for these: no loss */
			sums->lost_all += sums->lost[i];
	}
	if (!totals->complete && last_time(profile) > profile->recording.start_ns) {
		uint64_t seen_ns = last_time(profile) - profile->recording.start_ns;

		if (seen_ns > sums->duration_ns)
			sums->duration_ns = seen_ns;
	}
}

static void print_what(const struct sdw_profile *profile, const struct sdw_report_sums *sums,
		       FILE *file)
{
	const struct sdw_recording *recording = &profile->recording;

	if (recording->command && *recording->command) {
		sdw_escape_write(file, recording->command, SDW_ESCAPE_TERMINAL);
		fputc('\n', file);
	}
	sdw_escape_write(file, sdw_text_or_unknown(recording->event), SDW_ESCAPE_TERMINAL);
	if (recording->frequency)
		fprintf(file, " at %" PRIu64 " Hz", recording->frequency);
	else if (recording->period)
		fprintf(file, " every %" PRIu64 "%s%s", recording->period,
			recording->unit && strcmp(recording->unit, "ns") == 0 ? " " : " events",
			recording->unit && strcmp(recording->unit, "ns") == 0 ? "ns" : "");
	fprintf(file, ", %" PRIu64 ".%02" PRIu64 " s, %" PRIu64 " samples",
		sums->duration_ns / 1000000000, sums->duration_ns / 10000000 % 100, sums->samples);
	if (sdw_profile_is_weighted(profile)) {
		fprintf(file, " of %" PRIu64 " ", sums->weight);
		sdw_escape_write(file, sdw_text_or_unknown(recording->event), SDW_ESCAPE_TERMINAL);
	}
	fprintf(file, ", %" PRIu64 " lost", sums->lost_all);
	if (sums->lost_all)
		fprintf(file, " (%.2g%%)",
			100.0 * (double)sums->lost_all / (double)(sums->lost_all + sums->samples));
	fputc('\n', file);
	if (recording->filter && *recording->filter) {
		fputs("only ", file);
		sdw_escape_write(file, recording->filter, SDW_ESCAPE_TERMINAL);
		fputc('\n', file);
	}
}

/* "  lost 12 ring_full: what it means", broken into lines. */
static void print_count(const char *what, uint64_t count, const char *name, const char *meaning,
			FILE *file)
{
	char text[80];
	int n = snprintf(text, sizeof(text), "  %s%" PRIu64 " %s:", what, count, name);

	fputs(text, file);
	sdw_options_print_wrapped(file, n, 4, meaning);
}

void sdw_report_header_print(const struct sdw_profile *profile, FILE *file)
{
	struct sdw_report_sums sums;

	sdw_report_sums_make(&sums, profile);
	print_what(profile, &sums, file);
	for (unsigned int i = 0; i < SDW_LOST_COUNT; i++) {
		const char *what = i == SDW_LOST_OUTSIDE_TARGET ? "" : "lost ";

		if (sums.lost[i])
			print_count(what, sums.lost[i], sdw_lost_name(i), sdw_lost_meaning(i),
				    file);
	}
	for (unsigned int i = 0; i < SDW_STATUS_COUNT; i++) {
		if (sums.status[i] && i != SDW_STATUS_COMPLETE)
			print_count("", sums.status[i], sdw_status_name(i), sdw_status_meaning(i),
				    file);
	}
	if (profile->gc_samples)
		fprintf(file, "  %.1f %% of the samples hit a running garbage collector\n",
			100.0 * (double)profile->gc_samples / (double)sums.samples);
	if (!profile->totals.complete)
		fputs("  the recording did not end in order: this is what it had written\n", file);
	fputc('\n', file);
}

struct json_object *sdw_json_text(const char *text)
{
	char *valid = sdw_escape_text(text ? text : "", SDW_ESCAPE_NOTHING);
	struct json_object *object = valid ? json_object_new_string(valid) : NULL;

	free(valid);
	return object;
}

struct json_object *sdw_json_number(double number)
{
	char text[32];

	snprintf(text, sizeof(text), "%.9g", number);
	return json_object_new_double_s(number, text);
}

static void add_counters(struct json_object *status, struct json_object *lost,
			 const struct sdw_report_sums *sums)
{
	for (unsigned int i = 0; i < SDW_STATUS_COUNT; i++)
		json_object_object_add(status, sdw_status_name(i),
				       json_object_new_uint64(sums->status[i]));
	for (unsigned int i = 0; i < SDW_LOST_COUNT; i++)
		json_object_object_add(lost, sdw_lost_name(i),
				       json_object_new_uint64(sums->lost[i]));
}

struct json_object *sdw_report_header_json(const struct sdw_profile *profile)
{
	const struct sdw_recording *recording = &profile->recording;
	struct json_object *object = json_object_new_object();
	struct json_object *status = json_object_new_object(), *lost = json_object_new_object();
	struct sdw_report_sums sums;

	if (!object || !status || !lost) {
		json_object_put(object);
		json_object_put(status);
		json_object_put(lost);
		return NULL;
	}
	sdw_report_sums_make(&sums, profile);
	json_object_object_add(object, "command", sdw_json_text(recording->command));
	json_object_object_add(object, "event", sdw_json_text(recording->event));
	json_object_object_add(object, "unit", sdw_json_text(recording->unit));
	json_object_object_add(object, "period", json_object_new_uint64(recording->period));
	json_object_object_add(object, "frequency", json_object_new_uint64(recording->frequency));
	json_object_object_add(object, "duration_s",
			       sdw_json_number((double)sums.duration_ns / 1e9));
	json_object_object_add(object, "complete",
			       json_object_new_boolean(profile->totals.complete));
	if (recording->filter && *recording->filter)
		json_object_object_add(object, "only", sdw_json_text(recording->filter));
	json_object_object_add(object, "samples", json_object_new_uint64(sums.samples));
	json_object_object_add(object, "weight", json_object_new_uint64(sums.weight));
	add_counters(status, lost, &sums);
	json_object_object_add(object, "status", status);
	json_object_object_add(object, "lost", lost);
	return object;
}
