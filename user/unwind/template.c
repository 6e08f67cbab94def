// SPDX-License-Identifier: MIT
/*
 * template.c - learns and applies steps.
 *
 * In:  libunwind's answers over an imaginary memory. Out: the same steps on real stacks, in
 * nanoseconds. A template depends on the program counter alone, as DWARF's rows do.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "unwind/template.h"
#include "unwind/trampoline.h"

/* Bounds of one process; beyond them all is forgotten and learned again. */
#define MAX_TEMPLATES (1u << 20)
#define MAX_FORMS     (1u << 16)

/* Imaginary registers are this far apart, in the middle of a space of 4 GiB each. */
#define REGISTER_SPACING (1ull << 56)
#define REGISTER_MIDDLE	 (1ull << 31)

static uint64_t imaginary_register(unsigned int number, unsigned int turn)
{
	uint64_t salt = turn ? 0x5c32 : 0x00a1;

	return SDW_IMAGINARY_START + number * REGISTER_SPACING + (salt << 32) + REGISTER_MIDDLE +
	       (turn ? 0x7f10 : 0);
}

/* True if `to` is less than 2 GiB from `from`. */
static bool is_near(uint64_t from, uint64_t to, int32_t *offset)
{
	int64_t distance = (int64_t)(to - from);

	*offset = (int32_t)distance;
	return *offset == distance;
}

/* Says in which word, relative to `cfa`, `value` was. */
static bool is_word_near(uint64_t cfa, uint64_t value, int32_t *offset)
{
	return (value & SDW_IMAGINARY_WORD) && is_near(cfa, value & ~SDW_IMAGINARY_WORD, offset);
}

/* Fills in what follows from the slots. False: too far apart. */
static bool measure(struct sdw_template *form)
{
	int64_t lowest = form->slots[SDW_REGISTER_SP], highest = lowest;

	for (int i = SDW_REGISTER_SP + 1; i < SDW_REGISTER_COUNT; i++) {
		if (!(form->saved & 1u << i))
			form->slots[i] = form->slots[SDW_REGISTER_SP];
		if (form->slots[i] < lowest)
			lowest = form->slots[i];
		if (form->slots[i] > highest)
			highest = form->slots[i];
	}
	form->lowest = (int32_t)lowest;
	form->span = (uint32_t)(highest - lowest + (int64_t)sizeof(uint64_t));
	return highest - lowest < INT32_MAX;
}

/* Reads off how the caller's frame follows from the imaginary one. False: not of a template's form.
 */
static bool read_off(const struct sdw_frame *from, const struct sdw_frame *to,
		     struct sdw_template *form)
{
	uint64_t cfa = to->registers[SDW_REGISTER_SP];

	/* a frame after a signal handler's is looked up otherwise: left to libunwind */
	if (!to->caller || !(to->known & 1u << SDW_REGISTER_SP))
		return false;
	*form = (struct sdw_template){.kind = SDW_TEMPLATE_STEP, .base = SDW_REGISTER_COUNT};
	for (unsigned int i = 0; i < SDW_REGISTER_COUNT; i++) {
		if (is_near(from->registers[i], cfa, &form->cfa_offset)) {
			form->base = (uint8_t)i;
			break;
		}
	}
	if (form->base == SDW_REGISTER_COUNT ||
	    !is_word_near(cfa, to->pc, &form->slots[SDW_REGISTER_SP]) ||
	    form->slots[SDW_REGISTER_SP] != SDW_RETURN_ADDRESS_SLOT)
		return false;
	for (int i = SDW_REGISTER_SP + 1; i < SDW_REGISTER_COUNT; i++) {
		if (!(to->known & 1u << i))
			form->lost |= (uint8_t)(1u << i);
		else if (is_word_near(cfa, to->registers[i], &form->slots[i]))
			form->saved |= (uint8_t)(1u << i);
		else if (to->registers[i] != from->registers[i])
			return false;
	}
	return measure(form);
}

