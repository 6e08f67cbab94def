// SPDX-License-Identifier: MIT
/* stack_builder.c - merge, names and ids of stacks that were not seen before. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "capture/stack_builder.h"
#include "symbol/call_glue.h"
#include "symbol/native.h"

#define HIDDEN	    UINT32_MAX /* a code that is not shown */
#define MERGED_ROOM (SDW_MAX_FRAMES + SDW_MAX_NATIVE_FRAMES + 8)
/* bits above the address in native_codes' keys: user addresses end below 2^56 */
#define RETURN_ADDRESS (1ull << 63)
/* of one image: code that a runtime makes has new addresses without end */
#define MAX_NATIVE_CODES 65536u

static const char *const marker_names[SDW_MARKER_COUNT] = {
	[SDW_MARKER_NATIVE_END] = "[native stack ends]",
	[SDW_MARKER_NATIVE_CUT] = "[native stack cut]",
	[SDW_MARKER_PYTHON_TRUNCATED] = "[truncated]",
	[SDW_MARKER_PYTHON_UNREADABLE] = "[unreadable]",
	[SDW_MARKER_PYTHON_BROKEN] = "[broken frame chain]",
	[SDW_MARKER_PENDING] = "[Python not yet found]",
	[SDW_MARKER_UNMATCHED] = "[native order not known]",
	[SDW_MARKER_GREENLET] = "[greenlet]",
	[SDW_MARKER_INTERPRETER] = "[other interpreter]",
};

int sdw_stack_builder_init(struct sdw_stack_builder *builder, struct sdw_catalog *catalog,
			   struct sdw_strings *strings, struct sdw_code_table *codes,
			   uint64_t max_memory)
{
	*builder = (struct sdw_stack_builder){
		.catalog = catalog,
		.strings = strings,
		.codes = codes,
		.max_memory = max_memory,
		.entry = malloc(SDW_MAX_FRAMES),
		.native_kind = malloc(SDW_MAX_NATIVE_FRAMES),
		.merged = malloc(MERGED_ROOM * sizeof(*builder->merged)),
	};
	return builder->entry && builder->native_kind && builder->merged ? 0 : -ENOMEM;
}

void sdw_stack_builder_read_kernel(struct sdw_stack_builder *builder)
{
	if (sdw_kernel_symbols_read(&builder->kernel))
		sdw_warn("/proc/kallsyms cannot be read: kernel frames stay addresses");
}

void sdw_stack_builder_free(struct sdw_stack_builder *builder)
{
	sdw_kernel_symbols_free(builder->kernel);
	sdw_map64_free(&builder->known);
	free(builder->entry);
	free(builder->native_kind);
	free(builder->merged);
}

/* Everything that the finished stack depends on. */
static uint64_t raw_hash(const struct sdw_raw_stack *raw)
{
	uint64_t hash = sdw_mix64((uint64_t)raw->image->pid << 32 | raw->image->epoch);

	hash = sdw_mix64(hash ^ raw->python_id);
	hash = sdw_mix64(hash ^ ((uint64_t)raw->status << 32 | (uint64_t)raw->native_cut << 40 |
				 (uint64_t)raw->native_end << 48 |
				 (uint64_t)(raw->flags & SDW_SAMPLE_SUBINTERPRETER) << 50 |
				 raw->image->maps.generation));
	for (size_t i = 0; i < raw->native_count; i++)
		hash = (hash << 7 | hash >> 57) * 0x9e3779b97f4a7c15ull ^ raw->pcs[i];
	for (size_t i = 0; i < raw->kernel_count; i++)
		hash = (hash << 7 | hash >> 57) * 0x9e3779b97f4a7c15ull ^ raw->kernel[i];
	return sdw_mix64(hash);
}

/* Puts a frame on top of *stack. */
static int push(struct sdw_stack_builder *builder, uint64_t time_ns, uint32_t code, uint32_t line,
		uint32_t *stack)
{
	uint32_t frame;
	int err;

	err = sdw_catalog_frame(builder->catalog, time_ns, code, line, &frame);
	return err ?: sdw_catalog_stack(builder->catalog, time_ns, *stack, frame, stack);
}

