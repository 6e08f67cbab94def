// SPDX-License-Identifier: MIT
/*
 * frame_table.c - reads the headers of .eh_frame_hdr, .eh_frame and .debug_frame.
 *
 * In:  sections of a file that may be forged: every length, offset and encoding is checked.
 * Out: the entry that covers an address, with its instructions as they are in the file.
 * Sources: Linux Standard Base 5.0, chapter 10.6; DWARF 5, section 6.4.1.
 */
#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "unwind/bytes.h"
#include "unwind/cfi_check.h"
#include "unwind/frame_table.h"

#define MAX_ENTRIES	      (1u << 22) /* of an index; the largest browsers have 1 million */
#define RETURN_ADDRESS	      16	 /* DWARF number of the return address on x86-64 */
#define MAX_INSTRUCTION_BYTES 65536u	 /* of one entry; the longest seen are a few thousand */
#define ENCODING_FORMAT	      0x0f
#define ENCODING_BASE	      0x70

struct view {
	struct sdw_elf_section section;
	bool debug; /* .debug_frame: other ids, absolute addresses */
};

struct index_item {
	uint64_t start;	 /* vaddr */
	uint64_t offset; /* of the entry in its section */
};

struct frame_index {
	struct sdw_elf *elf;
	struct {
		struct index_item *items;
		size_t count, room;
	} entries[2]; /* of .eh_frame and .debug_frame */
};

/* What is common to many entries. */
struct common {
	uint64_t code_align;
	int64_t data_align;
	uint8_t encoding;
	bool sized, signal_frame;
	const uint8_t *initial, *end;
};

static struct sdw_bytes bytes_at(const struct view *view, uint64_t offset)
{
	const struct sdw_elf_section *section = &view->section;
	struct sdw_bytes bytes = {.at = section->data, .end = section->data + section->size};

	if (offset > section->size)
		bytes.bad = true;
	else
		bytes.at += offset;
	return bytes;
}

static uint64_t offset_of(const struct view *view, const struct sdw_bytes *bytes)
{
	return (uint64_t)(bytes->at - view->section.data);
}

/* Reads a length and makes `bytes` end with the record. Returns the size of ids and offsets in it,
 * or 0. */
static size_t enter_record(struct sdw_bytes *bytes)
{
	uint64_t length = sdw_bytes_unsigned(bytes, 4);
	size_t size = 4;

	if (length == 0xffffffff) {
		length = sdw_bytes_unsigned(bytes, 8);
		size = 8;
	}
	if (bytes->bad || !length || length > (uint64_t)(bytes->end - bytes->at))
		return 0;
	bytes->end = bytes->at + length;
	return size;
}

static uint64_t read_encoded(const struct view *view, struct sdw_bytes *bytes, uint8_t encoding)
{
	uint64_t here = view->section.vaddr + offset_of(view, bytes), value;

	switch (encoding & ENCODING_FORMAT) {
	case DW_EH_PE_absptr:
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		value = sdw_bytes_unsigned(bytes, 8);
		break;
	case DW_EH_PE_udata4:
		value = sdw_bytes_unsigned(bytes, 4);
		break;
	case DW_EH_PE_sdata4:
		value = (uint64_t)sdw_bytes_signed(bytes, 4);
		break;
	case DW_EH_PE_udata2:
		value = sdw_bytes_unsigned(bytes, 2);
		break;
	case DW_EH_PE_sdata2:
		value = (uint64_t)sdw_bytes_signed(bytes, 2);
		break;
	default:
		bytes->bad = true;
		return 0;
	}
	switch (encoding & ENCODING_BASE) {
	case DW_EH_PE_absptr:
		return value;
	case DW_EH_PE_pcrel:
		return value + here;
	default:
		bytes->bad = true;
		return 0;
	}
}

/* Size of a pointer that is not needed here, 0 if it cannot be told. */
static size_t encoded_size(uint8_t encoding)
{
	switch (encoding & ENCODING_FORMAT) {
	case DW_EH_PE_udata2:
	case DW_EH_PE_sdata2:
		return 2;
	case DW_EH_PE_udata4:
	case DW_EH_PE_sdata4:
		return 4;
	case DW_EH_PE_absptr:
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		return 8;
	default:
		return 0;
	}
}

