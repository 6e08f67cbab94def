// SPDX-License-Identifier: MIT
/* test_doctor.c - what files tell of a machine, and what facts mean, whatever this machine is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "doctor/machine.h"

#define ALL_CAPABILITIES (~0ull)

static void write_file(int root, const char *path, const char *text)
{
	char folder[256];
	int fd;

	for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		snprintf(folder, sizeof(folder), "%.*s", (int)(slash - path), path);
		if (mkdirat(root, folder, 0755))
			assert_int_equal(errno, EEXIST);
	}
	fd = openat(root, path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
}

static void test_files_of_another_root_are_read(void **state)
{
	char folder[] = "/tmp/sdw-doctor-XXXXXX", command[64];
	struct sdw_machine_facts facts = {0};
	int root;

	(void)state;
	assert_non_null(mkdtemp(folder));
	root = open(folder, O_RDONLY | O_DIRECTORY);
	assert_true(root >= 0);
	write_file(root, "proc/sys/kernel/perf_event_paranoid", "4\n");
	write_file(root, "proc/sys/kernel/unprivileged_bpf_disabled", "1\n");
	write_file(root, "proc/sys/kernel/kptr_restrict", "2\n");
	write_file(root, "proc/sys/kernel/yama/ptrace_scope", "3\n");
	write_file(root, "proc/sys/net/core/bpf_jit_enable", "0\n");
	write_file(root, "sys/kernel/security/lockdown", "none integrity [confidentiality]\n");
	write_file(root, "proc/self/status", "Name:\tx\nSeccomp:\t2\nSeccomp_filters:\t1\n");
	write_file(root, "proc/meminfo", "MemTotal: 4 kB\nMemAvailable:   2048 kB\n");
	write_file(root, "proc/self/ns/nothing", "");
	write_file(root, "proc/1/ns/nothing", "");
	write_file(root, "proc/4711/status", "");
	write_file(root, "run/lttng/lttng-sessiond.pid", "4711\n");
	assert_int_equal(symlinkat("pid:[4026532000]", root, "proc/self/ns/pid"), 0);
	assert_int_equal(symlinkat("mnt:[1]", root, "proc/self/ns/mnt"), 0);
	assert_int_equal(symlinkat("mnt:[2]", root, "proc/1/ns/mnt"), 0);
	sdw_machine_read(root, &facts);
	assert_int_equal(facts.privilege.perf_event_paranoid, 4);
	assert_int_equal(facts.privilege.unprivileged_bpf_disabled, 1);
	assert_string_equal(facts.privilege.lockdown, "confidentiality");
	assert_false(facts.privilege.has_btf);
	assert_int_equal(facts.kptr_restrict, 2);
	assert_int_equal(facts.ptrace_scope, 3);
	assert_int_equal(facts.bpf_jit, 0);
	assert_int_equal(facts.max_sample_rate, -1);
	assert_int_equal(facts.seccomp, 2);
	assert_int_equal(facts.memory_available, 2 << 20);
	assert_true(facts.in_pid_namespace);
	assert_int_equal(facts.mount_namespace, 1);
	assert_true(facts.lttng_root);
	assert_false(facts.has_tracefs);
	/* a daemon that has ended leaves its file */
	write_file(root, "run/lttng/lttng-sessiond.pid", "4712\n");
	write_file(root, "sys/kernel/btf/vmlinux", "");
	sdw_machine_read(root, &facts);
	assert_false(facts.lttng_root);
	assert_true(facts.privilege.has_btf);
	close(root);
	snprintf(command, sizeof(command), "rm -r %s", folder);
	assert_int_equal(system(command), 0);
}

/* A machine on which everything works. */
static struct sdw_machine_facts good(void)
{
	return (struct sdw_machine_facts){
		.kernel = "6.1.0",
		.architecture = "x86_64",
		.major = 6,
		.minor = 1,
		.processors = 2,
		.memory_available = 1ull << 32,
		.privilege = {.capabilities = ALL_CAPABILITIES,
			      .is_root = true,
			      .has_fine_capabilities = true,
			      .has_btf = true,
			      .perf_event_paranoid = 2,
			      .lockdown = "none"},
		.bpf_jit = 1,
		.max_sample_rate = 100000,
		.memlock = UINT64_MAX,
		.has_tracefs = true,
		.lttng_root = true,
	};
}