static struct sdw_template learn_once(struct sdw_library *library, struct sdw_maps *maps,
				      const struct sdw_frame *frame, unsigned int turn)
{
	const struct sdw_memory imaginary = {.maps = maps, .imaginary = true};
	struct sdw_template form = {.kind = SDW_TEMPLATE_LIBRARY};
	struct sdw_frame from = {
		.pc = frame->pc, .caller = frame->caller, .known = SDW_ALL_REGISTERS};
	struct sdw_frame to;
	size_t count = 0;
	uint64_t pc;

	for (unsigned int i = 0; i < SDW_REGISTER_COUNT; i++)
		from.registers[i] = imaginary_register(i, turn);
	to = from;
	switch (sdw_library_walk(library, &imaginary, &to, &pc, 1, &count)) {
	case SDW_STEP_END:
		form.kind = SDW_TEMPLATE_END;
		break;
	case SDW_STEP_NO_TABLES:
		form.kind = SDW_TEMPLATE_NO_TABLES;
		break;
	case SDW_STEP_MOVED:
		if (!read_off(&from, &to, &form))
			form = (struct sdw_template){.kind = SDW_TEMPLATE_LIBRARY};
		break;
	default:
		break;
	}
	return form;
}

static bool is_same_form(const struct sdw_template *a, const struct sdw_template *b)
{
	_Static_assert(sizeof(*a) == 16 + 4 * SDW_REGISTER_COUNT, "no padding to compare");
	return memcmp(a, b, sizeof(*a)) == 0;
}

/* The index of a form, added if it is new, or -errno. */
static int64_t index_of_form(struct sdw_templates *templates, const struct sdw_template *form)
{
	for (size_t i = 0; i < templates->forms.count; i++) {
		if (is_same_form(&templates->forms.items[i], form))
			return (int64_t)i;
	}
	if (sdw_array_reserve(&templates->forms, 1))
		return -ENOMEM;
	templates->forms.items[templates->forms.count] = *form;
	return (int64_t)templates->forms.count++;
}

static bool is_same_mapping(const struct sdw_mapping *a, const struct sdw_mapping *b)
{
	return a->start == b->start && a->end == b->end && a->offset == b->offset &&
	       a->inode == b->inode && a->device_major == b->device_major &&
	       a->device_minor == b->device_minor && a->executable == b->executable &&
	       a->elf == b->elf;
}

static int add_source(struct sdw_templates *templates, const struct sdw_mapping *mapping)
{
	struct sdw_mapping *source;

	for (size_t i = 0; i < templates->sources.count; i++) {
		if (is_same_mapping(&templates->sources.items[i], mapping))
			return 0;
	}
	if (sdw_array_reserve(&templates->sources, 1))
		return -ENOMEM;
	source = &templates->sources.items[templates->sources.count++];
	*source = *mapping;
	source->path = NULL;
	/* held, so that no other file can be at its address while it is compared */
	if (source->elf)
		sdw_elf_ref(source->elf);
	return 0;
}

static void forget(struct sdw_templates *templates)
{
	for (size_t i = 0; i < templates->sources.count; i++)
		sdw_elf_unref(templates->sources.items[i].elf);
	templates->sources.count = 0;
	templates->forms.count = 0;
	templates->rows.count = 0;
	sdw_map64_clear(&templates->by_pc);
	memset(templates->recent, 0, sizeof(templates->recent));
}

void sdw_templates_check(struct sdw_templates *templates, struct sdw_maps *maps)
{
	if (templates->generation == maps->generation)
		return;
	templates->generation = maps->generation;
	for (size_t i = 0; i < templates->sources.count; i++) {
		const struct sdw_mapping *source = &templates->sources.items[i];
		struct sdw_mapping *now = sdw_maps_find(maps, source->start);

		if (now && !now->elf)
			sdw_mapping_elf(maps, now);
		if (!now || !is_same_mapping(source, now)) {
			forget(templates);
			return;
		}
	}
}

