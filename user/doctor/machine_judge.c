// SPDX-License-Identifier: MIT
/* machine_judge.c - what the facts of machine.h mean. Each function adds the findings of one thing.
 */
#include <errno.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>

#include "doctor/machine.h"

/* Not in the headers of older distributions */
#ifndef CAP_PERFMON
#define CAP_PERFMON 38
#endif
#ifndef CAP_BPF
#define CAP_BPF 39
#endif

#define RING_BYTES (8u << 20) /* of one processor, by default */
#define MIB	   (1u << 20)
#define AS_ROOT	   "sudo sidewinder doctor"

static bool is_kernel_known(const struct sdw_machine_facts *facts)
{
	return facts->major > 5 || (facts->major == 5 && facts->minor >= 10);
}

static bool has(const struct sdw_machine_facts *facts, int capability)
{
	return facts->privilege.capabilities & 1ull << capability;
}

static void judge_kernel(const struct sdw_machine_facts *facts, struct sdw_findings *findings)
{
	bool known = is_kernel_known(facts), x86 = !strcmp(facts->architecture, "x86_64");

	sdw_findings_add(findings, "kernel", known && x86 ? SDW_LEVEL_OK : SDW_LEVEL_FAULT, NULL,
			 "Linux %s on %s%s", facts->kernel, facts->architecture,
			 !known ? ": sidewinder needs 5.10 or later"
			 : !x86 ? ": sidewinder runs on x86_64"
				: "");
	if (facts->privilege.has_btf)
		sdw_findings_add(findings, "btf", SDW_LEVEL_OK, NULL,
				 "the kernel has its types (BTF) in /sys/kernel/btf/vmlinux");
	else
		sdw_findings_add(
			findings, "btf", SDW_LEVEL_FAULT, "sidewinder record --btf FILE ...",
			"kernel without BTF (CONFIG_DEBUG_INFO_BTF): BPF programs cannot be "
			"fitted to it");
}

static void judge_capabilities(const struct sdw_machine_facts *facts, struct sdw_findings *findings)
{
	const struct sdw_privilege_facts *privilege = &facts->privilege;
	bool all = has(facts, CAP_SYS_ADMIN);
	const struct {
		bool there;
		const char *name;
	} wanted[] = {
		{all || has(facts, CAP_BPF), " CAP_BPF"},
		{all || has(facts, CAP_PERFMON), " CAP_PERFMON"},
		{has(facts, CAP_SYS_PTRACE), " CAP_SYS_PTRACE"},
	};
	char missing[64] = "";
	size_t used = 0;

	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		if (!wanted[i].there)
			used += (size_t)snprintf(missing + used, sizeof(missing) - used, "%s",
						 wanted[i].name);
	if (!used)
		sdw_findings_add(findings, "capabilities", SDW_LEVEL_OK, NULL,
				 "BPF, perf events, and memory of all processes");
	else
		sdw_findings_add(findings, "capabilities", SDW_LEVEL_FAULT,
				 privilege->is_root ? "docker run --cap-add=BPF --cap-add=PERFMON "
						      "--cap-add=SYS_PTRACE ..."
						    : AS_ROOT,
				 "missing:%s", missing);
	if (privilege->in_user_namespace)
		sdw_findings_add(findings, "user_namespace", SDW_LEVEL_FAULT, NULL,
				 "in a user namespace: its capabilities are not those of the "
				 "machine; run sidewinder outside of it");
	else
		sdw_findings_add(findings, "user_namespace", SDW_LEVEL_OK, NULL,
				 "the machine's own");
}

static void judge_bpf(const struct sdw_machine_facts *facts, struct sdw_findings *findings)
{
	char message[512];

	if (sdw_privilege_judge(&facts->privilege, message, sizeof(message)))
		sdw_findings_add(
			findings, "bpf", SDW_LEVEL_OK, NULL,
			"a program was loaded (kernel.unprivileged_bpf_disabled is %" PRId64 ")",
			facts->privilege.unprivileged_bpf_disabled);
	else
		sdw_findings_add(findings, "bpf", SDW_LEVEL_FAULT,
				 facts->privilege.is_root ? NULL : AS_ROOT, "%s", message);
	if (facts->bpf_jit == 0)
		sdw_findings_add(
			findings, "bpf_jit", SDW_LEVEL_WARNING,
			"sudo sysctl net.core.bpf_jit_enable=1",
			"off: BPF programs are interpreted, a sample costs many times more");
	else
		sdw_findings_add(findings, "bpf_jit", SDW_LEVEL_OK, NULL,
				 facts->bpf_jit < 0 ? "not told here" : "on");
}

