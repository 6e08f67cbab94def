// SPDX-License-Identifier: MIT
/*
 * main.c - the life of the agent: a program starts, forks, makes threads.
 *
 * Without a recorder's socket in the environment, or with one that is gone, it does nothing.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define UNW_LOCAL_ONLY
#include <libunwind.h>

#include "agent.h"

struct sdw_agent sdw_agent;

extern void *__libc_stack_end;			/* of ld.so: where the main thread's stack began */
void sdw_agent_configure(uint32_t stack_bytes); /* config.c */

static pthread_key_t thread_key;
static bool has_thread_key;
static int (*real_pthread_create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

/* The main thread and those that this library saw begin. */
static void begin_thread(void)
{
	if (!sdw_agent.segment)
		return;
	sdw_agent_lttng_begin_thread();
	sdw_agent_event_open();
	if (has_thread_key)
		(void)pthread_setspecific(thread_key, &sdw_agent);
}

static void end_thread(void *unused)
{
	(void)unused;
	sdw_agent_lttng_end_thread();
	sdw_agent_event_close();
}

static void before_fork(void)
{
	sdw_agent_lttng_before_fork();
}

static void after_fork_parent(void)
{
	sdw_agent_lttng_after_fork(false);
}

/* In the child of fork(): its parent's segment, events and buffers are not its own. */
static void after_fork(void)
{
	pid_t parent = sdw_agent.pid;

	sdw_agent_lttng_after_fork(true);
	if (!sdw_agent.segment)
		return;
	sdw_agent_thread.page = NULL; /* not mapped here */
	if (sdw_agent_thread.event >= 0)
		close(sdw_agent_thread.event);
	sdw_agent_thread.event = -1;
	munmap(sdw_agent.segment, sdw_agent.setup.segment_bytes);
	sdw_agent.segment = NULL;
	sdw_agent.pid = getpid();
	sdw_agent.full_ns = 0;
	sdw_agent_scratch_reset();
	sdw_agent_objects_after_fork();
	if (sdw_agent_connect(SDW_SIGPATH_FORKED, parent))
		begin_thread();
}

__attribute__((constructor)) static void start_agent(void)
{
	const char *name = getenv(SDW_SIGPATH_ENVIRONMENT);

	sdw_agent_find_real();
	sdw_agent_find_exec();
	sdw_agent_find_close();
	real_pthread_create = (__typeof__(real_pthread_create))dlsym(RTLD_NEXT, "pthread_create");
	if (!name || !*name || strlen(name) >= sizeof(sdw_agent.socket))
		return;
	memcpy(sdw_agent.socket, name, strlen(name) + 1);
	sdw_agent.pid = getpid();
	sdw_agent.page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	sdw_agent.stack_end = (uint64_t)__libc_stack_end;
	if (sdw_agent_tables_create() || !sdw_agent_connect(SDW_SIGPATH_STARTED, 0))
		return;
	sdw_agent_configure(sdw_agent.setup.stack_bytes);
	if (sdw_agent.setup.unwind == SDW_SIGPATH_UNWIND_ONLINE) {
		if (sdw_agent_objects_create()) {
			sdw_agent.segment = NULL;
			return;
		}
		unw_set_caching_policy(unw_local_addr_space, UNW_CACHE_PER_THREAD);
		sdw_agent_find_libunwind((void *)(uintptr_t)unw_step);
	}
	/* made before liblttng-ust's: it ends before that, in the order of their destructors */
	has_thread_key = !pthread_key_create(&thread_key, end_thread);
	sdw_agent_lttng_load();
	if (!sdw_agent_handler_install() ||
	    pthread_atfork(before_fork, after_fork_parent, after_fork)) {
		sdw_agent.segment = NULL;
		return;
	}
	begin_thread();
}

struct beginning {
	void *(*routine)(void *);
	void *argument;
};

static void *run_thread(void *memory)
{
	struct beginning beginning = *(struct beginning *)memory;

	free(memory);
	begin_thread();
	return beginning.routine(beginning.argument); /* a jump: it leaves no frame */
}

SDW_AGENT_EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
				    void *(*routine)(void *), void *argument)
{
	struct beginning *beginning;
	int err;

	if (!real_pthread_create)
		real_pthread_create =
			(__typeof__(real_pthread_create))dlsym(RTLD_NEXT, "pthread_create");
	beginning = sdw_agent.segment && !sdw_agent_lttng_makes_thread()
			    ? malloc(sizeof(*beginning))
			    : NULL;
	if (!beginning)
		return real_pthread_create(thread, attributes, routine, argument);
	*beginning = (struct beginning){routine, argument};
	err = real_pthread_create(thread, attributes, run_thread, beginning);
	if (err)
		free(beginning);
	return err;
}
