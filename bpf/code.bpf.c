// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * code.bpf.c - announces code objects at first sight: names, first line and line table.
 *
 * In:  the address of a code object of the interrupted thread, its interpreter's layout in scratch.
 * Out: the object's id, and a code record if this processor has not sent it.
 *
 * Functions without `static` are verified once, on their own, instead of at each call; their
 * arguments can only be numbers, so each looks its scratch up again (an array lookup, a few
 * instructions).
 */
#include "walk.bpf.h"

#define UNICODE_COMPACT 8u /* bits above `kind` in PyASCIIObject.state */
#define UNICODE_ASCII	16u

#define HEAD_BYTES (sizeof(((struct sdw_code_buffer *)0)->head))
#define TEXT_BYTES (sizeof(((struct sdw_code_buffer *)0)->text))

enum text { TEXT_NAME, TEXT_QUALNAME, TEXT_FILENAME };

/*
 * Reads the first `room` bytes of an object. It may be smaller and end on a page whose successor is
 * not there: what lies beyond is 0 then, as the helper leaves it when it fails.
 */
static __always_inline int read_head(__u8 *head, __u32 room, __u64 address)
{
	__u32 in_page = SDW_PAGE_BYTES - ((__u32)address & (SDW_PAGE_BYTES - 1));

	if (!bpf_probe_read_user(head, room, (void *)address))
		return 0;
	in_page = SDW_WALK_HIDE(in_page);
	if (in_page == 0 || in_page >= room)
		return -1;
	return bpf_probe_read_user(head, in_page, (void *)address) ? -1 : 0;
}

static __always_inline struct sdw_text *text_of(struct sdw_record_code *record, __u32 which)
{
	if (which == TEXT_NAME)
		return &record->name;
	if (which == TEXT_QUALNAME)
		return &record->qualname;
	return &record->filename;
}

/* Finds out how a string's characters are stored. Returns where they start in the object, or 0. */
static __always_inline __u32 text_shape(const struct sdw_pylayout *layout, const __u8 *head,
					struct sdw_text *text, __u32 *unit)
{
	__u32 state = (__u32)sdw_head_word(head, TEXT_BYTES, layout->unicode_state);
	__u32 kind;

	if (layout->unicode_state == SDW_NO_OFFSET) { /* 2.7 */
		text->kind = SDW_TEXT_BYTES;
		*unit = 1;
		return layout->unicode_ascii_data;
	}
	state >>= layout->unicode_state_kind & 31;
	kind = state & 7;
	if (!(state & UNICODE_COMPACT) || (kind != 1 && kind != 2 && kind != 4))
		return 0;
	*unit = kind;
	if (state & UNICODE_ASCII) {
		text->kind = SDW_TEXT_ASCII;
		return layout->unicode_ascii_data;
	}
	text->kind = kind == 1 ? SDW_TEXT_LATIN1 : kind == 2 ? SDW_TEXT_UCS2 : SDW_TEXT_UCS4;
	return layout->unicode_compact_data;
}

/* Reads a string's characters behind the record's first `used` bytes. Returns the bytes added. */
__noinline int sdw_add_text(__u32 cpu, __u32 which, __u32 used)
{
	struct sdw_scratch *scratch = scratch_of(cpu);
	struct sdw_code_buffer *code;
	struct sdw_text *text;
	__u32 start, unit = 1, bytes;
	__u64 skip = 0, size;

	if (!scratch)
		return 0;
	code = &scratch->code;
	text = text_of(&code->record, which);
	text->kind = SDW_TEXT_NONE;
	text->bytes = 0;
	text->length = 0;
	if (!text->addr || read_head(code->text, TEXT_BYTES, text->addr))
		return 0;
	text->length = sdw_head_word(code->text, TEXT_BYTES, scratch->walk.layout.unicode_length);
	start = text_shape(&scratch->walk.layout, code->text, text, &unit);
	if (!start)
		return 0;
	size = text->length * unit;
	if (text->length > 1u << 30 || size == 0)
		return 0;
	if (size > SDW_MAX_NAME_BYTES) {
		if (which == TEXT_FILENAME) /* the end of a path says more than its start */
			skip = size - SDW_MAX_NAME_BYTES;
		size = SDW_MAX_NAME_BYTES;
	}
	bytes = SDW_WALK_HIDE((__u32)size);
	used = SDW_WALK_HIDE(used);
	if (bytes == 0 || bytes > SDW_MAX_NAME_BYTES || used > 2 * SDW_MAX_NAME_BYTES)
		return 0;
	if (bpf_probe_read_user(code->bytes + used, bytes, (void *)(text->addr + start + skip))) {
		text->kind = SDW_TEXT_NONE;
		return 0;
	}
	text->bytes = bytes;
	return (int)bytes;
}

