// SPDX-License-Identifier: MIT
/*
 * library.c - lets libunwind step through one process's frames.
 *
 * In:  a frame, the stack bytes of a sample, the process's mappings.
 * Out: the callers' frames. Accessors never fail for any reason but "not there", and keep why.
 */
#include <errno.h>
#include <elf.h>
#include <libunwind.h>
#include <stdlib.h>

#include "unwind/frame_table.h"
#include "unwind/library.h"

/* Exported by libunwind for tools that bring their own tables, but in none of its headers. */
#define search_unwind_table UNW_ARCH_OBJ(dwarf_search_unwind_table)
int search_unwind_table(unw_addr_space_t space, unw_word_t pc, unw_dyn_info_t *table,
			unw_proc_info_t *info, int need_info, void *argument);

/* Where libunwind finds the entry: above all addresses of user space. */
#define ENTRY_ADDRESS (0xfffff000ull << 32)

struct sdw_library {
	unw_addr_space_t space;
	struct sdw_maps *maps;
	struct sdw_frame_tables tables;
	/* the walk that is going on */
	const struct sdw_memory *memory;
	const struct sdw_frame *frame;
	uint8_t *entry; /* the entry in use, as .eh_frame has it */
	size_t entry_size, entry_room;
	bool depends_on_pc;
	uint64_t from,
		to; /* addresses of the process around the one asked for that it is used for */
	bool signal_frame; /* ... is of a signal handler's frame */
	bool caller;	   /* the step that goes on is from a return address */
	bool no_tables;
	bool out_of_memory;
	bool above; /* memory above the captured stack was wanted */
};

static const int library_registers[SDW_REGISTER_COUNT] = {
	[SDW_REGISTER_SP] = UNW_X86_64_RSP,  [SDW_REGISTER_BP] = UNW_X86_64_RBP,
	[SDW_REGISTER_BX] = UNW_X86_64_RBX,  [SDW_REGISTER_R12] = UNW_X86_64_R12,
	[SDW_REGISTER_R13] = UNW_X86_64_R13, [SDW_REGISTER_R14] = UNW_X86_64_R14,
	[SDW_REGISTER_R15] = UNW_X86_64_R15,
};

bool sdw_memory_read(const struct sdw_memory *memory, uint64_t address, uint64_t *value)
{
	const struct sdw_elf_segment *segments;
	struct sdw_mapping *mapping;
	struct sdw_elf *elf;
	uint64_t vaddr;
	size_t count;

	if (memory->imaginary && address >= SDW_IMAGINARY_START && address < SDW_IMAGINARY_END) {
		*value = address | SDW_IMAGINARY_WORD;
		return true;
	}
	if (sdw_memory_read_stack(memory, address, value))
		return true;
	mapping = sdw_maps_find(memory->maps, address);
	elf = mapping ? sdw_mapping_elf(memory->maps, mapping) : NULL;
	if (!elf || sdw_mapping_to_vaddr(mapping, address, &vaddr))
		return false;
	segments = sdw_elf_segments(elf, &count);
	for (size_t i = 0; i < count; i++) {
		if (vaddr - segments[i].vaddr < segments[i].memory_size)
			/* what can be written is not what the file has */
			return !(segments[i].flags & PF_W) &&
			       !sdw_elf_read(elf, vaddr, value, sizeof(*value));
	}
	return false;
}

/* Appends bytes; returns false if there is no memory. */
static bool put(struct sdw_library *library, const void *bytes, size_t size)
{
	if (library->entry_room - library->entry_size < size) {
		size_t room = (library->entry_size + size) * 2;
		uint8_t *larger = realloc(library->entry, room);

		if (!larger) {
			library->out_of_memory = true;
			return false;
		}
		library->entry = larger;
		library->entry_room = room;
	}
	if (size)
		memcpy(library->entry + library->entry_size, bytes, size);
	library->entry_size += size;
	return true;
}

static bool put_number(struct sdw_library *library, uint64_t value, size_t size)
{
	return put(library, &value, size);
}

