// SPDX-License-Identifier: MIT
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "dump/states.h"
#include "pywalk_state.h"
#include "target/maps.h"

#define MAX_INTERPRETERS 1024u
#define MAX_STATES	 65536u

/* struct pthread on x86-64: glibc 2.4 to 2.41 nptl/descr.h; musl 1.2 src/internal/pthread_impl.h */
#define GLIBC_SELF 16u
#define GLIBC_TID  720u
#define MUSL_SELF  0u
#define MUSL_TID   48u

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

void sdw_dump_memory_allow(struct sdw_dump_memory *memory, unsigned int seconds)
{
	memory->deadline_ns = now_ns() + seconds * 1000000000ull;
}

int sdw_dump_read(const struct sdw_dump_memory *memory, uint64_t address, void *to, size_t size)
{
	if (memory->deadline_ns && now_ns() > memory->deadline_ns)
		return -ETIME;
	return sdw_remote_read(memory->pid, address, to, size);
}

bool sdw_dump_word(const struct sdw_dump_memory *memory, uint64_t address, uint64_t *word)
{
	return sdw_dump_read(memory, address, word, sizeof(*word)) == 0;
}

void sdw_dump_states_free(struct sdw_dump_states *states)
{
	free(states->interpreters.items);
	free(states->all.items);
	*states = (struct sdw_dump_states){0};
}

static bool read_int(const struct sdw_dump_memory *memory, uint64_t address, int32_t *value)
{
	return sdw_dump_read(memory, address, value, sizeof(*value)) == 0;
}

static void find_gil(const struct sdw_dump_memory *memory, struct sdw_dump_interpreter *interpreter)
{
	const struct sdw_object_layout *objects = &memory->objects;
	int32_t enabled = 0;

	interpreter->has_gil = !memory->python->layout.free_threaded;
	if (!memory->has_objects)
		return;
	interpreter->gil_size = objects->gil_size;
	if (objects->runtime_gil != SDW_NO_OFFSET)
		interpreter->gil = memory->python->runtime_addr + objects->runtime_gil;
	else if (objects->interpreter_gil == SDW_NO_OFFSET ||
		 !sdw_dump_word(memory, interpreter->address + objects->interpreter_gil,
				&interpreter->gil))
		interpreter->gil = 0;
	/* `enabled` is its first member there, CPython 3.13 Include/internal/pycore_gil.h */
	if (!interpreter->has_gil && interpreter->gil)
		interpreter->has_gil = read_int(memory, interpreter->gil, &enabled) && enabled;
}

static int add_interpreter(const struct sdw_dump_memory *memory, struct sdw_dump_states *states,
			   uint64_t address)
{
	const struct sdw_pylayout *layout = &memory->python->layout;
	struct sdw_dump_interpreter new = {.address = address};
	int32_t collecting = 0;

	if (sdw_array_reserve(&states->interpreters, 1))
		return -ENOMEM;
	if (memory->has_objects && memory->objects.interpreter_id != SDW_NO_OFFSET)
		new.id_known = sdw_dump_read(memory, address + memory->objects.interpreter_id,
					     &new.id, sizeof(new.id)) == 0;
	if (layout->runtime_gc_collecting != SDW_NO_OFFSET)
		new.gc_known = read_int(
			memory, memory->python->runtime_addr + layout->runtime_gc_collecting,
			&collecting);
	else if (layout->interpreter_gc_collecting != SDW_NO_OFFSET)
		new.gc_known =
			read_int(memory, address + layout->interpreter_gc_collecting, &collecting);
	new.gc_running = collecting != 0;
	find_gil(memory, &new);
	states->interpreters.items[states->interpreters.count++] = new;
	return 0;
}

/* Up to 3.11 the runtime names the thread state that holds the GIL. */
static bool is_current(const struct sdw_dump_memory *memory, uint64_t address)
{
	uint32_t offset = memory->python->layout.runtime_tstate_current;
	uint64_t current;

	return offset != SDW_NO_OFFSET &&
	       sdw_dump_word(memory, memory->python->runtime_addr + offset, &current) &&
	       current == address;
}

static uint64_t word_at(const uint8_t *head, uint32_t offset)
{
	uint64_t word = 0;

	if (offset <= SDW_THREAD_SPAN - sizeof(word))
		memcpy(&word, head + offset, sizeof(word));
	return word;
}