/* The same for the line table, a bytes object. */
__noinline int sdw_add_linetable(__u32 cpu, __u32 used)
{
	struct sdw_scratch *scratch = scratch_of(cpu);
	struct sdw_code_buffer *code;
	struct sdw_text *text;
	__u64 length;
	__u32 bytes;

	if (!scratch)
		return 0;
	code = &scratch->code;
	text = &code->record.linetable;
	text->kind = SDW_TEXT_NONE;
	text->bytes = 0;
	text->length = 0;
	if (!text->addr ||
	    bpf_probe_read_user(&length, sizeof(length),
				(void *)(text->addr + scratch->walk.layout.bytes_size)))
		return 0;
	text->length = length;
	text->kind = SDW_TEXT_BYTES;
	bytes = length > SDW_MAX_LINETABLE_BYTES ? SDW_MAX_LINETABLE_BYTES : (__u32)length;
	bytes = SDW_WALK_HIDE(bytes);
	used = SDW_WALK_HIDE(used);
	if (bytes == 0 || bytes > SDW_MAX_LINETABLE_BYTES || used > 3 * SDW_MAX_NAME_BYTES)
		return 0;
	if (bpf_probe_read_user(code->bytes + used, bytes,
				(void *)(text->addr + scratch->walk.layout.bytes_data))) {
		text->kind = SDW_TEXT_NONE;
		return 0;
	}
	text->bytes = bytes;
	return (int)bytes;
}

/* Sends what can be read of the code object whose head is in scratch. Returns 0 if it was sent. */
static __always_inline int announce_code(__u32 cpu, struct sdw_scratch *scratch)
{
	struct sdw_code_buffer *code = &scratch->code;
	struct sdw_pylayout *layout = &scratch->walk.layout;
	struct sdw_record_code *record = &code->record;
	__u32 used;

	record->first_line = (__s32)sdw_head_word(code->head, HEAD_BYTES, layout->code_firstlineno);
	record->version = layout->version;
	record->layout = (__u16)(scratch->layout - 1);
	record->name.addr = sdw_head_word(code->head, HEAD_BYTES, layout->code_name);
	record->qualname.addr = sdw_head_word(code->head, HEAD_BYTES, layout->code_qualname);
	record->filename.addr = sdw_head_word(code->head, HEAD_BYTES, layout->code_filename);
	record->linetable.addr = sdw_head_word(code->head, HEAD_BYTES, layout->code_linetable);
	used = (__u32)sdw_add_text(cpu, TEXT_NAME, 0);
	used += (__u32)sdw_add_text(cpu, TEXT_QUALNAME, used);
	used += (__u32)sdw_add_text(cpu, TEXT_FILENAME, used);
	used += (__u32)sdw_add_linetable(cpu, used);
	used = SDW_WALK_HIDE(used);
	if (used > sizeof(code->bytes))
		return -1;
	fill_record(&record->record, SDW_RECORD_CODE, sizeof(*record) + used, scratch);
	return send_bytes(cpu, code, sizeof(*record) + used, BPF_RB_NO_WAKEUP);
}

/* Where the code object is remembered or, if it is not, the one looked at longest ago. */
static __always_inline struct sdw_code_way *code_way(struct sdw_code_slot *slot, __u64 key)
{
	struct sdw_code_way *oldest = &slot->ways[0], *way;
	__u32 i;

#pragma unroll
	for (i = 0; i < SDW_CODE_WAYS; i++) {
		way = &slot->ways[i];
		if (way->key == key)
			return way;
		if (way->checked_ms < oldest->checked_ms)
			oldest = way;
	}
	return oldest;
}

/*
 * Looks at the code object at `address` again, or for the first time, and announces it if it is
 * new. Leaves its id in scratch->code.record.id. Returns 0, or -1: it is not a code object.
 */
int sdw_check_code(__u32 cpu, __u64 address)
{
	struct sdw_scratch *scratch = scratch_of(cpu);
	struct sdw_cpu_counters *count;
	struct sdw_code_slot *slot;
	struct sdw_code_way *way;
	struct sdw_code_buffer *code;
	__u64 key, fingerprint, type;

	if (!scratch)
		return -1;
	code = &scratch->code;
	key = sdw_mix(address ^ scratch->walk.seed);
	slot = code_slot(cpu, key);
	if (!slot || !address)
		return -1;
	way = code_way(slot, key);
	if (read_head(code->head, HEAD_BYTES, address))
		return -1;
	type = sdw_head_word(code->head, HEAD_BYTES, scratch->walk.layout.object_type);
	if (scratch->interpreter.code_type_addr && type != scratch->interpreter.code_type_addr)
		return -1;
	/* the fingerprint of a name that cannot be read is that of zeros */
	(void)read_head(code->text, TEXT_BYTES,
			sdw_head_word(code->head, HEAD_BYTES, scratch->walk.layout.code_name));
	fingerprint = sdw_code_fingerprint(&scratch->walk.layout, code->head, HEAD_BYTES,
					   code->text, TEXT_BYTES);
	code->record.id = sdw_mix(key ^ fingerprint) | 1;
	code->record.addr = address;
	code->record.fingerprint = fingerprint;
	if ((way->key != key || way->fingerprint != fingerprint) && announce_code(cpu, scratch)) {
		count = bpf_map_lookup_elem(&counters, &cpu);
		if (count)
			count->code_lost++;
		return 0; /* the id is right, its names come with a later sample */
	}
	if (way->key != key || way->fingerprint != fingerprint)
		way->since_ms = milliseconds(scratch->now_ns);
	way->key = key;
	way->id = code->record.id;
	way->fingerprint = fingerprint;
	way->checked_ms = milliseconds(scratch->now_ns);
	return 0;
}
