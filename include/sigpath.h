/* SPDX-License-Identifier: MIT */
/*
 * sigpath.h - what the recorder and its agent in a process say to each other.
 *
 * The agent (user/sigpath/agent, preloaded into the command) connects to the recorder's socket when
 * its process starts or was forked, and is given a segment of shared memory: how to sample, where
 * the interpreter is, counters, and a ring of records. It hands over the perf event of every
 * thread. The target can write anywhere in its segment and say anything on its socket: the recorder
 * copies a record before it checks it, believes no position but its own, and keeps what one process
 * says from what another said. Both sides are of one version, or the agent stays idle.
 */
#ifndef SDW_SIGPATH_H
#define SDW_SIGPATH_H

#include "events.h"
#include "pylayout.h"

#define SDW_SIGPATH_MAGIC   0x5357534au
#define SDW_SIGPATH_VERSION 2u
#define SDW_SIGPATH_ENVIRONMENT \
	"SIDEWINDER_AGENT"	     /* name of the abstract socket, without its NUL */
#define SDW_SIGPATH_NAME_BYTES 64u   /* of that name, with an ending NUL */
#define SDW_SIGPATH_MAX_FRAMES 1024u /* upper bound of --unwind-depth */

/* ---- the socket: SOCK_SEQPACKET, one message each way at a time ---- */

enum sdw_sigpath_message_kind {
	SDW_SIGPATH_STARTED = 1, /* a program begins; the answer brings a segment */
	SDW_SIGPATH_FORKED,	 /* the same for a child of fork() */
	SDW_SIGPATH_EVENT,	 /* brings the event of thread `tid`, not yet counting */
	SDW_SIGPATH_GIVE_WAY, /* the program uses the signal itself: stop its events, then answer */
};

struct sdw_sigpath_message {
	__u32 magic, version;
	__u32 kind;		   /* enum sdw_sigpath_message_kind */
	__u32 pid, tid;		   /* as the process itself has them */
	__u32 parent_pid;	   /* of SDW_SIGPATH_FORKED */
	char comm[SDW_COMM_BYTES]; /* not always terminated */
};

struct sdw_sigpath_answer {
	__u32 magic, version;
	__s32 error; /* 0, or -errno: the agent stays idle */
	__u32 unused;
};

/* ---- the segment ---- */

enum sdw_sigpath_delivery {
	SDW_SIGPATH_SIGTRAP, /* attr.sigtrap: synchronous, in the thread that overflowed */
	SDW_SIGPATH_SIGIO,   /* F_SETOWN_EX to the thread, F_SETSIG */
};

enum sdw_sigpath_unwind {
	SDW_SIGPATH_UNWIND_NONE,
	SDW_SIGPATH_UNWIND_ONLINE,  /* libunwind in the handler: addresses are sent */
	SDW_SIGPATH_UNWIND_OFFLINE, /* registers and stack bytes are sent */
};

/* Written by the recorder before the agent sees it; constant from then on. */
struct sdw_sigpath_setup {
	__u32 magic, version;
	__u32 segment_bytes; /* of the whole segment */
	__u32 ring_bytes;    /* of the records' ring, a power of two; it is the segment's end */
	__u32 pid;	     /* as the recorder has it */
	__u32 event_type;    /* perf_event_attr: type, config, sample_period or sample_freq */
	__u64 event_config;
	__u64 period;	     /* 0: frequency counts */
	__u64 frequency;     /* Hz */
	__u8 exclude_kernel; /* no overflows in kernel mode: an ordinary user gets none */
	__u8 delivery;	     /* enum sdw_sigpath_delivery */
	__u8 signal;	     /* its number */
	__u8 rearm;	     /* each overflow disables the event until the handler enables it */
	__u8 unwind;	     /* enum sdw_sigpath_unwind */
	__u8 paired;	     /* the BPF program runs on the same overflows */
	__u16 unwind_depth;  /* addresses at most, <= SDW_SIGPATH_MAX_FRAMES */
	__u32 stack_bytes;   /* at most, <= SDW_MAX_STACK_BYTES */
	__u8 lttng;	     /* the handler writes events of handler_events.h */
	__u8 recorder;	     /* these events' */
	__u16 unused;
};

