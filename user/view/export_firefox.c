// SPDX-License-Identifier: MIT
/*
 * export_firefox.c - the processed profile format of the Firefox Profiler, version 60.
 *
 * Its page upgrades older versions than its own and refuses newer ones; 60 is the first whose
 * tables are shared by all threads. They are columns: parallel arrays. A Python function is marked
 * as JavaScript, which makes the page's choice "JavaScript" show only Python frames.
 *
 * Written directly, not as json-c objects: the arrays have millions of numbers.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "view/escape.h"
#include "view/export.h"
#include "view/frame_text.h"
#include "view/places.h"
#include "view/texts.h"
#include "view/thread_samples.h"

#define NONE UINT32_MAX

struct firefox {
	const struct sdw_profile *profile;
	FILE *file;
	struct sdw_places places;
	struct sdw_samples_by_thread threads;
	struct sdw_texts texts, sources, modules;
	uint32_t *names, *files; /* by function: of its name; of its source or module, or NONE */
	uint32_t *source_names, *module_names; /* their places in texts */
	uint32_t *stacks; /* by stack id: its place in the table, NONE: no sample has it */
	uint32_t status_stacks[SDW_STATUS_COUNT]; /* NONE: there is no such sample */
	uint32_t stack_count;
	uint32_t *images; /* by process id: 1 for the first image of its pid, 2 ... */
	bool is_clock;
};

static void write_string(FILE *file, const char *text)
{
	fputc('"', file);
	sdw_escape_write(file, text ? text : "", SDW_ESCAPE_JSON);
	fputc('"', file);
}

/* Milliseconds with six places, without floating point. */
static void write_ms(FILE *file, uint64_t ns)
{
	fprintf(file, "%" PRIu64 ".%06" PRIu64, ns / 1000000, ns % 1000000);
}

static void write_or(FILE *file, uint32_t number, const char *none)
{
	if (number == NONE)
		fputs(none, file);
	else
		fprintf(file, "%" PRIu32, number);
}

/* A column: `each` writes entry i of `count`. */
static void write_column(const struct firefox *out, const char *key, size_t count,
			 void (*each)(const struct firefox *out, size_t i))
{
	fprintf(out->file, ",\"%s\":[", key);
	for (size_t i = 0; i < count; i++) {
		if (i)
			fputc(',', out->file);
		each(out, i);
	}
	fputc(']', out->file);
}

static void write_null(const struct firefox *out, size_t i)
{
	(void)i;
	fputs("null", out->file);
}

static void write_zero(const struct firefox *out, size_t i)
{
	(void)i;
	fputc('0', out->file);
}

static void write_minus_one(const struct firefox *out, size_t i)
{
	(void)i;
	fputs("-1", out->file);
}

static const struct sdw_profile_code *code_of_place(const struct firefox *out, size_t place)
{
	return &out->places.functions.items[out->places.places.items[place].function];
}

static void write_frame_category(const struct firefox *out, size_t i)
{
	fprintf(out->file, "%d", code_of_place(out, i)->kind + 1); /* as write_meta() has them */
}

static void write_frame_function(const struct firefox *out, size_t i)
{
	fprintf(out->file, "%" PRIu32, out->places.places.items[i].function);
}

static void write_frame_line(const struct firefox *out, size_t i)
{
	uint32_t line = out->places.places.items[i].line;

	write_or(out->file, line ? line : NONE, "null");
}

static void write_frames(const struct firefox *out)
{
	size_t count = out->places.places.count;

	fprintf(out->file, "\"frameTable\":{\"length\":%zu", count);
	write_column(out, "address", count, write_minus_one);
	write_column(out, "inlineDepth", count, write_zero);
	write_column(out, "category", count, write_frame_category);
	write_column(out, "subcategory", count, write_zero);
	write_column(out, "func", count, write_frame_function);
	write_column(out, "nativeSymbol", count, write_null);
	write_column(out, "innerWindowID", count, write_null);
	write_column(out, "line", count, write_frame_line);
	write_column(out, "column", count, write_null);
	fputs("},\n", out->file);
}

