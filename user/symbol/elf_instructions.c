// SPDX-License-Identifier: MIT
/*
 * elf_instructions.c - the interpreter's instructions where each is a function of its own
 * (CPython 3.14 and later with --with-tail-call-interp, as uv's builds are).
 *
 * In:  a file whose evaluation function was found. Out: address ranges, in order.
 *
 * There the evaluation function only jumps to the first instruction, compilers inline it into its
 * callers, and each instruction jumps to the next one: of each evaluation the stack has one frame,
 * in some instruction. With symbols they are known by name. Without, by the table through which
 * they jump (Python/opcode_targets.h): 256 addresses of functions in a row, of which one, that of
 * the opcodes that do not exist, is there many times. What instructions jump to, and nobody calls,
 * is a part of them too: code that was split off, the exits they share.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "symbol/elf_internal.h"
#include "unwind/frame_table.h"

#define NAME_START     "_TAIL_CALL_" /* Python/ceval_macros.h */
#define MAX_ENTRY_SIZE 8192u	     /* of the evaluation function: around 300; others have 35 KB */
#define OPCODES	       256u
#define MAX_TABLES     2u   /* 3.15 has another one, for tracing */
#define MIN_DIFFERENT  128u /* 3.14 has 228 */
#define MIN_UNKNOWN    8u   /* 3.14 has 29 */
#define MAX_RUN	       4096u
#define MAX_RANGES     4096u	      /* 3.14.6: 475 */
#define MAX_CODE_BYTES (64u << 10)    /* of one instruction; the largest has 3 KB */
#define MAX_TEXT_BYTES (128ull << 20) /* that are searched for calls */
#define CHUNK	       (64u << 10)
#define CALL_SIZE      5u /* an opcode, and the distance from its end */

struct search {
	struct sdw_elf *elf;
	struct sdw_frame_tables tables;
	struct sdw_map64 called; /* addresses that some call instruction has */
	struct {
		struct sdw_elf_range *items;
		size_t count, room;
	} ranges;
	/* a run of words, one after the other, that may be addresses of code; `next` comes next */
	uint64_t next, run[MAX_RUN];
	size_t run_count;
};

typedef void (*take_chunk)(struct search *search, uint64_t vaddr, const uint8_t *bytes,
			   size_t size);

/* Hands over a section in chunks; each begins with the last `overlap` bytes of the one before. */
static void read_section(struct search *search, const GElf_Shdr *header, size_t overlap,
			 take_chunk take)
{
	uint8_t *bytes = malloc(CHUNK);
	uint64_t size = header->sh_size < MAX_TEXT_BYTES ? header->sh_size : MAX_TEXT_BYTES;

	for (uint64_t at = 0; bytes && at < size;) {
		size_t part = size - at < CHUNK ? (size_t)(size - at) : CHUNK;

		if (sdw_elf_read(search->elf, header->sh_addr + at, bytes, part))
			break;
		take(search, header->sh_addr + at, bytes, part);
		if (at + part == size)
			break;
		at += part - overlap;
	}
	free(bytes);
}

static bool is_code(const struct sdw_elf *elf, uint64_t vaddr)
{
	for (size_t i = 0; i < elf->segment_count; i++) {
		const struct sdw_elf_segment *segment = &elf->segments[i];

		if (segment->flags & PF_X && vaddr >= segment->vaddr &&
		    vaddr - segment->vaddr < segment->file_size)
			return true;
	}
	return false;
}

static bool is_known(const struct search *search, uint64_t vaddr)
{
	for (size_t i = 0; i < search->ranges.count; i++) {
		if (search->ranges.items[i].start == vaddr)
			return true;
	}
	return false;
}

/* Adds the function that starts at vaddr; false if none does, or it is there already. */
static bool add_function(struct search *search, uint64_t vaddr)
{
	struct sdw_frame_entry entry;

	if (search->ranges.count >= MAX_RANGES || is_known(search, vaddr) ||
	    sdw_frame_table_find(&search->tables, search->elf, vaddr, &entry) ||
	    entry.start != vaddr || sdw_array_reserve(&search->ranges, 1))
		return false;
	search->ranges.items[search->ranges.count++] =
		(struct sdw_elf_range){entry.start, entry.end};
	return true;
}

