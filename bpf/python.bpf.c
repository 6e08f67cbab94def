// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * python.bpf.c - the Python stack of the interrupted thread: thread state, frames, code objects.
 *
 * In:  the scratch of this processor with thread and interpreter filled in (sample.bpf.c).
 * Out: scratch->walk: frames, hash and status; a code record for each code object not yet
 * announced.
 *
 * Functions without `static` are verified once, on their own, instead of at each call; their
 * arguments can only be numbers, so each looks its scratch up again (an array lookup, a few
 * instructions).
 */
#include "maps.bpf.h"

#define SDW_WALK_READ(to, size, address) bpf_probe_read_user((to), (size), (const void *)(address))
static __u64 code_id(struct sdw_walk *walk, __u64 address);
#define SDW_WALK_CODE(walk, address) code_id((walk), (address))
#include "pywalk.h"

#define MAX_SEARCH_STEPS 4096u /* thread states looked at in one search */
#define SEARCH_COST_NS	 100u  /* of one step, for the pause after a search without result */
#define SEARCH_PAUSE	 50u   /* the pause is this many times the cost */
#define OLD_SEARCH_STEPS 256u  /* kernels without bpf_loop */
#define OLD_WALK_STEPS	 192u
#define UNICODE_COMPACT	 8u /* bits above `kind` in PyASCIIObject.state */
#define UNICODE_ASCII	 16u

#define HEAD_BYTES (sizeof(((struct sdw_code_buffer *)0)->head))
#define TEXT_BYTES (sizeof(((struct sdw_code_buffer *)0)->text))

/* ---- code objects ---- */

enum text { TEXT_NAME, TEXT_QUALNAME, TEXT_FILENAME };

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
	if (!text->addr || bpf_probe_read_user(code->text, TEXT_BYTES, (void *)text->addr))
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

static __always_inline struct sdw_code_slot *code_slot(__u32 cpu, __u64 key)
{
	__u32 at = cpu * SDW_CODE_SLOTS + ((__u32)key & (SDW_CODE_SLOTS - 1));

	return bpf_map_lookup_elem(&codes, &at);
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
		if (way->checked_ns < oldest->checked_ns)
			oldest = way;
	}
	return oldest;
}

/*
 * Looks at the code object at `address` again, or for the first time, and announces it if it is
 * new. Leaves its id in scratch->code.record.id. Returns 0, or -1: it is not a code object.
 */
__noinline int sdw_check_code(__u32 cpu, __u64 address)
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
	if (bpf_probe_read_user(code->head, HEAD_BYTES, (void *)address))
		return -1;
	type = sdw_head_word(code->head, HEAD_BYTES, scratch->walk.layout.object_type);
	if (scratch->interpreter.code_type_addr && type != scratch->interpreter.code_type_addr)
		return -1;
	if (bpf_probe_read_user(
		    code->text, TEXT_BYTES,
		    (void *)sdw_head_word(code->head, HEAD_BYTES, scratch->walk.layout.code_name)))
		__builtin_memset(code->text, 0, TEXT_BYTES);
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
	way->key = key;
	way->id = code->record.id;
	way->fingerprint = fingerprint;
	way->checked_ns = scratch->now_ns;
	return 0;
}

static __always_inline __u64 code_id(struct sdw_walk *walk, __u64 address)
{
	struct sdw_scratch *scratch = container_of(walk, struct sdw_scratch, walk);
	__u64 key = sdw_mix(address ^ walk->seed);
	struct sdw_code_slot *slot = code_slot(walk->cpu, key);
	struct sdw_code_way *way;
	__u32 i;

	if (!slot)
		return 0;
#pragma unroll
	for (i = 0; i < SDW_CODE_WAYS; i++) {
		way = &slot->ways[i];
		if (way->key == key && scratch->now_ns - way->checked_ns < sdw_config.code_check_ns)
			return way->id;
	}
	if (sdw_check_code(walk->cpu, address))
		return 0;
	return scratch->code.record.id;
}

/* ---- the walk ---- */

struct step_context {
	struct sdw_scratch *scratch;
};

/* One frame. Returns 1 when the walk is over. */
static int step_in_loop(__u32 index, void *context)
{
	return sdw_walk_step(&((struct step_context *)context)->scratch->walk);
}

/* The same for kernels without bpf_loop: verified once, not once a frame. */
__noinline int sdw_step(__u32 cpu)
{
	struct sdw_scratch *scratch = scratch_of(cpu);

	return scratch ? sdw_walk_step(&scratch->walk) : 1;
}

static __always_inline void walk_frames(__u32 cpu, struct sdw_scratch *scratch, bool bounded)
{
	struct step_context context = {scratch};
	__u32 i;

	if (!bounded) {
		bpf_loop(2 * SDW_MAX_FRAMES + 4, step_in_loop, &context, 0);
		return;
	}
	for (i = 0; i < OLD_WALK_STEPS; i++) {
		if (sdw_step(cpu))
			return;
	}
	scratch->walk.status = SDW_STATUS_TRUNCATED;
}

