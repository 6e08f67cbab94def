// SPDX-License-Identifier: MIT
/*
 * export_pprof.c - pprof's profile.proto, compressed, as `go tool pprof` and its kin read it.
 *
 * A protobuf message is the same written whole or as pieces one behind the other: so each sample,
 * function and location is packed by itself, and nothing of the size of the profile is held. The
 * texts, which have numbers by then, come last.
 *
 * A native function's address is not in a trace (its name is): locations have none.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "proto/pprof.pb-c.h"
#include "view/escape.h"
#include "view/export.h"
#include "view/frame_text.h"
#include "view/gzip_stream.h"
#include "view/places.h"
#include "view/report_header.h"
#include "view/texts.h"

#define MAX_LABELS 7 /* of a sample */

struct pprof {
	const struct sdw_profile *profile;
	struct sdw_places places;
	struct sdw_gzip_stream stream;
	struct sdw_texts texts;
	struct sdw_stack_frames frames;
	SDW_PROFILE_ARRAY(uint64_t) locations;
	int err; /* the first that was met: what comes after it is of no use */
};

static void emit(struct pprof *pprof, const Sdw__Pprof__Profile *piece)
{
	if (!pprof->err)
		protobuf_c_message_pack_to_buffer(&piece->base, &pprof->stream.buffer);
}

/* The number of a text that Sidewinder or somebody else wrote; shown on terminals, so escaped. */
static int64_t text(struct pprof *pprof, const char *of)
{
	char *escaped = sdw_escape_text(of ? of : "", SDW_ESCAPE_TERMINAL);
	uint32_t number = 0;

	if (!escaped || sdw_texts_number(&pprof->texts, escaped, &number))
		pprof->err = -ENOMEM;
	free(escaped);
	return number;
}

static void emit_texts(struct pprof *pprof)
{
	for (size_t i = 0; i < pprof->texts.count; i++) {
		char *one = (char *)(uintptr_t)pprof->texts.items[i];
		Sdw__Pprof__Profile piece = SDW__PPROF__PROFILE__INIT;

		piece.n_string_table = 1;
		piece.string_table = &one;
		emit(pprof, &piece);
	}
}

static Sdw__Pprof__ValueType value_type(struct pprof *pprof, const char *type, const char *unit)
{
	Sdw__Pprof__ValueType value = SDW__PPROF__VALUE_TYPE__INIT;

	value.type = text(pprof, type);
	value.unit = text(pprof, unit);
	return value;
}

/* `unit`s per overflow, also where only the frequency of a clock is known; 0: not known */
static int64_t period_of(const struct sdw_recording *recording, bool is_clock)
{
	if (recording->period || !is_clock || !recording->frequency)
		return (int64_t)recording->period;
	return (int64_t)(1000000000 / recording->frequency);
}

static void emit_recording(struct pprof *pprof)
{
	const struct sdw_recording *recording = &pprof->profile->recording;
	bool is_clock = recording->unit && strcmp(recording->unit, "ns") == 0;
	const char *event = is_clock ? "cpu" : sdw_text_or_unknown(recording->event);
	Sdw__Pprof__ValueType samples = value_type(pprof, "samples", "count");
	Sdw__Pprof__ValueType weight = value_type(pprof, event, is_clock ? "nanoseconds" : "count");
	Sdw__Pprof__ValueType *types[] = {&samples, &weight};
	Sdw__Pprof__Profile piece = SDW__PPROF__PROFILE__INIT;
	struct sdw_report_sums sums;

	sdw_report_sums_make(&sums, pprof->profile);
	piece.n_sample_type = 2;
	piece.sample_type = types;
	piece.period_type = &weight;
	piece.period = period_of(recording, is_clock);
	piece.time_nanos = (int64_t)recording->start_unix_ns;
	piece.duration_nanos = (int64_t)sums.duration_ns;
	piece.default_sample_type = weight.type;
	emit(pprof, &piece);
}

static void emit_comment(struct pprof *pprof, const char *comment)
{
	Sdw__Pprof__Profile piece = SDW__PPROF__PROFILE__INIT;
	int64_t number = text(pprof, comment);

	piece.n_comment = 1;
	piece.comment = &number;
	emit(pprof, &piece);
}

