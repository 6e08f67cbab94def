// SPDX-License-Identifier: MIT
/*
 * signals.c - the program's own signals go on as without the agent.
 *
 * This library stands in front of the functions that change handlers and masks, and leaves alone
 * every call that does not name the agent's own signal. SIGTRAP is kept for both: what the program
 * asks for is remembered, told back, and done when a SIGTRAP comes that is no overflow; it is never
 * blocked, since before 5.19 the kernel kills a thread that overflows with it blocked. Any other
 * signal cannot be told from the program's own: where the program sets a handler for it, the agent
 * gives way, and the recorder says so.
 */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <poll.h>
#include <stdarg.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent.h"

static struct {
	int (*sigaction)(int, const struct sigaction *, struct sigaction *);
	int (*sigprocmask)(int, const sigset_t *, sigset_t *);
	int (*pthread_sigmask)(int, const sigset_t *, sigset_t *);
	int (*sigwait)(const sigset_t *, int *);
	int (*sigwaitinfo)(const sigset_t *, siginfo_t *);
	int (*sigtimedwait)(const sigset_t *, siginfo_t *, const struct timespec *);
	int (*sigsuspend)(const sigset_t *);
	int (*sigpending)(sigset_t *);
	int (*signalfd)(int, const sigset_t *, int);
	int (*pselect)(int, fd_set *, fd_set *, fd_set *, const struct timespec *,
		       const sigset_t *);
	int (*ppoll)(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *);
	int (*epoll_pwait)(int, struct epoll_event *, int, int, const sigset_t *);
	sighandler_t (*signal)(int, sighandler_t);
} real;

static struct sigaction wanted; /* by the program, for the agent's signal */

void sdw_agent_find_real(void)
{
	if (real.signal)
		return; /* the last of these */
#define FIND(name) real.name = (__typeof__(real.name))dlsym(RTLD_NEXT, #name)
	FIND(sigaction);
	FIND(sigprocmask);
	FIND(pthread_sigmask);
	FIND(sigwait);
	FIND(sigwaitinfo);
	FIND(sigtimedwait);
	FIND(sigsuspend);
	FIND(sigpending);
	FIND(signalfd);
	FIND(pselect);
	FIND(ppoll);
	FIND(epoll_pwait);
	FIND(signal);
#undef FIND
}

int sdw_agent_real_sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
	return real.sigaction(number, action, old);
}

/* Is the agent at work, in this process? A vfork's child has its parent's memory, not its signals.
 */
static bool is_at_work(void)
{
	sdw_agent_find_real();
	return sdw_agent.segment && getpid() == sdw_agent.pid;
}

static bool keeps_trap(void)
{
	return is_at_work() && !sdw_agent_thread.in_handler &&
	       sdw_agent.setup.delivery == SDW_SIGPATH_SIGTRAP;
}

/* ---- libunwind ---- */

static uintptr_t libunwind_start, libunwind_end;

static int find_libunwind(struct dl_phdr_info *object, size_t size, void *address)
{
	(void)size;
	for (int i = 0; i < object->dlpi_phnum; i++) {
		uintptr_t start = object->dlpi_addr + object->dlpi_phdr[i].p_vaddr;
		uintptr_t end = start + object->dlpi_phdr[i].p_memsz;

		if (object->dlpi_phdr[i].p_type != PT_LOAD || (uintptr_t)address < start ||
		    (uintptr_t)address >= end)
			continue;
		libunwind_start = start;
		libunwind_end = end;
		return 1;
	}
	return 0;
}

void sdw_agent_find_libunwind(void *function)
{
	(void)dl_iterate_phdr(find_libunwind, function);
}

/*
 * libunwind blocks all signals while it holds its lock. So it must be: a handler that came then and
 * unwinds would wait for the lock for ever.
 */
static bool is_libunwind(const void *caller)
{
	return (uintptr_t)caller >= libunwind_start && (uintptr_t)caller < libunwind_end;
}

/* ---- handlers ---- */

/* The program wants the signal for itself: it has it, and there are no more samples. */
static void give_way(int number)
{
	struct sigaction ignore = {.sa_handler = SIG_IGN};

	/* those under way are thrown away with it */
	(void)real.sigaction(number, &ignore, NULL);
	__atomic_store_n(&sdw_agent.segment->counters.conflict, (uint32_t)number, __ATOMIC_RELEASE);
	sdw_agent.segment = NULL;
	sdw_agent_stop_events();
	(void)real.sigaction(number, &ignore, NULL);
}

static bool is_function(const struct sigaction *action)
{
	return action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN;
}

SDW_AGENT_EXPORT int sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
	struct sigaction changed;

	if (!is_at_work())
		return real.sigaction(number, action, old);
	if (number == sdw_agent.setup.signal) {
		if (action && is_function(action) &&
		    sdw_agent.setup.delivery != SDW_SIGPATH_SIGTRAP) {
			give_way(number);
			if (old)
				*old = wanted;
			return real.sigaction(number, action, NULL);
		}
		changed = wanted;
		if (action)
			wanted = *action;
		if (old)
			*old = changed;
		return 0;
	}
	if (action && keeps_trap() && sigismember(&action->sa_mask, SIGTRAP) == 1) {
		changed = *action;
		sigdelset(&changed.sa_mask, SIGTRAP);
		return real.sigaction(number, &changed, old);
	}
	return real.sigaction(number, action, old);
}