/* Reads the augmentation: its letters say what follows. False: cannot be understood. */
static bool read_augmentation(struct sdw_bytes *bytes, const char *letters, struct common *common)
{
	const uint8_t *after;
	uint64_t size;

	if (*letters != 'z')
		return *letters == 0;
	common->sized = true;
	size = sdw_bytes_uleb(bytes);
	if (bytes->bad || size > (uint64_t)(bytes->end - bytes->at))
		return false;
	after = bytes->at + size;
	/* an unknown letter hides the meaning of those after it, and they do matter */
	for (letters++; *letters; letters++) {
		switch (*letters) {
		case 'L':
			sdw_bytes_skip(bytes, 1);
			break;
		case 'P':
			size = encoded_size((uint8_t)sdw_bytes_unsigned(bytes, 1));
			if (!size)
				return false;
			sdw_bytes_skip(bytes, size);
			break;
		case 'R':
			common->encoding = (uint8_t)sdw_bytes_unsigned(bytes, 1);
			break;
		case 'S':
			common->signal_frame = true;
			break;
		default:
			return false;
		}
	}
	bytes->at = after;
	return !bytes->bad;
}

static int read_common(const struct view *view, uint64_t offset, struct common *common)
{
	struct sdw_bytes bytes = bytes_at(view, offset);
	size_t id_size = enter_record(&bytes);
	const uint8_t *letters, *letters_end;
	uint64_t id, version;

	if (!id_size)
		return -ENOENT;
	id = sdw_bytes_unsigned(&bytes, id_size);
	if (id != (!view->debug ? 0 : id_size == 4 ? 0xffffffffu : ~0ull))
		return -ENOENT;
	version = sdw_bytes_unsigned(&bytes, 1);
	letters = bytes.at;
	letters_end = bytes.bad ? NULL : memchr(letters, 0, (size_t)(bytes.end - bytes.at));
	if (!letters_end || (version != 1 && version != 3 && version != 4))
		return -ENOENT;
	bytes.at = letters_end + 1;
	/* version 4: size of an address, which must be ours, and of a segment selector */
	if (version == 4 && sdw_bytes_unsigned(&bytes, 2) != 8)
		return -ENOENT;
	*common = (struct common){.encoding = DW_EH_PE_absptr};
	common->code_align = sdw_bytes_uleb(&bytes);
	common->data_align = sdw_bytes_sleb(&bytes);
	if ((version == 1 ? sdw_bytes_unsigned(&bytes, 1) : sdw_bytes_uleb(&bytes)) !=
		    RETURN_ADDRESS ||
	    !read_augmentation(&bytes, (const char *)letters, common))
		return -ENOENT;
	common->initial = bytes.at;
	common->end = bytes.end;
	return bytes.bad ? -ENOENT : 0;
}

/*
 * Reads the entry at `offset`. *next: where the record after it starts, 0 if that cannot be told.
 * Returns 0, or -ENOENT if it is not an entry that can be used.
 */
static int read_entry(const struct view *view, uint64_t offset, struct sdw_frame_entry *entry,
		      uint64_t *next)
{
	struct sdw_bytes bytes = bytes_at(view, offset);
	size_t id_size = enter_record(&bytes);
	uint64_t id_offset = offset_of(view, &bytes), id, length;
	struct common common;

	*next = 0;
	if (!id_size)
		return -ENOENT;
	*next = (uint64_t)(bytes.end - view->section.data);
	id = sdw_bytes_unsigned(&bytes, id_size);
	if (bytes.bad || (!view->debug && (!id || id > id_offset)))
		return -ENOENT;
	if (read_common(view, view->debug ? id : id_offset - id, &common))
		return -ENOENT;
	*entry = (struct sdw_frame_entry){
		.code_align = common.code_align,
		.data_align = common.data_align,
		.signal_frame = common.signal_frame,
		.initial = common.initial,
		.initial_size = (size_t)(common.end - common.initial),
	};
	entry->start = read_encoded(view, &bytes, common.encoding);
	length = read_encoded(view, &bytes, common.encoding & ENCODING_FORMAT);
	entry->end = entry->start + length;
	if (common.sized)
		sdw_bytes_skip(&bytes, sdw_bytes_uleb(&bytes));
	/* a function of 2 GiB does not exist, and libunwind's tables cannot have it */
	if (bytes.bad || !length || length > INT32_MAX || entry->end < entry->start)
		return -ENOENT;
	entry->program = bytes.at;
	entry->program_size = (size_t)(bytes.end - bytes.at);
	return 0;
}

