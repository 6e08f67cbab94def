// SPDX-License-Identifier: MIT
/* capture_options.c - defaults, and what does not go together; see capture_options.h. */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/number_file.h"
#include "capture/cgroup_target.h"
#include "capture/event_spec.h"
#include "capture/launch.h"
#include "capture/perf_events.h"
#include "capture/privilege.h"
#include "capture/target_threads.h"
#include "cmd/capture_options.h"
#include "cmd/signal_options.h"

#define DEFAULT_FREQUENCY  1000
#define DEFAULT_RING_BYTES (8u << 20)
#define DEFAULT_MEMORY	   (1ull << 30)
#define MIN_CLOCK_PERIOD   10000 /* ns; the kernel's perf timers go no faster */
#define MAX_RATE	   "/proc/sys/kernel/perf_event_max_sample_rate"

static int add_pid(struct sdw_capture_arguments *arguments, pid_t pid)
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
			sdw_error("%s: out of memory", arguments->verb);
			return -ENOMEM;
		}
		config->pids = larger;
		arguments->pid_room = room;
	}
	config->pids[config->pid_count++] = pid;
	return 0;
}

/* "12" or "12,13" */
int sdw_capture_take_pids(void *target, const char *value)
{
	struct sdw_capture_arguments *arguments = target;
	const char *at = value;

	for (;;) {
		char *end;
		long pid;
		int err;

		errno = 0;
		pid = strtol(at, &end, 10);
		if (*at < '0' || *at > '9' || errno || pid < 1 || pid > INT32_MAX ||
		    (*end && *end != ',')) {
			sdw_error("%s: --pid: '%s' is not a process id or a list of these",
				  arguments->verb, value);
			return -EINVAL;
		}
		err = add_pid(arguments, (pid_t)pid);
		if (err || !*end)
			return err;
		at = end + 1;
	}
}

static int add_text(const struct sdw_capture_arguments *arguments, char ***items, size_t *count,
		    size_t *room, const char *option, const char *value)
{
	if (!*value) {
		sdw_error("%s: --%s: the name is empty", arguments->verb, option);
		return -EINVAL;
	}
	if (*count == *room) {
		size_t wanted = *room ? 2 * *room : 8;
		char **larger = reallocarray(*items, wanted, sizeof(*larger));

		if (!larger) {
			sdw_error("%s: out of memory", arguments->verb);
			return -ENOMEM;
		}
		*items = larger;
		*room = wanted;
	}
	(*items)[(*count)++] = (char *)(uintptr_t)value; /* of argv */
	return 0;
}

int sdw_capture_take_cgroup(void *target, const char *value)
{
	struct sdw_capture_arguments *arguments = target;

	return add_text(arguments, &arguments->config.cgroups, &arguments->config.cgroup_count,
			&arguments->cgroup_room, "cgroup", value);
}

int sdw_capture_take_container(void *target, const char *value)
{
	struct sdw_capture_arguments *arguments = target;

	return add_text(arguments, &arguments->config.containers,
			&arguments->config.container_count, &arguments->container_room, "container",
			value);
}

int sdw_capture_take_children(void *target, const char *value)
{
	(void)value;
	((struct sdw_capture_arguments *)target)->follow = SDW_FOLLOW_CHILDREN;
	return 0;
}

int sdw_capture_take_no_children(void *target, const char *value)
{
	(void)value;
	((struct sdw_capture_arguments *)target)->follow = SDW_FOLLOW_NONE;
	return 0;
}

const struct sdw_option_word sdw_capture_native_words[] = {
	{"dwarf", SDW_NATIVE_DWARF},
	{"none", SDW_NATIVE_NONE},
	{0},
};

struct sdw_capture_arguments sdw_capture_arguments_default(const char *verb)
{
	return (struct sdw_capture_arguments){
		.verb = verb,
		.config =
			{
				.native = SDW_NATIVE_DWARF,
				.stack_bytes = SDW_MAX_STACK_BYTES,
				.templates = true,
				.ring_bytes = DEFAULT_RING_BYTES,
				.max_memory = DEFAULT_MEMORY,
				.signal = {.delivery = SDW_SIGNAL_CHOOSE,
					   .unwind = SDW_SIGPATH_UNWIND_OFFLINE,
					   .unwind_depth = SDW_SIGPATH_MAX_FRAMES},
			},
	};
}

static int wrong(const struct sdw_capture_arguments *arguments, const char *what)
{
	sdw_error("%s: %s", arguments->verb, what);
	return -EINVAL;
}

static int check_target(struct sdw_capture_arguments *arguments)
{
	struct sdw_config *config = &arguments->config;
	bool grouped = config->cgroup_count || config->container_count;
	int targets = config->all + (config->pid_count > 0) + (config->command != NULL) + grouped;

	if (!targets) {
		sdw_error(
			"%s: nothing to record: give a command, --pid PID, --container NAME or "
			"--all, e.g. 'sidewinder %s -- python3 app.py'; 'sidewinder %s --help' tells more",
			arguments->verb, arguments->verb, arguments->verb);
		return -EINVAL;
	}
	if (targets > 1)
		return wrong(arguments,
			     "only one of a command, --pid, --container or --cgroup, and --all can "
			     "be recorded at a time");
	if ((config->all || grouped) && arguments->follow != SDW_FOLLOW_DEFAULT)
		return wrong(arguments, "--children and --no-children mean nothing with --all, "
					"--container and --cgroup");
	config->children = config->all || grouped || arguments->follow == SDW_FOLLOW_CHILDREN ||
			   (config->command && arguments->follow == SDW_FOLLOW_DEFAULT);
	return 0;
}