/* What `pprof -comments` prints: the same as above a report. */
static void emit_comments(struct pprof *pprof)
{
	char *header = NULL, *rest = NULL;
	size_t bytes;
	FILE *file = open_memstream(&header, &bytes);

	if (!file) {
		pprof->err = -ENOMEM;
		return;
	}
	fprintf(file, "Sidewinder %s on %s\n",
		sdw_text_or_unknown(pprof->profile->recording.version),
		sdw_text_or_unknown(pprof->profile->recording.hostname));
	sdw_report_header_print(pprof->profile, file);
	if (fclose(file))
		pprof->err = -ENOMEM;
	for (char *line = header ? strtok_r(header, "\n", &rest) : NULL; line;
	     line = strtok_r(NULL, "\n", &rest))
		emit_comment(pprof, line);
	free(header);
}

static void emit_mapping(struct pprof *pprof, const char *path, uint64_t id)
{
	Sdw__Pprof__Mapping mapping = SDW__PPROF__MAPPING__INIT, *one = &mapping;
	Sdw__Pprof__Profile piece = SDW__PPROF__PROFILE__INIT;

	mapping.id = id;
	mapping.filename = text(pprof, path);
	mapping.has_functions = true;
	piece.n_mapping = 1;
	piece.mapping = &one;
	emit(pprof, &piece);
}

static void emit_function(struct pprof *pprof, const struct sdw_profile_code *code, uint64_t id)
{
	Sdw__Pprof__Function function = SDW__PPROF__FUNCTION__INIT, *one = &function;
	Sdw__Pprof__Profile piece = SDW__PPROF__PROFILE__INIT;
	char *name = sdw_place_name(code);

	if (!name)
		pprof->err = -ENOMEM;
	function.id = id;
	function.name = text(pprof, name);
	function.system_name = function.name;
	if (code->kind == SDW_CODE_PYTHON) {
		function.filename = text(pprof, code->file);
		function.start_line = code->first_line;
	}
	free(name);
	piece.n_function = 1;
	piece.function = &one;
	emit(pprof, &piece);
}

static void emit_location(struct pprof *pprof, const struct sdw_place *place, uint64_t id,
			  uint64_t mapping)
{
	Sdw__Pprof__Line line = SDW__PPROF__LINE__INIT, *lines = &line;
	Sdw__Pprof__Location location = SDW__PPROF__LOCATION__INIT, *one = &location;
	Sdw__Pprof__Profile piece = SDW__PPROF__PROFILE__INIT;

	line.function_id = place->function + 1;
	line.line = place->line;
	location.id = id;
	location.mapping_id = mapping;
	location.n_line = 1;
	location.line = &lines;
	piece.n_location = 1;
	piece.location = &one;
	emit(pprof, &piece);
}

/* The file that a function's mapping is named after, NULL: it is of none. */
static const char *module_of(const struct sdw_profile_code *code)
{
	if (code->kind == SDW_CODE_KERNEL)
		return "[kernel]";
	return code->kind == SDW_CODE_NATIVE && code->file && *code->file ? code->file : NULL;
}

/* Places are sorted by kind, file and function: what is alike comes together. */
static void emit_places(struct pprof *pprof)
{
	const struct sdw_places *places = &pprof->places;
	uint32_t functions = 0;
	uint64_t mappings = 0;
	const char *before = NULL;

	for (size_t i = 0; i < places->places.count && !pprof->err; i++) {
		const struct sdw_place *place = &places->places.items[i];
		const struct sdw_profile_code *code = &places->functions.items[place->function];
		const char *module = module_of(code);

		if (module && (!before || strcmp(before, module) != 0)) {
			emit_mapping(pprof, module, ++mappings);
			before = module;
		}
		if (place->function >= functions) {
			functions = place->function + 1;
			emit_function(pprof, code, functions);
		}
		emit_location(pprof, place, i + 1, module ? mappings : 0);
	}
}

