// SPDX-License-Identifier: MIT
/* code_record.c - checks a code record, decodes it, and reads what it lacks. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/code_record.h"
#include "symbol/pycode.h"

#define UNICODE_SINCE	0x0300u
#define QUALNAME_SINCE	0x030bu
#define RANGES_SINCE	0x030au /* before: co_lnotab, whose last line goes on for ever */
#define MAX_LENGTH	(1ull << 40)
#define CODE_HEAD_BYTES 256u /* bound of layout->code_span */

/* One text of a record and where its bytes lie. */
struct part {
	const struct sdw_text *text;
	const uint8_t *bytes;
	bool is_path;
};

static uint64_t unit_of(uint32_t kind)
{
	return kind == SDW_TEXT_UCS4 ? 4 : kind == SDW_TEXT_UCS2 ? 2 : 1;
}

static bool is_whole(const struct sdw_text *text)
{
	return text->kind != SDW_TEXT_NONE && text->length <= MAX_LENGTH &&
	       text->bytes >= text->length * unit_of(text->kind);
}

static bool text_is_valid(const struct sdw_text *text, uint32_t max_bytes)
{
	return text->bytes <= max_bytes && (text->kind != SDW_TEXT_NONE || !text->bytes);
}

/* Names of 2.7 are bytes objects. */
static bool string_is_valid(const struct sdw_text *text, uint32_t version)
{
	return (text->kind < SDW_TEXT_BYTES ||
		(text->kind == SDW_TEXT_BYTES && version < UNICODE_SINCE)) &&
	       text_is_valid(text, SDW_MAX_NAME_BYTES);
}

int sdw_code_record_check(const struct sdw_record_code *record, size_t size)
{
	const struct sdw_text *table = &record->linetable;

	if (size < sizeof(*record) || record->record.size != size || !record->id)
		return -EINVAL;
	if (!string_is_valid(&record->name, record->version) ||
	    !string_is_valid(&record->qualname, record->version) ||
	    !string_is_valid(&record->filename, record->version))
		return -EINVAL;
	if ((table->kind != SDW_TEXT_NONE && table->kind != SDW_TEXT_BYTES) ||
	    !text_is_valid(table, SDW_MAX_LINETABLE_BYTES))
		return -EINVAL;
	/* four bounded numbers: no overflow */
	if (size - sizeof(*record) !=
	    record->name.bytes + record->qualname.bytes + record->filename.bytes + table->bytes)
		return -EINVAL;
	return 0;
}

/* True if the living code object still points at what was announced. */
static bool is_still_there(const struct sdw_record_code *record,
			   const struct sdw_remote_process *process)
{
	const struct sdw_pylayout *layout = process->layout;
	const struct {
		uint32_t offset;
		const struct sdw_text *text;
	} fields[] = {
		{layout->code_name, &record->name},
		{layout->code_qualname, &record->qualname},
		{layout->code_filename, &record->filename},
		{layout->code_linetable, &record->linetable},
	};
	uint8_t head[CODE_HEAD_BYTES];
	int32_t first_line;

	if (layout->code_span > sizeof(head) || layout->code_span < sizeof(uint64_t) ||
	    layout->code_firstlineno > layout->code_span - sizeof(first_line))
		return false;
	if (process->read(process->pid, record->addr, head, layout->code_span))
		return false;
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		uint64_t address;

		if (fields[i].offset == SDW_NO_OFFSET)
			continue;
		if (fields[i].offset > layout->code_span - sizeof(address))
			return false;
		memcpy(&address, head + fields[i].offset, sizeof(address));
		if (address != fields[i].text->addr)
			return false;
	}
	memcpy(&first_line, head + layout->code_firstlineno, sizeof(first_line));
	return first_line == record->first_line;
}

/* What the record holds of a string. Returns 0 (*string is NULL where that is nothing) or -ENOMEM.
 */