/* ---- thread states ---- */

static __always_inline int read_thread(struct sdw_scratch *scratch, __u64 thread_state)
{
	return (int)bpf_probe_read_user(scratch->walk.thread, SDW_THREAD_SPAN,
					(void *)thread_state);
}

/* Is the thread state in walk.thread the interrupted thread's, and (*sure) the one it used last? */
static __always_inline int is_own(struct sdw_scratch *scratch, __u32 *sure)
{
	const struct sdw_pylayout *layout = &scratch->walk.layout;

	if (sdw_thread_word(&scratch->walk, layout->thread_id) != scratch->thread_pointer)
		return 0;
	*sure = layout->thread_status == SDW_NO_OFFSET ||
		((__u32)sdw_thread_word(&scratch->walk, layout->thread_status) &
		 layout->thread_status_bound_gilstate_mask) != 0;
	return 1;
}

/* One thread state of the lists. Returns 1 when the search is over. */
__noinline int sdw_search_step(__u32 cpu)
{
	struct sdw_scratch *scratch = scratch_of(cpu);
	const struct sdw_pylayout *layout;
	__u32 sure = 0;

	if (!scratch)
		return 1;
	layout = &scratch->walk.layout;
	if (!scratch->search_thread) {
		/* the next interpreter: its list of threads, and the interpreter after it */
		__u64 interpreter = scratch->search_interpreter;

		if (!interpreter ||
		    bpf_probe_read_user(&scratch->search_thread, 8,
					(void *)(interpreter + layout->interpreter_threads_head)) ||
		    bpf_probe_read_user(&scratch->search_interpreter, 8,
					(void *)(interpreter + layout->interpreter_next)))
			return 1;
		return 0;
	}
	scratch->search_steps++;
	if (read_thread(scratch, scratch->search_thread))
		return 1;
	if (is_own(scratch, &sure) && (sure || !scratch->search_found)) {
		scratch->search_found = scratch->search_thread;
		scratch->search_sure = sure;
		if (sure)
			return 1;
	}
	scratch->search_thread = sdw_thread_word(&scratch->walk, layout->thread_next);
	return 0;
}

static int search_in_loop(__u32 index, void *context)
{
	return sdw_search_step(*(__u32 *)context) != 0;
}

/* Searches all interpreters' lists for the interrupted thread. The result is in scratch. */
static __always_inline int search(__u32 cpu, bool bounded)
{
	struct sdw_scratch *scratch = scratch_of(cpu);
	__u32 i;

	if (!scratch)
		return 0;
	scratch->search_found = 0;
	scratch->search_thread = 0;
	scratch->search_steps = 0;
	scratch->search_sure = 0;
	if (bpf_probe_read_user(&scratch->search_interpreter, 8,
				(void *)(scratch->interpreter.runtime_addr +
					 scratch->walk.layout.runtime_interpreters_head)))
		return 0;
	if (!bounded) {
		bpf_loop(MAX_SEARCH_STEPS, search_in_loop, &cpu, 0);
		return 0;
	}
	for (i = 0; i < OLD_SEARCH_STEPS; i++) {
		if (sdw_search_step(cpu))
			return 0;
	}
	return 0;
}

__noinline int sdw_search(__u32 cpu)
{
	return search(cpu, false);
}

__noinline int sdw_search_bounded(__u32 cpu)
{
	return search(cpu, true);
}

/* Up to 3.11 the runtime names the thread state that holds the GIL. Returns it if it is ours. */
static __always_inline __u64 holder(struct sdw_scratch *scratch)
{
	__u64 current = 0;
	__u32 sure;

	if (scratch->walk.layout.runtime_tstate_current == SDW_NO_OFFSET)
		return 0;
	if (bpf_probe_read_user(&current, 8,
				(void *)(scratch->interpreter.runtime_addr +
					 scratch->walk.layout.runtime_tstate_current)) ||
	    !current || read_thread(scratch, current) || !is_own(scratch, &sure))
		return 0;
	scratch->sample.record.flags |= SDW_SAMPLE_HOLDS_GIL;
	return current;
}

/*
 * Leaves the head of the interrupted thread's state in walk.thread. Returns 0, or -1: it has none.
 * The cached one is good if it still is this thread's, is the one used last (a thread in a
 * subinterpreter has two), and has a frame (it may have been freed and another made).
 */
static __always_inline int find_thread_state(__u32 cpu, struct sdw_scratch *scratch,
					     struct sdw_thread_slot *slot, bool bounded)
{
	const struct sdw_pylayout *layout = &scratch->walk.layout;
	__u32 sure = 0;

