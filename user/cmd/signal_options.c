// SPDX-License-Identifier: MIT
/* signal_options.c - options of the signal path, and what they take here. */
#include <errno.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/log.h"
#include "cmd/signal_options.h"
#include "sigpath/preload.h"

const struct sdw_option_word sdw_path_words[] = {
	{"bpf", SDW_PATH_BPF},
	{"signal", SDW_PATH_SIGNAL},
	{"both", SDW_PATH_BOTH},
	{0},
};

const struct sdw_option_word sdw_signal_words[] = {
	{"sigtrap", SDW_SIGPATH_SIGTRAP},
	{"sigio", SDW_SIGPATH_SIGIO},
	{0},
};

const struct sdw_option_word sdw_signal_unwind_words[] = {
	{"offline", SDW_SIGPATH_UNWIND_OFFLINE},
	{"online", SDW_SIGPATH_UNWIND_ONLINE},
	{0},
};

static int wrong(const char *verb, const char *what)
{
	sdw_error("%s: %s", verb, what);
	return -EINVAL;
}

/* What no program can have a handler for, and what a fault of the program raises. */
static bool is_usable(uint32_t number)
{
	static const int taken[] = {SIGKILL, SIGSTOP, SIGSEGV, SIGBUS,	SIGILL, SIGFPE,
				    SIGABRT, SIGTRAP, SIGCHLD, SIGCONT, 32,	33};

	for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++) {
		if (number == (uint32_t)taken[i])
			return false;
	}
	return true;
}

static int check_signal(const char *verb, struct sdw_config *config)
{
	struct sdw_signal_config *signal = &config->signal;

	if (signal->number && signal->delivery != SDW_SIGPATH_SIGIO)
		return wrong(verb, "--signal-number is for --signal=sigio: SIGTRAP is always 5");
	if (signal->number && !is_usable(signal->number))
		return wrong(verb, "--signal-number: this signal has another meaning; take 29, or "
				   "34 to 64");
	if (signal->rearm && signal->delivery != SDW_SIGPATH_SIGIO)
		return wrong(verb, "--rearm is for --signal=sigio");
	return 0;
}

int sdw_signal_options_check(const char *verb, struct sdw_config *config)
{
	const struct sdw_signal_config *signal = &config->signal;

	if (config->path == SDW_PATH_BPF) {
		if (signal->delivery != SDW_SIGNAL_CHOOSE || signal->number || signal->rearm)
			return wrong(verb, "--signal, --signal-number and --rearm are for "
					   "--path=signal and --path=both");
		return 0;
	}
	if (!config->command)
		return wrong(verb,
			     "--path=signal and --path=both take a command: the agent must be "
			     "in it from the start");
	if (!config->children)
		return wrong(verb,
			     "--no-children is for --path=bpf: the agent follows every child");
	if (config->event.type == PERF_TYPE_TRACEPOINT)
		return wrong(verb,
			     "a tracepoint sends no signal: take --path=bpf, or another event");
	return check_signal(verb, config);
}

/* Does the kernel know attr.sigtrap (5.13)? */
static bool has_sigtrap(void)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_period = 1,
		.disabled = 1,
		.exclude_kernel = 1,
		.sigtrap = 1,
		.remove_on_exec = 1,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return errno != EINVAL && errno != E2BIG;
	close(fd);
	return true;
}

/*
 * Before 5.19 a SIGTRAP that finds itself blocked kills the thread, and the C library blocks all
 * signals for a moment here and there.
 */
static bool is_sigtrap_safe(void)
{
	unsigned int major, minor;
	struct utsname name;

	return !uname(&name) && sscanf(name.release, "%u.%u", &major, &minor) == 2 &&
	       (major > 5 || (major == 5 && minor >= 19));
}

int sdw_signal_check(struct sdw_config *config)
{
	struct sdw_signal_config *signal = &config->signal;

	if (signal->delivery == SDW_SIGPATH_SIGTRAP && !has_sigtrap()) {
		sdw_error("--signal=sigtrap: this kernel has it not (it came with 5.13): take "
			  "--signal=sigio");
		return -ENOTSUP;
	}
	if (signal->delivery == SDW_SIGNAL_CHOOSE)
		signal->delivery = is_sigtrap_safe() && has_sigtrap() ? SDW_SIGPATH_SIGTRAP
								      : SDW_SIGPATH_SIGIO;
	if (signal->delivery == SDW_SIGPATH_SIGTRAP)
		signal->number = SIGTRAP;
	else if (!signal->number)
		signal->number = SIGIO;
	return sdw_preload_check();
}