static int decode_sent(const struct part *part, char **string)
{
	const struct sdw_text *text = part->text;
	bool cut = !is_whole(text);

	*string = NULL;
	if (text->kind == SDW_TEXT_NONE || (cut && !text->bytes))
		return 0;
	*string = sdw_text_decode(text->kind, part->bytes, text->bytes, cut && part->is_path,
				  cut && !part->is_path);
	return *string ? 0 : -ENOMEM;
}

/* The string from the process; false if it cannot be had. */
static bool fetch_string(const struct sdw_record_code *record,
			 const struct sdw_remote_process *process, const struct part *part,
			 char **string, bool *cut)
{
	struct sdw_remote_text text;

	if (!process || !part->text->addr)
		return false;
	if (sdw_remote_string(process, part->text->addr, SDW_MAX_FETCHED_NAME_BYTES, part->is_path,
			      &text))
		return false;
	*string = NULL;
	/* looked at afterwards, so that the bytes read were still its own */
	if (is_still_there(record, process))
		*string = sdw_text_decode(text.kind, text.bytes, text.size,
					  text.cut && part->is_path, text.cut && !part->is_path);
	free(text.bytes);
	*cut = text.cut;
	return *string != NULL;
}

static int take_string(const struct sdw_record_code *record,
		       const struct sdw_remote_process *process, const struct part *part,
		       struct sdw_code_words *words, char **string)
{
	bool cut;
	int err;

	if (!is_whole(part->text) && fetch_string(record, process, part, string, &cut)) {
		words->completed = true;
		words->missing |= cut;
		return 0;
	}
	err = decode_sent(part, string);
	if (!err && !is_whole(part->text))
		words->missing = words->may_grow = true;
	return err;
}

static int take_table(const struct sdw_record_code *record,
		      const struct sdw_remote_process *process, const uint8_t *bytes,
		      struct sdw_code_words *words)
{
	const struct sdw_text *sent = &record->linetable;
	struct sdw_remote_text text;

	if (!is_whole(sent) && process && sent->addr &&
	    !sdw_remote_bytes(process, sent->addr, SDW_MAX_FETCHED_TABLE_BYTES, &text)) {
		if (is_still_there(record, process)) {
			words->table = text.bytes;
			words->table_size = text.size;
			words->table_cut = text.cut;
			words->table_known = words->completed = true;
			words->missing |= text.cut;
			return 0;
		}
		free(text.bytes);
	}
	if (!is_whole(sent))
		words->missing = words->may_grow = true;
	if (sent->kind == SDW_TEXT_NONE || (!is_whole(sent) && !sent->bytes))
		return 0;
	words->table = malloc(sent->bytes + 1);
	if (!words->table)
		return -ENOMEM;
	memcpy(words->table, bytes, sent->bytes);
	words->table_size = sent->bytes;
	words->table_cut = !is_whole(sent);
	words->table_known = true;
	return 0;
}

int sdw_code_record_words(const struct sdw_record_code *record,
			  const struct sdw_remote_process *process, struct sdw_code_words *words)
{
	const uint8_t *bytes = (const uint8_t *)(record + 1);
	const struct part name = {&record->name, bytes, false};
	const struct part qualname = {&record->qualname, name.bytes + record->name.bytes, false};
	const struct part file = {&record->filename, qualname.bytes + record->qualname.bytes, true};
	int err = 0;

	*words = (struct sdw_code_words){0};
	if (record->version >= QUALNAME_SINCE && record->qualname.addr)
		err = take_string(record, process, &qualname, words, &words->name);
	if (!err && !words->name)
		err = take_string(record, process, &name, words, &words->name);
	if (!err)
		err = take_string(record, process, &file, words, &words->file);
	if (!err)
		err = take_table(record, process, file.bytes + record->filename.bytes, words);
	/* an odd size tells sdw_line_of() that a co_lnotab does not go on as its end says */
	if (!err && words->table_cut && words->table_size && record->version < RANGES_SINCE)
		words->table_size = (words->table_size - 1) | 1;
	if (err)
		sdw_code_words_free(words);
	return err;
}

void sdw_code_words_free(struct sdw_code_words *words)
{
	free(words->name);
	free(words->file);
	free(words->table);
	*words = (struct sdw_code_words){0};
}