static void write_function_name(const struct firefox *out, size_t i)
{
	fprintf(out->file, "%" PRIu32, out->names[i]);
}

static bool is_python(const struct firefox *out, size_t function)
{
	return out->places.functions.items[function].kind == SDW_CODE_PYTHON;
}

static void write_is_python(const struct firefox *out, size_t i)
{
	fputs(is_python(out, i) ? "true" : "false", out->file);
}

static void write_false(const struct firefox *out, size_t i)
{
	(void)i;
	fputs("false", out->file);
}

static void write_resource(const struct firefox *out, size_t i)
{
	write_or(out->file, is_python(out, i) ? NONE : out->files[i], "-1");
}

static void write_source(const struct firefox *out, size_t i)
{
	write_or(out->file, is_python(out, i) ? out->files[i] : NONE, "null");
}

static void write_first_line(const struct firefox *out, size_t i)
{
	uint32_t line = out->places.functions.items[i].first_line;

	write_or(out->file, line ? line : NONE, "null");
}

static void write_functions(const struct firefox *out)
{
	size_t count = out->places.functions.count;

	fprintf(out->file, "\"funcTable\":{\"length\":%zu", count);
	write_column(out, "name", count, write_function_name);
	write_column(out, "isJS", count, write_is_python);
	write_column(out, "relevantForJS", count, write_false);
	write_column(out, "resource", count, write_resource);
	write_column(out, "source", count, write_source);
	write_column(out, "lineNumber", count, write_first_line);
	write_column(out, "columnNumber", count, write_null);
	fputs("},\n", out->file);
}

static void write_source_name(const struct firefox *out, size_t i)
{
	fprintf(out->file, "%" PRIu32, out->source_names[i]);
}

static void write_module_name(const struct firefox *out, size_t i)
{
	fprintf(out->file, "%" PRIu32, out->module_names[i]);
}

static void write_module_type(const struct firefox *out, size_t i)
{
	(void)i;
	fputc('1', out->file); /* a library */
}

static void write_index(const struct firefox *out, size_t i)
{
	fprintf(out->file, "%zu", i);
}

static void write_files(const struct firefox *out)
{
	fprintf(out->file, "\"sources\":{\"length\":%zu", out->sources.count);
	write_column(out, "uuid", out->sources.count, write_null);
	write_column(out, "filename", out->sources.count, write_source_name);
	fprintf(out->file, "},\n\"resourceTable\":{\"length\":%zu", out->modules.count);
	write_column(out, "lib", out->modules.count, write_index);
	write_column(out, "name", out->modules.count, write_module_name);
	write_column(out, "host", out->modules.count, write_null);
	write_column(out, "type", out->modules.count, write_module_type);
	fputs("},\n\"nativeSymbols\":{\"length\":0,\"libIndex\":[],\"address\":[],\"name\":[],"
	      "\"functionSize\":[]},\n",
	      out->file);
}

/* Numbers the stacks that samples have, and one for each status of samples without a stack. */
static int number_stacks(struct firefox *out)
{
	const struct sdw_profile *profile = out->profile;
	bool *used = sdw_stacks_used(profile);
	uint32_t count = 0;

	out->stacks = calloc(profile->stacks.count + 1, sizeof(*out->stacks));
	if (!used || !out->stacks) {
		free(used);
		return -ENOMEM;
	}
	for (size_t i = 0; i < profile->stacks.count; i++)
		out->stacks[i] = i && used[i] ? count++ : NONE;
	for (size_t i = 0; i < SDW_STATUS_COUNT; i++)
		out->status_stacks[i] = out->places.of_status[i] == NONE ? NONE : count++;
	out->stack_count = count;
	free(used);
	return 0;
}

