/* SPDX-License-Identifier: MIT */
/* config.h - what to record: filled by the command line, constant from then on. */
#ifndef SDW_CONFIG_H
#define SDW_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "sink.h"

/* A perf event as -e named it. */
struct sdw_event_spec {
	char name[128]; /* as -e takes it */
	uint32_t type;	/* PERF_TYPE_* */
	uint64_t config;
	bool is_clock;	 /* cpu-clock, task-clock: the period is in ns */
	bool by_default; /* nobody asked for it: another may be taken instead */
};

/* How the signal path works (sigpath.h has the values). */
struct sdw_signal_config {
	int delivery; /* enum sdw_sigpath_delivery */
	uint32_t number;
	bool rearm;
	int unwind; /* enum sdw_sigpath_unwind */
	uint32_t unwind_depth;
};

enum sdw_native_mode { SDW_NATIVE_NONE, SDW_NATIVE_DWARF };

/* Where to send the recording by LTTng-UST; all zeroes: nowhere. */
struct sdw_lttng_config {
	char *session;	  /* --lttng: name of one that is there, or "" to make one; NULL: neither */
	char *output;	  /* --lttng-output: where an own session writes; NULL: a fresh name */
	char *url;	  /* --lttng-url: of a relay daemon */
	bool snapshot;	  /* --snapshot: keep events in memory until asked for them */
	char *when;	  /* --snapshot-when: a condition on which they are asked for */
	uint64_t memory;  /* --snapshot-memory: bytes of all buffers; 0: default */
	const bool *gone; /* LTTng is, or does not answer; NULL: not known */
};

struct sdw_config {
	struct sdw_event_spec event;
	uint64_t frequency; /* overflows per second; 0: `period` counts */
	uint64_t period;
	double duration_s; /* 0: until the target ends or a signal comes */

	bool all;	/* -a */
	char **cgroups; /* --cgroup: paths, as given */
	size_t cgroup_count;
	char **containers; /* --container: names or ids, as given */
	size_t container_count;
	struct sdw_cgroup_targets *groups; /* what these are, found before recording; NULL: none */
	pid_t *pids;			   /* -p */
	size_t pid_count;
	bool children;	    /* follow processes that targets fork (always for a command) */
	char **command;	    /* argv after --, NULL-terminated; NULL: none */
	int command_output; /* descriptor for what it writes, it reads nothing; 0: ours for both */

	int path; /* enum sdw_recording_path */
	struct sdw_signal_config signal;

	enum sdw_native_mode native;
	bool kernel;		 /* kernel stacks too */
	bool interpreter_frames; /* show the interpreter's evaluation frames */
	bool columns;		 /* the expression in its line too */
	uint32_t stack_bytes;	 /* of native stack copied at most per sample */
	bool templates;		 /* unwind by templates; off only to compare */
	bool verify_unwind;	 /* unwind every sample both ways and count differences */
	uint32_t ring_bytes;	 /* per processor, a power of two */
	uint64_t max_memory;	 /* bytes the consumer may keep of names and stacks */

	char *output; /* directory of the trace; NULL: a fresh name */
	struct sdw_lttng_config lttng;
	bool sched;	    /* what the scheduler does, as a kernel trace beside it */
	bool force;	    /* replace an existing trace */
	char *btf_path;	    /* --btf */
	char *bpf_log_path; /* --bpf-log: the verifier's words */
	bool quiet;
	bool json;	 /* the summary as one JSON object on stdout */
	bool no_report;	 /* no table of hot functions at the end */
	double max_loss; /* share of overflows lost above which the status is 3 */
};

#endif