static void judge_lockdown(const struct sdw_machine_facts *facts, struct sdw_findings *findings)
{
	const char *level = facts->privilege.lockdown;
	bool denied = facts->privilege.bpf_error == -EPERM || facts->privilege.bpf_error == -EACCES;

	if (!strcmp(level, "confidentiality"))
		sdw_findings_add(findings, "lockdown", SDW_LEVEL_FAULT, NULL,
				 "confidentiality: nobody may read memory by BPF; start the kernel "
				 "with lockdown=integrity");
	else
		sdw_findings_add(findings, "lockdown", SDW_LEVEL_OK, NULL, "%s",
				 *level ? level : "none (the kernel has no lockdown)");
	if (facts->seccomp > 0)
		sdw_findings_add(findings, "seccomp",
				 denied || facts->clock_error ? SDW_LEVEL_WARNING : SDW_LEVEL_NOTE,
				 denied || facts->clock_error
					 ? "docker run --security-opt seccomp=unconfined ..."
					 : NULL,
				 "a filter is on this process%s",
				 denied || facts->clock_error
					 ? ": it may be what denies bpf() or perf_event_open()"
					 : ", and lets pass what is needed");
	else
		sdw_findings_add(findings, "seccomp", SDW_LEVEL_OK, NULL, "no filter");
}

static const char *meaning_of_paranoid(int64_t paranoid)
{
	if (paranoid < 0)
		return "everybody may use all perf events";
	if (paranoid == 0)
		return "everybody may count processors and kernel";
	if (paranoid == 1)
		return "everybody may count their own processes, kernel included";
	if (paranoid == 2)
		return "everybody may count their own processes in user mode";
	return "Debian's and Ubuntu's own: perf events for CAP_SYS_ADMIN alone";
}

static void judge_perf(const struct sdw_machine_facts *facts, struct sdw_findings *findings)
{
	int64_t paranoid = facts->privilege.perf_event_paranoid;
	bool denied = facts->user_error == -EACCES || facts->user_error == -EPERM;
	enum sdw_level level =
		facts->clock_error || facts->user_error ? SDW_LEVEL_FAULT : SDW_LEVEL_OK;

	sdw_findings_add(findings, "perf_event_paranoid",
			 paranoid > 2 ? (denied ? SDW_LEVEL_FAULT : SDW_LEVEL_NOTE) : SDW_LEVEL_OK,
			 paranoid > 2 ? "sudo sysctl kernel.perf_event_paranoid=2" : NULL,
			 "kernel.perf_event_paranoid is %" PRId64 ": %s", paranoid,
			 meaning_of_paranoid(paranoid));
	if (level == SDW_LEVEL_OK)
		sdw_findings_add(findings, "perf_events", level, NULL,
				 "clocks can be opened (at most %" PRId64 " samples a second)",
				 facts->max_sample_rate);
	else if (!facts->user_error)
		sdw_findings_add(findings, "perf_events", level, AS_ROOT,
				 "user mode of own threads only: %s",
				 strerror(-facts->clock_error));
	else
		sdw_findings_add(findings, "perf_events", level,
				 paranoid > 2 ? "sudo sysctl kernel.perf_event_paranoid=2"
					      : AS_ROOT,
				 "cannot be opened: %s", strerror(-facts->user_error));
	if (!facts->cycles_error)
		sdw_findings_add(findings, "hardware_counter", SDW_LEVEL_OK, NULL,
				 "cycles can be counted");
	else if (facts->cycles_error == -EACCES || facts->cycles_error == -EPERM)
		sdw_findings_add(findings, "hardware_counter", SDW_LEVEL_NOTE, NULL,
				 "not known: perf events are not permitted");
	else
		sdw_findings_add(findings, "hardware_counter", SDW_LEVEL_NOTE, NULL,
				 "none (usual in virtual machines): cpu-clock is counted instead");
}

static void judge_memory(const struct sdw_machine_facts *facts, struct sdw_findings *findings)
{
	uint64_t rings = (uint64_t)facts->processors * RING_BYTES;
	bool old = facts->major == 5 && facts->minor < 11; /* later: by control group */
	char fix[64];

	if (facts->memory_available && rings > facts->memory_available / 4)
		sdw_findings_add(findings, "rings", SDW_LEVEL_WARNING,
				 "sidewinder record --ring-bytes 1M ...",
				 "%" PRIu64 " MiB for %u processors, of %" PRIu64 " MiB available",
				 rings / MIB, facts->processors, facts->memory_available / MIB);
	else
		sdw_findings_add(findings, "rings", SDW_LEVEL_OK, NULL,
				 "%" PRIu64 " MiB for %u processors", rings / MIB,
				 facts->processors);
	snprintf(fix, sizeof(fix), "ulimit -l %" PRIu64, 2 * rings / 1024);
	if (old && facts->memlock != UINT64_MAX && facts->memlock < 2 * rings &&
	    !facts->privilege.is_root)
		sdw_findings_add(findings, "memlock", SDW_LEVEL_WARNING, fix,
				 "the limit is %" PRIu64 " KiB, and this kernel counts BPF maps",
				 facts->memlock / 1024);
	else
		sdw_findings_add(findings, "memlock", SDW_LEVEL_OK, NULL,
				 "the limit does not matter here (perf_event_mlock_kb is %" PRId64
				 ")",
				 facts->perf_mlock_kb);
}

