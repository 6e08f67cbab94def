// SPDX-License-Identifier: MIT
/*
 * cost_runs.c - see cost_runs.h.
 *
 * The order turns from round to round, so that what a machine does at regular intervals does not
 * always hit the same way. CPU time is that of children which were waited for: the command's, and
 * what it waited for itself. Traces are written, as a recording would, and removed.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <limits.h>
#include <linux/bpf.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyze/cost_runs.h"
#include "base/log.h"
#include "capture/launch.h"
#include "capture/perf_events.h"
#include "capture/session.h"
#include "sink/ctf.h"
#include "ui/summary.h"

#define FILES 2

static const char *const trace_files[FILES] = {"metadata", "stream"};

struct runner {
	struct sdw_config config;
	char directory[PATH_MAX], trace[PATH_MAX + 8];
	int empty_program; /* fd */
	int status;	   /* how the command is to end */
};

static double seconds_of(int who)
{
	struct rusage usage;

	if (getrusage(who, &usage))
		return 0;
	return (double)usage.ru_utime.tv_sec + (double)usage.ru_stime.tv_sec +
	       ((double)usage.ru_utime.tv_usec + (double)usage.ru_stime.tv_usec) / 1e6;
}

/* r0 = 0; exit: the kernel does nothing further with an overflow for which the program returns 0 */
static int load_empty_program(void)
{
	const struct bpf_insn code[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};

	return bpf_prog_load(BPF_PROG_TYPE_PERF_EVENT, "sdw_floor", "GPL", code,
			     sizeof(code) / sizeof(code[0]), NULL);
}

/* Without a profiler: the command, with an event whose program is empty, or with none. */
static int run_bare(struct runner *runner, bool floor, struct sdw_cost_run *run, int *status)
{
	struct sdw_launch launch = SDW_LAUNCH_NONE;
	struct sdw_events *events = NULL;
	void (*before)(int);
	int err = sdw_launch_start(&launch, runner->config.command, NULL);

	if (err)
		return err;
	before = signal(SIGINT, SIG_IGN); /* a Ctrl-C is for the command: it says how it ended */
	if (floor)
		err = sdw_events_open(&runner->config, &launch.pid, 1, runner->empty_program,
				      &events);
	err = err ?: sdw_launch_run(&launch);
	if (!err && sdw_launch_reap(&launch, true, status) < 0)
		err = -ECHILD;
	if (!err && floor)
		run->samples = sdw_events_expected_overflows(events);
	sdw_events_free(events);
	sdw_launch_free(&launch);
	signal(SIGINT, before);
	return err;
}

static void remove_trace(const struct runner *runner, uint64_t *bytes)
{
	*bytes = 0;
	for (unsigned int i = 0; i < FILES; i++) {
		char path[sizeof(runner->trace) + 16];
		struct stat status;

		snprintf(path, sizeof(path), "%s/%s", runner->trace, trace_files[i]);
		if (stat(path, &status) == 0)
			*bytes += (uint64_t)status.st_size;
		unlink(path);
	}
	rmdir(runner->trace);
}

static int run_recorded(struct runner *runner, struct sdw_cost_run *run, int *status)
{
	struct sdw_session *session = NULL;
	struct sdw_sink *sink;
	struct sdw_totals totals;
	double begin = seconds_of(RUSAGE_SELF);
	int err = sdw_ctf_create(runner->trace, false, &sink);

	if (err) {
		sdw_error("cannot write %s: %s", runner->trace, strerror(-err));
		return err;
	}
	err = sdw_session_create(&runner->config, sink, &session);
	run->profiler_s = seconds_of(RUSAGE_SELF) - begin;
	if (!err) {
		err = sdw_session_run(session, NULL, NULL);
		*status = sdw_session_exit_status(session);
		sdw_session_totals(session, &totals);
		run->samples = sdw_totals_samples(&totals);
	}
	if (sink->ops->close(sink) && !err)
		err = -EIO;
	sdw_session_free(session);
	remove_trace(runner, &run->bytes);
	return err;
}