/* LEB128 in its longest form, good for signed and unsigned numbers alike. */
static bool put_leb(struct sdw_library *library, uint64_t value, bool negative)
{
	uint8_t bytes[10];

	for (size_t i = 0; i < sizeof(bytes); i++) {
		bytes[i] = (uint8_t)((value & 0x7f) | (i < sizeof(bytes) - 1 ? 0x80 : 0));
		value = value >> 7 | (negative ? ~(~0ull >> 7) : 0);
	}
	return put(library, bytes, sizeof(bytes));
}

static void set_number(struct sdw_library *library, size_t offset, uint32_t value)
{
	memcpy(library->entry + offset, &value, sizeof(value));
}

/*
 * Writes a search table of one item, a common entry and a frame entry, as Linux Standard Base 5.0,
 * chapter 10.6 has them: addresses as 8 bytes, no personality routine, no language specific data.
 */
static bool put_entry(struct sdw_library *library, const struct sdw_frame_entry *entry,
		      uint64_t start)
{
	static const char plain[] = "zR", signal[] = "zRS";
	const uint8_t udata8 = 0x04;
	size_t common, frame;
	bool done;

	library->entry_size = 0;
	/* start of the code and of the frame entry, as distances */
	done = put_number(library, 0, 4) && put_number(library, 0, 4);
	common = library->entry_size;
	done = done && put_number(library, 0, 4) && put_number(library, 0, 4) &&
	       put_number(library, 1, 1) &&
	       (entry->signal_frame ? put(library, signal, sizeof(signal))
				    : put(library, plain, sizeof(plain))) &&
	       put_leb(library, entry->code_align, false) &&
	       put_leb(library, (uint64_t)entry->data_align, entry->data_align < 0) &&
	       put_number(library, UNW_X86_64_RIP, 1) && put_number(library, 1, 1) &&
	       put(library, &udata8, 1) && put(library, entry->initial, entry->initial_size);
	if (!done)
		return false;
	set_number(library, common, (uint32_t)(library->entry_size - common - 4));
	frame = library->entry_size;
	done = put_number(library, 0, 4) && put_number(library, frame + 4 - common, 4) &&
	       put_number(library, start, 8) && put_number(library, entry->end - entry->start, 8) &&
	       put_number(library, 0, 1) && put(library, entry->program, entry->program_size);
	if (!done)
		return false;
	set_number(library, frame, (uint32_t)(library->entry_size - frame - 4));
	set_number(library, 4, (uint32_t)frame);
	/* libunwind reads whole words, and two bytes past the header of a signal handler's frame */
	return put_number(library, 0, 8) && put_number(library, 0, 8);
}

static int find_proc_info(unw_addr_space_t space, unw_word_t pc, unw_proc_info_t *info,
			  int need_info, void *argument)
{
	struct sdw_library *library = argument;
	struct sdw_mapping *mapping = sdw_maps_find(library->maps, pc);
	struct sdw_elf *elf = mapping ? sdw_mapping_elf(library->maps, mapping) : NULL;
	unw_dyn_info_t table = {.format = UNW_INFO_FORMAT_IP_OFFSET};
	struct sdw_frame_entry entry;
	uint64_t vaddr, bias;
	int err;

	library->no_tables = true;
	if (!elf || !mapping->executable || sdw_mapping_to_vaddr(mapping, pc, &vaddr) ||
	    sdw_mapping_bias(mapping, &bias))
		return -UNW_ENOINFO;
	err = sdw_frame_table_find(&library->tables, elf, vaddr, &entry);
	if (err) {
		library->out_of_memory |= err == -ENOMEM;
		return -UNW_ENOINFO;
	}
	/* tables of stubs that make no calls; libunwind has the wrong pc for them after a call */
	if (entry.depends_on_pc && library->caller)
		return -UNW_ENOINFO;
	if (!put_entry(library, &entry, entry.start + bias))
		return -UNW_ENOMEM;
	library->no_tables = false;
	library->signal_frame = entry.signal_frame;
	library->depends_on_pc = entry.depends_on_pc;
	library->from = entry.from + bias;
	library->to = entry.to + bias;
	table.start_ip = entry.start + bias;
	table.end_ip = entry.end + bias;
	table.u.rti.segbase = ENTRY_ADDRESS;
	table.u.rti.table_data = ENTRY_ADDRESS;
	table.u.rti.table_len = 1; /* in words: one item of two 32-bit numbers */
	return search_unwind_table(space, pc, &table, info, need_info, argument);
}