static int compare_addresses(const void *a, const void *b)
{
	uint64_t one = *(const uint64_t *)a, two = *(const uint64_t *)b;

	return one < two ? -1 : one > two;
}

static bool is_start(struct search *search, uint64_t vaddr)
{
	struct sdw_frame_entry entry;

	return sdw_frame_table_find(&search->tables, search->elf, vaddr, &entry) == 0 &&
	       entry.start == vaddr;
}

/* Are these a table of instructions, by how often each comes? */
static bool is_table(const uint64_t *functions)
{
	uint64_t sorted[OPCODES];
	size_t different = 0, most = 0, same = 0;

	memcpy(sorted, functions, sizeof(sorted));
	qsort(sorted, OPCODES, sizeof(*sorted), compare_addresses);
	for (size_t i = 0; i < OPCODES; i++) {
		bool is_new = i == 0 || sorted[i] != sorted[i - 1];

		different += is_new;
		same = is_new ? 1 : same + 1;
		most = same > most ? same : most;
	}
	return different >= MIN_DIFFERENT && most >= MIN_UNKNOWN;
}

/* So many starts of functions in a row, and no more. */
static void add_table(struct search *search, const uint64_t *functions, size_t count)
{
	bool any = false;

	if (count != OPCODES && count != OPCODES * MAX_TABLES)
		return;
	for (size_t i = 0; i < count; i += OPCODES)
		any |= is_table(functions + i);
	for (size_t i = 0; any && i < count; i++)
		add_function(search, functions[i]);
}

static void end_run(struct search *search)
{
	size_t count = search->run_count, first = 0;

	search->run_count = 0;
	if (count < OPCODES)
		return;
	for (size_t i = 0; i <= count; i++) {
		if (i < count && is_start(search, search->run[i]))
			continue;
		add_table(search, search->run + first, i - first);
		first = i + 1;
	}
}

static void add_word(struct search *search, uint64_t place, uint64_t word)
{
	if (search->run_count && place != search->next)
		end_run(search);
	if (!is_code(search->elf, word)) {
		end_run(search);
		return;
	}
	if (search->run_count == MAX_RUN)
		end_run(search);
	search->run[search->run_count++] = word;
	search->next = place + sizeof(word);
}

static void take_words(struct search *search, uint64_t vaddr, const uint8_t *bytes, size_t size)
{
	for (size_t at = -vaddr % sizeof(uint64_t); at + sizeof(uint64_t) <= size;
	     at += sizeof(uint64_t)) {
		uint64_t word;

		memcpy(&word, bytes + at, sizeof(word));
		add_word(search, vaddr + at, word);
	}
}

/* In position independent code the words are not in their places, but with the relocations. */
static void take_relocations(struct search *search, uint64_t vaddr, const uint8_t *bytes,
			     size_t size)
{
	(void)vaddr;
	for (size_t at = 0; at + sizeof(Elf64_Rela) <= size; at += sizeof(Elf64_Rela)) {
		Elf64_Rela relocation;

		memcpy(&relocation, bytes + at, sizeof(relocation));
		if (ELF64_R_TYPE(relocation.r_info) == R_X86_64_RELATIVE)
			add_word(search, relocation.r_offset, (uint64_t)relocation.r_addend);
		else
			end_run(search);
	}
}

static void take_calls(struct search *search, uint64_t vaddr, const uint8_t *bytes, size_t size)
{
	for (size_t at = 0; at + CALL_SIZE <= size; at++) {
		int32_t distance;
		uint64_t target;

		if (bytes[at] != 0xe8)
			continue;
		memcpy(&distance, bytes + at + 1, sizeof(distance));
		target = vaddr + at + CALL_SIZE + (uint64_t)(int64_t)distance;
		if (is_code(search->elf, target))
			sdw_map64_set(&search->called, target, 1);
	}
}