static int run_once(struct runner *runner, enum sdw_way way, struct sdw_cost_run *run)
{
	double begin = seconds_of(RUSAGE_CHILDREN);
	int status = 0, err;

	runner->config.path = way == SDW_WAY_SIGNAL ? SDW_PATH_SIGNAL : SDW_PATH_BPF;
	if (way == SDW_WAY_NONE || way == SDW_WAY_FLOOR)
		err = run_bare(runner, way == SDW_WAY_FLOOR, run, &status);
	else
		err = run_recorded(runner, run, &status);
	if (err)
		return err;
	run->cpu_s = seconds_of(RUSAGE_CHILDREN) - begin;
	if (status > 128)
		return -EINTR;
	if (status == runner->status)
		return 0;
	sdw_error("the command ended with status %d with %s, and with %d before", status,
		  sdw_way_words(way), runner->status);
	return -ENOEXEC;
}

/* A round of one command, in an order that turns. */
static int run_round(struct runner *runner, unsigned int round,
		     struct sdw_cost_run runs[][SDW_COST_MAX_ROUNDS])
{
	int err = 0;

	for (unsigned int i = 0; i < SDW_WAY_COUNT && !err; i++) {
		enum sdw_way way = (i + round) % SDW_WAY_COUNT;

		err = run_once(runner, way, &runs[way][round]);
	}
	return err;
}

/* Where the kernel adapts the period, nobody counts a floor's overflows: they are as many as BPF's.
 */
static void count_floor(struct sdw_cost *cost)
{
	for (unsigned int i = 0; i < cost->rounds; i++)
		if (!cost->runs[SDW_WAY_FLOOR][i].samples)
			cost->runs[SDW_WAY_FLOOR][i].samples = cost->runs[SDW_WAY_BPF][i].samples;
}

static int run_all(struct runner *runner, unsigned int rounds, struct sdw_cost *cost)
{
	static char nothing[] = "true";
	char *empty[] = {nothing, NULL}, **command = runner->config.command;
	int status = runner->status, err = 0;

	for (unsigned int i = 0; i < rounds && !err; i++) {
		err = run_round(runner, i, cost->runs);
		if (err)
			break;
		runner->config.command = empty;
		runner->status = 0;
		err = run_round(runner, i, cost->empty);
		runner->config.command = command;
		runner->status = status;
		cost->rounds += !err;
	}
	count_floor(cost);
	return err;
}

static int make_directory(struct runner *runner)
{
	const char *parent = getenv("TMPDIR");
	int length, err = 0;

	if (!parent || !*parent)
		parent = "/tmp";
	length = snprintf(runner->directory, sizeof(runner->directory), "%s/sidewinder-XXXXXX",
			  parent);
	if (length < 0 || (size_t)length >= sizeof(runner->directory))
		err = -ENAMETOOLONG;
	else if (!mkdtemp(runner->directory))
		err = -errno;
	if (err)
		sdw_error("cannot make a directory in %s: %s", parent, strerror(-err));
	else
		snprintf(runner->trace, sizeof(runner->trace), "%s/trace", runner->directory);
	return err;
}

int sdw_cost_measure(const struct sdw_config *config, unsigned int rounds, int status,
		     struct sdw_cost *cost)
{
	struct runner runner = {.config = *config, .status = status};
	int err;

	memset(cost, 0, sizeof(*cost));
	if (rounds > SDW_COST_MAX_ROUNDS)
		rounds = SDW_COST_MAX_ROUNDS;
	err = make_directory(&runner);
	if (err)
		return err;
	runner.empty_program = load_empty_program();
	err = runner.empty_program < 0 ? -errno : 0;
	if (err)
		sdw_error("cannot load an empty BPF program: %s", strerror(-err));
	else
		err = run_all(&runner, rounds, cost);
	if (runner.empty_program >= 0)
		close(runner.empty_program);
	rmdir(runner.directory);
	return err;
}
