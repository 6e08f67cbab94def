// SPDX-License-Identifier: MIT
/*
 * export_speedscope.c - speedscope's file format: a table of frames, and a sampled profile a
 * thread.
 *
 * Written directly, not as json-c objects: a sample is an array of numbers, a million of them would
 * be forty million objects.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "view/escape.h"
#include "view/export.h"
#include "view/frame_text.h"
#include "view/places.h"
#include "view/thread_samples.h"

#define SCHEMA "https://www.speedscope.app/file-format-schema.json"

struct speedscope {
	const struct sdw_profile *profile;
	FILE *file;
	struct sdw_places places;
	struct sdw_samples_by_thread threads;
	struct sdw_stack_frames frames;
	bool is_clock; /* weights are ns */
};

static void write_string(FILE *file, const char *text)
{
	fputc('"', file);
	sdw_escape_write(file, text ? text : "", SDW_ESCAPE_JSON);
	fputc('"', file);
}

static int write_frames(const struct speedscope *out)
{
	const struct sdw_places *places = &out->places;

	fputs("\"shared\":{\"frames\":[", out->file);
	for (size_t i = 0; i < places->places.count; i++) {
		const struct sdw_place *place = &places->places.items[i];
		const struct sdw_profile_code *code = &places->functions.items[place->function];

		char *name = sdw_place_name(code);

		if (!name)
			return -ENOMEM;
		fputs(i ? ",\n{\"name\":" : "\n{\"name\":", out->file);
		write_string(out->file, name);
		free(name);
		if (code->kind == SDW_CODE_KERNEL || (code->file && *code->file)) {
			fputs(",\"file\":", out->file);
			write_string(out->file,
				     code->kind == SDW_CODE_KERNEL ? "[kernel]" : code->file);
		}
		if (place->line)
			fprintf(out->file, ",\"line\":%" PRIu32, place->line);
		fputc('}', out->file);
	}
	fputs("\n]},\n", out->file);
	return 0;
}

static int write_stack(struct speedscope *out, const struct sdw_sample_event *sample)
{
	int err = sdw_stack_frames_get(out->profile, sample->stack, &out->frames);

	if (err)
		return err;
	fputc('[', out->file);
	if (!out->frames.count)
		fprintf(out->file, "%" PRIu32, out->places.of_status[sample->status]);
	for (size_t i = 0; i < out->frames.count; i++)
		fprintf(out->file, "%s%" PRIu32, i ? "," : "",
			out->places.of_frame[out->frames.items[i]]);
	fputc(']', out->file);
	return 0;
}

/* "worker 13 of python3 12 in web" */
static void write_thread_name(const struct speedscope *out, uint32_t id)
{
	const struct sdw_profile_thread *thread = sdw_thread_of(out->profile, id);
	const struct sdw_profile_process *process = sdw_process_of(out->profile, thread->process);
	char room[SDW_CONTAINER_TEXT_BYTES];
	const char *container = sdw_container_text(process, room);

	fputc('"', out->file);
	sdw_escape_write(out->file, sdw_text_or_unknown(thread->name), SDW_ESCAPE_JSON);
	fprintf(out->file, " %" PRIu32 " of ", thread->tid);
	sdw_escape_write(out->file, sdw_text_or_unknown(process->comm), SDW_ESCAPE_JSON);
	fprintf(out->file, " %" PRIu32, process->pid);
	if (*container) {
		fputs(" in ", out->file);
		sdw_escape_write(out->file, container, SDW_ESCAPE_JSON);
	}
	fputc('"', out->file);
}

static int write_thread(struct speedscope *out, const struct sdw_thread_samples *thread)
{
	const struct sdw_sample_event *samples = out->profile->samples.items;
	int err = 0;

	fputs("{\"type\":\"sampled\",\"name\":", out->file);
	write_thread_name(out, thread->thread);
	/* of events there is no time axis: they are counted from 0 */
	fprintf(out->file,
		",\"unit\":\"%s\",\"startValue\":%" PRIu64 ",\"endValue\":%" PRIu64
		",\n\"samples\":[",
		out->is_clock ? "nanoseconds" : "none", out->is_clock ? thread->begin_ns : 0,
		out->is_clock ? thread->end_ns : thread->weight);
	for (size_t i = 0; i < thread->count && !err && !ferror(out->file); i++) {
		fputs(i ? "," : "", out->file);
		err = write_stack(out, &samples[thread->samples[i]]);
	}
	fputs("],\n\"weights\":[", out->file);
	for (size_t i = 0; i < thread->count; i++)
		fprintf(out->file, "%s%" PRIu64, i ? "," : "", samples[thread->samples[i]].weight);
	fputs("]}", out->file);
	return err;
}

static int write_all(struct speedscope *out)
{
	const struct sdw_recording *recording = &out->profile->recording;
	int err;

	fputs("{\"$schema\":\"" SCHEMA "\",\n\"exporter\":", out->file);
	write_string(out->file, "sidewinder " SDW_VERSION);
	fputs(",\"name\":", out->file);
	write_string(out->file, sdw_text_or_unknown(recording->command));
	fputs(",\"activeProfileIndex\":0,\n", out->file);
	err = write_frames(out);
	fputs("\"profiles\":[", out->file);
	for (size_t i = 0; i < out->threads.count && !err; i++) {
		fputs(i ? ",\n" : "\n", out->file);
		err = write_thread(out, &out->threads.items[i]);
	}
	fputs("\n]}\n", out->file);
	return err;
}

int sdw_export_speedscope(const struct sdw_profile *profile, FILE *file)
{
	const char *unit = profile->recording.unit;
	struct speedscope out = {.profile = profile, .file = file};
	int err = sdw_places_make(&out.places, profile);

	out.is_clock = unit && strcmp(unit, "ns") == 0;
	if (!err)
		err = sdw_samples_by_thread_make(&out.threads, profile);
	if (!err)
		err = write_all(&out);
	sdw_samples_by_thread_free(&out.threads);
	sdw_places_free(&out.places);
	free(out.frames.items);
	return err;
}