static void write_stack_frames(const struct firefox *out)
{
	const struct sdw_profile *profile = out->profile;
	const char *separator = "";

	for (size_t i = 1; i < profile->stacks.count; i++) {
		if (out->stacks[i] == NONE)
			continue;
		fprintf(out->file, "%s%" PRIu32, separator,
			out->places.of_frame[profile->stacks.items[i].frame]);
		separator = ",";
	}
	for (size_t i = 0; i < SDW_STATUS_COUNT; i++) {
		if (out->status_stacks[i] == NONE)
			continue;
		fprintf(out->file, "%s%" PRIu32, separator, out->places.of_status[i]);
		separator = ",";
	}
}

static void write_stack_parents(const struct firefox *out)
{
	const struct sdw_profile *profile = out->profile;
	const char *separator = "";

	for (size_t i = 1; i < profile->stacks.count; i++) {
		if (out->stacks[i] == NONE)
			continue;
		fputs(separator, out->file);
		write_or(out->file, out->stacks[profile->stacks.items[i].parent], "null");
		separator = ",";
	}
	for (size_t i = 0; i < SDW_STATUS_COUNT; i++) {
		if (out->status_stacks[i] == NONE)
			continue;
		fprintf(out->file, "%snull", separator);
		separator = ",";
	}
}

static void write_texts(const struct firefox *out)
{
	fputs("\"stringArray\":[", out->file);
	for (size_t i = 0; i < out->texts.count; i++) {
		fputs(i ? ",\n" : "\n", out->file);
		write_string(out->file, out->texts.items[i]);
	}
	fputs("]", out->file);
}

static void write_shared(const struct firefox *out)
{
	fputs("\"shared\":{\n", out->file);
	write_frames(out);
	write_functions(out);
	write_files(out);
	fprintf(out->file, "\"stackTable\":{\"length\":%" PRIu32 ",\"frame\":[", out->stack_count);
	write_stack_frames(out);
	fputs("],\"prefix\":[", out->file);
	write_stack_parents(out);
	fputs("]},\n", out->file);
	write_texts(out);
	fputs("},\n", out->file);
}

static void write_libraries(const struct firefox *out)
{
	fputs("\"libs\":[", out->file);
	for (size_t i = 0; i < out->modules.count; i++) {
		const char *path = out->modules.items[i];
		const char *keys[] = {"name", "path", "debugName", "debugPath"};

		fputs(i ? ",\n{" : "\n{", out->file);
		for (size_t k = 0; k < sizeof(keys) / sizeof(*keys); k++) {
			fprintf(out->file, "\"%s\":", keys[k]);
			write_string(out->file, k % 2 ? path : sdw_base_name(path));
			fputc(',', out->file);
		}
		/* the names are there already: nothing is to be looked up by these */
		fputs("\"arch\":\"\",\"breakpadId\":\"\",\"codeId\":null}", out->file);
	}
	fputs("],\n", out->file);
}

static uint64_t interval_ns(const struct firefox *out)
{
	const struct sdw_recording *recording = &out->profile->recording;

	if (recording->frequency)
		return 1000000000 / recording->frequency;
	return out->is_clock && recording->period ? recording->period : 1000000;
}

