// SPDX-License-Identifier: MIT
/* What a user without the rights is told. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include <linux/capability.h>

#include "capture/privilege.h"

#define BIT(capability) (1ull << (capability))
#define ENOUGH		(BIT(CAP_BPF) | BIT(CAP_PERFMON) | BIT(CAP_SYS_PTRACE))

/* A machine where everything is allowed to a process with `capabilities`. */
static struct sdw_privilege_facts facts_with(uint64_t capabilities)
{
	return (struct sdw_privilege_facts){
		.capabilities = capabilities,
		.has_fine_capabilities = true,
		.reads_others = true,
		.has_btf = true,
		.unprivileged_bpf_disabled = 2,
		.perf_event_paranoid = 2,
	};
}

static void assert_message(const struct sdw_privilege_facts *facts, const char *expected)
{
	char message[512] = "";

	assert_false(sdw_privilege_judge(facts, message, sizeof(message)));
	assert_string_equal(message, expected);
}

static void test_fine_capabilities_or_the_old_ones_are_enough(void **state)
{
	struct sdw_privilege_facts facts = facts_with(ENOUGH);
	char message[512];

	(void)state;
	assert_true(sdw_privilege_judge(&facts, message, sizeof(message)));
	facts = facts_with(BIT(CAP_SYS_ADMIN) | BIT(CAP_SYS_PTRACE));
	assert_true(sdw_privilege_judge(&facts, message, sizeof(message)));
	facts.has_fine_capabilities = false;
	assert_true(sdw_privilege_judge(&facts, message, sizeof(message)));
}

static void test_own_command_needs_no_ptrace(void **state)
{
	struct sdw_privilege_facts facts = facts_with(BIT(CAP_BPF) | BIT(CAP_PERFMON));
	char message[512];

	(void)state;
	facts.reads_others = false;
	assert_true(sdw_privilege_judge(&facts, message, sizeof(message)));
}

static void test_own_processes_need_no_ptrace(void **state)
{
	struct sdw_privilege_facts facts;
	pid_t own = getpid();
	struct sdw_config config = {.pids = &own, .pid_count = 1};

	(void)state;
	sdw_privilege_gather(&config, &facts);
	assert_false(facts.reads_others);
	config = (struct sdw_config){.all = true};
	sdw_privilege_gather(&config, &facts);
	assert_true(facts.reads_others);
}

static void test_each_missing_capability_is_named(void **state)
{
	struct sdw_privilege_facts facts = facts_with(0);

	(void)state;
	facts.bpf_error = -EPERM;
	assert_message(&facts,
		       "not permitted: CAP_BPF, CAP_PERFMON, CAP_SYS_PTRACE are missing "
		       "(kernel.unprivileged_bpf_disabled is 2, kernel.perf_event_paranoid is 2); "
		       "run it as root: sudo sidewinder record ...");
	facts = facts_with(ENOUGH & ~BIT(CAP_PERFMON));
	facts.perf_event_paranoid = 1;
	facts.unprivileged_bpf_disabled = 0;
	assert_message(&facts,
		       "not permitted: CAP_PERFMON is missing; run it as root: sudo sidewinder "
		       "record ...");
	facts = facts_with(ENOUGH & ~BIT(CAP_SYS_PTRACE));
	assert_message(&facts, "not permitted: CAP_SYS_PTRACE is missing; run it as root: sudo "
			       "sidewinder record ...");
	facts = facts_with(0);
	facts.has_fine_capabilities = false;
	facts.reads_others = false;
	facts.unprivileged_bpf_disabled = -1;
	facts.perf_event_paranoid = -1;
	assert_message(&facts,
		       "not permitted: CAP_SYS_ADMIN is missing; run it as root: sudo sidewinder "
		       "record ...");
}

static void test_root_of_a_container_is_told_what_to_add(void **state)
{
	struct sdw_privilege_facts facts = facts_with(ENOUGH & ~BIT(CAP_BPF));

	(void)state;
	facts.is_root = true;
	facts.unprivileged_bpf_disabled = 0;
	facts.perf_event_paranoid = 1;
	assert_message(&facts,
		       "not permitted: CAP_BPF is missing; in a container, start it with: docker "
		       "run --cap-add=BPF --cap-add=PERFMON --cap-add=SYS_PTRACE");
}

static void test_what_forbids_bpf_beside_capabilities_is_told_apart(void **state)
{
	struct sdw_privilege_facts facts = facts_with(ENOUGH);

	(void)state;
	facts.bpf_error = -EPERM;
	assert_message(
		&facts,
		"loading BPF programs is forbidden here although the capabilities are there: a "
		"seccomp filter or a security module denies bpf(); of a container: "
		"--security-opt=seccomp=unconfined");
	facts.in_user_namespace = true;
	assert_message(&facts, "BPF programs may not be loaded from a user namespace, whatever its "
			       "capabilities: run sidewinder outside of it");
	snprintf(facts.lockdown, sizeof(facts.lockdown), "confidentiality");
	assert_message(
		&facts,
		"the kernel is locked down (confidentiality) and lets nobody load BPF programs: "
		"start it with lockdown=integrity or without Secure Boot");
	facts.bpf_error = -ENOSYS;
	assert_message(&facts, "the kernel has no BPF (CONFIG_BPF_SYSCALL)");
}

static void test_missing_btf_names_the_way_out(void **state)
{
	struct sdw_privilege_facts facts = facts_with(ENOUGH);

	(void)state;
	facts.has_btf = false;
	assert_message(&facts,
		       "kernel without BTF: build it with CONFIG_DEBUG_INFO_BTF, or give its BTF "
		       "with --btf FILE");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fine_capabilities_or_the_old_ones_are_enough),
		cmocka_unit_test(test_own_command_needs_no_ptrace),
		cmocka_unit_test(test_own_processes_need_no_ptrace),
		cmocka_unit_test(test_each_missing_capability_is_named),
		cmocka_unit_test(test_root_of_a_container_is_told_what_to_add),
		cmocka_unit_test(test_what_forbids_bpf_beside_capabilities_is_told_apart),
		cmocka_unit_test(test_missing_btf_names_the_way_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
