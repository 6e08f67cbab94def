/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * events.h - the records that the BPF programs send to the consumer, host-endian.
 *
 * Every record starts with struct sdw_record. Samples, stacks and code objects come through the
 * ring buffer of the processor they were taken on, in time order; a stack precedes the first sample
 * that names it on that processor. Life records come through a ring buffer of their own.
 *
 * A process image is named by (pid, epoch): the epoch is a random number drawn when the image is
 * first seen, forked or exec'd, so that a pid which is used again, or execs, is another image. Pids
 * and tids are those of the profiler's own pid namespace.
 */
#ifndef SDW_EVENTS_H
#define SDW_EVENTS_H

#ifndef __bpf__ /* there vmlinux.h has these */
#include <linux/types.h>
#endif

#define SDW_MAX_FRAMES		1024u	      /* Python frames kept per stack, innermost first */
#define SDW_MAX_KERNEL_FRAMES	127u	      /* PERF_MAX_STACK_DEPTH */
#define SDW_MAX_STACK_BYTES	(64u * 1024u) /* upper bound of --stack-bytes */
#define SDW_MAX_NAME_BYTES	2048u	      /* of one name or path inside a code record */
#define SDW_MAX_LINETABLE_BYTES 16384u	      /* what is longer is fetched by the consumer */
#define SDW_COMM_BYTES		16u	      /* TASK_COMM_LEN */

enum sdw_record_type {
	SDW_RECORD_SAMPLE = 1,
	SDW_RECORD_STACK,
	SDW_RECORD_CODE,
	SDW_RECORD_LIFE,
};

struct sdw_record {
	__u32 type;    /* enum sdw_record_type */
	__u32 size;    /* bytes of the whole record */
	__u64 time_ns; /* CLOCK_MONOTONIC */
	__u32 pid;
	__u32 epoch;
};

/* User-mode registers at the overflow that unwinding depends on (DWARF numbers of x86-64). */
struct sdw_registers {
	__u64 ip;
	__u64 sp;
	__u64 bp;
	__u64 bx;
	__u64 r12;
	__u64 r13;
	__u64 r14;
	__u64 r15;
};

enum sdw_sample_flags {
	SDW_SAMPLE_KERNEL_MODE = 1 << 0, /* the overflow hit the kernel */
	SDW_SAMPLE_HOLDS_GIL = 1 << 1,	 /* the thread held the GIL */
	SDW_SAMPLE_GC = 1 << 2,		 /* the garbage collector of its interpreter ran */
	SDW_SAMPLE_STACK_CUT =
		1 << 3, /* native stack longer than the limit: outermost part missing */
	SDW_SAMPLE_STACK_UNREADABLE = 1 << 4, /* part of the native stack could not be read */
	SDW_SAMPLE_SUBINTERPRETER =
		1 << 5, /* another interpreter called this one: its frames are outside */
};

/*
 * One overflow. Followed by kernel_frames * 8 bytes of kernel addresses (innermost first) and then
 * stack_bytes bytes of native stack, from registers.sp upwards.
 */
struct sdw_record_sample {
	struct sdw_record record;
	__u32 tid;
	__u16 cpu;
	__u8 status;	    /* enum sdw_status */
	__u8 flags;	    /* enum sdw_sample_flags */
	__u64 python_stack; /* id of a struct sdw_record_stack; 0: no Python frames */
	__u64 period; /* events this sample stands for, as the kernel had it at the overflow */
	__u32 kernel_frames;
	__u32 stack_bytes;
	struct sdw_registers registers;
};

/* One Python frame: which code object, and where in its bytecode. */
struct sdw_python_frame {
	__u64 code;	   /* id of a struct sdw_record_code */
	__s32 instruction; /* offset in bytes from the code's first instruction; < 0: not started */
	/*
	 * 0, or 1 if the frame is the outermost of its native evaluation (its caller is C, or
	 * nobody), or 1 + n if moreover n evaluations outside it have no Python frame.
	 */
	__u32 entries;
};

/* A distinct Python stack, innermost frame first: `frames` times struct sdw_python_frame follow. */
struct sdw_record_stack {
	struct sdw_record record;
	__u64 id;
	__u32 frames;
	__u32 status; /* enum sdw_status: why it ends where it does */
};

enum sdw_text_kind {
	SDW_TEXT_NONE = 0,   /* not there, or could not be read */
	SDW_TEXT_ASCII = 1,  /* 1 byte a character, below 0x80 */
	SDW_TEXT_LATIN1 = 2, /* 1 byte a character */
	SDW_TEXT_UCS2 = 3,   /* 2 bytes a character */
	SDW_TEXT_UCS4 = 4,   /* 4 bytes a character */
	SDW_TEXT_BYTES = 5,  /* a bytes object */
};

/* A string or bytes object of the target: how much it holds and how much of that was sent. */
struct sdw_text {
	__u64 addr;   /* of the object in the target, to fetch what is missing */
	__u64 length; /* characters (bytes for SDW_TEXT_BYTES) in the object, unchecked */
	__u32 kind;   /* enum sdw_text_kind */
	__u32 bytes;  /* sent in this record */
};

/*
 * A code object at first sight. The bytes of name, qualname, filename and linetable follow in this
 * order, without padding. A file name longer than the bound is sent from its end
 * (SDW_CODE_PATH_TAIL).
 */
struct sdw_record_code {
	struct sdw_record record;
	__u64 id; /* of (image, address, contents): another object at this address has another */
	__u64 addr;
	__u64 fingerprint; /* of the contents, see sdw_code_fingerprint() in pywalk.h */
	__s32 first_line;
	__u16 version; /* of the interpreter, as in struct sdw_pylayout */
	__u16 layout;  /* index into the table of layouts */
	struct sdw_text name;
	struct sdw_text qualname;
	struct sdw_text filename;
	struct sdw_text linetable;
};

enum sdw_life {
	SDW_LIFE_SEEN = 1,    /* first overflow of a process that was not known */
	SDW_LIFE_FORK,	      /* `parent` made `pid` */
	SDW_LIFE_EXEC,	      /* `pid` runs another program now; parent_epoch is its epoch before */
	SDW_LIFE_EXIT,	      /* the last thread of `pid` ended */
	SDW_LIFE_THREAD_EXIT, /* thread `tid` ended */
	SDW_LIFE_THREAD_SEEN, /* first overflow of thread `tid` on this processor, with its name */
};

struct sdw_record_life {
	struct sdw_record record;
	__u32 what; /* enum sdw_life */
	__u32 tid;
	__u32 parent_pid;
	__u32 parent_epoch;
	__u32 inner_pid; /* pid and tid as the task's own pid namespace has them */
	__u32 inner_tid;
	char comm[SDW_COMM_BYTES]; /* not always terminated */
	__u64 start_ns; /* of a thread seen: CLOCK_MONOTONIC at its begin; 0: not known */
};

#ifndef __bpf__
_Static_assert(sizeof(struct sdw_record) == 24, "ring buffer layout");
_Static_assert(sizeof(struct sdw_record_sample) == 24 + 32 + 64, "ring buffer layout");
_Static_assert(sizeof(struct sdw_python_frame) == 16, "ring buffer layout");
_Static_assert(sizeof(struct sdw_record_stack) == 40, "ring buffer layout");
_Static_assert(sizeof(struct sdw_text) == 24, "ring buffer layout");
_Static_assert(sizeof(struct sdw_record_code) == 24 + 32 + 4 * 24, "ring buffer layout");
_Static_assert(sizeof(struct sdw_record_life) == 72, "ring buffer layout");
#endif

#endif