static const struct sdw_finding *find(const struct sdw_findings *findings, const char *key)
{
	for (size_t i = 0; i < findings->count; i++)
		if (!strcmp(findings->items[i].key, key))
			return &findings->items[i];
	fail_msg("no finding %s", key);
	return NULL;
}

/* Judges, and checks one finding. */
static struct sdw_works judge(const struct sdw_machine_facts *facts, const char *key,
			      enum sdw_level level, const char *text, const char *fix)
{
	struct sdw_findings findings = {0};
	const struct sdw_finding *finding;
	struct sdw_works works;

	sdw_machine_judge(facts, &findings, &works);
	finding = find(&findings, key);
	assert_int_equal(finding->level, level);
	if (!strstr(finding->text, text))
		fail_msg("'%s' is not in '%s'", text, finding->text);
	assert_string_equal(finding->fix, fix);
	sdw_findings_free(&findings);
	return works;
}

static void test_a_good_machine_has_nothing_to_mend(void **state)
{
	struct sdw_machine_facts facts = good();
	struct sdw_findings findings = {0};
	struct sdw_works works;

	(void)state;
	sdw_machine_judge(&facts, &findings, &works);
	for (size_t i = 0; i < findings.count; i++) {
		assert_int_equal(findings.items[i].level, SDW_LEVEL_OK);
		assert_string_equal(findings.items[i].fix, "");
	}
	assert_true(works.bpf && works.signal && works.dump);
	sdw_findings_free(&findings);
}

static void test_what_forbids_bpf_is_named_with_its_way_out(void **state)
{
	struct sdw_machine_facts facts = good();
	struct sdw_works works;

	(void)state;
	facts.major = 5;
	facts.minor = 4;
	works = judge(&facts, "kernel", SDW_LEVEL_FAULT, "needs 5.10 or later", "");
	assert_false(works.bpf);

	facts = good();
	facts.privilege.has_btf = false;
	works = judge(&facts, "btf", SDW_LEVEL_FAULT, "CONFIG_DEBUG_INFO_BTF",
		      "sidewinder record --btf FILE ...");
	assert_false(works.bpf);
	assert_true(works.signal && works.dump);

	facts = good();
	facts.privilege.bpf_error = -EPERM;
	snprintf(facts.privilege.lockdown, sizeof(facts.privilege.lockdown), "confidentiality");
	works = judge(&facts, "lockdown", SDW_LEVEL_FAULT, "lockdown=integrity", "");
	assert_false(works.bpf);

	facts = good();
	facts.privilege.capabilities = 0;
	facts.privilege.is_root = false;
	facts.privilege.reads_others = true;
	facts.clock_error = -EACCES;
	works = judge(&facts, "capabilities", SDW_LEVEL_FAULT,
		      "missing: CAP_BPF CAP_PERFMON CAP_SYS_PTRACE", "sudo sidewinder doctor");
	assert_false(works.bpf);
	assert_true(works.signal && works.dump);

	facts.privilege.is_root = true;
	facts.privilege.capabilities = 1ull << CAP_SYS_ADMIN;
	judge(&facts, "capabilities", SDW_LEVEL_FAULT, "missing: CAP_SYS_PTRACE",
	      "docker run --cap-add=BPF --cap-add=PERFMON --cap-add=SYS_PTRACE ...");
}

static void test_debian_and_ubuntu_have_levels_of_their_own(void **state)
{
	struct sdw_machine_facts facts = good();
	struct sdw_works works;

	(void)state;
	for (int64_t level = 3; level <= 4; level++) {
		facts = good();
		facts.privilege.perf_event_paranoid = level;
		works = judge(&facts, "perf_event_paranoid", SDW_LEVEL_NOTE, "CAP_SYS_ADMIN alone",
			      "sudo sysctl kernel.perf_event_paranoid=2");
		assert_true(works.bpf && works.signal);
		facts.clock_error = facts.user_error = facts.cycles_error = -EACCES;
		works = judge(&facts, "perf_event_paranoid", SDW_LEVEL_FAULT, "CAP_SYS_ADMIN alone",
			      "sudo sysctl kernel.perf_event_paranoid=2");
		assert_false(works.bpf || works.signal);
		judge(&facts, "perf_events", SDW_LEVEL_FAULT, "cannot be opened",
		      "sudo sysctl kernel.perf_event_paranoid=2");
		judge(&facts, "hardware_counter", SDW_LEVEL_NOTE, "not known", "");
	}
}

