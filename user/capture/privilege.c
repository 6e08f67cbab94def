// SPDX-License-Identifier: MIT
/* privilege.c - gathers what the kernel allows, and names what is missing and the way to it. */
#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/log.h"
#include "base/number_file.h"
#include "capture/privilege.h"
#include "target/maps.h"

/* Not in the headers of older distributions */
#ifndef CAP_PERFMON
#define CAP_PERFMON 38
#endif
#ifndef CAP_BPF
#define CAP_BPF 39
#endif

#define SYSCTL_BPF	"/proc/sys/kernel/unprivileged_bpf_disabled"
#define SYSCTL_PARANOID "/proc/sys/kernel/perf_event_paranoid"
#define KERNEL_BTF	"/sys/kernel/btf/vmlinux"
#define LOCKDOWN	"/sys/kernel/security/lockdown"

static uint64_t read_capabilities(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2] = {0};

	if (syscall(SYS_capget, &header, data) < 0)
		return 0;
	return data[0].effective | (uint64_t)data[1].effective << 32;
}

/* Loads "return 0", as the kernel alone knows all that may forbid it: seccomp, lockdown, LSMs. */
static int try_bpf(void)
{
	const struct bpf_insn program[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	int fd;

	fd = bpf_prog_load(BPF_PROG_TYPE_PERF_EVENT, "sdw_trial", "GPL", program,
			   sizeof(program) / sizeof(program[0]), NULL);
	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

/* The file lists all levels, the one in force in brackets. */
static void read_lockdown(char *level, size_t size)
{
	char text[128], *start, *end;
	ssize_t got;
	int fd;

	*level = '\0';
	fd = open(LOCKDOWN, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	got = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (got <= 0)
		return;
	text[got] = '\0';
	start = strchr(text, '[');
	end = start ? strchr(start, ']') : NULL;
	if (end)
		snprintf(level, size, "%.*s", (int)(end - start - 1), start + 1);
}

/* The first user namespace maps every id: one line "0 0 4294967295". */
static bool in_user_namespace(void)
{
	unsigned long inside, outside, number;
	FILE *map = fopen("/proc/self/uid_map", "re");
	bool first;

	if (!map)
		return false;
	first = fscanf(map, "%lu %lu %lu", &inside, &outside, &number) == 3 && !inside &&
		!outside && number == UINT32_MAX;
	fclose(map);
	return !first;
}

static bool kernel_is_at_least(unsigned int major, unsigned int minor)
{
	unsigned int have_major, have_minor;
	struct utsname name;

	if (uname(&name) < 0 || sscanf(name.release, "%u.%u", &have_major, &have_minor) != 2)
		return true;
	return have_major > major || (have_major == major && have_minor >= minor);
}

/*
 * Asks the kernel, which weighs users, capabilities and the security modules: address 0 is mapped
 * nowhere, so what may be read says EFAULT. A process that is gone is found out elsewhere.
 */
static bool reads_others(const struct sdw_config *config)
{
	uint8_t byte;

	for (size_t i = 0; i < config->pid_count; i++) {
		if (sdw_remote_read((uint32_t)config->pids[i], 0, &byte, 1) == -EPERM)
			return true;
	}
	return config->all || config->cgroup_count || config->container_count;
}

void sdw_privilege_gather(const struct sdw_config *config, struct sdw_privilege_facts *facts)
{
	*facts = (struct sdw_privilege_facts){
		.capabilities = read_capabilities(),
		.is_root = geteuid() == 0,
		.in_user_namespace = in_user_namespace(),
		.has_fine_capabilities = kernel_is_at_least(5, 8),
		.reads_others = reads_others(config),
		.has_btf = config->btf_path || access(KERNEL_BTF, R_OK) == 0,
		.bpf_error = try_bpf(),
		.unprivileged_bpf_disabled = -1,
		.perf_event_paranoid = -1,
	};
	sdw_number_file_read(AT_FDCWD, SYSCTL_BPF, &facts->unprivileged_bpf_disabled);
	sdw_number_file_read(AT_FDCWD, SYSCTL_PARANOID, &facts->perf_event_paranoid);
	read_lockdown(facts->lockdown, sizeof(facts->lockdown));
}

static bool has_capability(const struct sdw_privilege_facts *facts, int capability)
{
	return facts->capabilities >> capability & 1;
}

/* Puts the names of the missing capabilities into `names`, separated by ", ". Returns how many. */
static int list_missing(const struct sdw_privilege_facts *facts, char *names, size_t size)
{
	bool admin = has_capability(facts, CAP_SYS_ADMIN);
	const struct {
		bool missing;
		const char *name;
	} wanted[] = {
		{!admin && !facts->has_fine_capabilities, "CAP_SYS_ADMIN"},
		{!admin && facts->has_fine_capabilities && !has_capability(facts, CAP_BPF),
		 "CAP_BPF"},
		{!admin && facts->has_fine_capabilities && !has_capability(facts, CAP_PERFMON),
		 "CAP_PERFMON"},
		{facts->reads_others && !has_capability(facts, CAP_SYS_PTRACE), "CAP_SYS_PTRACE"},
	};
	size_t i, used = 0;
	int count = 0;

	names[0] = '\0';
	for (i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		if (!wanted[i].missing || used >= size)
			continue;
		used += (size_t)snprintf(names + used, size - used, "%s%s", count ? ", " : "",
					 wanted[i].name);
		count++;
	}
	return count;
}

static void explain_missing(const struct sdw_privilege_facts *facts, const char *names, int count,
			    char *message, size_t size)
{
	char sysctls[128] = "";

	/* they only matter to those who lack a capability that they stand for */
	if (strcmp(names, "CAP_SYS_PTRACE") != 0 &&
	    (facts->unprivileged_bpf_disabled > 0 || facts->perf_event_paranoid > 1))
		snprintf(
			sysctls, sizeof(sysctls),
			" (kernel.unprivileged_bpf_disabled is %lld, kernel.perf_event_paranoid is %lld)",
			(long long)facts->unprivileged_bpf_disabled,
			(long long)facts->perf_event_paranoid);
	snprintf(message, size, "not permitted: %s %s missing%s; %s", names,
		 count > 1 ? "are" : "is", sysctls,
		 facts->is_root ? "in a container, start it with: docker run --cap-add=BPF "
				  "--cap-add=PERFMON --cap-add=SYS_PTRACE"
				: "run it as root: sudo sidewinder record ...");
}

bool sdw_privilege_judge(const struct sdw_privilege_facts *facts, char *message, size_t size)
{
	bool denied = facts->bpf_error == -EPERM || facts->bpf_error == -EACCES;
	char names[96];
	int missing;

	if (facts->bpf_error == -ENOSYS) {
		snprintf(message, size, "the kernel has no BPF (CONFIG_BPF_SYSCALL)");
		return false;
	}
	missing = list_missing(facts, names, sizeof(names));
	if (missing) {
		explain_missing(facts, names, missing, message, size);
		return false;
	}
	if (denied && !strcmp(facts->lockdown, "confidentiality"))
		snprintf(message, size,
			 "the kernel is locked down (confidentiality) and lets nobody load BPF "
			 "programs: start it with lockdown=integrity or without Secure Boot");
	else if (denied && facts->in_user_namespace)
		snprintf(message, size,
			 "BPF programs may not be loaded from a user namespace, whatever its "
			 "capabilities: run sidewinder outside of it");
	else if (denied)
		snprintf(
			message, size,
			"loading BPF programs is forbidden here although the capabilities are there: "
			"a seccomp filter or a security module denies bpf(); of a container: "
			"--security-opt=seccomp=unconfined");
	else if (facts->bpf_error)
		snprintf(message, size, "cannot load BPF programs: %s",
			 strerror(-facts->bpf_error));
	else if (!facts->has_btf)
		snprintf(
			message, size,
			"kernel without BTF: build it with CONFIG_DEBUG_INFO_BTF, or give its BTF with "
			"--btf FILE");
	else
		return true;
	return false;
}

int sdw_privilege_check(const struct sdw_config *config)
{
	struct sdw_privilege_facts facts;
	char message[512];

	if (config->btf_path && access(config->btf_path, R_OK) < 0) {
		int err = -errno;

		sdw_error("--btf %s: %s", config->btf_path, strerror(-err));
		return err;
	}
	sdw_privilege_gather(config, &facts);
	if (sdw_privilege_judge(&facts, message, sizeof(message)))
		return 0;
	sdw_error("%s", message);
	return facts.bpf_error ? facts.bpf_error : -EPERM;
}
