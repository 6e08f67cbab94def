// SPDX-License-Identifier: MIT
/*
 * elf_evaluation.c - where in an ELF file the interpreter's evaluation function is, in all its
 * parts.
 *
 * In:  the file's functions; where there is no full symbol table, its code and unwind information.
 * Out: address ranges, found at first use.
 *
 * Compilers move what runs seldom out of a function, into a part of its own in another place. A
 * stripped file has no name for it (Debian's python3 has 14 KB of it). It is found by two marks
 * together: the function jumps there, and the unwind information begins there with a stack frame
 * that is set up already, of a size that the function itself has. Code that is called begins with
 * none.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "symbol/elf_internal.h"
#include "unwind/bytes.h"
#include "unwind/frame_table.h"

#define MAX_RANGES     64	  /* compilers make two or three */
#define MAX_CODE_BYTES (1u << 20) /* of the function; real ones have 35 to 60 KB */
#define EVALUATION     "_PyEval_EvalFrameDefault"
/* 2.7; later versions have one too, which only calls the other */
#define OLD_EVALUATION "PyEval_EvalFrameEx"

struct ranges {
	struct sdw_elf_range *items;
	size_t count, room;
};

/* "NAME", or "NAME.cold" and whatever else compilers append after a dot. */
static bool is_part_name(const char *part, const char *name)
{
	size_t length = strlen(name);

	return strncmp(part, name, length) == 0 && (part[length] == '\0' || part[length] == '.');
}

static bool contains(const struct ranges *ranges, uint64_t vaddr)
{
	for (size_t i = 0; i < ranges->count; i++) {
		if (vaddr >= ranges->items[i].start && vaddr < ranges->items[i].end)
			return true;
	}
	return false;
}

static void add_range(struct ranges *ranges, uint64_t start, uint64_t end)
{
	if (ranges->count == MAX_RANGES || contains(ranges, start) || sdw_array_reserve(ranges, 1))
		return;
	ranges->items[ranges->count++] = (struct sdw_elf_range){start, end};
}

/* How the canonical frame address follows from a register; what matters here of a row of rules. */
struct frame_address {
	uint64_t register_number, offset;
};

enum step { STEP_RULE, STEP_ADVANCE, STEP_END };

static void skip_block(struct sdw_bytes *bytes)
{
	uint64_t size = sdw_bytes_uleb(bytes);

	sdw_bytes_skip(bytes, size);
}

/* The instructions that have a byte of their own (DWARF 5, section 7.24). */
static enum step extended_instruction(struct sdw_bytes *bytes, uint64_t code,
				      struct frame_address *address)
{
	switch (code) {
	case 0x00: /* nop */
	case 0x0a: /* remember_state */
	case 0x0b: /* restore_state: the rows before it were seen already */
		return STEP_RULE;
	case 0x02: /* advance_loc1, 2, 4 */
	case 0x03:
	case 0x04:
		sdw_bytes_skip(bytes, 1u << (code - 2));
		return STEP_ADVANCE;
	case 0x05: /* offset_extended */
	case 0x09: /* register */
		sdw_bytes_uleb(bytes);
		sdw_bytes_uleb(bytes);
		return STEP_RULE;
	case 0x06: /* restore_extended */
	case 0x07: /* undefined */
	case 0x08: /* same_value */
	case 0x2e: /* GNU_args_size */
		sdw_bytes_uleb(bytes);
		return STEP_RULE;
	case 0x0c: /* def_cfa */
		address->register_number = sdw_bytes_uleb(bytes);
		address->offset = sdw_bytes_uleb(bytes);
		return STEP_RULE;
	case 0x0d: /* def_cfa_register */
		address->register_number = sdw_bytes_uleb(bytes);
		return STEP_RULE;
	case 0x0e: /* def_cfa_offset */
		address->offset = sdw_bytes_uleb(bytes);
		return STEP_RULE;
	case 0x10: /* expression */
	case 0x16: /* val_expression */
		sdw_bytes_uleb(bytes);
		skip_block(bytes);
		return STEP_RULE;
	default:
		return STEP_END;
	}
}

static enum step next_instruction(struct sdw_bytes *bytes, struct frame_address *address)
{
	uint64_t code;

	if (bytes->at == bytes->end)
		return STEP_END;
	code = sdw_bytes_unsigned(bytes, 1);
	if (code >= 0xc0) /* restore */
		return STEP_RULE;
	if (code >= 0x80) { /* offset */
		sdw_bytes_uleb(bytes);
		return bytes->bad ? STEP_END : STEP_RULE;
	}
	if (code >= 0x40)
		return STEP_ADVANCE;
	switch (extended_instruction(bytes, code, address)) {
	case STEP_RULE:
		return bytes->bad ? STEP_END : STEP_RULE;
	case STEP_ADVANCE:
		return bytes->bad ? STEP_END : STEP_ADVANCE;
	default:
		return STEP_END;
	}
}