static void test_what_costs_or_denies_something_is_told(void **state)
{
	struct sdw_machine_facts facts = good();
	struct sdw_works works;

	(void)state;
	facts.bpf_jit = 0;
	works = judge(&facts, "bpf_jit", SDW_LEVEL_WARNING, "interpreted",
		      "sudo sysctl net.core.bpf_jit_enable=1");
	assert_true(works.bpf);

	facts = good();
	facts.cycles_error = -ENOENT;
	judge(&facts, "hardware_counter", SDW_LEVEL_NOTE, "cpu-clock is counted instead", "");

	facts = good();
	facts.processors = 256;
	judge(&facts, "rings", SDW_LEVEL_WARNING, "2048 MiB for 256 processors, of 4096 MiB",
	      "sidewinder record --ring-bytes 1M ...");

	facts = good();
	facts.major = 5;
	facts.minor = 10;
	facts.privilege.is_root = false;
	facts.memlock = 65536;
	judge(&facts, "memlock", SDW_LEVEL_WARNING, "the limit is 64 KiB", "ulimit -l 32768");

	facts = good();
	facts.privilege.capabilities = 0;
	facts.ptrace_scope = 1;
	works = judge(&facts, "ptrace", SDW_LEVEL_FAULT, "ptrace_scope is 1",
		      "sudo sysctl kernel.yama.ptrace_scope=0");
	assert_false(works.dump);
}

static void test_what_is_hidden_or_missing_is_noted(void **state)
{
	struct sdw_machine_facts facts = good();

	(void)state;
	facts.kptr_restrict = 2;
	judge(&facts, "kernel_names", SDW_LEVEL_NOTE, "kptr_restrict is 2",
	      "sudo sysctl kernel.kptr_restrict=0");
	facts = good();
	facts.privilege.capabilities &= ~(1ull << CAP_SYSLOG);
	judge(&facts, "kernel_names", SDW_LEVEL_NOTE,
	      "kptr_restrict is 0, kernel.perf_event_paranoid is 2",
	      "docker run --cap-add=SYSLOG ...");
	facts.privilege.is_root = false;
	judge(&facts, "kernel_names", SDW_LEVEL_NOTE, "", "sudo sidewinder doctor");
	facts = good();
	facts.has_tracefs = false;
	judge(&facts, "tracefs", SDW_LEVEL_NOTE, "not mounted",
	      "sudo mount -t tracefs tracefs /sys/kernel/tracing");
	facts = good();
	facts.seccomp = 2;
	judge(&facts, "seccomp", SDW_LEVEL_NOTE, "lets pass what is needed", "");
	facts.privilege.bpf_error = -EPERM;
	judge(&facts, "seccomp", SDW_LEVEL_WARNING, "it may be what denies",
	      "docker run --security-opt seccomp=unconfined ...");
	facts = good();
	facts.in_pid_namespace = true;
	judge(&facts, "pid_namespace", SDW_LEVEL_NOTE, "only processes in it", "");
	facts = good();
	facts.lttng_root = false;
	judge(&facts, "lttng", SDW_LEVEL_NOTE, "no session daemon", "lttng-sessiond --daemonize");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_files_of_another_root_are_read),
		cmocka_unit_test(test_a_good_machine_has_nothing_to_mend),
		cmocka_unit_test(test_what_forbids_bpf_is_named_with_its_way_out),
		cmocka_unit_test(test_debian_and_ubuntu_have_levels_of_their_own),
		cmocka_unit_test(test_what_costs_or_denies_something_is_told),
		cmocka_unit_test(test_what_is_hidden_or_missing_is_noted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
