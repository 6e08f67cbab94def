/* SPDX-License-Identifier: MIT */
/*
 * states.h - the interpreters of a process and their thread states, read from its memory.
 *
 * In:  a process whose interpreter was found and proven (target/interpreter.h). It runs meanwhile:
 * lists are bounded, and what does not hold together is dropped.
 */
#ifndef SDW_DUMP_STATES_H
#define SDW_DUMP_STATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dump/object_layout.h"
#include "target/interpreter.h"

/* A process's memory, and where things are in it. */
struct sdw_dump_memory {
	uint32_t pid;
	const struct sdw_found_interpreter *python;
	struct sdw_object_layout objects;
	uint64_t deadline_ns; /* CLOCK_MONOTONIC: nothing is read after it; 0: none */
	bool has_objects;     /* false: the version's objects are not known: no locals, no names */
};

struct sdw_dump_interpreter {
	uint64_t address;
	int64_t id;
	bool id_known;
	bool gc_known, gc_running; /* 3.6 and before do not tell */
	bool has_gil;		   /* false: a free-threaded build that does without */
	uint64_t gil, gil_size;	   /* 0: not known */
};

struct sdw_dump_state {
	uint64_t address;
	uint32_t interpreter; /* index */
	uint64_t thread_id;   /* pthread_self() of the thread that made it, or runs it */
	uint64_t frame;	      /* what its layout's thread_frame holds: 0: no Python code runs */
	bool holds_gil;
	bool used_last; /* the one its thread used last */
};

struct sdw_dump_states {
	struct { /* the main one first */
		struct sdw_dump_interpreter *items;
		size_t count, room;
	} interpreters;
	struct {
		struct sdw_dump_state *items;
		size_t count, room;
	} all;
};

/* Returns 0 or -errno; states is valid, maybe empty, in any case. */
int sdw_dump_states_read(const struct sdw_dump_memory *memory, struct sdw_dump_states *states);
void sdw_dump_states_free(struct sdw_dump_states *states);

/* Reads one thread state anew. Returns 0 or -errno. */
int sdw_dump_state_read(const struct sdw_dump_memory *memory, const struct sdw_dump_states *states,
			uint64_t address, struct sdw_dump_state *state);

/*
 * The kernel's number of the thread whose pthread_self() is thread_id, as its own pid namespace has
 * it, by the C library's own record of it: only a number that is_tid() accepts. 0: not known.
 */
int32_t sdw_dump_thread_number(uint32_t pid, uint64_t thread_id,
			       bool (*is_tid)(const void *context, int32_t tid),
			       const void *context);

/*
 * What a process holds has no bounds but those that it wants: dicts and lists without end cost time
 * for each entry, and so does each page that it makes us wait for. From now on so many seconds may
 * be spent on reading its memory.
 */
void sdw_dump_memory_allow(struct sdw_dump_memory *memory, unsigned int seconds);

/* sdw_remote_read() until the deadline; then -ETIME. */
int sdw_dump_read(const struct sdw_dump_memory *memory, uint64_t address, void *to, size_t size);

/* Words of the process; false if they cannot be read. */
bool sdw_dump_word(const struct sdw_dump_memory *memory, uint64_t address, uint64_t *word);

#endif