static void write_meta(const struct firefox *out)
{
	const struct sdw_recording *recording = &out->profile->recording;

	fputs("\"meta\":{\"version\":31,\"preprocessedProfileVersion\":60,\"interval\":",
	      out->file);
	write_ms(out->file, interval_ns(out));
	fputs(",\"startTime\":", out->file);
	write_ms(out->file, recording->start_unix_ns);
	fprintf(out->file,
		",\"startTimeAsClockMonotonicNanosecondsSinceBoot\":%" PRIu64
		",\"processType\":0,\"stackwalk\":1,\"debug\":false,\"symbolicated\":true,"
		"\"markerSchema\":[],\"oscpu\":\"Linux\",\"platform\":\"Linux\",\"importedFrom\":"
		"\"Sidewinder\",\"sourceCodeIsNotOnSearchfox\":true,\"keepProfileThreadOrder\":true,"
		"\"sampleUnits\":{\"time\":\"ms\",\"eventDelay\":\"ms\",\"threadCPUDelta\":\"ns\"},"
		"\"initialSelectedThreads\":%s,\n\"categories\":[",
		recording->start_ns, out->threads.count ? "[0]" : "[]");
	fputs("{\"name\":\"Other\",\"color\":\"grey\",\"subcategories\":[\"Other\"]},"
	      "{\"name\":\"Python\",\"color\":\"blue\",\"subcategories\":[\"Other\"]},"
	      "{\"name\":\"Native\",\"color\":\"yellow\",\"subcategories\":[\"Other\"]},"
	      "{\"name\":\"Kernel\",\"color\":\"orange\",\"subcategories\":[\"Other\"]},"
	      "{\"name\":\"Missing\",\"color\":\"darkgrey\",\"subcategories\":[\"Other\"]}],\n"
	      "\"product\":",
	      out->file);
	write_string(out->file, sdw_text_or_unknown(recording->command));
	fputs("},\n", out->file);
}

static void write_samples(const struct firefox *out, const struct sdw_thread_samples *thread)
{
	const struct sdw_sample_event *samples = out->profile->samples.items;
	uint64_t start_ns = out->profile->recording.start_ns;

	fprintf(out->file, "\"samples\":{\"length\":%zu,\"weightType\":\"samples\",\"stack\":[",
		thread->count);
	for (size_t i = 0; i < thread->count; i++) {
		const struct sdw_sample_event *sample = &samples[thread->samples[i]];

		fputs(i ? "," : "", out->file);
		write_or(out->file,
			 sample->stack ? out->stacks[sample->stack]
				       : out->status_stacks[sample->status],
			 "null");
	}
	fputs("],\n\"time\":[", out->file);
	for (size_t i = 0; i < thread->count; i++) {
		uint64_t time_ns = samples[thread->samples[i]].time_ns;

		fputs(i ? "," : "", out->file);
		write_ms(out->file, time_ns > start_ns ? time_ns - start_ns : 0);
	}
	fputs("],\n\"weight\":", out->file);
	for (size_t i = 0; i < thread->count && !out->is_clock; i++)
		fprintf(out->file, "%s%" PRIu64, i ? "," : "[", samples[thread->samples[i]].weight);
	fputs(out->is_clock ? "null}" : "]}", out->file);
}

/* A pid by which the page tells processes apart: of a later image of the same one "PID.2", ... */
static void write_pid(const struct firefox *out, uint32_t id)
{
	fprintf(out->file, "\"pid\":\"%" PRIu32, sdw_process_of(out->profile, id)->pid);
	if (id < out->profile->processes.count && out->images[id] > 1)
		fprintf(out->file, ".%" PRIu32, out->images[id]);
	fputc('"', out->file);
}

static void write_thread(const struct firefox *out, const struct sdw_thread_samples *thread)
{
	const struct sdw_profile_thread *of = sdw_thread_of(out->profile, thread->thread);
	const struct sdw_profile_process *process = sdw_process_of(out->profile, of->process);
	char *name = sdw_process_text(process);

	fputs("{\"processType\":\"default\",\"processName\":", out->file);
	write_string(out->file, sdw_text_or_unknown(name));
	free(name);
	fputs(",\"name\":", out->file);
	write_string(out->file, sdw_text_or_unknown(of->name));
	fprintf(out->file, ",\"isMainThread\":%s,", of->tid == process->pid ? "true" : "false");
	write_pid(out, of->process);
	fprintf(out->file,
		",\"tid\":%" PRIu32 ",\"processStartupTime\":0,\"registerTime\":", of->tid);
	write_ms(out->file, thread->begin_ns);
	fputs(",\"processShutdownTime\":null,\"unregisterTime\":null,\"pausedRanges\":[],"
	      "\"markers\":{\"length\":0,\"data\":[],\"name\":[],\"startTime\":[],\"endTime\":[],"
	      "\"phase\":[],\"category\":[]},\n",
	      out->file);
	write_samples(out, thread);
	fputc('}', out->file);
}

