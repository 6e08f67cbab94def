// SPDX-License-Identifier: MIT
/* record_options.c - options of `sidewinder record`, their defaults, and what does not go together.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/number_file.h"
#include "capture/event_spec.h"
#include "cmd/commands.h"
#include "cmd/record_options.h"
#include "events.h"

#define DEFAULT_FREQUENCY  1000
#define DEFAULT_RING_BYTES (8u << 20)
#define DEFAULT_MEMORY	   (1ull << 30)
#define MIN_RING_BYTES	   (64u << 10)
#define MAX_RING_BYTES	   (1u << 30)
#define MIN_CLOCK_PERIOD   10000 /* ns; the kernel's perf timers go no faster */
#define MAX_RATE	   "/proc/sys/kernel/perf_event_max_sample_rate"

enum follow { FOLLOW_DEFAULT, FOLLOW_CHILDREN, FOLLOW_NONE };

struct arguments {
	struct sdw_config config;
	const char *event; /* NULL: not given */
	enum follow follow;
	size_t pid_room;
	double max_loss_percent;
	bool verbose;
};

static int add_pid(struct arguments *arguments, pid_t pid)
{
	struct sdw_config *config = &arguments->config;
	size_t i;

	for (i = 0; i < config->pid_count; i++)
		if (config->pids[i] == pid)
			return 0;
	if (config->pid_count == arguments->pid_room) {
		size_t room = arguments->pid_room ? 2 * arguments->pid_room : 8;
		pid_t *larger = reallocarray(config->pids, room, sizeof(*larger));

		if (!larger) {
			sdw_error("record: out of memory");
			return -ENOMEM;
		}
		config->pids = larger;
		arguments->pid_room = room;
	}
	config->pids[config->pid_count++] = pid;
	return 0;
}

/* "12" or "12,13" */
static int take_pids(void *target, const char *value)
{
	const char *at = value;

	for (;;) {
		char *end;
		long pid;
		int err;

		errno = 0;
		pid = strtol(at, &end, 10);
		if (*at < '0' || *at > '9' || errno || pid < 1 || pid > INT32_MAX ||
		    (*end && *end != ',')) {
			sdw_error("record: --pid: '%s' is not a process id or a list of these",
				  value);
			return -EINVAL;
		}
		err = add_pid(target, (pid_t)pid);
		if (err || !*end)
			return err;
		at = end + 1;
	}
}

static int take_children(void *target, const char *value)
{
	(void)value;
	((struct arguments *)target)->follow = FOLLOW_CHILDREN;
	return 0;
}

static int take_no_children(void *target, const char *value)
{
	(void)value;
	((struct arguments *)target)->follow = FOLLOW_NONE;
	return 0;
}

static const struct sdw_option_word native_words[] = {
	{"dwarf", SDW_NATIVE_DWARF},
	{"none", SDW_NATIVE_NONE},
	{0},
};

#define FIELD(member) SDW_OPTION_FIELD(struct arguments, member)

