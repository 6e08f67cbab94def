// SPDX-License-Identifier: MIT
/* handler.c - the signal handler: is it an overflow, of which thread, and back again. */
#include <errno.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>

#include "agent.h"

#define TRAP_PERF_CODE 6 /* TRAP_PERF; uapi/asm-generic/siginfo.h, 5.13 */
#define SI_SIGIO_CODE  (-5)
#define TRAP_ASYNC     1u /* TRAP_PERF_FLAG_ASYNC: it was blocked when it came; 5.19 */
#define TRAP_FLAGS_AT  36 /* of si_perf_flags in siginfo_t, behind si_perf_data and si_perf_type */

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static bool is_overflow(const siginfo_t *info)
{
	if (sdw_agent.setup.delivery == SDW_SIGPATH_SIGTRAP)
		return info->si_code == TRAP_PERF_CODE;
	return info->si_code == SI_SIGIO_CODE || info->si_code > 0;
}

static bool was_blocked(const siginfo_t *info)
{
	uint32_t flags;

	if (sdw_agent.setup.delivery != SDW_SIGPATH_SIGTRAP)
		return false;
	__builtin_memcpy(&flags, (const uint8_t *)info + TRAP_FLAGS_AT, sizeof(flags));
	return flags & TRAP_ASYNC;
}

static void on_signal(int number, siginfo_t *info, void *context)
{
	uint64_t entry_ns = now_ns();
	struct sdw_agent_thread *self = &sdw_agent_thread;
	struct sdw_agent_overflows overflows;
	int saved = errno;

	if (!is_overflow(info)) {
		sdw_agent_forward(number, info, context);
		errno = saved;
		return;
	}
	/* another tid: the child of a vfork, or a clone, that has no event of its own */
	if (sdw_agent.segment &&
	    self->tid == (pid_t)sdw_agent_syscall(SYS_gettid, 0, 0, 0, 0, 0, 0)) {
		self->in_handler = true;
		sdw_agent_event_read(&overflows);
		if (overflows.count)
			sdw_agent_sample(context, entry_ns, was_blocked(info), &overflows);
		else
			sdw_agent_count(&sdw_agent.segment->counters.empty, 1);
		self->in_handler = false;
		if (self->event >= 0)
			sdw_agent_syscall(SYS_ioctl, self->event, PERF_EVENT_IOC_REFRESH, 1, 0, 0,
					  0);
	}
	errno = saved;
}

bool sdw_agent_handler_install(void)
{
	struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART};

	sigfillset(&action.sa_mask); /* nothing else runs between reservation and commit */
	return !sdw_agent_real_sigaction(sdw_agent.setup.signal, &action, NULL);
}

void sdw_agent_handler_remove(void)
{
	struct sigaction action = {.sa_handler = SIG_IGN};

	/* overflows may still be under way: ignored, not deadly */
	(void)sdw_agent_real_sigaction(sdw_agent.setup.signal, &action, NULL);
}