/* Counts the images of each pid. */
static int number_images(struct firefox *out)
{
	const struct sdw_profile *profile = out->profile;
	struct sdw_map64 counts = {0};
	int err = 0;

	out->images = calloc(profile->processes.count + 1, sizeof(*out->images));
	if (!out->images)
		return -ENOMEM;
	for (size_t i = 1; i < profile->processes.count && !err; i++) {
		uint64_t key = (uint64_t)profile->processes.items[i].pid + 1;
		const uint64_t *before = sdw_map64_find(&counts, key);

		out->images[i] = before ? (uint32_t)*before + 1 : 1;
		err = sdw_map64_set(&counts, key, out->images[i]);
	}
	sdw_map64_free(&counts);
	return err;
}

static int number_function(struct firefox *out, size_t i)
{
	const struct sdw_profile_code *code = &out->places.functions.items[i];
	struct sdw_texts *table = code->kind == SDW_CODE_PYTHON ? &out->sources : &out->modules;
	const char *file = code->kind == SDW_CODE_KERNEL ? "[kernel]" : code->file;
	char *name = sdw_place_name(code);
	int err = name ? sdw_texts_number(&out->texts, name, &out->names[i]) : -ENOMEM;

	free(name);
	out->files[i] = NONE;
	if (!err && file && *file)
		err = sdw_texts_number(table, file, &out->files[i]);
	return err;
}

/* The text of each source or module, by its number. NULL: out of memory. */
static uint32_t *name_files(struct firefox *out, const struct sdw_texts *files, bool whole)
{
	uint32_t *names = calloc(files->count + 1, sizeof(*names));

	for (size_t i = 0; i < files->count && names; i++) {
		const char *name = whole ? files->items[i] : sdw_base_name(files->items[i]);

		if (!sdw_texts_number(&out->texts, name, &names[i]))
			continue;
		free(names);
		names = NULL;
	}
	return names;
}

static int number_functions(struct firefox *out)
{
	size_t count = out->places.functions.count;
	int err = 0;

	out->names = calloc(count + 1, sizeof(*out->names));
	out->files = calloc(count + 1, sizeof(*out->files));
	if (!out->names || !out->files)
		return -ENOMEM;
	for (size_t i = 0; i < count && !err; i++)
		err = number_function(out, i);
	if (err)
		return err;
	out->source_names = name_files(out, &out->sources, true);
	out->module_names = name_files(out, &out->modules, false);
	return out->source_names && out->module_names ? 0 : -ENOMEM;
}

static void write_all(const struct firefox *out)
{
	fputs("{", out->file);
	write_meta(out);
	write_libraries(out);
	write_shared(out);
	fputs("\"threads\":[", out->file);
	for (size_t i = 0; i < out->threads.count && !ferror(out->file); i++) {
		fputs(i ? ",\n" : "\n", out->file);
		write_thread(out, &out->threads.items[i]);
	}
	fputs("]}\n", out->file);
}

int sdw_export_firefox(const struct sdw_profile *profile, FILE *file)
{
	const char *unit = profile->recording.unit;
	struct firefox out = {.profile = profile, .file = file};
	int err = sdw_places_make(&out.places, profile);

	out.is_clock = unit && strcmp(unit, "ns") == 0;
	if (!err)
		err = sdw_samples_by_thread_make(&out.threads, profile);
	if (!err)
		err = number_functions(&out);
	if (!err)
		err = number_stacks(&out);
	if (!err)
		err = number_images(&out);
	if (!err)
		write_all(&out);
	sdw_samples_by_thread_free(&out.threads);
	sdw_places_free(&out.places);
	sdw_texts_free(&out.texts);
	sdw_texts_free(&out.sources);
	sdw_texts_free(&out.modules);
	free(out.names);
	free(out.files);
	free(out.source_names);
	free(out.module_names);
	free(out.stacks);
	free(out.images);
	return err;
}