/* The rule at the first instruction of the code; `called` is that of every function just called. */
static void first_rule(const struct sdw_frame_entry *entry, struct frame_address *called,
		       struct frame_address *first)
{
	struct sdw_bytes initial = {.at = entry->initial,
				    .end = entry->initial + entry->initial_size};
	struct sdw_bytes program = {.at = entry->program,
				    .end = entry->program + entry->program_size};

	*called = (struct frame_address){0};
	while (next_instruction(&initial, called) == STEP_RULE)
		;
	*first = *called;
	while (next_instruction(&program, first) == STEP_RULE)
		;
}

/* True if the rule applies somewhere in the code of the entry. */
static bool has_rule(const struct sdw_frame_entry *entry, const struct frame_address *wanted)
{
	struct sdw_bytes program = {.at = entry->program,
				    .end = entry->program + entry->program_size};
	struct frame_address called, rule;
	enum step step;

	first_rule(entry, &called, &rule);
	rule = called;
	do {
		step = next_instruction(&program, &rule);
		if (step != STEP_RULE && rule.register_number == wanted->register_number &&
		    rule.offset == wanted->offset)
			return true;
	} while (step != STEP_END);
	return false;
}

/* True if `part` begins with a frame that is set up, as `function` sets one up. */
static bool is_part_of(const struct sdw_frame_entry *part, const struct sdw_frame_entry *function)
{
	struct frame_address called, first;

	first_rule(part, &called, &first);
	if (first.register_number == called.register_number && first.offset == called.offset)
		return false;
	return has_rule(function, &first);
}

static void add_jumped_to(struct sdw_elf *elf, const struct sdw_elf_range *hot, const uint8_t *code,
			  struct ranges *ranges)
{
	struct sdw_frame_tables tables = {0};
	struct sdw_frame_entry function, part;
	size_t size = hot->end - hot->start;

	if (sdw_frame_table_find(&tables, elf, hot->start, &function))
		goto out;
	for (size_t at = 0; at < size; at++) {
		uint64_t target;

		if (!sdw_elf_jump_target(code, size, at, hot->start, &target) ||
		    contains(ranges, target))
			continue;
		if (sdw_frame_table_find(&tables, elf, target, &part) == 0 &&
		    is_part_of(&part, &function))
			add_range(ranges, part.start, part.end);
	}
out:
	sdw_frame_tables_free(&tables);
}

/* The parts of the function at `hot` for which a stripped file has no names. */
static void add_nameless_parts(struct sdw_elf *elf, const struct sdw_elf_range *hot,
			       struct ranges *ranges)
{
	size_t size = hot->end - hot->start;
	uint8_t *code;

	if (size > MAX_CODE_BYTES)
		return;
	code = malloc(size);
	if (code && sdw_elf_read(elf, hot->start, code, size) == 0)
		add_jumped_to(elf, hot, code, ranges);
	free(code);
}

static void add_named_parts(struct sdw_elf *elf, const char *name, struct ranges *ranges)
{
	for (size_t i = 0; i < elf->function_count; i++) {
		const struct sdw_elf_function *function = &elf->functions[i];

		if (function->size && is_part_name(function->name, name))
			add_range(ranges, function->vaddr, function->vaddr + function->size);
	}
}

static void load_evaluation(struct sdw_elf *elf)
{
	struct ranges ranges = {0};

	elf->evaluation_tried = true;
	elf->evaluation_name = EVALUATION;
	sdw_elf_load_functions(elf);
	add_named_parts(elf, EVALUATION, &ranges);
	if (!ranges.count) {
		elf->evaluation_name = OLD_EVALUATION;
		add_named_parts(elf, OLD_EVALUATION, &ranges);
	}
	if (ranges.count == 1 && !elf->functions_complete) {
		struct sdw_elf_range hot = ranges.items[0];

		add_nameless_parts(elf, &hot, &ranges);
	}
	elf->evaluation = ranges.items;
	elf->evaluation_count = ranges.count;
}

bool sdw_is_evaluation_name(const char *name)
{
	return is_part_name(name, EVALUATION) || is_part_name(name, OLD_EVALUATION);
}

static const struct sdw_elf_range *part_at(struct sdw_elf *elf, uint64_t vaddr)
{
	if (!elf->evaluation_tried)
		load_evaluation(elf);
	for (size_t i = 0; i < elf->evaluation_count; i++) {
		if (vaddr >= elf->evaluation[i].start && vaddr < elf->evaluation[i].end)
			return &elf->evaluation[i];
	}
	return NULL;
}

bool sdw_elf_is_evaluation(struct sdw_elf *elf, uint64_t vaddr)
{
	return part_at(elf, vaddr) != NULL;
}

int sdw_elf_evaluation_at(struct sdw_elf *elf, uint64_t vaddr, struct sdw_elf_symbol *symbol)
{
	const struct sdw_elf_range *part = part_at(elf, vaddr);

	if (!part)
		part = sdw_elf_instruction_at(elf, vaddr);
	if (!part)
		return -ENOENT;
	*symbol = (struct sdw_elf_symbol){.vaddr = part->start,
					  .size = part->end - part->start,
					  .name = elf->evaluation_name};
	return 0;
}