static int push_named(struct sdw_stack_builder *builder, uint64_t time_ns, enum sdw_code_kind kind,
		      const char *name, const char *file, uint32_t *stack)
{
	struct sdw_catalog_code code = {.name = name, .file = file, .kind = (uint8_t)kind};
	uint32_t id;
	int err;

	err = sdw_catalog_code(builder->catalog, time_ns, &code, &id);
	return err ?: push(builder, time_ns, id, 0, stack);
}

/* Returns 0, 1 if the name or line of the code is not known (yet), or -errno. */
static int push_python(struct sdw_stack_builder *builder, const struct sdw_raw_stack *raw,
		       const struct sdw_python_frame *frame, uint32_t *stack)
{
	const struct sdw_code *known = sdw_code_table_find(builder->codes, frame->code);
	struct sdw_catalog_code code = {.kind = SDW_CODE_PYTHON,
					.name = known->name,
					.file = known->file,
					.first_line = known->first_line};
	struct sdw_position position;
	uint32_t id, at;
	int err;

	position = sdw_code_table_position(builder->codes, known, frame->instruction);
	if (!builder->columns)
		position = (struct sdw_position){.line = position.line};
	err = sdw_catalog_code(builder->catalog, raw->time_ns, &code, &id);
	err = err ?: sdw_catalog_position(builder->catalog, raw->time_ns, id, &position, &at);
	err = err ?: sdw_catalog_stack(builder->catalog, raw->time_ns, *stack, at, stack);
	return err ?: known->incomplete;
}

/* The catalog's code for a program counter, looked up once per image. */
static int native_code(struct sdw_stack_builder *builder, const struct sdw_raw_stack *raw,
		       uint64_t pc, bool is_return, uint32_t *id)
{
	struct sdw_image *image = raw->image;
	uint64_t key = (pc ? pc : 1) | (is_return ? RETURN_ADDRESS : 0), *known;
	struct sdw_catalog_code code = {.kind = SDW_CODE_NATIVE};
	struct sdw_native_symbol symbol;
	int err;

	if (image->native_generation != image->maps.generation ||
	    image->native_codes.count >= MAX_NATIVE_CODES) {
		sdw_map64_clear(&image->native_codes);
		image->native_generation = image->maps.generation;
	}
	known = sdw_map64_find(&image->native_codes, key);
	if (known) {
		*id = (uint32_t)*known;
		return 0;
	}
	err = sdw_native_resolve(&image->maps, &image->perf_map, builder->strings, pc, is_return,
				 &symbol);
	if (err)
		return err;
	code.name = symbol.name;
	code.file = symbol.module;
	*id = HIDDEN;
	if (!symbol.trampoline)
		err = sdw_catalog_code(builder->catalog, raw->time_ns, &code, id);
	return err ?: sdw_map64_set(&image->native_codes, key, *id);
}

static int push_native(struct sdw_stack_builder *builder, const struct sdw_raw_stack *raw,
		       size_t index, uint32_t *stack)
{
	uint32_t id;
	int err;

	err = native_code(builder, raw, raw->pcs[index], index > 0, &id);
	if (err || id == HIDDEN)
		return err;
	return push(builder, raw->time_ns, id, 0, stack);
}

static int push_kernel(struct sdw_stack_builder *builder, const struct sdw_raw_stack *raw,
		       uint64_t address, uint32_t *stack)
{
	struct sdw_kernel_symbol symbol;
	char number[32];

	if (builder->kernel && !sdw_kernel_symbol_at(builder->kernel, address, &symbol))
		return push_named(builder, raw->time_ns, SDW_CODE_KERNEL, symbol.name,
				  symbol.module, stack);
	snprintf(number, sizeof(number), "0x%llx", (unsigned long long)address);
	return push_named(builder, raw->time_ns, SDW_CODE_KERNEL, number, "", stack);
}