static const struct sdw_option options[] = {
	{SDW_OPTION_HEADING, .help = "What to record (a command, or one of these):"},
	{SDW_OPTION_CALL, 'p', "pid", "PID", .call = take_pids,
	 .help = "processes that run already, with all their threads; may be given again, or a list "
		 "as 12,13"},
	{SDW_OPTION_FLAG, 'a', "all", NULL, FIELD(config.all),
	 .help = "everything on this machine"},
	{SDW_OPTION_CALL, 0, "children", .call = take_children,
	 .help = "also the processes that these made or make (default for a command)"},
	{SDW_OPTION_CALL, 0, "no-children", .call = take_no_children,
	 .help = "not these (default for --pid)"},
	{SDW_OPTION_DOUBLE, 'd', "duration", "SECONDS", FIELD(config.duration_s), .min = 0.001,
	 .max = 1e9, .help = "end after this time (default: when the target ends, or on Ctrl-C)"},

	{SDW_OPTION_HEADING, .help = "When to take a sample:"},
	{SDW_OPTION_STRING, 'e', "event", "EVENT", FIELD(event),
	 .help = "one of cpu-clock, task-clock, page-faults, context-switches, cycles, "
		 "instructions, cache-misses, rNNN (raw, hexadecimal), SYSTEM:TRACEPOINT (default: "
		 "cycles, or cpu-clock where there is no hardware counter)"},
	{SDW_OPTION_NUMBER, 'F', "frequency", "HZ", FIELD(config.frequency), .min = 1,
	 .max = 1000000, .help = "so many samples per second of a running thread (default: 1000)"},
	{SDW_OPTION_NUMBER, 'c', "period", "N", FIELD(config.period), .min = 1,
	 .help = "a sample every N events (of a clock: nanoseconds; default for a tracepoint: 1)"},

	{SDW_OPTION_HEADING, .help = "What a sample holds:"},
	{SDW_OPTION_WORD, 0, "native", "HOW", FIELD(config.native), .words = native_words,
	 .help = "native frames: dwarf (default) or none"},
	{SDW_OPTION_FLAG, 'k', "kernel", NULL, FIELD(config.kernel), .help = "kernel frames too"},
	{SDW_OPTION_FLAG, 0, "interpreter-frames", NULL, FIELD(config.interpreter_frames),
	 .help = "the frames of the interpreter's own evaluation loop too"},
	{SDW_OPTION_SIZE, 0, "stack-bytes", "SIZE", FIELD(config.stack_bytes), .min = 512,
	 .max = SDW_MAX_STACK_BYTES,
	 .help = "native stack looked at per sample, at most (default: 64K)"},

	{SDW_OPTION_HEADING, .help = "Where to write:"},
	{SDW_OPTION_STRING, 'o', "output", "DIR", FIELD(config.output),
	 .help = "directory of the trace, made new (default: sidewinder-DATE-TIME here)"},
	{SDW_OPTION_FLAG, 'f', "force", NULL, FIELD(config.force),
	 .help = "replace a trace that is there"},

	{SDW_OPTION_HEADING, .help = "What to say at the end:"},
	{SDW_OPTION_FLAG, 'q', "quiet", NULL, FIELD(config.quiet),
	 .help = "only warnings and errors"},
	{SDW_OPTION_FLAG, 0, "json", NULL, FIELD(config.json),
	 .help = "the summary as one JSON object on stdout"},
	{SDW_OPTION_FLAG, 0, "no-report", NULL, FIELD(config.no_report),
	 .help = "no table of the hottest functions"},
	{SDW_OPTION_DOUBLE, 0, "max-loss", "PERCENT", FIELD(max_loss_percent), .max = 100,
	 .help = "exit status 3 if more of the overflows were lost (default: 5)"},

	{SDW_OPTION_HEADING, .help = "For experts:"},
	{SDW_OPTION_SIZE, 0, "ring-bytes", "SIZE", FIELD(config.ring_bytes), .min = MIN_RING_BYTES,
	 .max = MAX_RING_BYTES, .help = "buffer per processor, a power of two (default: 8M)"},
	{SDW_OPTION_SIZE, 0, "max-memory", "SIZE", FIELD(config.max_memory), .min = 1 << 24,
	 .help = "for names and stacks (default: 1G)"},
	{SDW_OPTION_STRING, 0, "btf", "FILE", FIELD(config.btf_path),
	 .help = "type information of a kernel that was built without"},
	{SDW_OPTION_STRING, 0, "bpf-log", "FILE", FIELD(config.bpf_log_path),
	 .help = "write the kernel verifier's words there"},
	{SDW_OPTION_NO_FLAG, 0, "no-templates", NULL, FIELD(config.templates),
	 .help = "unwind every native stack by libunwind"},
	{SDW_OPTION_FLAG, 0, "verify-unwind", NULL, FIELD(config.verify_unwind),
	 .help = "unwind every native stack both ways and count differences"},
	{SDW_OPTION_FLAG, 'v', "verbose", NULL, FIELD(verbose), .help = "say what is being done"},
	{0},
};

static const char *const examples[] = {
	"sidewinder record -- python3 app.py --port 8000",
	"run a program, print its hottest functions, leave a trace",
	"sidewinder record -p 4711 -d 10",
	"look at a running service for ten seconds",
	"sidewinder record -p 4711 --children --kernel -F 5000 -o trace",
	"a prefork server with its workers, with kernel frames, at 5 kHz",
	"sidewinder record -a -d 30 --native=none",
	"every Python process of the machine, Python frames only",
	"sidewinder record -e page-faults -c 1 -- python3 app.py",
	"who touches new memory: a sample for every page fault",
	NULL,
};

const struct sdw_usage sdw_usage_record = {
	.verb = "record",
	.arguments = "[OPTION]... [--] COMMAND [ARGUMENT]...\n"
		     "       sidewinder record [OPTION]... --pid PID | --all",
	.summary =
		"Records where unmodified Python programs spend their time, as Python, native and "
		"kernel stacks, into a trace directory. The exit status is that of the command; "
		"1 if something failed, 2 for wrong use, 3 if too much was lost.",
	.options = options,
	.examples = examples,
	.command_follows = true,
};

