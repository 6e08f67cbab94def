// SPDX-License-Identifier: MIT
/*
 * test_container.c - names and pods of containers, out of what runtimes keep below a root of this
 * test's own, and which groups belong to runc's and crun's containers.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "target/cgroup.h"
#include "target/container_find.h"
#include "target/container_state.h"

#define ID "3f4c2a9be1d05687c0ffee00112233445566778899aabbccddeeff0123456789"

struct fixture {
	char root[32];
	struct sdw_containers *containers;
};

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	int root;

	if (!fixture)
		return -1;
	strcpy(fixture->root, "/tmp/sidewinder-XXXXXX");
	if (!mkdtemp(fixture->root))
		return -1;
	root = open(fixture->root, O_PATH | O_DIRECTORY);
	*state = fixture;
	return root < 0 ? -1 : sdw_containers_create(root, &fixture->containers);
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;
	char command[64];

	sdw_containers_free(fixture->containers);
	snprintf(command, sizeof(command), "rm -r %s", fixture->root);
	assert_int_equal(system(command), 0);
	free(fixture);
	return 0;
}

/* Writes a file below the root, and the folders on the way. */
static void write_file(void **state, const char *path, const char *text)
{
	const struct fixture *fixture = *state;
	char full[512];
	FILE *file;

	snprintf(full, sizeof(full), "%s%s", fixture->root, path);
	for (char *at = full + strlen(fixture->root) + 1; (at = strchr(at, '/')); at++) {
		*at = '\0';
		(void)mkdir(full, 0700);
		*at = '/';
	}
	file = fopen(full, "w");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static const struct sdw_container *find(void **state, const char *text)
{
	const struct fixture *fixture = *state;
	struct sdw_cgroup_lines lines;

	snprintf(lines.text, sizeof(lines.text), "%s", text);
	sdw_cgroup_lines_parse(&lines);
	return sdw_containers_find(fixture->containers, &lines);
}

static void expect(void **state, const char *text, const char *id, const char *name,
		   const char *pod)
{
	const struct sdw_container *container = find(state, text);

	assert_non_null(container);
	assert_string_equal(container->id, id);
	assert_string_equal(container->name, name);
	assert_string_equal(container->pod, pod);
	assert_ptr_equal(find(state, text), container); /* looked up once */
}

static void test_docker_names(void **state)
{
	write_file(state, "/var/lib/docker/containers/" ID "/config.v2.json",
		   "{\"StreamConfig\":{},\"State\":{\"Running\":true},\"ID\":\"" ID
		   "\",\"Name\":\"/web\",\"Driver\":\"overlay2\"}");
	expect(state, "0::/system.slice/docker-" ID ".scope\n", ID, "web", "");
}

static void test_podman_names(void **state)
{
	write_file(state, "/var/lib/containers/storage/overlay-containers/containers.json",
		   "[{\"id\":\"0000\",\"names\":[\"other\"]},{\"id\":\"" ID
		   "\",\"names\":[\"db\",\"database\"],\"layer\":\"x\"}]");
	expect(state, "0::/machine.slice/libpod-" ID ".scope/container\n", ID, "db", "");
}

static void test_crio_names_container_and_pod(void **state)
{
	write_file(state, "/run/containers/storage/overlay-containers/" ID "/userdata/config.json",
		   "{\"ociVersion\":\"1.0\",\"annotations\":{\"io.kubernetes.container.name\":"
		   "\"api\",\"io.kubernetes.pod.name\":\"api-7f\",\"io.kubernetes.pod.namespace\":"
		   "\"shop\"}}");
	expect(state,
	       "0::/kubepods.slice/kubepods-pod7b9c1f7e_2d3a_4c55_9f0e_1a2b3c4d5e6f.slice/crio-" ID
	       ".scope\n",
	       ID, "api", "shop/api-7f");
	assert_string_equal(
		find(state, "0::/crio-" ID ".scope\n")->pod_uid, /* of the first sight */
		"7b9c1f7e-2d3a-4c55-9f0e-1a2b3c4d5e6f");
}

static void test_containerd_names_of_kubernetes(void **state)
{
	write_file(state, "/run/containerd/io.containerd.runtime.v2.task/k8s.io/" ID "/config.json",
		   "{\"annotations\":{\"io.kubernetes.cri.container-name\":\"web\","
		   "\"io.kubernetes.cri.sandbox-name\":\"web-1\","
		   "\"io.kubernetes.cri.sandbox-namespace\":\"shop\"}}");
	expect(state, "0::/kubepods/pod7b9c1f7e-2d3a-4c55-9f0e-1a2b3c4d5e6f/" ID "\n", ID, "web",
	       "shop/web-1");
}

static void test_without_state_the_id_and_the_pods_uid_are_known(void **state)
{
	expect(state, "3:cpu:/\n0::/kubepods/pod7b9c1f7e-2d3a-4c55-9f0e-1a2b3c4d5e6f/" ID "\n", ID,
	       "", "7b9c1f7e-2d3a-4c55-9f0e-1a2b3c4d5e6f");
	assert_null(find(state, "0::/\n"));
	assert_null(find(state, "0::/system.slice/nginx.service\n"));
	assert_null(find(state, ""));
}

static void test_runc_and_crun_say_which_groups_are_theirs(void **state)
{
	struct fixture *fixture = *state;

	assert_null(find(state, "0::/jobs/nightly\n"));
	write_file(
		state, "/run/runc/nightly/state.json",
		"{\"id\":\"nightly\",\"cgroup_paths\":{\"\":\"/sys/fs/cgroup/unified/jobs/nightly\","
		"\"memory\":\"/sys/fs/cgroup/memory/batch/nightly\"}}");
	write_file(state, "/run/crun/job/status",
		   "{\"pid\":17,\"cgroup-path\":\"/user.slice/x/job\"}");
	expect(state, "0::/jobs/nightly\n", "nightly", "", "");
	expect(state, "5:memory:/batch/nightly/worker\n0::/\n", "nightly", "", "");
	expect(state, "0::/user.slice/x/job\n", "job", "", "");
	assert_null(find(state, "0::/jobs/nightly2\n"));
	assert_int_equal(sdw_container_own_path(fixture->containers,
						find(state, "0::/jobs/nightly\n"),
						"/jobs/nightly/below"),
			 strlen("/jobs/nightly"));
}

/* A container that is being made has a directory before its state, and may leave it behind. */
static void test_what_comes_later_is_found_then(void **state)
{
	write_file(state, "/run/containerd/runc/mine/one/state.json",
		   "{\"cgroup_paths\":{\"\":\"/sys/fs/cgroup/jobs/one\"}}");
	expect(state, "0::/jobs/one\n", "one", "", "");
	assert_null(find(state, "0::/jobs/two\n"));
	write_file(state, "/run/containerd/runc/mine/left/log.json", "");
	write_file(state, "/run/containerd/runc/mine/two/log.json", "");
	assert_null(find(state, "0::/jobs/two\n"));
	write_file(state, "/run/containerd/runc/mine/two/state.json", "{");
	assert_null(find(state, "0::/jobs/two\n"));
	write_file(state, "/run/containerd/runc/mine/two/state.json",
		   "{\"cgroup_paths\":{\"\":\"/sys/fs/cgroup/jobs/two\"}}");
	expect(state, "0::/jobs/two\n", "two", "", "");
	write_file(state, "/run/crun/three/status", "{\"cgroup-path\":\"/jobs/three\"}");
	expect(state, "0::/jobs/three\n", "three", "", "");
	expect(state, "0::/jobs/one\n", "one", "", "");
}

/* What is left of these when one is asked for, as "web|db". */
static void expect_match(const struct sdw_container *containers, size_t count, const char *asked,
			 const char *expected, bool is_pod)
{
	struct sdw_found_containers found = {0};
	char left[256] = "";

	found.items = calloc(count, sizeof(*found.items));
	assert_non_null(found.items);
	for (; found.count < count; found.count++)
		found.items[found.count].container = &containers[found.count];
	sdw_found_containers_match(&found, asked);
	for (size_t i = 0; i < found.count; i++) {
		strcat(strcat(left, i ? "|" : ""), found.items[i].container->id);
		assert_int_equal(found.items[i].is_pod, is_pod);
	}
	assert_string_equal(left, expected);
	sdw_found_containers_free(&found);
}

static void test_a_container_is_found_by_what_people_call_it(void **state)
{
	static const struct sdw_container all[] = {
		{.id = "aa11", .name = "web", .pod = "shop/one", .pod_uid = "uid-1"},
		{.id = "aa22", .name = "side", .pod = "shop/one", .pod_uid = "uid-1"},
		{.id = "bb11", .name = "web", .pod = "shop/two", .pod_uid = "uid-2"},
		{.id = "cc11", .name = "database", .pod = "", .pod_uid = ""},
		{.id = "nightly", .name = "", .pod = "", .pod_uid = ""},
		{.id = "nightly-2", .name = "", .pod = "", .pod_uid = ""},
	};
	const size_t count = sizeof(all) / sizeof(*all);

	(void)state;
	expect_match(all, count, "aa11", "aa11", false);
	expect_match(all, count, "aa", "aa11|aa22", false);
	expect_match(all, count, "b", "bb11", false);
	expect_match(all, count, "database", "cc11", false);
	expect_match(all, count, "data", "cc11", false);
	expect_match(all, count, "web", "aa11|bb11", false);
	expect_match(all, count, "shop/two/web", "bb11", false);
	expect_match(all, count, "nightly", "nightly", false); /* not the longer one */
	expect_match(all, count, "uid-1", "aa11", true);
	expect_match(all, count, "shop/one", "aa11", true);
	expect_match(all, count, "two", "bb11", true);
	expect_match(all, count, "x", "", false);
}

static void test_broken_state_is_no_name(void **state)
{
	static const char *const texts[] = {"",
					    "{",
					    "[]",
					    "null",
					    "{\"Name\":7}",
					    "{\"Name\":\"\"}",
					    "[[[[",
					    "{\"annotations\":[1]}"};

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		char id[65], path[256], group[128];

		snprintf(id, sizeof(id), "%064zx", i);
		snprintf(path, sizeof(path), "/var/lib/docker/containers/%s/config.v2.json", id);
		write_file(state, path, texts[i]);
		snprintf(path, sizeof(path),
			 "/run/containerd/io.containerd.runtime.v2.task/k8s.io/%s/config.json", id);
		write_file(state, path, texts[i]);
		write_file(state, "/var/lib/containers/storage/overlay-containers/containers.json",
			   texts[i]);
		snprintf(group, sizeof(group), "0::/docker/%s\n", id);
		expect(state, group, id, "", "");
	}
}

