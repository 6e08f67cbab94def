// SPDX-License-Identifier: MIT
#include <string.h>

#include "doctor/print.h"
#include "view/escape.h"
#include "view/report_header.h"

#define BOLD  "\033[1m"
#define PLAIN "\033[0m"

struct mark {
	const char *text, *colour;
};

static const struct mark marks[SDW_LEVEL_COUNT] = {
	[SDW_LEVEL_OK] = {"ok", "\033[32m"},
	[SDW_LEVEL_NOTE] = {"note", "\033[36m"},
	[SDW_LEVEL_WARNING] = {"warn", "\033[33m"},
	[SDW_LEVEL_FAULT] = {"FAULT", "\033[31m"},
};

static void print_mark(enum sdw_level level, bool colour, FILE *file)
{
	const struct mark *mark = &marks[level < SDW_LEVEL_COUNT ? level : SDW_LEVEL_FAULT];

	fprintf(file, "  %s%-5s%s ", colour ? mark->colour : "", mark->text, colour ? PLAIN : "");
}

void sdw_findings_print(const char *title, const struct sdw_findings *findings, bool colour,
			FILE *file)
{
	fputs(colour ? BOLD : "", file);
	sdw_escape_write(file, title, SDW_ESCAPE_TERMINAL);
	fputs(colour ? PLAIN "\n" : "\n", file);
	for (size_t i = 0; i < findings->count; i++) {
		const struct sdw_finding *finding = &findings->items[i];

		print_mark(finding->level, colour, file);
		fprintf(file, "%-20s ", finding->key);
		sdw_escape_write(file, finding->text, SDW_ESCAPE_TERMINAL);
		fputc('\n', file);
		if (!finding->fix[0])
			continue;
		fprintf(file, "%29s%s", "", "do: ");
		sdw_escape_write(file, finding->fix, SDW_ESCAPE_TERMINAL);
		fputc('\n', file);
	}
}

static void print_way(const char *key, bool works, const char *text, bool colour, FILE *file)
{
	print_mark(works ? SDW_LEVEL_OK : SDW_LEVEL_FAULT, colour, file);
	fprintf(file, "%-20s %s %s\n", key, works ? "works:" : "does not work:", text);
}

void sdw_works_print(const struct sdw_works *works, const char *no_signal, bool colour, FILE *file)
{
	print_way("BPF path", works->bpf, "sidewinder record, top", colour, file);
	if (no_signal) {
		print_mark(SDW_LEVEL_NOTE, colour, file);
		fprintf(file, "%-20s %s\n", "signal path", no_signal);
	} else {
		print_way("signal path", works->signal,
			  "sidewinder record --path=signal -- COMMAND", colour, file);
	}
	print_way("dump", works->dump, "sidewinder dump PID", colour, file);
}

struct json_object *sdw_findings_json(const struct sdw_findings *findings)
{
	struct json_object *list = json_object_new_array();

	for (size_t i = 0; list && i < findings->count; i++) {
		const struct sdw_finding *finding = &findings->items[i];
		struct json_object *object = json_object_new_object();

		json_object_object_add(object, "key", json_object_new_string(finding->key));
		json_object_object_add(object, "level",
				       json_object_new_string(sdw_level_name(finding->level)));
		json_object_object_add(object, "text", sdw_json_text(finding->text));
		json_object_object_add(object, "fix",
				       finding->fix[0] ? sdw_json_text(finding->fix) : NULL);
		json_object_array_add(list, object);
	}
	return list;
}

struct json_object *sdw_works_json(const struct sdw_works *works)
{
	struct json_object *object = json_object_new_object();

	if (!object)
		return NULL;
	json_object_object_add(object, "bpf", json_object_new_boolean(works->bpf));
	json_object_object_add(object, "signal", json_object_new_boolean(works->signal));
	json_object_object_add(object, "dump", json_object_new_boolean(works->dump));
	return object;
}
