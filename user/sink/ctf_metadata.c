// SPDX-License-Identifier: MIT
/* ctf_metadata.c - describes a trace in TSDL, the language of CTF 1.8 (section 7 of its text). */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sink/ctf_metadata.h"

#define UUID_TEXT_BYTES 37 /* with NUL */
#define NS_PER_S	1000000000ull

static const char types[] =
	"typealias integer { size = 5; align = 1; signed = false; } := uint5_t;\n"
	"typealias integer { size = 8; align = 8; signed = false; } := uint8_t;\n"
	"typealias integer { size = 16; align = 8; signed = false; } := uint16_t;\n"
	"typealias integer { size = 32; align = 8; signed = false; } := uint32_t;\n"
	"typealias integer { size = 64; align = 8; signed = false; } := uint64_t;\n"
	"typealias string { encoding = UTF8; } := text_t;\n\n";

/* times: 27 bits as long as they tell how far the clock went, else all 64 */
static const char stream[] =
	"typealias integer { size = 27; align = 1; signed = false; map = clock.monotonic.value; }\n"
	"\t:= uint27_clock_t;\n"
	"typealias integer { size = 64; align = 8; signed = false; map = clock.monotonic.value; }\n"
	"\t:= uint64_clock_t;\n\n"
	"struct event_header {\n"
	"\tenum : uint5_t { compact = 0 ... 30, extended = 31 } id;\n"
	"\tvariant <id> {\n"
	"\t\tstruct { uint27_clock_t timestamp; } compact;\n"
	"\t\tstruct { uint32_t id; uint64_clock_t timestamp; } extended;\n"
	"\t} v;\n"
	"} align(8);\n\n"
	"stream {\n"
	"\tid = 0;\n"
	"\tevent.header := struct event_header;\n"
	"\tpacket.context := struct {\n"
	"\t\tuint64_clock_t timestamp_begin;\n"
	"\t\tuint64_clock_t timestamp_end;\n"
	"\t\tuint64_t content_size;\n"
	"\t\tuint64_t packet_size;\n"
	"\t\tuint64_t packet_seq_num;\n"
	"\t\tuint64_t events_discarded;\n";

static const char stream_end[] = "\t};\n"
				 "};\n\n";

/* Writes a string literal; octal escapes are what every TSDL reader knows. Cut at the bound. */
static void put_text(FILE *out, const char *text)
{
	const unsigned char *at = (const unsigned char *)(text ? text : "");
	size_t written = 0;

	fputc('"', out);
	for (; *at && written < SDW_CTF_MAX_TEXT - 1; at++, written++) {
		if (*at == '"' || *at == '\\')
			fprintf(out, "\\%c", *at);
		else if (*at < 0x20 || *at == 0x7f)
			fprintf(out, "\\%03o", *at);
		else
			fputc(*at, out);
	}
	fputc('"', out);
}

void sdw_ctf_put_env_text(FILE *out, const char *key, const char *text)
{
	fprintf(out, "\t%s = ", key);
	put_text(out, text);
	fputs(";\n", out);
}

void sdw_ctf_put_env_number(FILE *out, const char *key, uint64_t number)
{
	/* readers keep env numbers in 64 bits with a sign */
	fprintf(out, "\t%s = %" PRIu64 ";\n", key, number > INT64_MAX ? INT64_MAX : number);
}

static void put_env(FILE *out, const struct sdw_recording *recording)
{
	fputs("env {\n", out);
	sdw_ctf_put_env_text(out, "tracer_name", SDW_CTF_TRACER);
	sdw_ctf_put_env_number(out, "trace_format", SDW_CTF_FORMAT);
	sdw_ctf_put_env_text(out, "version", recording->version);
	sdw_ctf_put_env_text(out, "hostname", recording->hostname);
	sdw_ctf_put_env_text(out, "command", recording->command);
	sdw_ctf_put_env_text(out, "event_name", recording->event);
	sdw_ctf_put_env_text(out, "unit", recording->unit);
	sdw_ctf_put_env_number(out, "period", recording->period);
	sdw_ctf_put_env_number(out, "frequency", recording->frequency);
	sdw_ctf_put_env_number(out, "start_ns", recording->start_ns);
	sdw_ctf_put_env_number(out, "start_unix_ns", recording->start_unix_ns);
	sdw_ctf_put_env_number(out, "native", recording->native);
	sdw_ctf_put_env_number(out, "kernel", recording->kernel);
	sdw_ctf_put_env_number(out, "path", recording->path);
	fputs("};\n\n", out);
}

/* The boot id names the monotonic clock of this boot, as in LTTng's traces. */
static bool read_boot_id(char *text)
{
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
	bool found = file && fgets(text, UUID_TEXT_BYTES, file) &&
		     strlen(text) == UUID_TEXT_BYTES - 1 &&
		     strspn(text, "0123456789abcdef-") == UUID_TEXT_BYTES - 1;

	if (file)
		fclose(file);
	return found;
}

