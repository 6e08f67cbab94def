/* SPDX-License-Identifier: MIT */
/*
 * handler_events.h - the events that the agent's signal handler writes through LTTng-UST itself
 * (record --path=signal --lttng, --path=both --lttng), and the shared object that has them.
 *
 * They are what a handler knows: addresses and offsets, no lines and no native names. What takes
 * more (processes, threads, lines, symbols, totals) comes from the recorder, as the events of
 * sink.h in the same session: it has the same run of the handler from its own ring. Thread and
 * handler_ns are the key: the recorder's `signal_sample` of the same run has the same two, and with
 * --path=both the number of its pair, which is that of a `sample_paired`.
 */
#ifndef SDW_HANDLER_EVENTS_H
#define SDW_HANDLER_EVENTS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#define SDW_HANDLER_FILE   "lttng-handler.so" /* beside the agent */
#define SDW_HANDLER_SYMBOL "sdw_handler_provider"

/*
 * Tracepoint `handler_process`: from here on what the handlers of this process write is in the
 * trace. Before, and where there is none (a session that takes the process later, the child of a
 * fork), runs are counted that could not write.
 */
struct sdw_handler_process {
	uint32_t pid; /* as the recorder has it */
	bool taken;   /* as below */
};

/* Tracepoint `handler_sample`: one run of the handler. */
struct sdw_handler_sample {
	uint32_t pid;	      /* as the recorder has it */
	uint32_t tid;	      /* as the process itself has it: another in a pid namespace */
	uint64_t overflow_ns; /* of the oldest overflow that it stands for, CLOCK_MONOTONIC */
	uint64_t handler_ns;  /* when the handler began, likewise */
	uint64_t period;      /* what one overflow stands for, in `unit`s of the recording */
	uint32_t merged;      /* overflows besides it that had no run of their own */
	uint16_t cpu;	      /* that the handler ran on */
	uint8_t status;	      /* enum sdw_status: of the Python stack */
	uint8_t flags;	      /* enum sdw_sample_flags */
	uint8_t delivery;     /* enum sdw_signal_flags */
	uint8_t native_end;   /* enum sdw_signal_native_end; of no meaning without addresses */
	uint16_t frames;      /* Python frames, innermost first, <= SDW_MAX_FRAMES: */
	uint16_t addresses;   /* native instruction pointers, likewise (--unwind=online) */
	const uint64_t *code; /* id of its code object, see struct sdw_handler_code */
	const int32_t *instruction; /* offset in bytes into its bytecode; < 0: not started */
	const uint8_t *entries;	    /* as in struct sdw_python_frame, 255 at most */
	const uint64_t *address;
	bool taken; /* no field: set if a session had room for it, or has counted that it had not */
};

/*
 * Tracepoint `handler_code`: a code object, before the first sample that names it, and again when a
 * table of the agent has forgotten it. Ids are of one process image. Texts are as in sink.h; ""
 * where one cannot be read.
 */
struct sdw_handler_code {
	uint32_t pid; /* as the recorder has it */
	uint64_t id;
	uint64_t object;    /* its address */
	int32_t first_line; /* co_firstlineno */
	const char *name, *qualname, *file;
	bool taken; /* as above */
};

/* What lttng-handler.so offers; all but `init_thread` and the forks may run in a handler. */
struct sdw_handler_provider {
	bool (*enabled)(void); /* every event is, in some session */
	void (*process)(uint8_t recorder, struct sdw_handler_process *process);
	void (*sample)(uint8_t recorder, struct sdw_handler_sample *sample);
	void (*code)(uint8_t recorder, struct sdw_handler_code *code);
	/* makes what the calling thread's tracepoints need, before the first of them */
	void (*init_thread)(void);
	/* lttng/ust-fork.h */
	void (*before_fork)(sigset_t *mask);
	void (*after_fork_parent)(sigset_t *mask);
	void (*after_fork_child)(sigset_t *mask);
	/* close() that spares the descriptors of liblttng-ust: those are not there (-EBADF) */
	int (*close)(int fd, int (*real_close)(int fd));
};

extern const struct sdw_handler_provider sdw_handler_provider;

#endif
