// SPDX-License-Identifier: MIT
/*
 * session.c - sets a recording up, waits, drains, and ends it in order.
 *
 * One thread, one epoll: the rings of life records and mappings wake it, samples wait for its next
 * tick.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "capture/cgroup_target.h"
#include "capture/idle_time.h"
#include "capture/session_internal.h"
#include "capture/target_threads.h"

#define TICK_MS	    50	       /* between drains: half of the smallest ring at 10 kHz with stacks */
#define LAG_NS	    2000000u   /* a record is in its ring this long after its time */
#define FLUSH_NS    900000000u /* at least once a second */
#define PROGRESS_NS 250000000u

enum wait_tag {
	TAG_RINGS,
	TAG_SIDEBAND,
	TAG_SIGNAL,
	TAG_COMMAND,
	TAG_TARGET,
	TAG_WATCH,
	TAG_AGENT,
};

/* ---- setting up ---- */

static int add_wait(struct sdw_session *session, int fd, enum wait_tag tag, uint32_t index)
{
	struct epoll_event event = {.events = EPOLLIN, .data.u64 = (uint64_t)tag << 32 | index};

	if (fd < 0)
		return 0;
	return epoll_ctl(session->epoll, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

/* Copies a record of a ring into the queue. */
static int on_record(void *context, void *data, size_t size)
{
	const struct sdw_drain *drain = context;
	int err;

	if (size < sizeof(struct sdw_record))
		return 0;
	err = sdw_queue_add(drain->session->queue, drain->source, data, size);
	if (err)
		drain->session->error = err;
	return err;
}

static int open_rings(struct sdw_session *session)
{
	size_t processors = sdw_programs_processors(session->programs), i;
	int err;

	session->first_sideband = processors + 1;
	session->agent_source = session->first_sideband + sdw_sideband_count(session->sideband);
	err = sdw_queue_create(session->agent_source + 1, &session->queue);
	if (err || session->config->path == SDW_PATH_SIGNAL)
		return err;
	session->drains = calloc(processors + 1, sizeof(*session->drains));
	if (!session->drains)
		return -ENOMEM;
	for (i = 0; i <= processors && !err; i++) {
		struct sdw_drain *drain = &session->drains[i];
		int fd = i < processors ? sdw_programs_ring_fd(session->programs, (unsigned int)i)
					: sdw_programs_life_ring_fd(session->programs);

		*drain = (struct sdw_drain){session, i};
		if (i) {
			err = ring_buffer__add(session->rings, fd, on_record, drain);
			continue;
		}
		session->rings = ring_buffer__new(fd, on_record, drain, NULL);
		err = session->rings ? 0 : -errno;
	}
	err = err ?: add_wait(session, ring_buffer__epoll_fd(session->rings), TAG_RINGS, 0);
	for (i = 0; i < sdw_sideband_count(session->sideband) && !err; i++)
		err = add_wait(session, sdw_sideband_fd(session->sideband, i), TAG_SIDEBAND, 0);
	return err;
}

/* Signals come through a descriptor from here on. */
static int open_signals(struct sdw_session *session)
{
	sigset_t stop;

	sigemptyset(&stop);
	sigaddset(&stop, SIGINT);
	sigaddset(&stop, SIGTERM);
	sigaddset(&stop, SIGHUP);
	if (sigprocmask(SIG_BLOCK, &stop, &session->old_mask))
		return -errno;
	session->masked = true;
	session->signals = signalfd(-1, &stop, SFD_CLOEXEC | SFD_NONBLOCK);
	if (session->signals < 0)
		return -errno;
	return add_wait(session, session->signals, TAG_SIGNAL, 0);
}

static uint32_t new_epoch(void)
{
	uint32_t epoch = 1;

	if (getrandom(&epoch, sizeof(epoch), GRND_NONBLOCK) != sizeof(epoch))
		epoch = (uint32_t)sdw_session_now();
	return epoch;
}

int sdw_session_add_known(struct sdw_session *session, uint32_t pid, bool look)
{
	uint32_t epoch = new_epoch();
	struct sdw_image *image = sdw_images_get(&session->pipeline->images, pid, epoch);
	int err;

	if (!image)
		return -ENOMEM;
	err = sdw_programs_add_process(session->programs, pid, epoch);
	if (err) {
		sdw_error("pid %u: cannot be made known to the BPF side: %s", pid, strerror(-err));
		return err;
	}
	return look ? sdw_images_look(&session->pipeline->images, image, sdw_session_now()) : 0;
}

static int watch_target(struct sdw_session *session, size_t index)
{
	struct sdw_target *target = &session->targets[index];
	int err;

	target->pid = (uint32_t)session->config->pids[index];
	target->pidfd = (int)syscall(SYS_pidfd_open, target->pid, 0);
	if (target->pidfd < 0) {
		err = -errno;
		sdw_error("pid %u: %s", target->pid, strerror(-err));
		return err;
	}
	session->targets_alive++;
	err = add_wait(session, target->pidfd, TAG_TARGET, (uint32_t)index);
	return err ?: sdw_session_add_known(session, target->pid, true);
}

/* Processes that the targets made before; one that is gone meanwhile is no error. */
static int add_descendants(struct sdw_session *session)
{
	const struct sdw_config *config = session->config;
	struct sdw_pid_list processes = {0}, given = {0};
	int err;

	err = sdw_target_processes_list(config->pids, config->pid_count, false, &given);
	err = err ?: sdw_target_processes_list(config->pids, config->pid_count, true, &processes);
	for (size_t i = 0; i < processes.count && !err; i++) {
		if (!sdw_pid_list_contains(&given, processes.items[i]))
			err = sdw_session_add_known(session, (uint32_t)processes.items[i], true);
		if (err == -ESRCH)
			err = 0;
	}
	sdw_pid_list_free(&given);
	sdw_pid_list_free(&processes);
	return err;
}

static int open_command(struct sdw_session *session)
{
	int err = sdw_session_launch(session);

	if (!err)
		(void)prlimit(session->launch.pid, RLIMIT_NOFILE, &session->file_limit, NULL);
	err = err ?: add_wait(session, session->launch.pidfd, TAG_COMMAND, 0);
	if (err || session->config->path == SDW_PATH_SIGNAL)
		return err; /* the agent tells of its processes */
	return sdw_session_add_known(session, (uint32_t)session->launch.pid, false);
}

static int open_targets(struct sdw_session *session)
{
	const struct sdw_config *config = session->config;
	int err = 0;

	if (config->command)
		return open_command(session);
	if (config->groups)
		return sdw_session_add_groups(session);
	if (config->all)
		return sdw_session_add_all(session);
	session->targets =
		calloc(config->pid_count ? config->pid_count : 1, sizeof(*session->targets));
	if (!session->targets)
		return -ENOMEM;
	session->target_count = config->pid_count;
	for (size_t i = 0; i < config->pid_count; i++)
		session->targets[i].pidfd = -1;
	for (size_t i = 0; i < config->pid_count && !err; i++)
		err = watch_target(session, i);
	if (!err && config->children)
		err = add_descendants(session);
	return err;
}

static int open_events(struct sdw_session *session)
{
	const struct sdw_config *config = session->config;
	int fd;

	if (session->agent)
		return 0; /* each thread opens its own */
	fd = sdw_programs_overflow_fd(session->programs);
	if (config->command)
		return sdw_events_open(config, &session->launch.pid, 1, fd, &session->events);
	return sdw_events_open(config, config->pids, config->pid_count, fd, &session->events);
}

/*
 * The soft limit is a default for programs that use select(); a thread's event or a processor's
 * ring is a descriptor each. The command gets back what it would have had.
 */
static void raise_file_limit(struct sdw_session *session)
{
	struct rlimit raised;

	if (getrlimit(RLIMIT_NOFILE, &session->file_limit))
		return;
	raised = session->file_limit;
	raised.rlim_cur = raised.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &raised);
}

/* Everything but the events. only_known: see programs.h. */
static int open_capture(struct sdw_session *session, bool only_known)
{
	int err;

	raise_file_limit(session);
	session->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (session->epoll < 0)
		return -errno;
	/* a signal while the programs are loaded ends the recording in order, too */
	err = open_signals(session);
	if (err)
		return err;
	if (session->config->path == SDW_PATH_SIGNAL) {
		err = sdw_programs_none(&session->programs);
	} else {
		err = sdw_programs_load(session->config, only_known, &session->programs);
		err = err ?: sdw_sideband_open(&session->sideband);
	}
	err = err
		      ?: sdw_pipeline_create(session->config, session->sink, session->programs,
					     session->period, &session->pipeline);
	err = err ?: open_rings(session);
	if (!err && session->config->path != SDW_PATH_BPF) {
		err = sdw_session_open_agent(session);
		err = err ?: add_wait(session, sdw_sigpath_server_fd(session->agent), TAG_AGENT, 0);
	}
	return err ?: open_targets(session);
}

int sdw_session_create(const struct sdw_config *config, struct sdw_sink *sink,
		       struct sdw_session **session)
{
	struct sdw_session *new = calloc(1, sizeof(*new));
	bool only_known = config->pid_count && !config->children;
	int err;

	if (!new)
		return -ENOMEM;
	new->config = config;
	new->sink = sink;
	new->epoll = new->signals = -1;
	new->launch = SDW_LAUNCH_NONE;
	new->period = sdw_events_fixed_period(config);
	err = open_capture(new, only_known);
	err = err ?: open_events(new);
	if (err) {
		sdw_session_free(new);
		return err;
	}
	*session = new;
	return 0;
}

int sdw_session_watch(struct sdw_session *session, int fd, int (*ready)(void *context),
		      void *context)
{
	session->watch_ready = ready;
	session->watch_context = context;
	return add_wait(session, fd, TAG_WATCH, 0);
}

int sdw_session_follow_scheduler(struct sdw_session *session, const char *directory)
{
	int err = sdw_sched_open(session->config, session->programs, directory, &session->sched);

	return err ?: add_wait(session, sdw_sched_fd(session->sched), TAG_RINGS, 0);
}

/* ---- running ---- */

void sdw_session_stop(struct sdw_session *session)
{
	session->stops++;
	if (session->launch.pid && !session->command_ended)
		kill(session->launch.pid, SIGTERM);
}

static void on_signal(struct sdw_session *session)
{
	struct signalfd_siginfo info;

	while (read(session->signals, &info, sizeof(info)) == sizeof(info)) {
		session->stops++;
		/* a terminal sends its signals to the command itself; others are passed on */
		if (session->launch.pid && !session->command_ended &&
		    !(info.ssi_signo == SIGINT && info.ssi_code == SI_KERNEL))
			kill(session->launch.pid, (int)info.ssi_signo);
	}
}

static void on_target_end(struct sdw_session *session, size_t index)
{
	struct sdw_target *target = &session->targets[index];

	if (target->pidfd < 0)
		return;
	close(target->pidfd);
	target->pidfd = -1;
	session->targets_alive--;
}

static int on_command_end(struct sdw_session *session)
{
	int ended = sdw_launch_reap(&session->launch, false, &session->exit_status);

	if (ended == 1)
		session->command_ended = true;
	return ended < 0 ? ended : 0;
}

static int handle(struct sdw_session *session, const struct epoll_event *event)
{
	switch ((enum wait_tag)(event->data.u64 >> 32)) {
	case TAG_SIGNAL:
		on_signal(session);
		return 0;
	case TAG_COMMAND:
		return on_command_end(session);
	case TAG_TARGET:
		on_target_end(session, (uint32_t)event->data.u64);
		return 0;
	case TAG_WATCH:
		return session->watch_ready(session->watch_context);
	default: /* drained in any case */
		session->woken_ns = sdw_session_now();
		return 0;
	}
}

/*
 * How long to sleep: to the next tick, to the next look at an image that is starting, or until the
 * record that woke us is old enough to be handled: often a process has begun, and each of its
 * samples lacks its Python frames until we have looked.
 */
static int wait_ms(const struct sdw_session *session, uint64_t now_ns)
{
	uint64_t next_ns = now_ns + TICK_MS * 1000000ull;
	uint64_t retry_ns = session->pipeline->images.next_retry_ns;
	uint64_t ripe_ns = session->woken_ns + LAG_NS;

	if (retry_ns && retry_ns < next_ns)
		next_ns = retry_ns;
	if (ripe_ns >= now_ns && ripe_ns < next_ns)
		next_ns = ripe_ns;
	return next_ns > now_ns ? (int)((next_ns - now_ns) / 1000000) + 1 : 0;
}

static bool is_over(const struct sdw_session *session, uint64_t now_ns)
{
	const struct sdw_config *config = session->config;

	if (config->duration_s > 0 &&
	    (double)(now_ns - session->start_ns) >= config->duration_s * 1e9)
		return true;
	if (config->command)
		return session->command_ended || session->stops > 1;
	return session->stops || (config->pid_count && !session->targets_alive) ||
	       session->groups_ended;
}

static int tick(struct sdw_session *session, uint64_t now_ns,
		void (*progress)(void *context, const struct sdw_session_state *state),
		void *context)
{
	struct sdw_session_state state = {.elapsed_ns = now_ns - session->start_ns};
	int err = sdw_session_drain(session, now_ns - LAG_NS);

	if (err)
		return err;
	sdw_images_tick(&session->pipeline->images, now_ns);
	if (now_ns - session->flushed_ns >= FLUSH_NS) {
		session->flushed_ns = now_ns;
		err = sdw_session_report(session, now_ns - LAG_NS);
		sdw_session_look_at_groups(session);
	}
	if (err || !progress || now_ns - session->progress_ns < PROGRESS_NS)
		return err;
	session->progress_ns = now_ns;
	err = sdw_session_count(session);
	state.overflows = session->counters.overflows;
	state.samples = session->counters.samples;
	state.lost =
		state.overflows - state.samples - session->counters.lost[SDW_LOST_OUTSIDE_TARGET];
	state.processes = session->pipeline->processes;
	progress(context, &state);
	return err;
}

static int loop(struct sdw_session *session,
		void (*progress)(void *context, const struct sdw_session_state *state),
		void *context)
{
	uint64_t now = sdw_session_now();
	struct epoll_event events[16];
	int count, err = 0;

	while (!err && !is_over(session, now)) {
		count = epoll_wait(session->epoll, events, 16, wait_ms(session, now));
		if (count < 0 && errno != EINTR)
			return -errno;
		for (int i = 0; i < count && !err; i++)
			err = handle(session, &events[i]);
		now = sdw_session_now();
		err = err ?: tick(session, now, progress, context);
	}
	return err;
}

/* Says which bound was met, since what is beyond it has no names or stacks. */
static void say_bounds(const struct sdw_session *session)
{
	const struct sdw_pipeline *pipeline = session->pipeline;
	uint64_t stacks = pipeline->builder.out_of_memory;
	uint64_t codes = sdw_code_table_statistics(pipeline->codes)->out_of_bound;

	if (stacks || codes)
		sdw_warn("--max-memory was reached: %llu samples have no stack, %llu functions no "
			 "name; a larger one keeps them",
			 (unsigned long long)stacks, (unsigned long long)codes);
	if (session->config->all && session->counters.lost[SDW_LOST_OUTSIDE_NAMESPACE])
		sdw_warn("%llu overflows were of processes that have no pid here: to see the whole "
			 "machine, start Sidewinder with the host's pids (podman run --pid=host)",
			 (unsigned long long)session->counters.lost[SDW_LOST_OUTSIDE_NAMESPACE]);
	if (session->counters.processes_full)
		sdw_warn("more than %u processes at once: some of them were not followed",
			 SDW_MAX_PROCESSES);
}

/* Stops counting, and brings everything that was counted into the sink. */
static int finish(struct sdw_session *session)
{
	int err;

	sdw_session_disable(session);
	session->end_ns = sdw_session_now();
	if (session->sched)
		sdw_sched_stop(session->sched);
	err = sdw_session_drain(session, UINT64_MAX);
	session->complete = !err;
	err = err ?: sdw_session_count(session);
	if (err)
		return err;
	sdw_session_count_undelivered(session);
	say_bounds(session);
	sdw_session_say_agent(session);
	return sdw_session_report(session, session->end_ns);
}

int sdw_session_run(struct sdw_session *session,
		    void (*progress)(void *context, const struct sdw_session_state *state),
		    void *context)
{
	int err;

	session->start_ns = session->flushed_ns = session->progress_ns = sdw_session_now();
	session->lost_said_ns = session->pipeline->last_ns = session->start_ns;
	session->idle_start_ns = sdw_idle_time_ns();
	err = session->events ? sdw_events_enable(session->events) : 0;
	if (!err && session->config->command) {
		err = sdw_launch_run(&session->launch);
		if (err)
			session->exit_status = sdw_launch_failure_status(err);
	}
	/* only now: a sink that is told of no recording leaves nothing behind */
	err = err ?: sdw_session_announce(session);
	if (err)
		return err;
	err = loop(session, progress, context);
	if (err) {
		/* the sink is broken: count to the end all the same */
		sdw_session_disable(session);
		session->end_ns = sdw_session_now();
		if (!sdw_session_count(session))
			sdw_session_count_undelivered(session);
		return err;
	}
	return finish(session);
}

bool sdw_session_was_stopped(const struct sdw_session *session)
{
	return session->stops > 0;
}

int sdw_session_exit_status(const struct sdw_session *session)
{
	return session->exit_status;
}

struct sdw_sched_totals sdw_session_sched_totals(const struct sdw_session *session)
{
	return session->sched ? sdw_sched_count(session->sched) : (struct sdw_sched_totals){0};
}

struct sdw_unwind_statistics sdw_session_unwind_statistics(const struct sdw_session *session)
{
	return session->pipeline->unwinding;
}

void sdw_session_free(struct sdw_session *session)
{
	if (!session)
		return;
	sdw_events_free(session->events);
	sdw_launch_free(&session->launch);
	for (size_t i = 0; i < session->target_count; i++) {
		if (session->targets[i].pidfd >= 0)
			close(session->targets[i].pidfd);
	}
	free(session->targets);
	ring_buffer__free(session->rings);
	free(session->drains);
	sdw_queue_free(session->queue);
	sdw_sigpath_server_free(session->agent);
	sdw_pipeline_free(session->pipeline);
	sdw_sideband_close(session->sideband);
	sdw_sched_free(session->sched);
	sdw_programs_free(session->programs);
	if (session->signals >= 0)
		close(session->signals);
	if (session->epoll >= 0)
		close(session->epoll);
	if (session->masked)
		sigprocmask(SIG_SETMASK, &session->old_mask, NULL);
	free(session);
}
