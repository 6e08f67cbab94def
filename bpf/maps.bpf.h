/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * maps.bpf.h - what the BPF programs share: configuration, per-processor scratch, tables.
 *
 * Nothing here is locked on the overflow path. What a program writes while it handles an overflow
 * belongs to its processor: arrays indexed by processor, direct-mapped tables whose entries are
 * simply overwritten, one ring buffer per processor. The hash maps are only read there, except once
 * for each process that is met for the first time.
 */
#ifndef SDW_MAPS_BPF_H
#define SDW_MAPS_BPF_H

#include <vmlinux.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

#include "bpf_config.h"
#include "pywalk_state.h"

/*
 * The verifier must see the bound that was just checked on the value that is used. The compiler
 * likes to check one copy and use another; passing the value through an empty asm statement forbids
 * that.
 */
#define SDW_WALK_HIDE(value)                      \
	({                                        \
		typeof(value) hidden_ = (value);  \
		asm volatile("" : "+r"(hidden_)); \
		hidden_;                          \
	})

/* A code object about to be announced: the record, and behind it the bytes of its texts. */
struct sdw_code_buffer {
	struct sdw_record_code record;
	__u8 bytes[3 * SDW_MAX_NAME_BYTES + SDW_MAX_LINETABLE_BYTES];
	__u8 head[256]; /* of the code object */
	__u8 text[64];	/* head of a string */
};

/* A sample about to be sent: the record, and behind it kernel addresses and native stack. */
struct sdw_sample_buffer {
	struct sdw_record_sample record;
	__u8 bytes[(SDW_MAX_KERNEL_FRAMES + 1) * 8 + SDW_MAX_STACK_BYTES];
};

/* Everything that one overflow on one processor needs, too large for the BPF stack. */
struct sdw_scratch {
	struct sdw_sample_buffer sample;
	struct sdw_code_buffer code;
	struct sdw_walk walk;
	struct sdw_interpreter interpreter;
	struct sdw_user_registers saved; /* of the user thread, when the kernel was interrupted */
	__u32 layout;			 /* index of the one in walk.layout, + 1 */
	__u64 thread_pointer;		 /* fs base of the interrupted thread: pthread_self() */
	__u64 stack_end;		 /* of its native stack; 0: not known */
	__u64 now_ns;
	__u32 pid, tid, epoch;
	/* search through the lists of thread states */
	__u64 search_interpreter, search_thread, search_found;
	__u32 search_steps;
	__u32 search_marks;   /* thread states at work on the interrupted thread's stack */
	__u32 search_sure;    /* search_found is the one that its thread used last */
	__u32 search_several; /* there are subinterpreters: marks on the stack decide */
	__u64 search_mark;    /* of search_found */
	__u64 mark;	      /* see sdw_find_mark() */
};

/* What a processor remembers of a thread that it sampled. */
struct sdw_thread_slot {
	__u32 tid;
	__u32 epoch;
	__u64 start_ns;	    /* when the thread began: its number may have been another's */
	__u64 thread_state; /* 0: none was found */
	__u64 retry_ns;	    /* do not search again before */
	__u64 comm[2];	    /* last announced name */
	__u64 named_ns;	    /* when it was last compared */
	__u64 several_ns;   /* when interpreters were last counted */
	__u32 several;	    /* the process has more than one */
	__u32 unused;
	struct sdw_interpreter interpreter; /* supported: valid for this epoch */
};

/* What a processor remembers of a code object. */
struct sdw_code_way {
	__u64 key; /* of image and address */
	__u64 id;
	__u64 fingerprint;
	__u32 since_ms; /* first seen like this, in milliseconds of 2^20 ns */
	__u32 checked_ms;
};

/*
 * Code objects that fall on the same place. With one way, two hot ones that meet would drive each
 * other out and be announced at each sample.
 */
struct sdw_code_slot {
	struct sdw_code_way ways[SDW_CODE_WAYS];
};

struct sdw_process_slot {
	__u32 epoch;
	__u32 unused;
};

extern const volatile struct sdw_bpf_config sdw_config;
extern __u64 sdw_no_scratch; /* overflows on processors without scratch */

struct sdw_map_scratch {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* processors: resized before load, as all that follow */
	__type(key, __u32);
	__type(value, struct sdw_scratch);
};

struct sdw_map_counters {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct sdw_cpu_counters);
};

