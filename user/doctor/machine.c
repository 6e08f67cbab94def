// SPDX-License-Identifier: MIT
/* machine.c - gathers the facts of machine.h. */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/number_file.h"
#include "doctor/machine.h"

#define FIRST_PID_NAMESPACE "pid:[4026531836]" /* include/linux/proc_ns.h, PROC_PID_INIT_INO */
#define CLOCK_PERIOD	    1000000	       /* ns */

static int64_t number(int root, const char *path)
{
	int64_t value;

	return sdw_number_file_read(root, path, &value) ? -1 : value;
}

static bool exists(int root, const char *path)
{
	return faccessat(root, path, F_OK, 0) == 0;
}

/* Reads the beginning of a file as text; "" if it cannot be read. */
static void read_text(int root, const char *path, char *text, size_t size)
{
	ssize_t got = 0;
	int fd = openat(root, path, O_RDONLY | O_CLOEXEC);

	if (fd >= 0) {
		got = read(fd, text, size - 1);
		close(fd);
	}
	text[got > 0 ? got : 0] = '\0';
}

/* The number behind `key` at the start of a line; -1: there is none. */
static int64_t number_of(const char *text, const char *key)
{
	const char *line = text;

	while (line && *line) {
		if (!strncmp(line, key, strlen(key)))
			return strtoll(line + strlen(key), NULL, 10);
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	return -1;
}

static void read_namespace(int root, const char *path, char *text, size_t size)
{
	ssize_t got = readlinkat(root, path, text, size - 1);

	text[got > 0 ? got : 0] = '\0';
}

static void read_lockdown(int root, struct sdw_privilege_facts *facts)
{
	char text[128], *start, *end;

	read_text(root, "sys/kernel/security/lockdown", text, sizeof(text));
	start = strchr(text, '[');
	end = start ? strchr(start, ']') : NULL;
	facts->lockdown[0] = '\0';
	if (end)
		snprintf(facts->lockdown, sizeof(facts->lockdown), "%.*s", (int)(end - start - 1),
			 start + 1);
}

/* A session daemon that runs keeps its number in this file. */
static bool has_daemon(int root, const char *path)
{
	int64_t pid = number(root, path);
	char process[32];

	snprintf(process, sizeof(process), "proc/%lld", (long long)pid);
	return pid > 0 && exists(root, process);
}

static void read_daemons(int root, struct sdw_machine_facts *facts)
{
	const char *home = getenv("LTTNG_HOME") ?: getenv("HOME");
	char path[512];

	facts->lttng_root = has_daemon(root, "run/lttng/lttng-sessiond.pid");
	facts->lttng_own = false;
	if (home && *home == '/' && strlen(home) < sizeof(path) - 64) {
		snprintf(path, sizeof(path), "%s/.lttng/lttng-sessiond.pid", home + 1);
		facts->lttng_own = has_daemon(root, path);
	}
}

void sdw_machine_read(int root, struct sdw_machine_facts *facts)
{
	char text[8192], own[64], first[64];
	int64_t kilobytes;

	facts->privilege.perf_event_paranoid = number(root, "proc/sys/kernel/perf_event_paranoid");
	facts->privilege.unprivileged_bpf_disabled =
		number(root, "proc/sys/kernel/unprivileged_bpf_disabled");
	facts->privilege.has_btf = exists(root, "sys/kernel/btf/vmlinux");
	read_lockdown(root, &facts->privilege);
	facts->bpf_jit = number(root, "proc/sys/net/core/bpf_jit_enable");
	facts->max_sample_rate = number(root, "proc/sys/kernel/perf_event_max_sample_rate");
	facts->kptr_restrict = number(root, "proc/sys/kernel/kptr_restrict");
	facts->ptrace_scope = number(root, "proc/sys/kernel/yama/ptrace_scope");
	facts->perf_mlock_kb = number(root, "proc/sys/kernel/perf_event_mlock_kb");
	read_text(root, "proc/self/status", text, sizeof(text));
	facts->seccomp = number_of(text, "Seccomp:");
	read_text(root, "proc/meminfo", text, sizeof(text));
	kilobytes = number_of(text, "MemAvailable:");
	facts->memory_available = kilobytes > 0 ? (uint64_t)kilobytes << 10 : 0;
	read_namespace(root, "proc/self/ns/pid", own, sizeof(own));
	facts->in_pid_namespace = own[0] && strcmp(own, FIRST_PID_NAMESPACE) != 0;
	read_namespace(root, "proc/self/ns/mnt", own, sizeof(own));
	read_namespace(root, "proc/1/ns/mnt", first, sizeof(first));
	facts->mount_namespace = own[0] && first[0] ? strcmp(own, first) != 0 : -1;
	facts->has_tracefs = exists(root, "sys/kernel/tracing/events") ||
			     exists(root, "sys/kernel/debug/tracing/events");
	read_daemons(root, facts);
}

/* Opens an event on ourselves. Returns 0 or -errno. */
static int try_event(uint32_t type, uint64_t config, bool user_only)
{
	struct perf_event_attr attr = {
		.type = type,
		.size = sizeof(attr),
		.config = config,
		.sample_period = CLOCK_PERIOD,
		.disabled = 1,
		.exclude_kernel = user_only,
		.exclude_hv = user_only,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

void sdw_machine_gather(struct sdw_machine_facts *facts)
{
	struct sdw_config config = {.all = true};
	struct rlimit limit;
	struct utsname name;
	long processors = sysconf(_SC_NPROCESSORS_CONF);
	int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);

	*facts = (struct sdw_machine_facts){0};
	facts->processors = processors > 0 ? (unsigned int)processors : 1;
	if (uname(&name) == 0) {
		snprintf(facts->kernel, sizeof(facts->kernel), "%s", name.release);
		snprintf(facts->architecture, sizeof(facts->architecture), "%s", name.machine);
		if (sscanf(name.release, "%u.%u", &facts->major, &facts->minor) != 2)
			facts->major = facts->minor = 0;
	}
	facts->memlock = UINT64_MAX;
	if (getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
		facts->memlock = limit.rlim_cur;
	sdw_privilege_gather(&config, &facts->privilege);
	facts->clock_error = try_event(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, false);
	facts->user_error = try_event(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, true);
	facts->cycles_error = try_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, true);
	sdw_machine_read(root < 0 ? AT_FDCWD : root, facts);
	if (root >= 0)
		close(root);
}
