// SPDX-License-Identifier: MIT
/*
 * exec.c - no overflow may be under way when the program becomes another one.
 *
 * Its signal would find the default handler in the new program, and kill it. So the calling thread
 * stops its own event first (PR_TASK_PERF_EVENTS_DISABLE: those that it opened itself); what was
 * under way comes before that call returns. The other threads end with an exec. A child of vfork()
 * has no event.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent.h"

extern char **environ;

static bool has_event(void)
{
	return sdw_agent.segment &&
	       sdw_agent_thread.tid == (pid_t)sdw_agent_syscall(SYS_gettid, 0, 0, 0, 0, 0, 0);
}

static void stop(void)
{
	if (has_event())
		sdw_agent_syscall(SYS_prctl, PR_TASK_PERF_EVENTS_DISABLE, 0, 0, 0, 0, 0);
}

/* The exec failed: the program goes on. */
static int go_on(int result)
{
	if (has_event())
		sdw_agent_syscall(SYS_prctl, PR_TASK_PERF_EVENTS_ENABLE, 0, 0, 0, 0, 0);
	return result;
}

static struct {
	int (*execvpe)(const char *, char *const *, char *const *);
	int (*execvp)(const char *, char *const *);
	int (*fexecve)(int, char *const *, char *const *);
} real;

/* Before a fork, after which no lock of the dynamic linker may be taken. */
void sdw_agent_find_exec(void)
{
	real.execvpe = (__typeof__(real.execvpe))dlsym(RTLD_NEXT, "execvpe");
	real.execvp = (__typeof__(real.execvp))dlsym(RTLD_NEXT, "execvp");
	real.fexecve = (__typeof__(real.fexecve))dlsym(RTLD_NEXT, "fexecve");
}

SDW_AGENT_EXPORT int execve(const char *path, char *const *arguments, char *const *environment)
{
	stop();
	errno = -(int)sdw_agent_syscall(SYS_execve, (long)path, (long)arguments, (long)environment,
					0, 0, 0);
	return go_on(-1);
}

SDW_AGENT_EXPORT int execv(const char *path, char *const *arguments)
{
	return execve(path, arguments, environ);
}

SDW_AGENT_EXPORT int execvpe(const char *file, char *const *arguments, char *const *environment)
{
	stop();
	return go_on(real.execvpe(file, arguments, environment));
}

SDW_AGENT_EXPORT int execvp(const char *file, char *const *arguments)
{
	stop();
	return go_on(real.execvp(file, arguments));
}

SDW_AGENT_EXPORT int fexecve(int fd, char *const *arguments, char *const *environment)
{
	stop();
	return go_on(real.fexecve(fd, arguments, environment));
}

SDW_AGENT_EXPORT int execveat(int directory, const char *path, char *const *arguments,
			      char *const *environment, int flags)
{
	stop();
	errno = -(int)sdw_agent_syscall(SYS_execveat, directory, (long)path, (long)arguments,
					(long)environment, flags, 0);
	return go_on(-1);
}

/* Number of arguments up to the ending NULL, which is counted, too. */
static size_t count_arguments(va_list list)
{
	size_t count = 2;

	while (va_arg(list, const char *))
		count++;
	return count;
}

static void collect_arguments(const char *first, va_list list, size_t count, const char **array)
{
	array[0] = first;
	for (size_t i = 1; i < count; i++)
		array[i] = va_arg(list, const char *);
}

/* The variants with a list: the list becomes an array, on the stack as the C library has it. */
#define WITH_LIST(first, call)                                                 \
	do {                                                                   \
		va_list list;                                                  \
		size_t count;                                                  \
                                                                               \
		va_start(list, first);                                         \
		count = count_arguments(list);                                 \
		va_end(list);                                                  \
		{                                                              \
			const char *array[count];                              \
			char *const *arguments = (char *const *)(void *)array; \
                                                                               \
			va_start(list, first);                                 \
			collect_arguments(first, list, count, array);          \
			call;                                                  \
			va_end(list);                                          \
		}                                                              \
	} while (0)

SDW_AGENT_EXPORT int execl(const char *path, const char *first, ...)
{
	int result;

	WITH_LIST(first, result = execv(path, arguments));
	return result;
}

SDW_AGENT_EXPORT int execlp(const char *file, const char *first, ...)
{
	int result;

	WITH_LIST(first, result = execvp(file, arguments));
	return result;
}

SDW_AGENT_EXPORT int execle(const char *path, const char *first, ...)
{
	int result;

	WITH_LIST(first, result = execve(path, arguments, va_arg(list, char *const *)));
	return result;
}
