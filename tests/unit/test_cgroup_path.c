// SPDX-License-Identifier: MIT
/* test_cgroup_path.c - container and pod of control groups as the runtimes name them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "target/cgroup_path.h"

#define ID     "3f4c2a9be1d05687c0ffee00112233445566778899aabbccddeeff0123456789"
#define OTHER  "aa4c2a9be1d05687c0ffee00112233445566778899aabbccddeeff0123456789"
#define UID    "7b9c1f7e-2d3a-4c55-9f0e-1a2b3c4d5e6f"
#define UID_   "7b9c1f7e_2d3a_4c55_9f0e_1a2b3c4d5e6f"
#define STATIC "0b1c2d3e4f5061728394a5b6c7d8e9f0"

struct sample {
	const char *path, *id, *pod;
	const char *own;     /* the container's group */
	const char *pod_own; /* the pod's */
};

/* As found in the runtimes' sources, documents, and on machines. */
static const struct sample containers[] = {
	/* Docker: groups by itself, by systemd, inside another container */
	{"/docker/" ID, ID, "", "/docker/" ID, ""},
	{"/system.slice/docker-" ID ".scope", ID, "", "/system.slice/docker-" ID ".scope", ""},
	{"/system.slice/docker-" ID ".scope/init.scope", ID, "",
	 "/system.slice/docker-" ID ".scope", ""},
	{"/user.slice/user-1000.slice/user@1000.service/user.slice/docker-" ID ".scope", ID, "",
	 "/user.slice/user-1000.slice/user@1000.service/user.slice/docker-" ID ".scope", ""},
	{"/docker/" OTHER "/docker/" ID, ID, "", "/docker/" OTHER "/docker/" ID, ""},
	{"/docker/" ID "/system.slice/nginx.service", ID, "", "/docker/" ID, ""},
	{"/docker/buildkit/k3v2m1xw0q8r7t6y5u4i3o2p1", "k3v2m1xw0q8r7t6y5u4i3o2p1", "",
	 "/docker/buildkit/k3v2m1xw0q8r7t6y5u4i3o2p1", ""},
	{"/system.slice:docker:" ID, ID, "", "/system.slice:docker:" ID, ""},
	/* seen from a container with a cgroup namespace of its own */
	{"/../" ID, ID, "", "/../" ID, ""},
	{"/../../docker-" ID ".scope", ID, "", "/../../docker-" ID ".scope", ""},
	/* Kubernetes, with groups by the kubelet */
	{"/kubepods/burstable/pod" UID "/" ID, ID, UID, "/kubepods/burstable/pod" UID "/" ID,
	 "/kubepods/burstable/pod" UID},
	{"/kubepods/besteffort/pod" STATIC "/" ID, ID, STATIC,
	 "/kubepods/besteffort/pod" STATIC "/" ID, "/kubepods/besteffort/pod" STATIC},
	{"/kubepods/pod" UID "/crio-" ID, ID, UID, "/kubepods/pod" UID "/crio-" ID,
	 "/kubepods/pod" UID},
	/* ... and by systemd: Docker, containerd, CRI-O */
	{"/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" UID_ ".slice/docker-" ID
	 ".scope",
	 ID, UID,
	 "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" UID_ ".slice/docker-" ID
	 ".scope",
	 "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" UID_ ".slice"},
	{"/kubepods.slice/kubepods-pod" UID_ ".slice/cri-containerd-" ID ".scope", ID, UID,
	 "/kubepods.slice/kubepods-pod" UID_ ".slice/cri-containerd-" ID ".scope",
	 "/kubepods.slice/kubepods-pod" UID_ ".slice"},
	{"/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod" UID_ ".slice/crio-" ID
	 ".scope/container",
	 ID, UID,
	 "/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod" UID_ ".slice/crio-" ID
	 ".scope",
	 "/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod" UID_ ".slice"},
	{"/system.slice/containerd.service/kubepods-burstable-pod" UID_ ".slice:cri-containerd:" ID,
	 ID, UID,
	 "/system.slice/containerd.service/kubepods-burstable-pod" UID_ ".slice:cri-containerd:" ID,
	 "/system.slice/containerd.service/kubepods-burstable-pod" UID_
	 ".slice:cri-containerd:" ID},
	/* kind: a node that is a container itself */
	{"/docker/" OTHER "/kubelet/kubepods/pod" UID "/" ID, ID, UID,
	 "/docker/" OTHER "/kubelet/kubepods/pod" UID "/" ID,
	 "/docker/" OTHER "/kubelet/kubepods/pod" UID},
	/* containerd by nerdctl */
	{"/system.slice/nerdctl-" ID ".scope", ID, "", "/system.slice/nerdctl-" ID ".scope", ""},
	{"/default/" ID, ID, "", "/default/" ID, ""},
	/* Podman: as root, as a user, in a pod, within a service's group, without systemd */
	{"/machine.slice/libpod-" ID ".scope/container", ID, "",
	 "/machine.slice/libpod-" ID ".scope", ""},
	{"/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" ID ".scope/container",
	 ID, "", "/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" ID ".scope",
	 ""},
	{"/machine.slice/machine-libpod_pod_" OTHER ".slice/libpod-" ID ".scope", ID, OTHER,
	 "/machine.slice/machine-libpod_pod_" OTHER ".slice/libpod-" ID ".scope",
	 "/machine.slice/machine-libpod_pod_" OTHER ".slice"},
	{"/system.slice/web.service/libpod-payload-" ID, ID, "",
	 "/system.slice/web.service/libpod-payload-" ID, ""},
	{"/libpod_parent/libpod-" ID, ID, "", "/libpod_parent/libpod-" ID, ""},
	/* names instead of numbers: runc, crun, systemd-nspawn, LXC */
	{"/system.slice/runc-web1.scope", "web1", "", "/system.slice/runc-web1.scope", ""},
	{"/user.slice/crun-my-job.scope", "my-job", "", "/user.slice/crun-my-job.scope", ""},
	{"/machine.slice/machine-debian\\x2d12.scope/payload", "debian-12", "",
	 "/machine.slice/machine-debian\\x2d12.scope", ""},
	{"/machine.slice/systemd-nspawn@build.service/payload/system.slice/cron.service", "build",
	 "", "/machine.slice/systemd-nspawn@build.service", ""},
	{"/lxc.payload.db1/system.slice/postgresql.service", "db1", "", "/lxc.payload.db1", ""},
	{"/lxc/db1/init.scope", "db1", "", "/lxc/db1", ""},
	/* Amazon's ECS on EC2 and on Fargate */
	{"/ecs/" STATIC "/" ID, ID, "", "/ecs/" STATIC "/" ID, ""},
	{"/ecs/" STATIC "/" STATIC "-1234567890", STATIC "-1234567890", "",
	 "/ecs/" STATIC "/" STATIC "-1234567890", ""},
};