int sdw_dump_state_read(const struct sdw_dump_memory *memory, const struct sdw_dump_states *states,
			uint64_t address, struct sdw_dump_state *state)
{
	const struct sdw_pylayout *layout = &memory->python->layout;
	uint8_t head[SDW_THREAD_SPAN];
	uint64_t owner, status;
	int err;

	err = sdw_dump_read(memory, address, head, sizeof(head));
	if (err)
		return err;
	*state = (struct sdw_dump_state){.address = address, .interpreter = UINT32_MAX};
	owner = word_at(head, layout->thread_interpreter);
	for (size_t i = 0; i < states->interpreters.count; i++)
		if (states->interpreters.items[i].address == owner)
			state->interpreter = (uint32_t)i;
	if (state->interpreter == UINT32_MAX)
		return -ENOENT;
	state->thread_id = word_at(head, layout->thread_id);
	state->frame = word_at(head, layout->thread_frame);
	if (layout->thread_status == SDW_NO_OFFSET) {
		state->holds_gil = is_current(memory, address);
		state->used_last = true;
	} else {
		status = word_at(head, layout->thread_status);
		state->holds_gil = (status & layout->thread_status_active_mask) != 0;
		state->used_last = (status & layout->thread_status_bound_gilstate_mask) != 0;
	}
	return 0;
}

static int add_states(const struct sdw_dump_memory *memory, struct sdw_dump_states *states,
		      uint64_t interpreter)
{
	const struct sdw_pylayout *layout = &memory->python->layout;
	uint64_t address;

	if (!sdw_dump_word(memory, interpreter + layout->interpreter_threads_head, &address))
		return -EFAULT;
	while (address && states->all.count < MAX_STATES) {
		struct sdw_dump_state state;
		uint64_t next;

		if (sdw_dump_state_read(memory, states, address, &state) ||
		    !sdw_dump_word(memory, address + layout->thread_next, &next))
			return -EAGAIN; /* it ended as we came */
		if (sdw_array_reserve(&states->all, 1))
			return -ENOMEM;
		states->all.items[states->all.count++] = state;
		address = next;
	}
	return 0;
}

/* The list begins with the newest; people begin with the main one. */
static void reverse(struct sdw_dump_states *states)
{
	struct sdw_dump_interpreter *items = states->interpreters.items;

	for (size_t i = 0, j = states->interpreters.count; i + 1 < j; i++) {
		struct sdw_dump_interpreter other = items[--j];

		items[j] = items[i];
		items[i] = other;
	}
}

int sdw_dump_states_read(const struct sdw_dump_memory *memory, struct sdw_dump_states *states)
{
	const struct sdw_pylayout *layout = &memory->python->layout;
	uint64_t address;
	int err = 0;

	states->interpreters.count = states->all.count = 0;
	if (!sdw_dump_word(memory, memory->python->runtime_addr + layout->runtime_interpreters_head,
			   &address))
		return -EFAULT;
	while (address && states->interpreters.count < MAX_INTERPRETERS) {
		err = add_interpreter(memory, states, address);
		if (err)
			return err;
		if (!sdw_dump_word(memory, address + layout->interpreter_next, &address))
			return -EAGAIN;
	}
	reverse(states);
	for (size_t i = 0; !err && i < states->interpreters.count; i++)
		err = add_states(memory, states, states->interpreters.items[i].address);
	return err;
}

int32_t sdw_dump_thread_number(uint32_t pid, uint64_t thread_id,
			       bool (*is_tid)(const void *context, int32_t tid),
			       const void *context)
{
	static const uint32_t libraries[][2] = {{GLIBC_SELF, GLIBC_TID}, {MUSL_SELF, MUSL_TID}};

	for (size_t i = 0; i < sizeof(libraries) / sizeof(libraries[0]); i++) {
		uint64_t self;
		int32_t tid;

		if (sdw_remote_read(pid, thread_id + libraries[i][0], &self, sizeof(self)) ||
		    self != thread_id ||
		    sdw_remote_read(pid, thread_id + libraries[i][1], &tid, sizeof(tid)))
			continue;
		if (tid > 0 && is_tid(context, tid))
			return tid;
	}
	return 0;
}