struct sdw_map_threads {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* processors * SDW_THREAD_SLOTS */
	__type(key, __u32);
	__type(value, struct sdw_thread_slot);
};

struct sdw_map_codes {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* processors * SDW_CODE_SLOTS */
	__type(key, __u32);
	__type(value, struct sdw_code_slot);
};

struct sdw_map_stacks {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* processors * SDW_STACK_SLOTS */
	__type(key, __u32);
	__type(value, __u64); /* id of the stack that was sent */
};

struct sdw_map_processes {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, SDW_MAX_PROCESSES);
	__type(key, __u32); /* pid */
	__type(value, struct sdw_process_slot);
};

struct sdw_map_interpreters {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, SDW_MAX_PROCESSES);
	__type(key, __u64); /* pid << 32 | epoch */
	__type(value, struct sdw_interpreter);
};

struct sdw_map_groups {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, SDW_MAX_GROUPS);
	__type(key, __u64); /* id of a control group: the inode of its directory */
	__type(value, __u32);
};

struct sdw_map_layouts {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SDW_MAX_LAYOUTS);
	__type(key, __u32);
	__type(value, struct sdw_pylayout);
};

struct sdw_map_ring {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096); /* --ring-bytes */
};

struct sdw_map_rings {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1); /* processors */
	__type(key, __u32);
	__array(values, struct sdw_map_ring);
};

struct sdw_map_life_ring {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1024 * 1024);
};

extern struct sdw_map_scratch scratches SEC(".maps");
extern struct sdw_map_counters counters SEC(".maps");
extern struct sdw_map_threads threads SEC(".maps");
extern struct sdw_map_codes codes SEC(".maps");
extern struct sdw_map_stacks stacks SEC(".maps");
extern struct sdw_map_processes processes SEC(".maps");
extern struct sdw_map_interpreters interpreters SEC(".maps");
extern struct sdw_map_groups groups SEC(".maps");
extern struct sdw_map_layouts layouts SEC(".maps");
extern struct sdw_map_rings rings SEC(".maps");
extern struct sdw_map_life_ring life_ring SEC(".maps");

static __always_inline struct sdw_scratch *scratch_of(__u32 cpu)
{
	return bpf_map_lookup_elem(&scratches, &cpu);
}

static __always_inline void fill_record(struct sdw_record *record, __u32 type, __u32 size,
					const struct sdw_scratch *scratch)
{
	record->type = type;
	record->size = size;
	record->time_ns = scratch->now_ns;
	record->pid = scratch->pid;
	record->epoch = scratch->epoch;
}

/* Sends bytes through the ring buffer of this processor. Returns 0 or < 0 (full). */
static __always_inline int send_bytes(__u32 cpu, void *bytes, __u64 size, __u64 flags)
{
	void *ring = bpf_map_lookup_elem(&rings, &cpu);

	if (!ring)
		return -1;
	return (int)bpf_ringbuf_output(ring, bytes, size, flags);
}

/*
 * The consumer drains by the clock, waking it costs the program microseconds: only large native
 * stacks at a high rate fill a ring sooner.
 */
static __always_inline __u64 wake_flag(__u32 cpu)
{
	void *ring = bpf_map_lookup_elem(&rings, &cpu);

	if (ring && bpf_ringbuf_query(ring, BPF_RB_AVAIL_DATA) >= sdw_config.wake_bytes)
		return BPF_RB_FORCE_WAKEUP;
	return BPF_RB_NO_WAKEUP;
}

/*
 * python.bpf.c: walks the Python stack into scratch->walk; returns enum sdw_status. _bounded does
 * so without bpf_loop, for kernels before 5.17, and less deep. Two functions, since such a kernel
 * refuses a program that has a callback in it, even in code that is never reached.
 */
int sdw_walk_python(__u32 cpu);
int sdw_walk_python_bounded(__u32 cpu);
/* thread.bpf.c: the interrupted thread's state into walk.thread; 0, or -1: it has none. */
int sdw_find_thread(__u32 cpu);
int sdw_find_thread_bounded(__u32 cpu);
/* code.bpf.c: the id of a code object into scratch->code.record.id; 0, or -1: it is none. */
int sdw_check_code(__u32 cpu, __u64 address);
/* native.bpf.c: copies the native stack behind the sample record's first `used` bytes. */
int sdw_copy_stack(__u32 cpu, __u32 used);

#endif