/* greenlet's extension: "_greenlet.cpython-312-….so", before 1.0 without the underscore */
static bool is_greenlet(const struct sdw_mapping *mapping)
{
	const char *slash = strrchr(mapping->path, '/');
	const char *name = slash ? slash + 1 : mapping->path;

	return !strncmp(name + (*name == '_'), "greenlet.", sizeof("greenlet.") - 1);
}

/* in_instruction: was the frame inside in an instruction that is a function of its own? is this? */
static enum sdw_native_kind native_kind(struct sdw_image *image, uint64_t pc, bool is_return,
					bool *in_instruction)
{
	bool calls_instruction = *in_instruction;
	struct sdw_mapping *mapping;
	struct sdw_elf *elf;
	uint64_t vaddr;

	*in_instruction = false;
	pc -= is_return;
	mapping = sdw_maps_find(&image->maps, pc);
	elf = mapping ? sdw_mapping_elf(&image->maps, mapping) : NULL;
	if (!elf || sdw_mapping_to_vaddr(mapping, pc, &vaddr))
		return SDW_NATIVE_FRAME_PLAIN;
	if (is_greenlet(mapping))
		return SDW_NATIVE_FRAME_GREENLET;
	*in_instruction = sdw_elf_is_instruction(elf, vaddr);
	if (*in_instruction)
		return SDW_NATIVE_FRAME_EVALUATION;
	if (!sdw_elf_is_evaluation(elf, vaddr))
		return SDW_NATIVE_FRAME_PLAIN;
	return calls_instruction ? SDW_NATIVE_FRAME_ENTRY : SDW_NATIVE_FRAME_EVALUATION;
}

static uint32_t python_marker(uint8_t status)
{
	switch (status) {
	case SDW_STATUS_UNREADABLE:
		return SDW_MARKER_PYTHON_UNREADABLE;
	case SDW_STATUS_BROKEN:
		return SDW_MARKER_PYTHON_BROKEN;
	case SDW_STATUS_PENDING:
		return SDW_MARKER_PENDING;
	default:
		return SDW_MARKER_PYTHON_TRUNCATED;
	}
}

/* Are Python frames missing that must have been there? */
static bool python_is_whole(uint8_t status)
{
	return status != SDW_STATUS_TRUNCATED && status != SDW_STATUS_UNREADABLE &&
	       status != SDW_STATUS_BROKEN && status != SDW_STATUS_PENDING;
}

static size_t merge(struct sdw_stack_builder *builder, const struct sdw_raw_stack *raw)
{
	struct sdw_merge_input input = {
		.python_entry = builder->entry,
		.python_count = raw->python ? raw->python->frames : 0,
		.python_complete = python_is_whole(raw->status),
		.python_marker = python_marker(raw->status),
		.native_kind = builder->native_kind,
		.native_count = raw->native_count,
		.native_complete = raw->native_end == SDW_UNWIND_COMPLETE,
		.native_cut = raw->native_cut,
		.subinterpreter = raw->flags & SDW_SAMPLE_SUBINTERPRETER,
		.keep_evaluations = builder->interpreter_frames,
	};
	bool in_instruction = false;
	size_t count = 0;

	for (size_t i = 0; i < input.python_count; i++) {
		uint32_t entries = raw->python->frame[i].entries;

		builder->entry[i] = entries < UINT8_MAX ? (uint8_t)entries : UINT8_MAX;
	}
	for (size_t i = 0; i < raw->native_count; i++)
		builder->native_kind[i] =
			(uint8_t)native_kind(raw->image, raw->pcs[i], i > 0, &in_instruction);
	if (!sdw_merge(&input, builder->merged, MERGED_ROOM, &count))
		builder->unmatched++;
	return count;
}

/* Is the native frame call glue of the interpreter's own file? */
static bool is_glue(struct sdw_stack_builder *builder, const struct sdw_raw_stack *raw,
		    uint32_t index)
{
	const char *own = raw->image->interpreter.path;
	const struct sdw_catalog_code *code;
	size_t length, own_length = strlen(own);
	uint32_t id;

	if (native_code(builder, raw, raw->pcs[index], index > 0, &id))
		return false;
	if (id == HIDDEN)
		return true;
	code = &builder->catalog->codes.items[id];
	length = strlen(code->file);
	/* the interpreter's path may be cut at its front */
	return own_length && length >= own_length &&
	       !strcmp(code->file + length - own_length, own) && sdw_is_call_glue(code->name);
}