/* Hands over each section in memory of this type that is code, or is not. */
static void read_sections(struct search *search, uint32_t type, bool code, size_t overlap,
			  take_chunk take)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(search->elf->elf, section)) != NULL) {
		if (gelf_getshdr(section, &header) && header.sh_type == type &&
		    header.sh_flags & SHF_ALLOC && code == !!(header.sh_flags & SHF_EXECINSTR))
			read_section(search, &header, overlap, take);
		end_run(search);
	}
}

static void add_named(struct search *search)
{
	struct sdw_elf *elf = search->elf;

	for (size_t i = 0; i < elf->function_count; i++) {
		const struct sdw_elf_function *function = &elf->functions[i];

		if (search->ranges.count >= MAX_RANGES || !function->size ||
		    strncmp(function->name, NAME_START, sizeof(NAME_START) - 1) != 0 ||
		    sdw_array_reserve(&search->ranges, 1))
			continue;
		search->ranges.items[search->ranges.count++] =
			(struct sdw_elf_range){function->vaddr, function->vaddr + function->size};
	}
}

static void add_parts_of(struct search *search, struct sdw_elf_range function, uint8_t *code)
{
	size_t size = function.end - function.start;

	if (size > MAX_CODE_BYTES || sdw_elf_read(search->elf, function.start, code, size))
		return;
	for (size_t at = 0; at < size; at++) {
		uint64_t target;

		if (!sdw_elf_jump_target(code, size, at, function.start, &target) ||
		    (target >= function.start && target < function.end) ||
		    sdw_map64_find(&search->called, target) ||
		    sdw_elf_is_evaluation(search->elf, target))
			continue;
		add_function(search, target);
	}
}

/* What was added last may have parts of its own: the loop goes on until nothing is added. */
static void add_parts(struct search *search)
{
	uint8_t *code = malloc(MAX_CODE_BYTES);

	read_sections(search, SHT_PROGBITS, true, CALL_SIZE - 1, take_calls);
	for (size_t i = 0; code && i < search->ranges.count; i++)
		add_parts_of(search, search->ranges.items[i], code);
	free(code);
}

static int compare_ranges(const void *a, const void *b)
{
	return compare_addresses(&((const struct sdw_elf_range *)a)->start,
				 &((const struct sdw_elf_range *)b)->start);
}

/* Only then can there be any; other files are not searched. */
static bool has_small_evaluation(const struct sdw_elf *elf)
{
	for (size_t i = 0; i < elf->evaluation_count; i++) {
		if (elf->evaluation[i].end - elf->evaluation[i].start > MAX_ENTRY_SIZE)
			return false;
	}
	return elf->evaluation_count > 0;
}

static void load_instructions(struct sdw_elf *elf)
{
	struct search search = {.elf = elf};

	elf->instructions_tried = true;
	if (!has_small_evaluation(elf))
		return;
	add_named(&search);
	if (!search.ranges.count) {
		read_sections(&search, SHT_PROGBITS, false, sizeof(uint64_t) - 1, take_words);
		read_sections(&search, SHT_RELA, false, CHUNK % sizeof(Elf64_Rela),
			      take_relocations);
		if (search.ranges.count)
			add_parts(&search);
	}
	if (search.ranges.count)
		qsort(search.ranges.items, search.ranges.count, sizeof(*search.ranges.items),
		      compare_ranges);
	elf->instructions = search.ranges.items;
	elf->instruction_count = search.ranges.count;
	sdw_map64_free(&search.called);
	sdw_frame_tables_free(&search.tables);
}

const struct sdw_elf_range *sdw_elf_instruction_at(struct sdw_elf *elf, uint64_t vaddr)
{
	size_t low = 0, high;

	if (!elf->instructions_tried) {
		(void)sdw_elf_is_evaluation(elf, vaddr); /* finds that function */
		load_instructions(elf);
	}
	high = elf->instruction_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (vaddr < elf->instructions[middle].start)
			high = middle;
		else
			low = middle + 1;
	}
	return low && vaddr < elf->instructions[low - 1].end ? &elf->instructions[low - 1] : NULL;
}

bool sdw_elf_is_instruction(struct sdw_elf *elf, uint64_t vaddr)
{
	return sdw_elf_instruction_at(elf, vaddr) != NULL;
}