void sdw_ctf_put_clock(FILE *out, const struct sdw_recording *recording)
{
	uint64_t offset_ns = 0; /* what turns CLOCK_MONOTONIC into time since 1970 */
	char boot_id[UUID_TEXT_BYTES];

	if (recording->start_unix_ns > recording->start_ns)
		offset_ns = recording->start_unix_ns - recording->start_ns;
	fputs("clock {\n\tname = monotonic;\n", out);
	if (read_boot_id(boot_id))
		sdw_ctf_put_env_text(out, "uuid", boot_id);
	fprintf(out,
		"\tdescription = \"CLOCK_MONOTONIC\";\n"
		"\tfreq = %llu;\n\toffset_s = %llu;\n\toffset = %llu;\n\tabsolute = TRUE;\n};\n\n",
		NS_PER_S, offset_ns / NS_PER_S, offset_ns % NS_PER_S);
}

static void put_enums(FILE *out)
{
	static const char *const kinds[SDW_CODE_KIND_COUNT] = {
		[SDW_CODE_PYTHON] = "python",
		[SDW_CODE_NATIVE] = "native",
		[SDW_CODE_KERNEL] = "kernel",
		[SDW_CODE_MARKER] = "marker",
	};

	fputs("typealias enum : uint8_t {\n", out);
#define PUT_STATUS(name, text, meaning) \
	fprintf(out, "\t\"%s\" = %d, /* %s */\n", text, SDW_STATUS_##name, meaning);
	SDW_STATUS_LIST(PUT_STATUS)
	fputs("} := status_t;\n\ntypealias enum : uint8_t {\n", out);
#define PUT_LOST(name, text, meaning) \
	fprintf(out, "\t\"%s\" = %d, /* %s */\n", text, SDW_LOST_##name, meaning);
	SDW_LOST_LIST(PUT_LOST)
	fputs("} := lost_t;\n\ntypealias enum : uint8_t {\n", out);
	for (int kind = 0; kind < SDW_CODE_KIND_COUNT; kind++)
		fprintf(out, "\t\"%s\" = %d,\n", kinds[kind], kind);
	fputs("} := kind_t;\n\n", out);
}

static void put_events(FILE *out)
{
	static const char *const names[] = {
		[SDW_CTF_U8] = "uint8_t",	  [SDW_CTF_U16] = "uint16_t",
		[SDW_CTF_U32] = "uint32_t",	  [SDW_CTF_U64] = "uint64_t",
		[SDW_CTF_TEXT] = "text_t",	  [SDW_CTF_STATUS_ENUM] = "status_t",
		[SDW_CTF_LOST_ENUM] = "lost_t",	  [SDW_CTF_KIND_ENUM] = "kind_t",
		[SDW_CTF_LATER_TEXT] = "text_t",  [SDW_CTF_LATER_U16] = "uint16_t",
		[SDW_CTF_LATER_U32] = "uint32_t", [SDW_CTF_LATER_U64] = "uint64_t",
	};

	for (size_t id = 0; id < SDW_CTF_EVENT_COUNT; id++) {
		const struct sdw_ctf_event_type *type = &sdw_ctf_event_types[id];

		fprintf(out,
			"event {\n\tname = \"%s\";\n\tid = %zu;\n\tstream_id = 0;\n"
			"\tfields := struct {\n",
			type->name, id);
		for (size_t i = 0; i < type->count; i++)
			fprintf(out, "\t\t%s %s;\n", names[type->fields[i].type],
				type->fields[i].name);
		fputs("\t};\n};\n\n", out);
	}
}

static void put_trace(FILE *out, const uint8_t *uuid)
{
	fputs("trace {\n\tmajor = 1;\n\tminor = 8;\n\tuuid = \"", out);
	for (size_t i = 0; i < SDW_CTF_UUID_BYTES; i++)
		fprintf(out, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid[i]);
	fputs("\";\n"
	      "\tbyte_order = le;\n"
	      "\tpacket.header := struct {\n"
	      "\t\tuint32_t magic;\n"
	      "\t\tuint8_t uuid[16];\n"
	      "\t\tuint32_t stream_id;\n"
	      "\t};\n"
	      "};\n\n",
	      out);
}

void sdw_ctf_put_begin(FILE *out, const uint8_t uuid[SDW_CTF_UUID_BYTES])
{
	fputs(SDW_CTF_SIGNATURE "\n", out);
	fputs(types, out);
	put_trace(out, uuid);
}

void sdw_ctf_put_stream(FILE *out, const char *more)
{
	fprintf(out, "%s%s%s", stream, more, stream_end);
}

char *sdw_ctf_metadata(const struct sdw_recording *recording,
		       const uint8_t uuid[SDW_CTF_UUID_BYTES], size_t *size)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, size);
	bool failed;

	if (!out)
		return NULL;
	sdw_ctf_put_begin(out, uuid);
	put_env(out, recording);
	sdw_ctf_put_clock(out, recording);
	sdw_ctf_put_stream(out, "");
	put_enums(out);
	put_events(out);
	failed = ferror(out);
	if (!fclose(out) && !failed)
		return text;
	free(text);
	return NULL;
}
