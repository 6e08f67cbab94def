/* SPDX-License-Identifier: MIT */
/*
 * catalog.h - gives every function, line and stack of a recording its id, and tells the sink of
 * each once, before its first use.
 */
#ifndef SDW_CATALOG_H
#define SDW_CATALOG_H

#include "base/map64.h"
#include "base/strings.h"
#include "sink.h"
#include "symbol/pycode.h"

struct sdw_catalog_code {
	const char *name, *file;
	uint32_t first_line;
	uint8_t kind;
};

struct sdw_catalog_frame {
	uint32_t code, id;
	struct sdw_position position;
};

struct sdw_catalog {
	struct sdw_sink *sink;
	struct sdw_strings *strings;
	struct sdw_map64 code_ids;  /* hash of a code -> id, probed upwards on collision */
	struct sdw_map64 frame_ids; /* code << 32 | line -> id */
	/* hash of a code and a position -> place in `positions`, probed upwards on collision */
	struct sdw_map64 position_ids;
	struct {
		struct sdw_catalog_frame *items;
		size_t count, room;
	} positions;
	struct sdw_map64 stack_ids; /* parent << 32 | frame -> id */
	struct {
		struct sdw_catalog_code *items; /* entry 0 is not used */
		size_t count, room;
	} codes;
	uint32_t frames, stacks;
};

/* `sink` and `strings` must outlive the catalog. */
void sdw_catalog_init(struct sdw_catalog *catalog, struct sdw_sink *sink,
		      struct sdw_strings *strings);
void sdw_catalog_free(struct sdw_catalog *catalog);

/* Each returns 0 and the id, or -errno (also the sink's). Names need not be kept strings. */
int sdw_catalog_code(struct sdw_catalog *catalog, uint64_t time_ns,
		     const struct sdw_catalog_code *code, uint32_t *id);
int sdw_catalog_frame(struct sdw_catalog *catalog, uint64_t time_ns, uint32_t code, uint32_t line,
		      uint32_t *id);
/* A frame with columns; where it has none, the same as of the line alone. */
int sdw_catalog_position(struct sdw_catalog *catalog, uint64_t time_ns, uint32_t code,
			 const struct sdw_position *position, uint32_t *id);
int sdw_catalog_stack(struct sdw_catalog *catalog, uint64_t time_ns, uint32_t parent,
		      uint32_t frame, uint32_t *id);

/* Bytes that the tables take, about. */
size_t sdw_catalog_bytes(const struct sdw_catalog *catalog);

#endif
