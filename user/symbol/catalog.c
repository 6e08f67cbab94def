// SPDX-License-Identifier: MIT
/* catalog.c - interning of codes, frames and stacks; ids are dense and count from 1. */
#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "symbol/catalog.h"

void sdw_catalog_init(struct sdw_catalog *catalog, struct sdw_sink *sink,
		      struct sdw_strings *strings)
{
	*catalog = (struct sdw_catalog){.sink = sink, .strings = strings};
}

void sdw_catalog_free(struct sdw_catalog *catalog)
{
	sdw_map64_free(&catalog->code_ids);
	sdw_map64_free(&catalog->frame_ids);
	sdw_map64_free(&catalog->position_ids);
	free(catalog->positions.items);
	sdw_map64_free(&catalog->stack_ids);
	free(catalog->codes.items);
}

static uint64_t code_hash(const struct sdw_catalog_code *code)
{
	uint64_t hash = sdw_mix64((uintptr_t)code->name);

	hash = sdw_mix64(hash ^ (uintptr_t)code->file);
	return sdw_mix64(hash ^ ((uint64_t)code->first_line << 8 | code->kind));
}

static bool same_code(const struct sdw_catalog_code *a, const struct sdw_catalog_code *b)
{
	return a->name == b->name && a->file == b->file && a->first_line == b->first_line &&
	       a->kind == b->kind;
}

static int new_code(struct sdw_catalog *catalog, uint64_t time_ns,
		    const struct sdw_catalog_code *code, uint32_t *id)
{
	struct sdw_code_event event = {.time_ns = time_ns,
				       .kind = code->kind,
				       .name = code->name,
				       .file = code->file,
				       .first_line = code->first_line};
	int err;

	if (!catalog->codes.count)
		catalog->codes.count = 1;
	err = sdw_array_reserve(&catalog->codes, 2);
	if (err)
		return err;
	*id = (uint32_t)catalog->codes.count++;
	catalog->codes.items[*id] = *code;
	event.id = *id;
	return catalog->sink->ops->code(catalog->sink, &event);
}

int sdw_catalog_code(struct sdw_catalog *catalog, uint64_t time_ns,
		     const struct sdw_catalog_code *code, uint32_t *id)
{
	struct sdw_catalog_code kept = *code;
	uint64_t hash, *known;
	int err;

	kept.name = sdw_strings_keep(catalog->strings, code->name);
	kept.file = sdw_strings_keep(catalog->strings, code->file);
	if (!kept.name || !kept.file)
		return -ENOMEM;
	for (hash = code_hash(&kept);; hash = hash == UINT64_MAX ? 1 : hash + 1) {
		known = sdw_map64_find(&catalog->code_ids, hash);
		if (!known)
			break;
		if (same_code(&catalog->codes.items[*known], &kept)) {
			*id = (uint32_t)*known;
			return 0;
		}
	}
	err = new_code(catalog, time_ns, &kept, id);
	return err ?: sdw_map64_set(&catalog->code_ids, hash, *id);
}

int sdw_catalog_frame(struct sdw_catalog *catalog, uint64_t time_ns, uint32_t code, uint32_t line,
		      uint32_t *id)
{
	struct sdw_frame_event event = {.time_ns = time_ns, .code = code, .line = line};
	uint64_t key = (uint64_t)code << 32 | line;
	uint64_t *known = sdw_map64_find(&catalog->frame_ids, key);
	int err;

	if (known) {
		*id = (uint32_t)*known;
		return 0;
	}
	*id = event.id = ++catalog->frames;
	err = sdw_map64_set(&catalog->frame_ids, key, *id);
	return err ?: catalog->sink->ops->frame(catalog->sink, &event);
}

static uint64_t position_hash(uint32_t code, const struct sdw_position *position)
{
	uint64_t hash = sdw_mix64((uint64_t)code << 32 | position->line);

	return sdw_mix64(hash ^ ((uint64_t)position->end_line << 32 |
				 (uint32_t)position->column << 16 | position->end_column));
}

static bool is_position(const struct sdw_catalog_frame *frame, uint32_t code,
			const struct sdw_position *position)
{
	return frame->code == code && frame->position.line == position->line &&
	       frame->position.end_line == position->end_line &&
	       frame->position.column == position->column &&
	       frame->position.end_column == position->end_column;
}

int sdw_catalog_position(struct sdw_catalog *catalog, uint64_t time_ns, uint32_t code,
			 const struct sdw_position *position, uint32_t *id)
{
	struct sdw_frame_event event = {.time_ns = time_ns,
					.code = code,
					.line = position->line,
					.end_line = position->end_line,
					.column = position->column,
					.end_column = position->end_column};
	uint64_t hash, *known;
	int err;

	if (!position->column)
		return sdw_catalog_frame(catalog, time_ns, code, position->line, id);
	for (hash = position_hash(code, position);; hash = hash == UINT64_MAX ? 1 : hash + 1) {
		known = sdw_map64_find(&catalog->position_ids, hash);
		if (!known)
			break;
		if (is_position(&catalog->positions.items[*known], code, position)) {
			*id = catalog->positions.items[*known].id;
			return 0;
		}
	}
	err = sdw_array_reserve(&catalog->positions, 1);
	err = err ?: sdw_map64_set(&catalog->position_ids, hash, catalog->positions.count);
	if (err)
		return err;
	*id = event.id = ++catalog->frames;
	catalog->positions.items[catalog->positions.count++] =
		(struct sdw_catalog_frame){.code = code, .id = *id, .position = *position};
	return catalog->sink->ops->frame(catalog->sink, &event);
}

int sdw_catalog_stack(struct sdw_catalog *catalog, uint64_t time_ns, uint32_t parent,
		      uint32_t frame, uint32_t *id)
{
	struct sdw_stack_event event = {.time_ns = time_ns, .parent = parent, .frame = frame};
	uint64_t key = (uint64_t)parent << 32 | frame;
	uint64_t *known = sdw_map64_find(&catalog->stack_ids, key);
	int err;

	if (known) {
		*id = (uint32_t)*known;
		return 0;
	}
	*id = event.id = ++catalog->stacks;
	err = sdw_map64_set(&catalog->stack_ids, key, *id);
	return err ?: catalog->sink->ops->stack(catalog->sink, &event);
}

size_t sdw_catalog_bytes(const struct sdw_catalog *catalog)
{
	return (catalog->code_ids.room + catalog->frame_ids.room + catalog->stack_ids.room +
		catalog->position_ids.room) *
		       sizeof(struct sdw_map64_slot) +
	       catalog->positions.room * sizeof(*catalog->positions.items) +
	       catalog->codes.room * sizeof(*catalog->codes.items);
}