static void put_unwind_info(unw_addr_space_t space, unw_proc_info_t *info, void *argument)
{
	(void)space;
	(void)info;
	(void)argument;
}

static int get_dyn_info_list_addr(unw_addr_space_t space, unw_word_t *address, void *argument)
{
	(void)space;
	(void)address;
	(void)argument;
	return -UNW_ENOINFO;
}

static int access_mem(unw_addr_space_t space, unw_word_t address, unw_word_t *value, int write,
		      void *argument)
{
	struct sdw_library *library = argument;
	uint64_t offset = address - ENTRY_ADDRESS;

	(void)space;
	if (write)
		return -UNW_EINVAL;
	if (library->entry_size >= sizeof(*value) &&
	    offset <= library->entry_size - sizeof(*value)) {
		memcpy(value, library->entry + offset, sizeof(*value));
		return 0;
	}
	if (sdw_memory_read(library->memory, address, value))
		return 0;
	library->above |= sdw_memory_is_above(library->memory, address);
	return -UNW_EINVAL;
}

static int access_reg(unw_addr_space_t space, unw_regnum_t number, unw_word_t *value, int write,
		      void *argument)
{
	const struct sdw_library *library = argument;
	const struct sdw_frame *frame = library->frame;

	(void)space;
	if (write)
		return -UNW_EREADONLYREG;
	if (number == UNW_REG_IP) {
		*value = sdw_frame_lookup(frame);
		return 0;
	}
	for (int i = 0; i < SDW_REGISTER_COUNT; i++) {
		if (library_registers[i] != number)
			continue;
		*value = frame->registers[i];
		return frame->known & 1u << i ? 0 : -UNW_EBADREG;
	}
	return -UNW_EBADREG;
}

static int access_fpreg(unw_addr_space_t space, unw_regnum_t number, unw_fpreg_t *value, int write,
			void *argument)
{
	(void)space;
	(void)number;
	(void)value;
	(void)write;
	(void)argument;
	return -UNW_EBADREG;
}

static int resume(unw_addr_space_t space, unw_cursor_t *cursor, void *argument)
{
	(void)space;
	(void)cursor;
	(void)argument;
	return -UNW_EINVAL;
}

static int get_proc_name(unw_addr_space_t space, unw_word_t address, char *name, size_t size,
			 unw_word_t *offset, void *argument)
{
	(void)space;
	(void)address;
	(void)name;
	(void)size;
	(void)offset;
	(void)argument;
	return -UNW_ENOINFO;
}

int sdw_library_create(struct sdw_maps *maps, struct sdw_library **created)
{
	unw_accessors_t accessors = {
		.find_proc_info = find_proc_info,
		.put_unwind_info = put_unwind_info,
		.get_dyn_info_list_addr = get_dyn_info_list_addr,
		.access_mem = access_mem,
		.access_reg = access_reg,
		.access_fpreg = access_fpreg,
		.resume = resume,
		.get_proc_name = get_proc_name,
	};
	struct sdw_library *library = calloc(1, sizeof(*library));

	if (!library)
		return -ENOMEM;
	library->maps = maps;
	library->space = unw_create_addr_space(&accessors, 0);
	if (!library->space) {
		free(library);
		return -ENOMEM;
	}
	unw_set_caching_policy(library->space, UNW_CACHE_NONE);
	*created = library;
	return 0;
}

void sdw_library_free(struct sdw_library *library)
{
	if (!library)
		return;
	unw_destroy_addr_space(library->space);
	sdw_frame_tables_free(&library->tables);
	free(library->entry);
	free(library);
}

bool sdw_library_is_out_of_memory(const struct sdw_library *library)
{
	return library->out_of_memory;
}

/* Why unw_step() did not lead to a caller. */
static enum sdw_step failure(const struct sdw_library *library)
{
	if (library->no_tables)
		return SDW_STEP_NO_TABLES;
	return library->above ? SDW_STEP_NO_STACK : SDW_STEP_BAD;
}