static void test_no_link_leads_out_of_the_root(void **state)
{
	struct fixture *fixture = *state;
	char link[256], outside[64];
	FILE *file;

	snprintf(outside, sizeof(outside), "%s.json", fixture->root);
	file = fopen(outside, "w");
	assert_non_null(file);
	fputs("{\"Name\":\"/secret\"}", file);
	fclose(file);
	write_file(state, "/var/lib/docker/containers/" ID "/x", "");
	snprintf(link, sizeof(link), "%s/var/lib/docker/containers/" ID "/config.v2.json",
		 fixture->root);
	assert_int_equal(symlink(outside, link), 0);
	expect(state, "0::/docker/" ID "\n", ID, "", "");
	assert_int_equal(unlink(outside), 0);
}

static void test_mounts(void **state)
{
	char two[] = "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n";
	char one[] = "36 25 0:32 /docker/1 /mnt/a\\040b rw shared:9 - cgroup cgroup rw,cpu,cpuacct";
	char other[] = "22 1 0:5 / /proc rw - proc proc rw\n", cut[] = "36 25 0:32 / - cgroup";
	struct sdw_cgroup_mount mount;

	(void)state;
	assert_true(sdw_cgroup_mount_parse(two, &mount));
	assert_string_equal(mount.point, "/sys/fs/cgroup");
	assert_string_equal(mount.within, "/");
	assert_true(sdw_cgroup_mount_has(&mount, ""));
	assert_false(sdw_cgroup_mount_has(&mount, "rw"));
	free(mount.point), free(mount.within), free(mount.controllers);
	assert_true(sdw_cgroup_mount_parse(one, &mount));
	assert_string_equal(mount.point, "/mnt/a b");
	assert_string_equal(mount.within, "/docker/1");
	assert_true(sdw_cgroup_mount_has(&mount, "cpuacct"));
	assert_true(sdw_cgroup_mount_has(&mount, "cpu"));
	assert_false(sdw_cgroup_mount_has(&mount, "cpua"));
	assert_false(sdw_cgroup_mount_has(&mount, ""));
	free(mount.point), free(mount.within), free(mount.controllers);
	assert_false(sdw_cgroup_mount_parse(other, &mount));
	assert_false(sdw_cgroup_mount_parse(cut, &mount));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(test_docker_names),
		TEST(test_podman_names),
		TEST(test_crio_names_container_and_pod),
		TEST(test_containerd_names_of_kubernetes),
		TEST(test_without_state_the_id_and_the_pods_uid_are_known),
		TEST(test_runc_and_crun_say_which_groups_are_theirs),
		TEST(test_what_comes_later_is_found_then),
		TEST(test_a_container_is_found_by_what_people_call_it),
		TEST(test_broken_state_is_no_name),
		TEST(test_no_link_leads_out_of_the_root),
		TEST(test_mounts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