static const char *const others[] = {
	"/",
	"",
	"/init.scope",
	"/system.slice/nginx.service",
	"/user.slice/user-1000.slice/session-3.scope",
	"/user.slice/user-1000.slice/user@1000.service/app.slice/app-firefox-1234.scope",
	"/system.slice/docker.service",
	"/docker",
	"/kubepods.slice",
	"/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" UID_ ".slice",
	/* what watches over a container is not in it */
	"/machine.slice/libpod-conmon-" ID ".scope",
	"/system.slice/crio-conmon-" ID ".scope",
	"/lxc.monitor.db1",
	"/machine.slice/machine-qemu\\x2d1\\x2dvm.scope",
	/* one digit too few, a digit that is none */
	"/docker/3f4c2a9be1d05687c0ffee00112233445566778899aabbccddeeff012345678",
	"/docker/Zf4c2a9be1d05687c0ffee00112233445566778899aabbccddeeff0123456789",
	"/a:b",
	"//",
	"/system.slice/runc-.scope",
};

static void assert_prefix(const char *path, size_t size, const char *expected)
{
	assert_int_equal(size, strlen(expected));
	assert_memory_equal(path, expected, size);
}

static void test_every_runtime_has_its_id_and_pod(void **state)
{
	struct sdw_cgroup_name name;

	(void)state;
	for (size_t i = 0; i < sizeof(containers) / sizeof(*containers); i++) {
		const struct sample *sample = &containers[i];

		print_message("%s\n", sample->path);
		assert_true(sdw_cgroup_path_parse(sample->path, &name));
		assert_string_equal(name.id, sample->id);
		assert_string_equal(name.pod, sample->pod);
		assert_prefix(sample->path, name.own, sample->own);
		assert_prefix(sample->path, name.pod_own, sample->pod_own);
	}
}

static void test_other_groups_are_no_containers(void **state)
{
	struct sdw_cgroup_name name;

	(void)state;
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		print_message("'%s'\n", others[i]);
		assert_false(sdw_cgroup_path_parse(others[i], &name));
		assert_string_equal(name.id, "");
		assert_int_equal(name.own, 0);
	}
}

static void test_a_pod_without_a_container_is_known_as_such(void **state)
{
	static const char path[] = "/kubepods/burstable/pod" UID;
	struct sdw_cgroup_name name;

	(void)state;
	assert_false(sdw_cgroup_path_parse(path, &name));
	assert_string_equal(name.pod, UID);
	assert_int_equal(name.pod_own, strlen(path));
}

static void test_a_name_that_is_too_long_is_none(void **state)
{
	char path[SDW_CONTAINER_ID_BYTES + 64] = "/lxc.payload.";
	struct sdw_cgroup_name name;

	(void)state;
	memset(path + strlen(path), 'x', SDW_CONTAINER_ID_BYTES);
	assert_false(sdw_cgroup_path_parse(path, &name));
	path[strlen("/lxc.payload.") + SDW_CONTAINER_ID_BYTES - 2] = '\0';
	assert_true(sdw_cgroup_path_parse(path, &name));
	assert_int_equal(strlen(name.id), SDW_CONTAINER_ID_BYTES - 2);
}

static void test_lines_of_proc(void **state)
{
	char two[] = "0::/docker/" ID "\n", one[] = "4:cpu,cpuacct:/a:b\n",
	     named[] = "1:name=systemd:/";
	char broken[] = "4:cpu", relative[] = "0::docker\n";
	const char *controllers, *path;

	(void)state;
	assert_true(sdw_cgroup_line_parse(two, &controllers, &path));
	assert_string_equal(controllers, "");
	assert_string_equal(path, "/docker/" ID);
	assert_true(sdw_cgroup_line_parse(one, &controllers, &path));
	assert_string_equal(controllers, "cpu,cpuacct");
	assert_string_equal(path, "/a:b");
	assert_true(sdw_cgroup_line_parse(named, &controllers, &path));
	assert_string_equal(controllers, "name=systemd");
	assert_string_equal(path, "/");
	assert_false(sdw_cgroup_line_parse(broken, &controllers, &path));
	assert_false(sdw_cgroup_line_parse(relative, &controllers, &path));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_runtime_has_its_id_and_pod),
		cmocka_unit_test(test_other_groups_are_no_containers),
		cmocka_unit_test(test_a_pod_without_a_container_is_known_as_such),
		cmocka_unit_test(test_a_name_that_is_too_long_is_none),
		cmocka_unit_test(test_lines_of_proc),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