/*
 * Takes out runs of native frames between two Python frames that are call glue and nothing else.
 * Returns how many frames are left.
 */
static size_t drop_glue(struct sdw_stack_builder *builder, const struct sdw_raw_stack *raw,
			size_t count)
{
	struct sdw_merged_frame *frames = builder->merged;
	size_t kept = 0, i, end;

	for (i = 0; i < count; i++) {
		frames[kept++] = frames[i];
		if (frames[i].kind != SDW_MERGED_PYTHON)
			continue;
		for (end = i + 1; end < count && frames[end].kind == SDW_MERGED_NATIVE &&
				  is_glue(builder, raw, frames[end].index);)
			end++;
		if (end < count && frames[end].kind == SDW_MERGED_PYTHON)
			i = end - 1;
	}
	return kept;
}

/* Returns 0, 1 if a name was missing, or -errno. */
static int push_merged(struct sdw_stack_builder *builder, const struct sdw_raw_stack *raw,
		       const struct sdw_merged_frame *frame, uint32_t *stack)
{
	switch (frame->kind) {
	case SDW_MERGED_PYTHON:
		return push_python(builder, raw, &raw->python->frame[frame->index], stack);
	case SDW_MERGED_NATIVE:
		return push_native(builder, raw, frame->index, stack);
	default:
		return push_named(builder, raw->time_ns, SDW_CODE_MARKER,
				  marker_names[frame->index < SDW_MARKER_COUNT ? frame->index : 0],
				  "", stack);
	}
}

/* Root first: the sink's stacks are chains from callers to callees. */
static int build(struct sdw_stack_builder *builder, const struct sdw_raw_stack *raw, uint32_t *id)
{
	size_t count = merge(builder, raw);
	int err, unnamed = 0;

	*id = 0;
	if (!builder->interpreter_frames)
		count = drop_glue(builder, raw, count);
	while (count) {
		err = push_merged(builder, raw, &builder->merged[--count], id);
		if (err < 0)
			return err;
		unnamed |= err;
	}
	for (size_t i = raw->kernel_count; i > 0; i--) {
		err = push_kernel(builder, raw, raw->kernel[i - 1], id);
		if (err)
			return err;
	}
	return unnamed;
}

/*
 * Remembers a stack. Those of images that ended and of mappings before the last change are not
 * removed one by one: when the map is full, it begins anew, and what comes again is built again.
 */
static int remember(struct sdw_stack_builder *builder, uint64_t hash, uint32_t id)
{
	struct sdw_map64 *known = &builder->known;

	if ((known->count + 1) * 2 > known->room &&
	    known->room * 2 * sizeof(*known->slots) > builder->max_memory / 4)
		sdw_map64_clear(known);
	return sdw_map64_set(known, hash, id);
}

int sdw_stack_build(struct sdw_stack_builder *builder, const struct sdw_raw_stack *raw,
		    uint32_t *id)
{
	uint64_t hash = raw_hash(raw), *known = sdw_map64_find(&builder->known, hash);
	int err;

	if (known) {
		*id = (uint32_t)*known;
		return 0;
	}
	if (sdw_catalog_bytes(builder->catalog) > builder->max_memory / 4 * 3 ||
	    builder->strings->bytes > builder->max_memory || /* of files and perf maps, too */
	    (raw->python_id && !raw->python)) {
		builder->out_of_memory++;
		*id = 0;
		return push_named(builder, raw->time_ns, SDW_CODE_MARKER, "[beyond --max-memory]",
				  "", id);
	}
	err = build(builder, raw, id);
	if (err == 1)
		return 0; /* a later sample may find the name: do not remember this */
	return err ?: remember(builder, hash, *id);
}