/* from, to: where a search for the entry begins and ends to lead to it. */
static int use_entry(const struct view *view, uint64_t offset, uint64_t vaddr, uint64_t from,
		     uint64_t to, struct sdw_frame_entry *entry)
{
	uint64_t next;
	int err = read_entry(view, offset, entry, &next);

	if (err)
		return err;
	if (vaddr < entry->start || vaddr >= entry->end ||
	    entry->initial_size > MAX_INSTRUCTION_BYTES ||
	    entry->program_size > MAX_INSTRUCTION_BYTES ||
	    !sdw_cfi_is_safe(entry->initial, entry->initial_size, entry->program,
			     entry->program_size, &entry->depends_on_pc))
		return -ENOENT;
	entry->from = from > entry->start ? from : entry->start;
	entry->to = to < entry->end ? to : entry->end;
	return 0;
}

/*
 * Searches the table of .eh_frame_hdr: pairs of signed 32-bit distances from the header, sorted.
 * Returns 0, -ENOENT: the table has no such code, -EINVAL: there is no table that can be used.
 */
static int search_header(struct sdw_elf *elf, const struct view *frames, uint64_t vaddr,
			 struct sdw_frame_entry *entry)
{
	struct view header = {.debug = false};
	struct sdw_bytes bytes;
	uint64_t count, low = 0, high, next = UINT64_MAX;
	uint32_t encodings;
	int32_t pair[2];

	if (sdw_elf_section(elf, ".eh_frame_hdr", &header.section) || !header.section.data)
		return -EINVAL;
	bytes = bytes_at(&header, 0);
	encodings = (uint32_t)sdw_bytes_unsigned(&bytes, 4);
	/* version 1, any pointer to .eh_frame, 32-bit count, 32-bit distances from here */
	if (bytes.bad || (encodings & 0xff) != 1 || (encodings >> 16 & 0xff) != DW_EH_PE_udata4 ||
	    encodings >> 24 != (DW_EH_PE_datarel | DW_EH_PE_sdata4))
		return -EINVAL;
	sdw_bytes_skip(&bytes, encoded_size(encodings >> 8 & 0xff));
	count = sdw_bytes_unsigned(&bytes, 4);
	if (bytes.bad || !count || count > (uint64_t)(bytes.end - bytes.at) / sizeof(pair))
		return -EINVAL;
	for (high = count; low < high;) {
		uint64_t middle = low + (high - low) / 2;

		memcpy(pair, bytes.at + middle * sizeof(pair), sizeof(pair));
		if (vaddr < header.section.vaddr + (uint64_t)(int64_t)pair[0])
			high = middle;
		else
			low = middle + 1;
	}
	if (!low)
		return -ENOENT;
	if (low < count) {
		memcpy(pair, bytes.at + low * sizeof(pair), sizeof(pair));
		next = header.section.vaddr + (uint64_t)(int64_t)pair[0];
	}
	memcpy(pair, bytes.at + (low - 1) * sizeof(pair), sizeof(pair));
	return use_entry(frames,
			 header.section.vaddr + (uint64_t)(int64_t)pair[1] - frames->section.vaddr,
			 vaddr, header.section.vaddr + (uint64_t)(int64_t)pair[0], next, entry);
}

static int compare_items(const void *a, const void *b)
{
	const struct index_item *left = a, *right = b;

	return (left->start > right->start) - (left->start < right->start);
}