static void judge_namespaces(const struct sdw_machine_facts *facts, struct sdw_findings *findings)
{
	if (facts->in_pid_namespace)
		sdw_findings_add(findings, "pid_namespace", SDW_LEVEL_NOTE, NULL,
				 "its own: only processes in it can be seen (docker run --pid=host "
				 "shows all)");
	else
		sdw_findings_add(findings, "pid_namespace", SDW_LEVEL_OK, NULL,
				 "the machine's own");
	if (facts->mount_namespace > 0)
		sdw_findings_add(findings, "mount_namespace", SDW_LEVEL_NOTE, NULL,
				 "another than that of process 1: files of targets are read by "
				 "/proc/PID/root");
	else
		sdw_findings_add(findings, "mount_namespace", SDW_LEVEL_OK, NULL,
				 facts->mount_namespace ? "not told to this user"
							: "that of process 1");
}

/* What shows the names of kernel functions; kernel/ksyms_common.c: kallsyms_show_value(). */
static const char *show_kernel_names(const struct sdw_machine_facts *facts)
{
	if (facts->kptr_restrict > 1)
		return "sudo sysctl kernel.kptr_restrict=0";
	return facts->privilege.is_root ? "docker run --cap-add=SYSLOG ..." : AS_ROOT;
}

static void judge_rest(const struct sdw_machine_facts *facts, struct sdw_findings *findings)
{
	/* as above */
	bool names = (facts->kptr_restrict <= 1 && has(facts, CAP_SYSLOG)) ||
		     (facts->kptr_restrict == 0 && facts->privilege.perf_event_paranoid <= 1);

	sdw_findings_add(findings, "tracefs", facts->has_tracefs ? SDW_LEVEL_OK : SDW_LEVEL_NOTE,
			 facts->has_tracefs ? NULL
					    : "sudo mount -t tracefs tracefs /sys/kernel/tracing",
			 facts->has_tracefs ? "tracepoints can be named"
					    : "not mounted, or hidden: no tracepoint as an event");
	if (names)
		sdw_findings_add(findings, "kernel_names", SDW_LEVEL_OK, NULL,
				 "kernel functions have names");
	else
		sdw_findings_add(findings, "kernel_names", SDW_LEVEL_NOTE, show_kernel_names(facts),
				 "hidden (kernel.kptr_restrict is %" PRId64
				 ", kernel.perf_event_paranoid is %" PRId64 ")",
				 facts->kptr_restrict, facts->privilege.perf_event_paranoid);
	if (!has(facts, CAP_SYS_PTRACE) && facts->ptrace_scope > 0)
		sdw_findings_add(findings, "ptrace", SDW_LEVEL_FAULT,
				 "sudo sysctl kernel.yama.ptrace_scope=0",
				 "kernel.yama.ptrace_scope is %" PRId64
				 ": memory of own processes may not be read",
				 facts->ptrace_scope);
	else
		sdw_findings_add(findings, "ptrace", SDW_LEVEL_OK, NULL,
				 has(facts, CAP_SYS_PTRACE) ? "memory of all processes"
							    : "memory of own processes");
	if (facts->lttng_root || facts->lttng_own)
		sdw_findings_add(findings, "lttng", SDW_LEVEL_OK, NULL,
				 "a session daemon runs (%s)", facts->lttng_own ? "own" : "root's");
	else
		sdw_findings_add(findings, "lttng", SDW_LEVEL_NOTE, "lttng-sessiond --daemonize",
				 "no session daemon runs: needed by traces through LTTng only");
}

void sdw_machine_judge(const struct sdw_machine_facts *facts, struct sdw_findings *findings,
		       struct sdw_works *works)
{
	char message[512];

	judge_kernel(facts, findings);
	judge_capabilities(facts, findings);
	judge_bpf(facts, findings);
	judge_lockdown(facts, findings);
	judge_perf(facts, findings);
	judge_memory(facts, findings);
	judge_namespaces(facts, findings);
	judge_rest(facts, findings);
	works->bpf = is_kernel_known(facts) && !strcmp(facts->architecture, "x86_64") &&
		     !facts->clock_error &&
		     sdw_privilege_judge(&facts->privilege, message, sizeof(message));
	works->signal = !facts->user_error;
	works->dump = has(facts, CAP_SYS_PTRACE) || facts->ptrace_scope <= 0;
}
