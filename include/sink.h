/* SPDX-License-Identifier: MIT */
/*
 * sink.h - the event schema: what a recording consists of, and what every output implements.
 *
 * The recorder sends these events to a sink (CTF directory, in-memory profile, ...); the reader of a
 * trace sends the same events to the same interface. Definitions come before their first use, ids are
 * dense and count from 1; 0 means "none". Strings are UTF-8, NUL-terminated, owned by the caller and
 * only valid during the call; a lone surrogate, NUL or undecodable byte of the target is already
 * written as \udcXX, \x00 or \xNN, other characters (control characters too) are as in the target.
 * Every call returns 0 or -errno; after an error the recorder stops and finishes what can be.
 */
#ifndef SDW_SINK_H
#define SDW_SINK_H

#include <stdbool.h>
#include <stdint.h>

#include "counters.h"

/* The recording itself; once, first. In a CTF trace: the `env` block of the metadata. */
struct sdw_recording {
	const char *version;	 /* of Sidewinder */
	const char *hostname;
	const char *command;	 /* as asked for: the command line, or "pid 12 13", or "all processes" */
	const char *event;	 /* name as -e takes it, e.g. "cpu-clock" */
	const char *unit;	 /* of a sample's weight: "ns" for clocks, otherwise "events" */
	uint64_t period;	 /* events per overflow; 0 where the kernel adapts it to `frequency` */
	uint64_t frequency;	 /* overflows per second asked for; 0 where a period was asked for */
	uint64_t start_ns;	 /* CLOCK_MONOTONIC when counting began */
	uint64_t start_unix_ns;	 /* CLOCK_REALTIME at the same instant */
	bool native;		 /* native frames were recorded */
	bool kernel;		 /* kernel frames were recorded */
};

/* A process image: a pid that execs, or is used again, is another one. */
struct sdw_process_event {
	uint64_t time_ns;
	uint32_t id;
	uint32_t parent;    /* id of the parent's image, 0: not known */
	uint32_t pid;	    /* in the profiler's pid namespace */
	uint32_t inner_pid; /* in the process's own */
	const char *comm;
};

struct sdw_thread_event {
	uint64_t time_ns;
	uint32_t id;
	uint32_t process;
	uint32_t tid;
	uint32_t inner_tid;
	const char *name; /* the kernel's: comm */
};

enum sdw_code_kind {
	SDW_CODE_PYTHON,
	SDW_CODE_NATIVE,
	SDW_CODE_KERNEL,
	SDW_CODE_MARKER, /* a place where something is missing; the name says what */
	SDW_CODE_KIND_COUNT,
};

/* A function. */
struct sdw_code_event {
	uint64_t time_ns;
	uint32_t id;
	uint8_t kind;	     /* enum sdw_code_kind */
	const char *name;    /* Python: qualified where the interpreter has it */
	const char *file;    /* Python: file name of the code object; native: path of the ELF file */
	uint32_t first_line; /* Python only, else 0 */
};

/* A function at a line. */
struct sdw_frame_event {
	uint64_t time_ns;
	uint32_t id;
	uint32_t code;
	uint32_t line; /* being executed; 0: none or not known */
};

/* A stack: a frame on top of another stack. Its root has parent 0. */
struct sdw_stack_event {
	uint64_t time_ns;
	uint32_t id;
	uint32_t parent; /* the stack of its caller, always defined before, always < id */
	uint32_t frame;
};

/* One overflow. */
struct sdw_sample_event {
	uint64_t time_ns; /* never before that of the sample sent before */
	uint32_t thread;
	uint32_t stack;	  /* 0: nothing is known of the stack */
	uint64_t weight;  /* in `unit`s of the recording: what the sample stands for */
	uint16_t cpu;
	uint8_t status;	  /* enum sdw_status */
	uint8_t flags;	  /* enum sdw_sample_flags of events.h */
};

/* Overflows that did not become samples, within an interval; repeated as they are noticed. */
struct sdw_lost_event {
	uint64_t time_ns;    /* end of the interval */
	uint64_t begin_ns;
	uint64_t count;
	uint8_t reason;	     /* enum sdw_lost */
};

/* Totals of the recording so far; last in a complete trace, and repeated while recording. */
struct sdw_totals {
	uint64_t time_ns;
	uint64_t duration_ns;
	uint64_t overflows; /* == sum of the two arrays */
	uint64_t status[SDW_STATUS_COUNT];
	uint64_t lost[SDW_LOST_COUNT];
	uint32_t processes;
	uint32_t threads;
	bool complete; /* the recording was ended in order, these are the final totals */
};

struct sdw_sink;

struct sdw_sink_ops {
	int (*recording)(struct sdw_sink *sink, const struct sdw_recording *recording);
	int (*process)(struct sdw_sink *sink, const struct sdw_process_event *event);
	int (*thread)(struct sdw_sink *sink, const struct sdw_thread_event *event);
	int (*code)(struct sdw_sink *sink, const struct sdw_code_event *event);
	int (*frame)(struct sdw_sink *sink, const struct sdw_frame_event *event);
	int (*stack)(struct sdw_sink *sink, const struct sdw_stack_event *event);
	int (*sample)(struct sdw_sink *sink, const struct sdw_sample_event *event);
	int (*lost)(struct sdw_sink *sink, const struct sdw_lost_event *event);
	int (*totals)(struct sdw_sink *sink, const struct sdw_totals *totals);
	/* makes all that was sent so far readable by others; called at least once a second */
	int (*flush)(struct sdw_sink *sink, uint64_t now_ns);
	/* ends the output in order and frees the sink, also after an error */
	int (*close)(struct sdw_sink *sink);
};

/* First member of every sink. */
struct sdw_sink {
	const struct sdw_sink_ops *ops;
};

#endif