	if (holder(scratch))
		return 0;
	if (slot->thread_state && !read_thread(scratch, slot->thread_state) &&
	    is_own(scratch, &sure) && sure && sdw_thread_word(&scratch->walk, layout->thread_frame))
		return 0;
	if (scratch->now_ns < slot->retry_ns)
		return slot->thread_state && !read_thread(scratch, slot->thread_state) &&
				       is_own(scratch, &sure)
			       ? 0
			       : -1;
	if (bounded)
		sdw_search_bounded(cpu);
	else
		sdw_search(cpu);
	slot->thread_state = scratch->search_found;
	slot->retry_ns = scratch->now_ns;
	if (!scratch->search_sure)
		slot->retry_ns += scratch->search_steps * SEARCH_COST_NS * SEARCH_PAUSE;
	if (!scratch->search_found || read_thread(scratch, scratch->search_found))
		return -1;
	return is_own(scratch, &sure) ? 0 : -1;
}

/* Does the thread hold the GIL, does the collector run? */
static __always_inline void thread_flags(struct sdw_scratch *scratch)
{
	const struct sdw_pylayout *layout = &scratch->walk.layout;
	__u8 *flags = &scratch->sample.record.flags;
	__u64 interpreter;
	__u32 collecting;

	if (layout->thread_status != SDW_NO_OFFSET &&
	    (__u32)sdw_thread_word(&scratch->walk, layout->thread_status) &
		    layout->thread_status_active_mask)
		*flags |= SDW_SAMPLE_HOLDS_GIL;
	if (!(*flags & SDW_SAMPLE_HOLDS_GIL) || layout->interpreter_gc_collecting == SDW_NO_OFFSET)
		return;
	interpreter = sdw_thread_word(&scratch->walk, layout->thread_interpreter);
	if (!bpf_probe_read_user(&collecting, sizeof(collecting),
				 (void *)(interpreter + layout->interpreter_gc_collecting)) &&
	    collecting)
		*flags |= SDW_SAMPLE_GC;
}

/* ---- all of it ---- */

/* Copies the interpreter's layout into the walk, unless it is there from the sample before. */
static __always_inline int take_layout(struct sdw_scratch *scratch)
{
	__u32 index = scratch->interpreter.layout;
	struct sdw_pylayout *layout;

	if (scratch->layout == index + 1)
		return 0;
	layout = bpf_map_lookup_elem(&layouts, &index);
	if (!layout)
		return -1;
	scratch->walk.layout = *layout;
	scratch->layout = index + 1;
	return 0;
}

/* The interpreter of the image, remembered with the thread once it is known. Returns a status. */
static __always_inline int take_interpreter(struct sdw_scratch *scratch,
					    struct sdw_thread_slot *slot, __u64 key)
{
	struct sdw_interpreter *interpreter;

	if (!slot->interpreter.supported) {
		interpreter = bpf_map_lookup_elem(&interpreters, &key);
		if (!interpreter)
			return SDW_STATUS_PENDING;
		if (!interpreter->supported)
			return SDW_STATUS_NO_PYTHON;
		slot->interpreter = *interpreter;
	}
	scratch->interpreter = slot->interpreter;
	return take_layout(scratch) ? SDW_STATUS_NO_PYTHON : SDW_STATUS_COMPLETE;
}

static __always_inline int walk_python(__u32 cpu, bool bounded)
{
	struct sdw_scratch *scratch = scratch_of(cpu);
	struct sdw_thread_slot *slot;
	__u64 key;
	__u32 at;
	int status;

	if (!scratch)
		return SDW_STATUS_NO_PYTHON;
	scratch->walk.count = 0;
	at = cpu * SDW_THREAD_SLOTS + (scratch->tid & (SDW_THREAD_SLOTS - 1));
	slot = bpf_map_lookup_elem(&threads, &at);
	if (!slot)
		return SDW_STATUS_NO_PYTHON;
	key = (__u64)scratch->pid << 32 | scratch->epoch;
	status = take_interpreter(scratch, slot, key);
	if (status != SDW_STATUS_COMPLETE)
		return status;
	if (find_thread_state(cpu, scratch, slot, bounded))
		return SDW_STATUS_NO_THREAD_STATE;
	thread_flags(scratch);
	scratch->walk.cpu = cpu;
	scratch->walk.seed = sdw_mix(key);
	sdw_walk_begin(&scratch->walk);
	walk_frames(cpu, scratch, bounded);
	if (!scratch->walk.count && scratch->walk.status == SDW_STATUS_COMPLETE)
		return SDW_STATUS_NO_FRAME;
	return (int)scratch->walk.status;
}

int sdw_walk_python(__u32 cpu)
{
	return walk_python(cpu, false);
}

int sdw_walk_python_bounded(__u32 cpu)
{
	return walk_python(cpu, true);
}
