/* SPDX-License-Identifier: MIT */
/*
 * sink.h - the event schema: what a recording consists of, and what every output implements.
 *
 * The recorder sends these events to a sink (CTF directory, in-memory profile, ...); the reader of
 * a trace sends the same events to the same interface. Definitions come before their first use, ids
 * are dense and count from 1; 0 means "none". Strings are UTF-8, NUL-terminated, owned by the
 * caller and only valid during the call; a lone surrogate, NUL or undecodable byte of the target is
 * already written as \udcXX, \x00 or \xNN, other characters (control characters too) are as in the
 * target. Every call returns 0 or -errno; after an error the recorder stops and finishes what can
 * be.
 */
#ifndef SDW_SINK_H
#define SDW_SINK_H

#include <stdbool.h>
#include <stdint.h>

#include "counters.h"

/* Which way the stacks came (record --path). */
enum sdw_recording_path {
	SDW_PATH_BPF,	 /* read by the BPF program at the overflow: `sample` events */
	SDW_PATH_SIGNAL, /* read by a signal handler in the process: `signal_sample` events */
	SDW_PATH_BOTH,	 /* both, on the same overflows: paired `sample`s, and `signal_sample`s */
	SDW_PATH_COUNT,
};

/*
 * The recording itself; once, first. In a CTF trace: the `env` block of the metadata, where `event`
 * is called event_name, and tracer_name "sidewinder" and trace_format 1 say whose trace it is.
 */
struct sdw_recording {
	const char *version;  /* of Sidewinder */
	const char *hostname; /* as uname -n has it */
	const char *command;  /* as asked for: command line, or "pid 12 13", or "all processes" */
	const char *event;    /* name as -e takes it, e.g. "cpu-clock" */
	const char *unit;     /* of a sample's weight: "ns" for clocks, otherwise "events" */
	uint64_t period;    /* `unit`s per overflow; 0 where the kernel adapts it to `frequency` */
	uint64_t frequency; /* overflows per second asked for; 0 where a period was asked for */
	uint64_t start_ns;  /* CLOCK_MONOTONIC when counting began */
	uint64_t start_unix_ns; /* CLOCK_REALTIME at the same instant, ns since 1970 */
	bool native;		/* native frames were recorded */
	bool kernel;		/* kernel frames were recorded */
	uint8_t path;		/* enum sdw_recording_path; not in a trace: SDW_PATH_BPF */
	/* not in a trace: which part of it was asked for, in words (view/filter.h); NULL or "": all
	 */
	const char *filter;
};

/*
 * Every event has a time: CLOCK_MONOTONIC in nanoseconds. In a CTF trace it is the event header's
 * timestamp, mapped to the clock "monotonic", whose offset turns it into time since 1970. A time
 * before that of the event sent before is written as that one's: only samples are sure to be in
 * order.
 */

/* A process image: a pid that execs, or is used again, is another one. */
struct sdw_process_event {
	uint64_t time_ns; /* when it was first seen, at the earliest */
	uint32_t id;	  /* 1, 2, 3 ... */
	uint32_t parent;  /* id of the parent's image, < id; 0: not known */
	uint32_t pid; /* in the profiler's pid namespace, 1 to 2^22; 0: the kernel's idle task */
	uint32_t inner_pid; /* in the process's own pid namespace; where that is not known: pid */
	const char *comm; /* name of its main thread when it was seen, at most 15 bytes in Linux */
	/* where it runs, as its cgroup tells; NULL or "" where it is in none, or that is not known
	 */
	const char *container;	    /* id: mostly 64 hexadecimal digits */
	const char *container_name; /* as its runtime calls it */
	const char *pod;	    /* of Kubernetes or Podman: NAMESPACE/NAME, or its uid */
};

/* A thread of a process image. */
struct sdw_thread_event {
	uint64_t time_ns;
	uint32_t id;	  /* 1, 2, 3 ... */
	uint32_t process; /* id of its process */
	uint32_t tid;	  /* in the profiler's pid namespace; equals the pid for the main thread */
	uint32_t inner_tid; /* in the thread's own pid namespace; where that is not known: tid */
	const char *name;   /* the kernel's: comm, at most 15 bytes */
};

enum sdw_code_kind {
	SDW_CODE_PYTHON, /* a code object */
	SDW_CODE_NATIVE, /* a function of an ELF file */
	SDW_CODE_KERNEL, /* a function of the kernel */
	SDW_CODE_MARKER, /* a place where something is missing; the name says what */
	SDW_CODE_KIND_COUNT,
};

/* A function. */
struct sdw_code_event {
	uint64_t time_ns;
	uint32_t id;	     /* 1, 2, 3 ... */
	uint8_t kind;	     /* enum sdw_code_kind */
	const char *name;    /* Python: qualified where the interpreter has it; native: symbol */
	const char *file;    /* Python: co_filename; native: path of the ELF file; else "" */
	uint32_t first_line; /* Python: co_firstlineno, counted from 1; else 0 */
};

/* A function at a line. */
struct sdw_frame_event {
	uint64_t time_ns;
	uint32_t id;   /* 1, 2, 3 ... */
	uint32_t code; /* id of the function */
	uint32_t line; /* being executed, counted from 1; 0: none or not known */
	/*
	 * The expression in it, if it was asked for and the interpreter has it (from CPython 3.11
	 * on): columns are bytes of the line in UTF-8, counted from 1; the end is the first byte
	 * after it. 0: not known.
	 */
	uint16_t column, end_column;
	uint32_t end_line; /* in which it ends */
};