SDW_AGENT_EXPORT sighandler_t signal(int number, sighandler_t handler)
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART}, old;

	if (!is_at_work() || number != sdw_agent.setup.signal)
		return real.signal(number, handler);
	return sigaction(number, &action, &old) ? SIG_ERR : old.sa_handler;
}

/* As the kernel would, had there been no agent. */
static void do_default(int number)
{
	struct sigaction action = {.sa_handler = SIG_DFL};
	sigset_t set;

	(void)real.sigaction(number, &action, NULL);
	(void)syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), number);
	sigemptyset(&set);
	sigaddset(&set, number);
	(void)real.sigprocmask(SIG_UNBLOCK, &set, NULL);
}

void sdw_agent_forward(int number, siginfo_t *info, void *context)
{
	struct sigaction action = wanted;

	if (sdw_agent_thread.blocks_trap) {
		sdw_agent_thread.trap_waits = true;
		return;
	}
	if (action.sa_handler == SIG_IGN)
		return;
	if (action.sa_handler == SIG_DFL) {
		do_default(number);
		return;
	}
	if (action.sa_flags & (int)SA_RESETHAND)
		wanted.sa_handler = SIG_DFL;
	if (action.sa_flags & SA_SIGINFO)
		action.sa_sigaction(number, info, context);
	else
		action.sa_handler(number);
}

/* ---- masks ---- */

typedef int (*mask_function)(int, const sigset_t *, sigset_t *);

/* The program's mask, in which SIGTRAP is as it thinks. */
static int change_mask(mask_function function, int how, const sigset_t *set, sigset_t *old)
{
	struct sdw_agent_thread *self = &sdw_agent_thread;
	bool blocked = self->blocks_trap, named = set && sigismember(set, SIGTRAP) == 1;
	sigset_t changed;
	int result;

	if (named) {
		changed = *set;
		sigdelset(&changed, SIGTRAP);
	}
	result = function(how, named ? &changed : set, old);
	if (result)
		return result;
	if (old && blocked)
		sigaddset(old, SIGTRAP);
	if (set && how == SIG_SETMASK)
		self->blocks_trap = named;
	else if (named)
		self->blocks_trap = how == SIG_BLOCK;
	if (self->trap_waits && !self->blocks_trap) {
		self->trap_waits = false;
		(void)syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), SIGTRAP);
	}
	return 0;
}

SDW_AGENT_EXPORT int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
	return keeps_trap() && !is_libunwind(__builtin_return_address(0))
		       ? change_mask(real.sigprocmask, how, set, old)
		       : real.sigprocmask(how, set, old);
}

SDW_AGENT_EXPORT int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
	return keeps_trap() && !is_libunwind(__builtin_return_address(0))
		       ? change_mask(real.pthread_sigmask, how, set, old)
		       : real.pthread_sigmask(how, set, old);
}

/*
 * The set without the agent's signal: as a mask it would hold overflows back while the program's
 * handlers run, as something to wait for it would bring them to the program.
 */
static const sigset_t *without_own(const sigset_t *set, sigset_t *changed, bool as_mask)
{
	int number;

	if (!set || !is_at_work())
		return set;
	number = sdw_agent.setup.signal;
	if (sigismember(set, number) != 1 || (as_mask && !keeps_trap()))
		return set;
	*changed = *set;
	sigdelset(changed, number);
	return changed;
}

SDW_AGENT_EXPORT int sigwait(const sigset_t *set, int *number)
{
	sigset_t changed;

	return real.sigwait(without_own(set, &changed, false), number);
}

SDW_AGENT_EXPORT int sigwaitinfo(const sigset_t *set, siginfo_t *info)
{
	sigset_t changed;

	return real.sigwaitinfo(without_own(set, &changed, false), info);
}

SDW_AGENT_EXPORT int sigtimedwait(const sigset_t *set, siginfo_t *info,
				  const struct timespec *timeout)
{
	sigset_t changed;

	return real.sigtimedwait(without_own(set, &changed, false), info, timeout);
}

SDW_AGENT_EXPORT int signalfd(int fd, const sigset_t *set, int flags)
{
	sigset_t changed;

	return real.signalfd(fd, without_own(set, &changed, false), flags);
}

SDW_AGENT_EXPORT int sigpending(sigset_t *set)
{
	int result;

	if (!is_at_work())
		return real.sigpending(set);
	result = real.sigpending(set);
	if (!result) {
		sigdelset(set, sdw_agent.setup.signal);
		if (sdw_agent_thread.trap_waits)
			sigaddset(set, SIGTRAP);
	}
	return result;
}

SDW_AGENT_EXPORT int sigsuspend(const sigset_t *set)
{
	sigset_t changed;

	return real.sigsuspend(without_own(set, &changed, true));
}

SDW_AGENT_EXPORT int pselect(int count, fd_set *readable, fd_set *writable, fd_set *exceptional,
			     const struct timespec *timeout, const sigset_t *mask)
{
	sigset_t changed;

	return real.pselect(count, readable, writable, exceptional, timeout,
			    without_own(mask, &changed, true));
}

SDW_AGENT_EXPORT int ppoll(struct pollfd *items, nfds_t count, const struct timespec *timeout,
			   const sigset_t *mask)
{
	sigset_t changed;

	return real.ppoll(items, count, timeout, without_own(mask, &changed, true));
}

SDW_AGENT_EXPORT int epoll_pwait(int fd, struct epoll_event *events, int count, int timeout,
				 const sigset_t *mask)
{
	sigset_t changed;

	return real.epoll_pwait(fd, events, count, timeout, without_own(mask, &changed, true));
}
