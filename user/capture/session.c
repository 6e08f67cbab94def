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
#include "target/cgroup.h"

#define TICK_MS	    50	       /* between drains: half of the smallest ring at 10 kHz with stacks */
#define LAG_NS	    2000000u   /* a record is in its ring this long after its time */
#define FLUSH_NS    900000000u /* at least once a second */
#define PROGRESS_NS 250000000u
#define LOOK_NS	    1000000000u /* for processes of a group before the recording begins */

enum wait_tag { TAG_RINGS, TAG_SIDEBAND, TAG_SIGNAL, TAG_COMMAND, TAG_TARGET, TAG_WATCH };

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
	err = sdw_queue_create(processors + 1 + sdw_sideband_count(session->sideband),
			       &session->queue);
	if (err)
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

/* Makes a process known on both sides before it is sampled. */
static int add_known(struct sdw_session *session, uint32_t pid, bool look)
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
	return err ?: add_known(session, target->pid, true);
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
			err = add_known(session, (uint32_t)processes.items[i], true);
		if (err == -ESRCH)
			err = 0;
	}
	sdw_pid_list_free(&given);
	sdw_pid_list_free(&processes);
	return err;
}

/* One process of a group. Those that are not looked at now are met at their first overflow. */
static int add_member(void *context, uint32_t pid)
{
	struct sdw_session *session = context;
	int err;

	if (!pid || pid == (uint32_t)getpid())
		return 0;
	if (sdw_session_now() - session->looking_ns > LOOK_NS)
		return -ETIME;
	err = add_known(session, pid, true);
	return err == -ENOMEM ? err : 0;
}

/* So that what runs already has its Python frames from the first sample on. */
static int add_members(struct sdw_session *session, const struct sdw_cgroup_targets *groups)
{
	int err = 0;

	session->looking_ns = sdw_session_now();
	for (size_t i = 0; i < groups->count && !err; i++)
		err = sdw_cgroup_each_process(groups->items[i].directory, add_member, session);
	session->groups_lived = !sdw_cgroup_targets_are_empty(groups);
	return err == -ENOMEM ? err : 0;
}

static int open_targets(struct sdw_session *session)
{
	const struct sdw_config *config = session->config;
	int err = 0;

	if (config->command) {
		err = sdw_launch_start_apart(&session->launch, config->command, &session->old_mask,
					     config->command_output ? config->command_output : -1);
		if (!err)
			(void)prlimit(session->launch.pid, RLIMIT_NOFILE, &session->file_limit,
				      NULL);
		err = err ?: add_wait(session, session->launch.pidfd, TAG_COMMAND, 0);
		return err ?: add_known(session, (uint32_t)session->launch.pid, false);
	}
	if (config->groups)
		return add_members(session, config->groups);
