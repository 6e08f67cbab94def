/* SPDX-License-Identifier: MIT */
/* capture_options.h - what every verb takes that samples processes: whom, when, what of them. */
#ifndef SDW_CAPTURE_OPTIONS_H
#define SDW_CAPTURE_OPTIONS_H

#include "base/options.h"
#include "capture/config.h"
#include "events.h"

enum sdw_capture_follow { SDW_FOLLOW_DEFAULT, SDW_FOLLOW_CHILDREN, SDW_FOLLOW_NONE };

/* First member of what such a verb's options are parsed into. */
struct sdw_capture_arguments {
	const char *verb; /* for messages */
	struct sdw_config config;
	const char *event; /* NULL: not given */
	enum sdw_capture_follow follow;
	size_t pid_room, cgroup_room, container_room;
	bool verbose;
};

/* The defaults of all that the options below set. */
struct sdw_capture_arguments sdw_capture_arguments_default(const char *verb);

/*
 * Checks what was parsed; `command` is what follows the options, or NULL. Says what is wrong.
 * Returns 0, -EINVAL for wrong use, or another -errno.
 */
int sdw_capture_arguments_check(struct sdw_capture_arguments *arguments, char **command);

/*
 * Can this be recorded: do the processes live, is the command a program, are the rights there?
 * Chooses another event where nobody asked for one that is not there. Returns SDW_EXIT_OK, or the
 * exit status after saying what is missing.
 */
int sdw_capture_check(struct sdw_config *config);

/* Says why sdw_ctf_create() could not make the trace `output`. */
void sdw_output_failed(const char *output, int err);

/* Frees what the options and the check have allocated; the config is of no use then. */
void sdw_capture_config_free(struct sdw_config *config);

/* For the tables below. */
int sdw_capture_take_pids(void *arguments, const char *value);
int sdw_capture_take_container(void *arguments, const char *value);
int sdw_capture_take_cgroup(void *arguments, const char *value);
int sdw_capture_take_children(void *arguments, const char *value);
int sdw_capture_take_no_children(void *arguments, const char *value);
extern const struct sdw_option_word sdw_capture_native_words[];

#define SDW_CAPTURE_FIELD(member) SDW_OPTION_FIELD(struct sdw_capture_arguments, member)

#define SDW_CAPTURE_MIN_RING_BYTES (64u << 10)
#define SDW_CAPTURE_MAX_RING_BYTES (1u << 30)

/* Entries of an option table. */
/* clang-format off */
#define SDW_CAPTURE_TARGET_OPTIONS                                                                 \
	{SDW_OPTION_HEADING, .help = "What to record (a command, or one of these):"},              \
	{SDW_OPTION_CALL, 'p', "pid", "PID", .call = sdw_capture_take_pids,                        \
	 .help = "processes that run already, with all their threads; may be given again, "        \
		 "or a list "                                                                      \
		 "as 12,13"},                                                                      \
	{SDW_OPTION_CALL, 0, "container", "CONTAINER", .call = sdw_capture_take_container,         \
	 .help = "the container of this name, or whose id begins so, or all of this pod, "       \
		 "with what starts in it later; may be given again"},                              \
	{SDW_OPTION_CALL, 0, "cgroup", "PATH", .call = sdw_capture_take_cgroup,                    \
	 .help = "a control group and those below it, as /proc/PID/cgroup names it, or its "       \
		 "directory; may be given again"},                                                 \
	{SDW_OPTION_FLAG, 'a', "all", NULL, SDW_CAPTURE_FIELD(config.all),                         \
	 .help = "everything on this machine"},                                                    \
	{SDW_OPTION_CALL, 0, "children", .call = sdw_capture_take_children,                        \
	 .help = "also the processes that these made or make (default for a command)"},            \
	{SDW_OPTION_CALL, 0, "no-children", .call = sdw_capture_take_no_children,                  \
	 .help = "not these (default for --pid)"},                                                 \
	{SDW_OPTION_DOUBLE, 'd', "duration", "SECONDS", SDW_CAPTURE_FIELD(config.duration_s),      \
	 .min = 0.001,                                                                             \
	 .max = 1e9, .help = "end after this time (default: when the target ends, or on Ctrl-C)"}

#define SDW_CAPTURE_EVENT_OPTIONS SDW_CAPTURE_EVENT_OPTIONS_AT("1000")