/* A stack: a frame on top of another stack. Its root has parent 0. */
struct sdw_stack_event {
	uint64_t time_ns;
	uint32_t id;	 /* 1, 2, 3 ... */
	uint32_t parent; /* the stack of its caller, always defined before, always < id */
	uint32_t frame;	 /* id of the frame on top, the innermost */
};

/*
 * One overflow. In a CTF trace `sample` where its weight is the recording's period, else
 * `sample_weighted`, and `sample_paired` where it has a pair; all also carry pid and tid of the
 * thread, so that other tools need no look-up.
 */
struct sdw_sample_event {
	uint64_t time_ns; /* of the overflow; never before that of the sample sent before */
	uint32_t thread;  /* id of the thread that was interrupted */
	uint32_t stack;	  /* id of what it was doing; 0: nothing is known of the stack */
	uint64_t weight;  /* in `unit`s of the recording: what the sample stands for */
	uint16_t cpu;	  /* number of the processor, as the kernel counts */
	uint8_t status;	  /* enum sdw_status */
	uint8_t flags;	  /* enum sdw_sample_flags of events.h */
	/* SDW_PATH_BOTH: its number, 1, 2, 3 ..., which the signal of its overflow names; else 0 */
	uint64_t pair;
};

enum sdw_signal_flags {
	SDW_SIGNAL_AFTER_KERNEL = 1
				  << 0, /* the overflow hit the kernel: the signal came on return */
	SDW_SIGNAL_BLOCKED = 1 << 1,	/* the thread had the signal blocked at the overflow */
	SDW_SIGNAL_WRONG_THREAD = 1 << 2, /* the overflow was another thread's */
	SDW_SIGNAL_NO_TIME = 1 << 3, /* the overflow's time is not known: it is the handler's */
};

/*
 * One run of the agent's signal handler: what it saw of the stack, and how the signal came. Signals
 * that come while one is pending are merged by the kernel: one run then stands for several
 * overflows, the oldest of which it tells of. Its event time is handler_ns, or that of the event
 * before.
 */
struct sdw_signal_sample_event {
	uint64_t time_ns;     /* never before that of the sample sent before */
	uint64_t overflow_ns; /* the kernel's time of the overflow */
	uint64_t handler_ns;  /* entry of the handler, both CLOCK_MONOTONIC */
	uint64_t pair;	      /* of the `sample` of the same overflow; 0: that one is not there */
	uint64_t weight;      /* as in a sample, of one overflow */
	uint32_t merged;      /* overflows of the same thread whose signals were merged with this */
	uint32_t thread;      /* id of the thread that ran the handler */
	uint32_t stack;	      /* id of what it was doing; 0: nothing is known of the stack */
	uint16_t cpu;	      /* that the handler ran on */
	uint8_t status;	      /* enum sdw_status */
	uint8_t flags;	      /* enum sdw_sample_flags of events.h */
	uint8_t delivery;     /* enum sdw_signal_flags */
};

/* Overflows that did not become samples, within an interval; repeated as they are noticed. */
struct sdw_lost_event {
	uint64_t time_ns;  /* end of the interval (end_ns in a CTF trace) */
	uint64_t begin_ns; /* its begin; both CLOCK_MONOTONIC */
	uint64_t count;	   /* overflows, not added up with events before */
	uint8_t reason;	   /* enum sdw_lost */
};

/*
 * Totals of the recording so far; last in a complete trace, and repeated while recording. In a CTF
 * trace each status and each reason is a field of its own: status_complete ... lost_ring_full ...
 */
struct sdw_totals {
	uint64_t time_ns;
	uint64_t duration_ns;		   /* since counting began */
	uint64_t overflows;		   /* == sum of the two arrays */
	uint64_t status[SDW_STATUS_COUNT]; /* samples by status */
	uint64_t lost[SDW_LOST_COUNT];	   /* overflows without a sample, by reason */
	uint32_t processes;		   /* images seen */
	uint32_t threads;		   /* threads seen */
	bool complete; /* the recording was ended in order, these are the final totals */
	/*
	 * Of the signal path alone: runs of the handler that came out as samples, overflows merged
	 * into another's signal, and what was lost otherwise. With SDW_PATH_SIGNAL these overflows
	 * are in the counts above too; with SDW_PATH_BOTH those count the samples of BPF.
	 */
	uint64_t signal_samples, signal_merged, signal_lost;
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
	/* may be NULL: a sink that has no place for these; see sdw_sink_signal_sample() */
	int (*signal_sample)(struct sdw_sink *sink, const struct sdw_signal_sample_event *event);
	int (*lost)(struct sdw_sink *sink, const struct sdw_lost_event *event);
	int (*totals)(struct sdw_sink *sink, const struct sdw_totals *totals);
	/* makes all that was sent so far readable by others; called at least once a second */
	int (*flush)(struct sdw_sink *sink, uint64_t now_ns);
	/* ends the output in order and frees the sink, also after an error */
	int (*close)(struct sdw_sink *sink);
	/* writes out what is kept in memory until it is asked for; NULL: nothing is */
	int (*snapshot)(struct sdw_sink *sink);
};

/* First member of every sink. */
struct sdw_sink {
	const struct sdw_sink_ops *ops;
};

static inline int sdw_sink_signal_sample(struct sdw_sink *sink,
					 const struct sdw_signal_sample_event *event)
{
	return sink->ops->signal_sample ? sink->ops->signal_sample(sink, event) : 0;
}

static inline int sdw_sink_snapshot(struct sdw_sink *sink)
{
	return sink->ops->snapshot ? sink->ops->snapshot(sink) : 0;
}

#endif
