// SPDX-License-Identifier: MIT
/* object_print.c - objects as text; see object.h for what is shown of which. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dump/dict.h"
#include "dump/number.h"
#include "dump/object.h"
#include "events.h"
#include "symbol/remote_text.h"
#include "target/maps.h"

#define MAX_DEPTH      3u
#define MAX_ITEMS      10u /* of one container */
#define MAX_OBJECTS    50u /* of one value, with all that it contains */
#define MAX_CHARACTERS 80u /* of one string */
#define MAX_LENGTH     (1ull << 40)
#define ELLIPSIS       "\xe2\x80\xa6" /* U+2026 */

struct printer {
	const struct sdw_dump_memory *memory;
	FILE *file;
	unsigned int objects;
};

static void print(struct printer *printer, uint64_t address, unsigned int depth);

/* ---- str and bytes ---- */

static size_t width_of(uint32_t kind)
{
	return kind == SDW_TEXT_UCS4 ? 4 : kind == SDW_TEXT_UCS2 ? 2 : 1;
}

static uint32_t character_at(const struct sdw_remote_text *text, size_t index)
{
	size_t width = width_of(text->kind);
	uint32_t value = 0;

	memcpy(&value, text->bytes + index * width, width); /* little-endian, as x86-64 is */
	return value;
}

static void put_utf8(FILE *file, uint32_t c)
{
	if (c < 0x80) {
		fputc((int)c, file);
	} else if (c < 0x800) {
		fprintf(file, "%c%c", (int)(0xc0 | c >> 6), (int)(0x80 | (c & 0x3f)));
	} else if (c < 0x10000) {
		fprintf(file, "%c%c%c", (int)(0xe0 | c >> 12), (int)(0x80 | (c >> 6 & 0x3f)),
			(int)(0x80 | (c & 0x3f)));
	} else {
		fprintf(file, "%c%c%c%c", (int)(0xf0 | c >> 18), (int)(0x80 | (c >> 12 & 0x3f)),
			(int)(0x80 | (c >> 6 & 0x3f)), (int)(0x80 | (c & 0x3f)));
	}
}

static void put_character(FILE *file, uint32_t c, uint32_t quote, bool bytes)
{
	if (c == '\n')
		fputs("\\n", file);
	else if (c == '\r')
		fputs("\\r", file);
	else if (c == '\t')
		fputs("\\t", file);
	else if (c == '\\' || c == quote)
		fprintf(file, "\\%c", (int)c);
	else if (c < 0x20 || c == 0x7f || (c >= 0x80 && (bytes || c < 0xa0)))
		fprintf(file, "\\x%02x", c);
	else if (c >= 0xd800 && c <= 0xdfff)
		fprintf(file, "\\u%04x", c);
	else if (c > 0x10ffff)
		fprintf(file, "\\U%08x", c);
	else
		put_utf8(file, c);
}

static void print_text(struct printer *printer, const struct sdw_remote_text *text)
{
	size_t count = text->size / width_of(text->kind), shown = count;
	bool single = false, twice = false;
	uint32_t quote;

	if (shown > MAX_CHARACTERS)
		shown = MAX_CHARACTERS;
	for (size_t i = 0; i < shown; i++) {
		single |= character_at(text, i) == '\'';
		twice |= character_at(text, i) == '"';
	}
	quote = single && !twice ? '"' : '\'';
	fprintf(printer->file, "%s%c", text->kind == SDW_TEXT_BYTES ? "b" : "", (int)quote);
	for (size_t i = 0; i < shown; i++)
		put_character(printer->file, character_at(text, i), quote,
			      text->kind == SDW_TEXT_BYTES);
	fputc((int)quote, printer->file);
	if (text->cut || shown < count)
		fputs(ELLIPSIS, printer->file);
}

static bool print_string(struct printer *printer, uint64_t address, bool bytes)
{
	const struct sdw_remote_process process = {
		.read = sdw_remote_read,
		.pid = printer->memory->pid,
		.layout = &printer->memory->python->layout,
	};
	struct sdw_remote_text text;
	int err;

	if (bytes)
		err = sdw_remote_bytes(&process, address, MAX_CHARACTERS, &text);
	else
		err = sdw_remote_string(&process, address, MAX_CHARACTERS * 4, false, &text);
	if (err)
		return false;
	print_text(printer, &text);
	free(text.bytes);
	return true;
}

/* ---- containers ---- */

