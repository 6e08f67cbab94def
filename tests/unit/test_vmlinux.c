// SPDX-License-Identifier: MIT
/*
 * test_vmlinux.c - holds every field of the hand-written vmlinux.h against the running kernel's
 * BTF: it must be there, of the same kind and size. (libbpf finds out about a missing one only when
 * the program that reads it is loaded.)
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <cmocka.h>

#include "bpf_config.h"
#include "events.h"
#include "pylayout.h"
#include "sidewinder.skel.h"

/* The structs of vmlinux.h that follow the kernel's layout. */
static const char *const structs[] = {
	"task_struct", "thread_struct", "mm_struct",	       "signal_struct",
	"pid",	       "upid",		"pid_namespace",       "ns_common",
	"css_set",     "cgroup",	"cgroup_subsys_state", "kernfs_node"};

/* The type behind typedefs and qualifiers. */
static const struct btf_type *plain(const struct btf *btf, uint32_t id)
{
	const struct btf_type *type = btf__type_by_id(btf, id);

	while (type && (btf_is_typedef(type) || btf_is_mod(type)))
		type = btf__type_by_id(btf, type->type);
	return type;
}

/* Finds a member by name, also inside anonymous structs and unions. */
static const struct btf_type *member_of(const struct btf *btf, const struct btf_type *type,
					const char *name)
{
	const struct btf_member *member = btf_members(type);

	for (uint32_t i = 0; i < btf_vlen(type); i++, member++) {
		const char *own = btf__name_by_offset(btf, member->name_off);
		const struct btf_type *inner = plain(btf, member->type);

		if (!strcmp(own, name))
			return inner;
		if (!*own && inner && btf_is_composite(inner)) {
			const struct btf_type *found = member_of(btf, inner, name);

			if (found)
				return found;
		}
	}
	return NULL;
}

static void check_struct(const struct btf *ours, const struct btf *kernel, const char *name)
{
	int32_t our_id = btf__find_by_name_kind(ours, name, BTF_KIND_STRUCT);
	int32_t kernel_id = btf__find_by_name_kind(kernel, name, BTF_KIND_STRUCT);
	const struct btf_member *member;
	const struct btf_type *type;

	if (our_id < 0)
		fail_msg("struct %s is not used by the BPF programs: drop it here or there", name);
	if (kernel_id < 0)
		fail_msg("the kernel has no struct %s", name);
	type = btf__type_by_id(ours, (uint32_t)our_id);
	member = btf_members(type);
	for (uint32_t i = 0; i < btf_vlen(type); i++, member++) {
		const char *field = btf__name_by_offset(ours, member->name_off);
		const struct btf_type *wanted = plain(ours, member->type);
		const struct btf_type *found =
			member_of(kernel, btf__type_by_id(kernel, (uint32_t)kernel_id), field);

		if (!found)
			fail_msg("the kernel's struct %s has no field %s", name, field);
		if (btf_kind(found) != btf_kind(wanted))
			fail_msg("%s.%s is of another kind in the kernel", name, field);
		if (btf_is_int(found) && found->size != wanted->size)
			fail_msg("%s.%s has %u bytes in the kernel, %u here", name, field,
				 found->size, wanted->size);
	}
}

static void test_every_field_is_in_the_running_kernel(void **state)
{
	struct sdw_bpf *skeleton;
	struct btf *kernel;

	(void)state;
	if (access("/sys/kernel/btf/vmlinux", R_OK)) {
		printf("skipped: this kernel has no BTF\n");
		skip();
	}
	skeleton = sdw_bpf__open();
	assert_non_null(skeleton);
	kernel = btf__load_vmlinux_btf();
	assert_non_null(kernel);
	for (size_t i = 0; i < sizeof(structs) / sizeof(structs[0]); i++)
		check_struct(bpf_object__btf(skeleton->obj), kernel, structs[i]);
	btf__free(kernel);
	sdw_bpf__destroy(skeleton);
}

static void test_the_helpers_numbers_are_the_kernels(void **state)
{
	(void)state;
	/* include/uapi/linux/bpf.h: fixed for ever, vmlinux.h writes them out */
	assert_int_equal(158, BPF_FUNC_get_current_task_btf);
	assert_int_equal(175, BPF_FUNC_task_pt_regs);
	assert_int_equal(181, BPF_FUNC_loop);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_field_is_in_the_running_kernel),
		cmocka_unit_test(test_the_helpers_numbers_are_the_kernels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