static int build_index(struct frame_index *index, size_t which, const struct view *view)
{
	struct sdw_frame_entry entry;
	uint64_t next;

	for (uint64_t offset = 0; index->entries[which].count < MAX_ENTRIES; offset = next) {
		int err = read_entry(view, offset, &entry, &next);

		if (!err) {
			struct index_item item = {.start = entry.start, .offset = offset};

			if (sdw_array_reserve(&index->entries[which], 1))
				return -ENOMEM;
			index->entries[which].items[index->entries[which].count++] = item;
		}
		if (next <= offset)
			break;
	}
	if (index->entries[which].count)
		qsort(index->entries[which].items, index->entries[which].count,
		      sizeof(struct index_item), compare_items);
	return 0;
}

static int search_index(const struct frame_index *index, size_t which, const struct view *view,
			uint64_t vaddr, struct sdw_frame_entry *entry)
{
	const struct index_item *items = index->entries[which].items;
	size_t low = 0, high = index->entries[which].count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (vaddr < items[middle].start)
			high = middle;
		else
			low = middle + 1;
	}
	if (!low)
		return -ENOENT;
	return use_entry(view, items[low - 1].offset, vaddr, items[low - 1].start,
			 low < index->entries[which].count ? items[low].start : UINT64_MAX, entry);
}

static void free_index(struct frame_index *index)
{
	if (!index)
		return;
	free(index->entries[0].items);
	free(index->entries[1].items);
	sdw_elf_unref(index->elf);
	free(index);
}

/* The index of a file, made at first use. */
static int index_of(struct sdw_frame_tables *tables, struct sdw_elf *elf, const struct view *views,
		    struct frame_index **found)
{
	uint64_t *value = sdw_map64_find(&tables->by_elf, (uintptr_t)elf);
	struct frame_index *index;
	int err = 0;

	if (value) {
		*found = (struct frame_index *)(uintptr_t)*value;
		return 0;
	}
	index = calloc(1, sizeof(*index));
	if (!index)
		return -ENOMEM;
	index->elf = sdw_elf_ref(elf);
	for (size_t which = 0; which < 2 && !err; which++) {
		if (views[which].section.data)
			err = build_index(index, which, &views[which]);
	}
	if (!err)
		err = sdw_map64_set(&tables->by_elf, (uintptr_t)elf, (uintptr_t)index);
	if (err) {
		free_index(index);
		return err;
	}
	*found = index;
	return 0;
}

int sdw_frame_table_find(struct sdw_frame_tables *tables, struct sdw_elf *elf, uint64_t vaddr,
			 struct sdw_frame_entry *entry)
{
	struct view views[2] = {{.debug = false}, {.debug = true}};
	struct frame_index *index = NULL;
	int err = -EINVAL;

	if (sdw_elf_section(elf, ".eh_frame", &views[0].section))
		views[0].section.data = NULL;
	if (sdw_elf_section(elf, ".debug_frame", &views[1].section))
		views[1].section.data = NULL;
	if (views[0].section.data)
		err = search_header(elf, &views[0], vaddr, entry);
	if (!err || (err == -ENOENT && !views[1].section.data))
		return err;
	/* searched by the header already: no index of it is needed */
	if (err == -ENOENT)
		views[0].section.data = NULL;
	err = index_of(tables, elf, views, &index);
	for (size_t which = 0; which < 2 && !err; which++) {
		if (!views[which].section.data)
			continue;
		err = search_index(index, which, &views[which], vaddr, entry);
		/* around what only .debug_frame has, there may be entries of .eh_frame */
		if (!err && which == 1) {
			entry->from = vaddr;
			entry->to = vaddr + 1;
		}
		if (!err)
			return 0;
		if (err == -ENOENT && which == 0)
			err = 0;
	}
	return err ? err : -ENOENT;
}

void sdw_frame_tables_free(struct sdw_frame_tables *tables)
{
	for (size_t i = 0; i < tables->by_elf.room; i++)
		free_index((struct frame_index *)(uintptr_t)tables->by_elf.slots[i].value);
	sdw_map64_free(&tables->by_elf);
}