enum sdw_sigpath_found {
	SDW_SIGPATH_NOT_LOOKED, /* nobody has looked yet, or the interpreter is starting */
	SDW_SIGPATH_PYTHON,
	SDW_SIGPATH_NO_PYTHON, /* none, or none that can be walked */
};

/* Written by the recorder, at any time: `sequence` is odd while it does. */
struct sdw_sigpath_interpreter {
	__u32 sequence;
	__u32 found; /* enum sdw_sigpath_found */
	__u32 epoch; /* of the image, as in events.h */
	__u32 unused;
	__u64 runtime_addr, code_type_addr;
	struct sdw_pylayout layout;
};

/*
 * Written by the agent with atomic additions. A run of the handler for an overflow ends as a record
 * in the ring or in one of the two losses; one that is in neither was cut off by the process's end.
 */
struct sdw_sigpath_counters {
	__u64 handlers;	     /* runs of the handler that found an overflow */
	__u64 ring_full;     /* runs that found no room in the ring */
	__u64 no_scratch;    /* runs that found all of the agent's buffers in use */
	__u64 empty;	     /* runs that found no overflow: its signal came before */
	__u64 merged;	     /* overflows without a run of their own */
	__u64 lttng_written; /* runs that wrote their event, or had LTTng discard it and count it */
	__u64 lttng_off; /* runs that did not: no session had taken this process yet, or has now */
	__u32 conflict; /* number of the signal, if the program uses it itself: the agent is idle */
	__u32 event_error; /* errno of a perf_event_open that failed */
};

/*
 * The ring: positions only grow, a position's place is its remainder by ring_bytes. A producer
 * moves `head` on by compare and swap to take its room, writes the record, and last the record's
 * own size in front of it. The recorder writes zeroes over what it has read before it gives it
 * back.
 */
struct sdw_sigpath_ring {
	__u64 head; /* moved by the agent */
	__u64 pad[7];
	__u64 tail; /* moved by the recorder */
	__u64 pad2[7];
};

struct sdw_sigpath_segment {
	struct sdw_sigpath_setup setup;
	struct sdw_sigpath_interpreter interpreter;
	struct sdw_sigpath_counters counters;
	struct sdw_sigpath_ring ring;
};

#define SDW_SIGPATH_RING_OFFSET 4096u /* of the ring's bytes in the segment */
#define SDW_SIGPATH_ALIGN	8u    /* of records in the ring */

/* In front of every record. 0: not written yet. */
struct sdw_sigpath_slot {
	__u32 size; /* of the record, without this and without padding; written last */
	__u32 unused;
};

/* ---- records: sdw_record_stack, _code and _life of events.h, and this ---- */

#define SDW_RECORD_SIGNAL_SAMPLE 101u /* a record type beside enum sdw_record_type */

/*
 * One run of the handler. Its time is that of the handler's entry; kernel_frames is 0. Behind it
 * come native_frames * 8 bytes of addresses (innermost first) and then stack_bytes bytes of stack.
 */
struct sdw_record_signal_sample {
	struct sdw_record_sample sample;
	__u64 overflow_ns;   /* of the oldest overflow that it stands for */
	__u32 merged;	     /* overflows of the thread besides it that had no run of their own */
	__u16 native_frames; /* <= SDW_SIGPATH_MAX_FRAMES */
	__u8 native_end;     /* enum sdw_signal_native_end */
	__u8 delivery;	     /* enum sdw_signal_flags of sink.h */
};

enum sdw_signal_native_end {
	SDW_SIGNAL_NATIVE_COMPLETE, /* up to the thread's start */
	SDW_SIGNAL_NATIVE_STOPPED,  /* no unwind tables for the last address */
	SDW_SIGNAL_NATIVE_LIMIT,    /* --unwind-depth */
};

#define SDW_SIGPATH_MAX_RECORD \
	(sizeof(struct sdw_record_signal_sample) + SDW_SIGPATH_MAX_FRAMES * 8 + SDW_MAX_STACK_BYTES)

_Static_assert(sizeof(struct sdw_sigpath_message) == 40, "a message");
_Static_assert(sizeof(struct sdw_sigpath_setup) == 64, "the segment");
_Static_assert(sizeof(struct sdw_sigpath_segment) <= SDW_SIGPATH_RING_OFFSET, "the segment");
_Static_assert(sizeof(struct sdw_record_signal_sample) == sizeof(struct sdw_record_sample) + 16,
	       "the ring");

#endif