static int collect_locations(struct pprof *pprof, const struct sdw_profile_bucket *bucket)
{
	int err = sdw_stack_frames_get(pprof->profile, bucket->stack, &pprof->frames);

	pprof->locations.count = 0;
	if (!err)
		err = sdw_array_reserve(&pprof->locations, pprof->frames.count + 1);
	if (err)
		return err;
	for (size_t i = pprof->frames.count; i--;)
		pprof->locations.items[pprof->locations.count++] =
			(uint64_t)pprof->places.of_frame[pprof->frames.items[i]] + 1;
	if (!pprof->frames.count)
		pprof->locations.items[pprof->locations.count++] =
			(uint64_t)pprof->places.of_status[bucket->status] + 1;
	return 0;
}

static void add_label(struct pprof *pprof, Sdw__Pprof__Label **label, const char *key,
		      const char *string, uint32_t number)
{
	Sdw__Pprof__Label filled = SDW__PPROF__LABEL__INIT;

	filled.key = text(pprof, key);
	if (string)
		filled.str = text(pprof, string);
	filled.num = number;
	*(*label)++ = filled;
}

/* Who it was. Returns how many labels that is: of a process in no container, those of none. */
static size_t fill_labels(struct pprof *pprof, const struct sdw_profile_thread *thread,
			  Sdw__Pprof__Label labels[MAX_LABELS])
{
	const struct sdw_profile_process *process = sdw_process_of(pprof->profile, thread->process);
	char room[SDW_CONTAINER_TEXT_BYTES];
	Sdw__Pprof__Label *label = labels;

	add_label(pprof, &label, "process", sdw_text_or_unknown(process->comm), 0);
	add_label(pprof, &label, "pid", NULL, process->pid);
	add_label(pprof, &label, "thread", sdw_text_or_unknown(thread->name), 0);
	add_label(pprof, &label, "tid", NULL, thread->tid);
	if (process->container && *process->container) {
		add_label(pprof, &label, "container", sdw_container_text(process, room), 0);
		add_label(pprof, &label, "container_id", process->container, 0);
	}
	if (process->pod && *process->pod)
		add_label(pprof, &label, "pod", process->pod, 0);
	return (size_t)(label - labels);
}

static void emit_sample(struct pprof *pprof, const struct sdw_profile_bucket *bucket)
{
	const struct sdw_profile_thread *thread = sdw_thread_of(pprof->profile, bucket->thread);
	int64_t values[] = {(int64_t)bucket->samples, (int64_t)bucket->weight};
	Sdw__Pprof__Label labels[MAX_LABELS], *each[MAX_LABELS];
	Sdw__Pprof__Sample sample = SDW__PPROF__SAMPLE__INIT, *one = &sample;
	Sdw__Pprof__Profile piece = SDW__PPROF__PROFILE__INIT;

	sample.n_label = fill_labels(pprof, thread, labels);
	for (size_t i = 0; i < sample.n_label; i++)
		each[i] = &labels[i];
	sample.n_location_id = pprof->locations.count;
	sample.location_id = pprof->locations.items;
	sample.n_value = 2;
	sample.value = values;
	sample.label = each;
	piece.n_sample = 1;
	piece.sample = &one;
	emit(pprof, &piece);
}

static void emit_samples(struct pprof *pprof)
{
	const struct sdw_profile *profile = pprof->profile;

	for (size_t i = 0; i < profile->buckets.count && !pprof->err; i++) {
		const struct sdw_profile_bucket *bucket = &profile->buckets.items[i];

		if (!bucket->samples)
			continue;
		pprof->err = collect_locations(pprof, bucket);
		if (!pprof->err)
			emit_sample(pprof, bucket);
	}
}

static void emit_all(struct pprof *pprof)
{
	(void)text(pprof, ""); /* number 0 */
	emit_recording(pprof);
	emit_comments(pprof);
	emit_places(pprof);
	emit_samples(pprof);
	emit_texts(pprof);
}

int sdw_export_pprof(const struct sdw_profile *profile, FILE *file)
{
	struct pprof pprof = {.profile = profile};
	int err = sdw_gzip_stream_open(&pprof.stream, file);

	if (err)
		return err;
	pprof.err = sdw_places_make(&pprof.places, profile);
	if (!pprof.err)
		emit_all(&pprof);
	err = sdw_gzip_stream_close(&pprof.stream);
	err = pprof.err ? pprof.err : err;
	sdw_places_free(&pprof.places);
	sdw_texts_free(&pprof.texts);
	free(pprof.frames.items);
	free(pprof.locations.items);
	return err;
}
