/* SPDX-License-Identifier: MIT */
/*
 * process.h - everything that a dump says of one process.
 *
 * In:  a pid. Out: its interpreters and threads, each with its stack as it is now. The process is
 * never stopped, signalled or traced: its memory is read as it lies.
 */
#ifndef SDW_DUMP_PROCESS_H
#define SDW_DUMP_PROCESS_H

#include "dump/dumper.h"
#include "dump/python_stack.h"
#include "dump/task.h"

/* How sure what was read of a thread is. */
enum sdw_dump_certainty {
	SDW_DUMP_EXACT,	  /* it did not run while it was read */
	SDW_DUMP_MOVING,  /* it ran; two looks at its Python frames found the same ones */
	SDW_DUMP_TORN,	  /* it ran, and each look found something else: may never have been so */
	SDW_DUMP_GONE,	  /* it ended meanwhile */
	SDW_DUMP_SAMPLED, /* it ran; its stack was taken in an interrupt of it: belongs together */
	SDW_DUMP_CERTAINTY_COUNT,
};

struct sdw_dump_local {
	char *name, *value; /* owned, UTF-8, not escaped */
};

struct sdw_dump_locals {
	struct sdw_dump_local *items;
	size_t count, room;
};

struct sdw_dump_frame {
	uint8_t kind;		 /* enum sdw_code_kind */
	const char *name, *file; /* kept in the dumper's strings, UTF-8, not escaped */
	uint32_t line;		 /* 0: none */
	struct sdw_dump_locals locals;
};

struct sdw_dump_thread {
	struct sdw_task task;
	char *python_name; /* of the threading module; NULL: none, or not known */
	enum sdw_dump_certainty certainty;
	bool has_state; /* it has a Python thread state */
	bool holds_gil, waits_for_gil;
	uint32_t gil_interpreter;		      /* index of one of those whose GIL that is */
	uint64_t states[SDW_MAX_NESTED_STATES];	      /* thread states, innermost first ... */
	uint32_t interpreters[SDW_MAX_NESTED_STATES]; /* ... and whose they are: indexes */
	size_t interpreter_count;
	uint8_t python_status; /* enum sdw_status */
	bool native_known;     /* the native stack was read ... */
	int native_end;	       /* ... up to there: enum sdw_unwind_end */
	struct {
		struct sdw_dump_frame *items; /* innermost first */
		size_t count, room;
	} frames;
};

struct sdw_dump_process {
	pid_t pid;
	char comm[20];
	char *command; /* its command line, UTF-8; may be "" */
	int python;    /* as sdw_interpreter_find() returned */
	struct sdw_image image;
	struct sdw_dump_memory memory;
	struct sdw_dump_states states;
	int32_t *state_tids; /* per thread state: the thread's inner tid, 0: not known */
	struct {
		struct sdw_dump_thread *items; /* by tid */
		size_t count, room;
	} threads;
};

/*
 * Reads the process. Returns 0 or -errno: -ESRCH it is gone, -EACCES its memory may not be read,
 * -ENOEXEC it is a kernel thread, -ENOMEM. Free it in any case.
 */
int sdw_dump_process_read(struct sdw_dumper *dumper, pid_t pid, struct sdw_dump_process *process);
void sdw_dump_process_free(struct sdw_dump_process *process);

/*
 * Finds out who holds each GIL and who waits for it, all at one moment as far as that can be had.
 * For sdw_dump_process_read().
 */
void sdw_dump_gil_read(struct sdw_dump_process *process);

/* True if the thread holds, or waits for, the GIL of the interpreter with this index. */
bool sdw_dump_is_of_gil(const struct sdw_dump_process *process,
			const struct sdw_dump_thread *thread, uint32_t interpreter);

/*
 * Threads that ran while they were read: where BPF programs may be loaded, their stacks are taken
 * once more in an interrupt, native frames too. Others stay as they are. Returns 0 or -ENOMEM.
 */
int sdw_dump_running_sample(struct sdw_dumper *dumper, struct sdw_dump_process *processes,
			    size_t count);

/* Replaces the thread's frames by those of a stack of `profile`, which must outlive them. */
int sdw_dump_thread_set_frames(struct sdw_dump_thread *thread, const struct sdw_profile *profile,
			       uint32_t stack);

/* Reads one thread, process->threads.items[index]. For sdw_dump_process_read(). */
int sdw_dump_thread_read(struct sdw_dumper *dumper, struct sdw_dump_process *process, size_t index);
void sdw_dump_thread_free(struct sdw_dump_thread *thread);

#endif