/* Reads what the cursor has as the frame; registers that it cannot give are not known. */
static void read_registers(unw_cursor_t *cursor, struct sdw_frame *frame)
{
	frame->known = 0;
	for (int i = 0; i < SDW_REGISTER_COUNT; i++) {
		unw_word_t value;

		if (unw_get_reg(cursor, library_registers[i], &value))
			continue;
		frame->registers[i] = value;
		frame->known |= (uint8_t)(1u << i);
	}
}

static enum sdw_step step(struct sdw_library *library, unw_cursor_t *cursor,
			  struct sdw_frame *frame)
{
	uint64_t sp = frame->registers[SDW_REGISTER_SP];
	struct sdw_frame caller = {.pc = 0};
	unw_save_loc_t place;
	unw_word_t pc;
	int moved;

	library->above = library->no_tables = false;
	library->caller = frame->caller;
	moved = unw_step(cursor);
	/* without tables libunwind guesses: not wanted */
	if (moved < 0 || library->no_tables)
		return failure(library);
	if (moved == 0)
		return SDW_STEP_END;
	if (unw_get_reg(cursor, UNW_REG_IP, &pc))
		return failure(library);
	if (!pc)
		return SDW_STEP_END;
	/* tables that give no return address leave this frame's own, from a register or further in
	 */
	if (unw_get_save_loc(cursor, UNW_REG_IP, &place) || place.type != UNW_SLT_MEMORY ||
	    place.u.addr < sp)
		return SDW_STEP_BAD;
	caller.pc = pc;
	caller.caller = !library->signal_frame;
	read_registers(cursor, &caller);
	if (!library->memory->imaginary && !sdw_frame_is_sane(&caller, sp)) {
		/* a signal handler's own stack is left for one that was not captured */
		return library->signal_frame && caller.registers[SDW_REGISTER_SP] <
							library->memory->stack_start
			       ? SDW_STEP_NO_STACK
			       : SDW_STEP_BAD;
	}
	*frame = caller;
	return SDW_STEP_MOVED;
}

enum sdw_step sdw_library_walk(struct sdw_library *library, const struct sdw_memory *memory,
			       struct sdw_frame *frame, uint64_t *pcs, size_t max, size_t *count)
{
	const struct sdw_frame start = *frame;
	enum sdw_step result = SDW_STEP_MOVED;
	unw_cursor_t cursor;

	library->memory = memory;
	library->frame = &start;
	library->out_of_memory = false;
	if (unw_init_remote(&cursor, library->space, library))
		return SDW_STEP_BAD;
	for (size_t steps = 0; steps < max && result == SDW_STEP_MOVED; steps++) {
		result = step(library, &cursor, frame);
		if (result == SDW_STEP_MOVED)
			pcs[(*count)++] = frame->pc;
	}
	return result;
}

/* The row that holds an address. */
struct row {
	uint64_t address, start, end;
	bool found;
};

static int take_row(void *token, void *state, size_t size, unw_word_t start, unw_word_t end)
{
	struct row *row = token;

	(void)state;
	(void)size;
	if (row->address >= start && row->address < end) {
		row->start = start;
		row->end = end;
		row->found = true;
	}
	return 0;
}

bool sdw_library_row(struct sdw_library *library, const struct sdw_memory *memory,
		     const struct sdw_frame *frame, uint64_t *start, uint64_t *end)
{
	const struct sdw_frame any = {
		.pc = frame->pc, .caller = frame->caller, .known = SDW_ALL_REGISTERS};
	struct row row = {.address = sdw_frame_lookup(frame)};
	unw_cursor_t cursor;

	library->memory = memory;
	library->frame = &any;
	library->caller = frame->caller;
	if (unw_init_remote(&cursor, library->space, library) ||
	    unw_reg_states_iterate(&cursor, take_row, &row) < 0 || library->no_tables ||
	    library->depends_on_pc || !row.found)
		return false;
	*start = row.start > library->from ? row.start : library->from;
	*end = row.end < library->to ? row.end : library->to;
	return true;
}