static int check_event(struct sdw_capture_arguments *arguments)
{
	struct sdw_config *config = &arguments->config;
	int err;

	err = sdw_event_spec_parse(arguments->event ?: "cycles", &config->event);
	if (err)
		return err;
	config->event.by_default = !arguments->event;
	if (config->frequency && config->period)
		return wrong(arguments, "--frequency and --period exclude each other");
	if (!config->frequency && !config->period) {
		if (config->event.type == PERF_TYPE_TRACEPOINT)
			config->period = 1;
		else
			config->frequency = DEFAULT_FREQUENCY;
	}
	if (config->event.is_clock && config->period && config->period < MIN_CLOCK_PERIOD) {
		sdw_error("%s: --period: %llu ns is too small for %s, the kernel's timers take %d "
			  "at least",
			  arguments->verb, (unsigned long long)config->period, config->event.name,
			  MIN_CLOCK_PERIOD);
		return -EINVAL;
	}
	return 0;
}

/* The kernel refuses what is above its limit for a counter, and throttles a clock. */
static int check_rate(const struct sdw_capture_arguments *arguments)
{
	const struct sdw_config *config = &arguments->config;
	int64_t limit;

	if (!config->frequency || sdw_number_file_read(AT_FDCWD, MAX_RATE, &limit) || limit <= 0)
		return 0;
	if (config->frequency > (uint64_t)limit) {
		sdw_error(
			"%s: --frequency: %llu is above kernel.perf_event_max_sample_rate, which is "
			"%lld; raise it with: sysctl kernel.perf_event_max_sample_rate=%llu",
			arguments->verb, (unsigned long long)config->frequency, (long long)limit,
			(unsigned long long)config->frequency);
		return -EINVAL;
	}
	if (config->frequency > 1000000000 / MIN_CLOCK_PERIOD)
		return wrong(arguments, "--frequency: the kernel's timers do not go beyond 100000");
	return 0;
}

int sdw_capture_arguments_check(struct sdw_capture_arguments *arguments, char **command)
{
	struct sdw_config *config = &arguments->config;
	int err;

	config->command = command;
	if (config->ring_bytes & (config->ring_bytes - 1))
		return wrong(arguments, "--ring-bytes: the size must be a power of two");
	if (config->verify_unwind && (config->native == SDW_NATIVE_NONE || !config->templates))
		return wrong(arguments,
			     "--verify-unwind compares templates with libunwind: it excludes "
			     "--native=none and --no-templates");
	if (config->output && !*config->output)
		return wrong(arguments, "--output: the name is empty");
	err = check_target(arguments);
	if (!err)
		err = check_event(arguments);
	err = err ?: check_rate(arguments);
	return err ?: sdw_signal_options_check(arguments->verb, config);
}

static int check_pids(const struct sdw_config *config)
{
	size_t i;

	for (i = 0; i < config->pid_count; i++) {
		pid_t pid = config->pids[i], process = 0;
		int err = sdw_target_check(pid, &process);

		if (!err)
			continue;
		if (err == -EINVAL)
			sdw_error("pid %d: is a thread of process %d: give --pid %d", pid, process,
				  process);
		else if (err == -ECHILD)
			sdw_error("pid %d: has ended already (a zombie)", pid);
		else
			sdw_error("pid %d: %s", pid, strerror(-err));
		return err;
	}
	return 0;
}

int sdw_capture_check(struct sdw_config *config)
{
	int err;

	if (check_pids(config))
		return SDW_EXIT_FAULT;
	if (config->command) {
		err = sdw_launch_check(config->command[0]);
		if (err)
			return sdw_launch_failure_status(err);
	}
	if (config->path != SDW_PATH_BPF && sdw_signal_check(config))
		return SDW_EXIT_FAULT;
	/* the signal path alone takes no right that its owner does not have */
	if (config->path != SDW_PATH_SIGNAL && sdw_privilege_check(config))
		return SDW_EXIT_FAULT;
	if (sdw_events_probe(config) || sdw_cgroup_targets_find(config))
		return SDW_EXIT_FAULT;
	return SDW_EXIT_OK;
}

void sdw_output_failed(const char *output, int err)
{
	if (err == -EEXIST)
		sdw_error(
			"output %s exists already: choose another name, or replace it with --force",
			output);
	else if (err == -ENOTEMPTY)
		sdw_error("output %s holds something that is not a trace: it is left alone",
			  output);
	else
		sdw_error("cannot create output %s: %s", output, strerror(-err));
}

void sdw_capture_config_free(struct sdw_config *config)
{
	sdw_cgroup_targets_free(config->groups);
	free(config->pids);
	free(config->cgroups);
	free(config->containers);
	config->pids = NULL;
	config->cgroups = config->containers = NULL;
	config->groups = NULL;
}