static bool print_items(struct printer *printer, uint64_t items, uint64_t count, unsigned int depth)
{
	for (uint64_t i = 0; i < count; i++) {
		uint64_t item;

		if (i)
			fputs(", ", printer->file);
		if (i == MAX_ITEMS || printer->objects >= MAX_OBJECTS) {
			fputs(ELLIPSIS, printer->file);
			break;
		}
		if (!sdw_dump_word(printer->memory, items + i * sizeof(item), &item))
			return false;
		print(printer, item, depth + 1);
	}
	return true;
}

static bool print_sequence(struct printer *printer, uint64_t address, bool list, unsigned int depth)
{
	uint64_t body = address + sdw_object_head(printer->memory), count;
	uint64_t items = body + printer->memory->objects.tuple_items;

	if (!sdw_dump_word(printer->memory, body, &count) || count > MAX_LENGTH)
		return false;
	if (list && count && !sdw_dump_word(printer->memory, body + 8, &items))
		return false;
	fputc(list ? '[' : '(', printer->file);
	if (depth >= MAX_DEPTH && count)
		fputs(ELLIPSIS, printer->file);
	else if (!print_items(printer, items, count, depth))
		fputs("<unreadable>", printer->file);
	fputs(list ? "]" : count == 1 && depth < MAX_DEPTH ? ",)" : ")", printer->file);
	return true;
}

static bool print_dict(struct printer *printer, uint64_t address, unsigned int depth)
{
	struct sdw_dict_reader reader;
	uint64_t key, value;
	unsigned int count = 0;

	if (sdw_dict_open(printer->memory, address, &reader))
		return false;
	fputc('{', printer->file);
	while (sdw_dict_next(&reader, &key, &value)) {
		if (count)
			fputs(", ", printer->file);
		if (depth >= MAX_DEPTH || count == MAX_ITEMS || printer->objects >= MAX_OBJECTS) {
			fputs(ELLIPSIS, printer->file);
			break;
		}
		print(printer, key, depth + 1);
		fputs(": ", printer->file);
		print(printer, value, depth + 1);
		count++;
	}
	fputc('}', printer->file);
	return true;
}

/* ---- all of them ---- */

static bool print_number(struct printer *printer, uint64_t address, enum sdw_object_kind kind)
{
	struct sdw_python_int number;
	double value;

	if (kind == SDW_OBJECT_FLOAT) {
		if (sdw_dump_read(printer->memory, address + sdw_object_head(printer->memory),
				  &value, sizeof(value)))
			return false;
		sdw_number_print_float(value, printer->file);
		return true;
	}
	if (sdw_number_read_int(printer->memory, address, &number))
		return false;
	if (kind == SDW_OBJECT_BOOL)
		fputs(number.digits ? "True" : "False", printer->file);
	else
		sdw_number_print_int(&number, printer->file);
	return true;
}

static bool print_known(struct printer *printer, const struct sdw_object_type *type,
			uint64_t address, unsigned int depth)
{
	switch (type->kind) {
	case SDW_OBJECT_NONE:
		fputs("None", printer->file);
		return true;
	case SDW_OBJECT_BOOL:
	case SDW_OBJECT_INT:
	case SDW_OBJECT_FLOAT:
		return print_number(printer, address, type->kind);
	case SDW_OBJECT_STR:
		return print_string(printer, address, false);
	case SDW_OBJECT_BYTES:
		return print_string(printer, address, true);
	case SDW_OBJECT_LIST:
	case SDW_OBJECT_TUPLE:
		return print_sequence(printer, address, type->kind == SDW_OBJECT_LIST, depth);
	case SDW_OBJECT_DICT:
		return print_dict(printer, address, depth);
	default:
		fputc('<', printer->file);
		for (const char *c = type->name; *c; c++)
			put_character(printer->file, (unsigned char)*c, 0, false);
		fputc('>', printer->file);
		return true;
	}
}

static void print(struct printer *printer, uint64_t address, unsigned int depth)
{
	struct sdw_object_type type;

	printer->objects++;
	if (sdw_object_type_read(printer->memory, address, &type) ||
	    !print_known(printer, &type, address, depth))
		fputs("<unreadable>", printer->file);
}

void sdw_object_print(const struct sdw_dump_memory *memory, uint64_t address, FILE *file)
{
	struct printer printer = {.memory = memory, .file = file};

	print(&printer, address, 0);
}
