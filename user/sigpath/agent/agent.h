/* SPDX-License-Identifier: MIT */
/*
 * agent.h - the agent in a sampled process: what its handler needs, made before the first signal.
 *
 * Everything that runs in a signal handler here works on memory that was mapped when the program
 * started, takes no lock, allocates nothing, and reads the interpreter by reads that fail instead
 * of faulting (memory.c).
 */
#ifndef SDW_AGENT_H
#define SDW_AGENT_H

#include <linux/perf_event.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <ucontext.h>

#include "sigpath.h"

#define SDW_AGENT_EXPORT     __attribute__((visibility("default")))
#define SDW_AGENT_RING_PAGES 1u /* of a thread's overflow times: a hundred between two handlers */

/* One of its own in every process; a handler needs it. */
struct sdw_agent {
	struct sdw_sigpath_segment *segment; /* NULL: idle */
	struct sdw_sigpath_setup setup; /* as it was when it came: the program may write there */
	uint8_t *ring;
	pid_t pid;	    /* own; a vfork's child that shares this memory has another */
	uint64_t stack_end; /* of the main thread's stack */
	size_t page_bytes;
	uint64_t full_tail,
		full_ns; /* where the ring was read up to when it was full, since when */
	char socket[SDW_SIGPATH_NAME_BYTES];
};

/* Of a thread; all zeroes in one that has no event. */
struct sdw_agent_thread {
	pid_t tid; /* whose this is: the child of a fork has its parent's, until it is told */
	struct perf_event_mmap_page *page; /* times of its overflows; NULL: cannot be had */
	int event;	  /* descriptor, only where the handler must enable it again; else -1 */
	bool in_handler;  /* its mask, in which SIGTRAP is blocked, must stay */
	uint32_t scratch; /* in use by its handler */
	bool blocks_trap; /* the program thinks that it has blocked SIGTRAP */
	bool trap_waits;  /* and one came meanwhile */
	bool traces;	  /* its tracepoints are ready for its handler */
	bool in_lttng;	  /* the threads that it makes are liblttng-ust's */
};

/* What the kernel says of the overflows since the handler ran last. */
struct sdw_agent_overflows {
	uint64_t count;	   /* 0: the signal came for one that was handled already */
	uint64_t first_ns; /* of the oldest; 0: not known */
	uint64_t period;   /* of it; 0: not known */
	uint32_t tid;	   /* that it interrupted */
	bool kernel;	   /* it hit kernel mode */
};

extern struct sdw_agent sdw_agent;
extern __thread struct sdw_agent_thread sdw_agent_thread __attribute__((tls_model("initial-exec")));

/* ---- connection.c ---- */

/* Tells the recorder of this process, and takes the segment. False: stays idle. */
bool sdw_agent_connect(enum sdw_sigpath_message_kind kind, pid_t parent);

/* Gives the recorder the event of the calling thread. False: it does not want it. */
bool sdw_agent_give_event(int event);

/* Has the recorder stop all events of this process, and waits until it has. */
void sdw_agent_stop_events(void);

/* ---- event.c ---- */

/* Opens the calling thread's event and starts it; failing that, it has no samples. */
void sdw_agent_event_open(void);
void sdw_agent_event_close(void);

/* Takes what the kernel has written of overflows of this thread. */
void sdw_agent_event_read(struct sdw_agent_overflows *overflows);

/* ---- handler.c ---- */

/* Puts the handler in place. */
bool sdw_agent_handler_install(void);
void sdw_agent_handler_remove(void);

/* ---- sample.c: one run of the handler, as a record in the ring ---- */

void sdw_agent_sample(const ucontext_t *context, uint64_t entry_ns, bool blocked,
		      const struct sdw_agent_overflows *overflows);

/* ---- tables.c ---- */

/* Maps buffers and tables. Returns 0 or -errno. */
int sdw_agent_tables_create(void);

/* A buffer for one run of the handler, or -1. In a fork's child none is in use. */
int sdw_agent_scratch_take(void);
void sdw_agent_scratch_give(uint32_t scratch);
void sdw_agent_scratch_reset(void);

/* Forgets which code objects were announced: they are announced again. */
void sdw_agent_forget_codes(uint32_t scratch);

/* Copies what the recorder has said of the interpreter into the scratch's own. */
void sdw_agent_take_interpreter(uint32_t scratch);

/* ---- objects.c: what is loaded, for libunwind in the handler ---- */

/* Reads what is loaded. Returns 0 or -errno; without it, no handler may unwind. */
int sdw_agent_objects_create(void);
void sdw_agent_objects_after_fork(void);

/* May a stack be unwound now? False: something is being unloaded. */
bool sdw_agent_objects_ready(void);

/* ---- lttng.c: the events of handler_events.h ---- */

struct sdw_handler_sample;

/* Loads the tracepoints, if the recorder wants them, and waits a little for its session. */
void sdw_agent_lttng_load(void);

/* For the calling thread, before its event counts, and when its event ends. */
void sdw_agent_lttng_begin_thread(void);
void sdw_agent_lttng_end_thread(void);

/* Around fork(); `child` is after it, in the child. */
void sdw_agent_lttng_before_fork(void);
void sdw_agent_lttng_after_fork(bool child);

/* Is the thread that is being made liblttng-ust's own? */
bool sdw_agent_lttng_makes_thread(void);

/* Before the walk: code objects that were announced while nothing could be written, again. */
void sdw_agent_lttng_prepare(uint32_t scratch);

/* Writes the sample, whose Python stack is the scratch's, or counts that it could not be. */
void sdw_agent_lttng_sample(uint32_t scratch, struct sdw_handler_sample *sample);

/* ---- descriptors.c ---- */

void sdw_agent_find_close(void);

/* How a descriptor of the program is closed from now on. */
void sdw_agent_close_by(int (*safe_close)(int fd, int (*real_close)(int fd)));

/* ---- signals.c ---- */

/* Finds the functions that this library stands in front of. */
void sdw_agent_find_real(void);

void sdw_agent_find_exec(void); /* exec.c */

/* Where libunwind is, by the address of one of its functions. */
void sdw_agent_find_libunwind(void *function);

/* A signal of the agent's number that is not an overflow: does what the program asked for. */
void sdw_agent_forward(int number, siginfo_t *info, void *context);

int sdw_agent_real_sigaction(int number, const struct sigaction *action, struct sigaction *old);

static inline long sdw_agent_syscall(long number, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
}

static inline void sdw_agent_count(__u64 *counter, uint64_t more)
{
	__atomic_fetch_add(counter, more, __ATOMIC_RELAXED);
}

#endif