/* How many rows start at or before `address`. */
static size_t rows_before(const struct sdw_templates *templates, uint64_t address)
{
	size_t low = 0, high = templates->rows.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (address < templates->rows.items[middle].start)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

static int add_row(struct sdw_templates *templates, const struct sdw_template_row *row)
{
	size_t place = rows_before(templates, row->start), count = templates->rows.count;

	/* only forged tables overlap */
	if ((place && templates->rows.items[place - 1].end > row->start) ||
	    (place < count && templates->rows.items[place].start < row->end))
		return 0;
	if (sdw_array_reserve(&templates->rows, 1))
		return -ENOMEM;
	memmove(&templates->rows.items[place + 1], &templates->rows.items[place],
		(count - place) * sizeof(*row));
	templates->rows.items[place] = *row;
	templates->rows.count++;
	return 0;
}

/* A pc that was not met before, in a row that was: it has the row's template. */
static const uint64_t *find_by_row(struct sdw_templates *templates, const struct sdw_frame *frame)
{
	uint64_t address = sdw_frame_lookup(frame);
	size_t before = rows_before(templates, address);

	if (!before || address >= templates->rows.items[before - 1].end)
		return NULL;
	if (templates->by_pc.count < MAX_TEMPLATES)
		sdw_map64_set(&templates->by_pc, sdw_frame_key(frame),
			      templates->rows.items[before - 1].form);
	return &templates->rows.items[before - 1].form;
}

const struct sdw_template *sdw_template_find(struct sdw_templates *templates,
					     const struct sdw_frame *frame)
{
	uint64_t key = sdw_frame_key(frame);
	/* Fibonacci hashing: the product's upper bits depend on all bits of the key */
	size_t place = key * 0x9e3779b97f4a7c15ull >> 32 & (SDW_RECENT_TEMPLATES - 1);
	const uint64_t *index;

	if (templates->recent[place].key == key && key)
		return &templates->forms.items[templates->recent[place].index];
	index = sdw_map64_find(&templates->by_pc, key);
	if (!index)
		index = find_by_row(templates, frame);
	if (!index)
		return NULL;
	templates->recent[place].key = key;
	templates->recent[place].index = *index;
	return &templates->forms.items[*index];
}

static int learn_form(struct sdw_library *library, struct sdw_maps *maps,
		      const struct sdw_frame *frame, struct sdw_template *form)
{
	struct sdw_template again;

	*form = learn_once(library, maps, frame, 0);
	if (sdw_library_is_out_of_memory(library))
		return -ENOMEM;
	again = learn_once(library, maps, frame, 1);
	if (sdw_library_is_out_of_memory(library))
		return -ENOMEM;
	if (!is_same_form(form, &again))
		*form = (struct sdw_template){.kind = SDW_TEMPLATE_LIBRARY};
	return 0;
}

/* Remembers the template, for the frame's whole row if there is one. */
static int remember(struct sdw_templates *templates, struct sdw_library *library,
		    const struct sdw_mapping *mapping, const struct sdw_frame *frame, uint64_t form,
		    struct sdw_maps *maps)
{
	const struct sdw_memory imaginary = {.maps = maps, .imaginary = true};
	struct sdw_template_row row = {.form = form};

	if (templates->forms.items[form].kind != SDW_TEMPLATE_NO_TABLES && mapping->elf &&
	    sdw_library_row(library, &imaginary, frame, &row.start, &row.end)) {
		if (row.start < mapping->start)
			row.start = mapping->start;
		if (row.end > mapping->end)
			row.end = mapping->end;
		if (add_row(templates, &row))
			return -ENOMEM;
	}
	if (add_source(templates, mapping))
		return -ENOMEM;
	return sdw_map64_set(&templates->by_pc, sdw_frame_key(frame), form);
}

int sdw_template_learn(struct sdw_templates *templates, struct sdw_library *library,
		       struct sdw_maps *maps, const struct sdw_frame *frame,
		       const struct sdw_template **learned)
{
	struct sdw_mapping *mapping = sdw_maps_find(maps, sdw_frame_lookup(frame));
	struct sdw_template form;
	int64_t index;

	*learned = NULL;
	if (!mapping)
		return 0;
	if (sdw_mapping_elf(maps, mapping)) {
		int err = learn_form(library, maps, frame, &form);

		if (err)
			return err;
	} else if (!sdw_trampoline_find(maps, frame, &form)) {
		form = (struct sdw_template){.kind = SDW_TEMPLATE_LIBRARY};
	}
	if (templates->by_pc.count >= MAX_TEMPLATES || templates->forms.count >= MAX_FORMS)
		forget(templates);
	index = index_of_form(templates, &form);
	if (index < 0 || remember(templates, library, mapping, frame, (uint64_t)index, maps))
		return -ENOMEM;
	*learned = &templates->forms.items[index];
	return 0;
}

/* Where words are not all in the captured stack: each one is looked for, and may be missing. */
static bool apply_piecemeal(const struct sdw_template *form, const struct sdw_memory *memory,
			    uint64_t cfa, struct sdw_frame *frame)
{
	uint64_t pc;

	if (!sdw_memory_read(memory, cfa + (uint64_t)(int64_t)form->slots[SDW_REGISTER_SP], &pc))
		return false;
	frame->pc = pc;
	frame->known &= (uint8_t) ~(form->lost | form->saved);
	for (int i = SDW_REGISTER_SP + 1; i < SDW_REGISTER_COUNT; i++) {
		if (form->saved & 1u << i &&
		    sdw_memory_read(memory, cfa + (uint64_t)(int64_t)form->slots[i],
				    &frame->registers[i]))
			frame->known |= (uint8_t)(1u << i);
	}
	frame->registers[SDW_REGISTER_SP] = cfa;
	frame->caller = true;
	return true;
}

bool sdw_template_apply(const struct sdw_template *form, const struct sdw_memory *memory,
			struct sdw_frame *frame)
{
	uint64_t cfa = frame->registers[form->base] + (uint64_t)(int64_t)form->cfa_offset;
	uint64_t offset = cfa - memory->stack_start;
	const uint8_t *words;

	if (!(frame->known & 1u << form->base))
		return false;
	if (form->span > memory->stack_size ||
	    offset + (uint64_t)(int64_t)form->lowest > memory->stack_size - form->span)
		return apply_piecemeal(form, memory, cfa, frame);
	words = memory->stack + offset;
	/* without branches: which registers are saved differs from frame to frame */
	for (int i = SDW_REGISTER_SP + 1; i < SDW_REGISTER_COUNT; i++) {
		uint64_t mask = 0 - (uint64_t)(form->saved >> i & 1), word;

		memcpy(&word, words + form->slots[i], sizeof(word));
		frame->registers[i] = (word & mask) | (frame->registers[i] & ~mask);
	}
	memcpy(&frame->pc, words + form->slots[SDW_REGISTER_SP], sizeof(frame->pc));
	frame->registers[SDW_REGISTER_SP] = cfa;
	frame->known = (uint8_t)((frame->known & ~form->lost) | form->saved);
	frame->caller = true;
	return true;
}

void sdw_template_popped(const struct sdw_template *form, const struct sdw_frame *frame,
			 struct sdw_memory *memory)
{
	uint64_t cfa = frame->registers[form->base] + (uint64_t)(int64_t)form->cfa_offset;

	if (form->kind != SDW_TEMPLATE_STEP || !(frame->known & 1u << form->base) ||
	    (int64_t)(cfa + (uint64_t)(int64_t)form->lowest - memory->stack_start) >= 0)
		return;
	for (int i = SDW_REGISTER_SP + 1; i < SDW_REGISTER_COUNT; i++) {
		uint64_t word =
			sdw_memory_popped_word(memory, cfa + (uint64_t)(int64_t)form->slots[i]);

		if (!(form->saved & frame->known & 1u << i) || word >= SDW_RED_ZONE_WORDS)
			continue;
		memory->popped[word] = frame->registers[i];
		memory->popped_known |= 1u << word;
	}
}

void sdw_templates_free(struct sdw_templates *templates)
{
	forget(templates);
	free(templates->sources.items);
	free(templates->forms.items);
	free(templates->rows.items);
	sdw_map64_free(&templates->by_pc);
	*templates = (struct sdw_templates){0};
}