/* The same where another frequency is the verb's default. */
#define SDW_CAPTURE_EVENT_OPTIONS_AT(hertz)                                                        \
	{SDW_OPTION_HEADING, .help = "When to take a sample:"},                                    \
	{SDW_OPTION_STRING, 'e', "event", "EVENT", SDW_CAPTURE_FIELD(event),                       \
	 .help = "one of cpu-clock, task-clock, page-faults, context-switches, cycles, "           \
		 "instructions, cache-misses, rNNN (raw, hexadecimal), "                           \
		 "SYSTEM:TRACEPOINT (default: "                                                    \
		 "cycles, or cpu-clock where there is no hardware counter)"},                      \
	{SDW_OPTION_NUMBER, 'F', "frequency", "HZ", SDW_CAPTURE_FIELD(config.frequency),           \
	 .min = 1,                                                                                 \
	 .max = 1000000,                                                                           \
	 .help = "so many samples per second of a running thread (default: " hertz ")"},           \
	{SDW_OPTION_NUMBER, 'c', "period", "N", SDW_CAPTURE_FIELD(config.period), .min = 1,        \
	 .help = "a sample every N events (of a clock: nanoseconds; default for a "                \
		 "tracepoint: 1)"}

#define SDW_CAPTURE_CONTENT_OPTIONS                                                                \
	{SDW_OPTION_HEADING, .help = "What a sample holds:"},                                      \
	{SDW_OPTION_WORD, 0, "native", "HOW", SDW_CAPTURE_FIELD(config.native),                    \
	 .words = sdw_capture_native_words,                                                        \
	 .help = "native frames: dwarf (default) or none"},                                        \
	{SDW_OPTION_FLAG, 'k', "kernel", NULL, SDW_CAPTURE_FIELD(config.kernel),                   \
	 .help = "kernel frames too"},                                                             \
	{SDW_OPTION_FLAG, 0, "interpreter-frames", NULL,                                           \
	 SDW_CAPTURE_FIELD(config.interpreter_frames),                                             \
	 .help = "the frames of the interpreter's own evaluation loop too"},                       \
	{SDW_OPTION_SIZE, 0, "stack-bytes", "SIZE", SDW_CAPTURE_FIELD(config.stack_bytes),         \
	 .min = 512,                                                                               \
	 .max = SDW_MAX_STACK_BYTES,                                                               \
	 .help = "native stack looked at per sample, at most (default: 64K)"}

/* Under a heading of the verb's own. */
#define SDW_CAPTURE_EXPERT_OPTIONS                                                                 \
	{SDW_OPTION_SIZE, 0, "ring-bytes", "SIZE", SDW_CAPTURE_FIELD(config.ring_bytes),           \
	 .min = SDW_CAPTURE_MIN_RING_BYTES,                                                        \
	 .max = SDW_CAPTURE_MAX_RING_BYTES,                                                        \
	 .help = "buffer per processor, a power of two (default: 8M)"},                            \
	{SDW_OPTION_SIZE, 0, "max-memory", "SIZE", SDW_CAPTURE_FIELD(config.max_memory),           \
	 .min = 1 << 24,                                                                           \
	 .help = "for names and stacks (default: 1G)"},                                            \
	{SDW_OPTION_STRING, 0, "btf", "FILE", SDW_CAPTURE_FIELD(config.btf_path),                  \
	 .help = "type information of a kernel that was built without"},                           \
	{SDW_OPTION_STRING, 0, "bpf-log", "FILE", SDW_CAPTURE_FIELD(config.bpf_log_path),          \
	 .help = "write the kernel verifier's words there"},                                       \
	{SDW_OPTION_NO_FLAG, 0, "no-templates", NULL, SDW_CAPTURE_FIELD(config.templates),         \
	 .help = "unwind every native stack by libunwind"},                                        \
	{SDW_OPTION_FLAG, 0, "verify-unwind", NULL, SDW_CAPTURE_FIELD(config.verify_unwind),       \
	 .help = "unwind every native stack both ways and count differences"},                     \
	{SDW_OPTION_FLAG, 'v', "verbose", NULL, SDW_CAPTURE_FIELD(verbose),                        \
	 .help = "say what is being done"}
/* clang-format on */

#endif