static int wrong(const char *what)
{
	sdw_error("record: %s", what);
	return -EINVAL;
}

static int check_target(struct arguments *arguments)
{
	struct sdw_config *config = &arguments->config;
	int targets = config->all + (config->pid_count > 0) + (config->command != NULL);

	if (!targets)
		return wrong(
			"nothing to record: give a command, --pid PID or --all, e.g. "
			"'sidewinder record -- python3 app.py'; 'sidewinder record --help' tells "
			"more");
	if (targets > 1)
		return wrong("only one of a command, --pid and --all can be recorded at a time");
	if (config->all && arguments->follow != FOLLOW_DEFAULT)
		return wrong("--children and --no-children mean nothing with --all");
	config->children = config->all || arguments->follow == FOLLOW_CHILDREN ||
			   (config->command && arguments->follow == FOLLOW_DEFAULT);
	return 0;
}

static int check_event(struct arguments *arguments)
{
	struct sdw_config *config = &arguments->config;
	int err;

	err = sdw_event_spec_parse(arguments->event ?: "cycles", &config->event);
	if (err)
		return err;
	config->event.by_default = !arguments->event;
	if (config->frequency && config->period)
		return wrong("--frequency and --period exclude each other");
	if (!config->frequency && !config->period) {
		if (config->event.type == PERF_TYPE_TRACEPOINT)
			config->period = 1;
		else
			config->frequency = DEFAULT_FREQUENCY;
	}
	if (config->event.is_clock && config->period && config->period < MIN_CLOCK_PERIOD) {
		sdw_error(
			"record: --period: %llu ns is too small for %s, the kernel's timers take %d "
			"at least",
			(unsigned long long)config->period, config->event.name, MIN_CLOCK_PERIOD);
		return -EINVAL;
	}
	return 0;
}

/* The kernel refuses what is above its limit for a counter, and throttles a clock. */
static int check_rate(const struct sdw_config *config)
{
	int64_t limit;

	if (!config->frequency || sdw_number_file_read(AT_FDCWD, MAX_RATE, &limit) || limit <= 0)
		return 0;
	if (config->frequency > (uint64_t)limit) {
		sdw_error(
			"record: --frequency: %llu is above kernel.perf_event_max_sample_rate, which is "
			"%lld; raise it with: sysctl kernel.perf_event_max_sample_rate=%llu",
			(unsigned long long)config->frequency, (long long)limit,
			(unsigned long long)config->frequency);
		return -EINVAL;
	}
	if (config->frequency > 1000000000 / MIN_CLOCK_PERIOD)
		return wrong("--frequency: the kernel's timers do not go beyond 100000");
	return 0;
}

static int check(struct arguments *arguments)
{
	struct sdw_config *config = &arguments->config;
	int err;

	if (config->ring_bytes & (config->ring_bytes - 1))
		return wrong("--ring-bytes: the size must be a power of two");
	if (config->verify_unwind && (config->native == SDW_NATIVE_NONE || !config->templates))
		return wrong("--verify-unwind compares templates with libunwind: it excludes "
			     "--native=none and --no-templates");
	if (config->output && !*config->output)
		return wrong("--output: the name is empty");
	err = check_target(arguments);
	if (!err)
		err = check_event(arguments);
	return err ?: check_rate(config);
}

enum sdw_options_result sdw_record_options_parse(int argc, char **argv, struct sdw_config *config)
{
	struct arguments arguments = {
		.config =
			{
				.native = SDW_NATIVE_DWARF,
				.stack_bytes = SDW_MAX_STACK_BYTES,
				.templates = true,
				.ring_bytes = DEFAULT_RING_BYTES,
				.max_memory = DEFAULT_MEMORY,
			},
		.max_loss_percent = 5,
	};
	enum sdw_options_result result;
	int first = argc, err;

	result = sdw_options_parse(&sdw_usage_record, argc, argv, &arguments, &first);
	if (result == SDW_OPTIONS_GO_ON) {
		if (first < argc)
			arguments.config.command = argv + first;
		arguments.config.max_loss = arguments.max_loss_percent / 100;
		err = check(&arguments);
		if (err)
			result = err == -EINVAL ? SDW_OPTIONS_WRONG : SDW_OPTIONS_FAULT;
	}
	if (arguments.verbose)
		sdw_log_set_level(SDW_LOG_DEBUG);
	else if (arguments.config.quiet)
		sdw_log_set_level(SDW_LOG_WARN);
	*config = arguments.config;
	return result;
}

void sdw_record_options_free(struct sdw_config *config)
{
	free(config->pids);
	config->pids = NULL;
}
