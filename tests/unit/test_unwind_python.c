// SPDX-License-Identifier: MIT
/*
 * test_unwind_python.c - unwinds living Python processes, each interpreter found on this machine,
 * and holds templates against libunwind on every sample.
 *
 * SDW_PYTHONS: executables to take instead, separated by blanks.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <elf.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "unwind/unwind.h"

#define SAMPLES	    60
#define STACK_BYTES (512u * 1024u)

/* C calls Python calls C: sorted() calls key() */
static const char program[] = "import sys\n"
			      "def key(x):\n"
			      "    return -x\n"
			      "def inner(n):\n"
			      "    return sorted(range(n), key=key)[0]\n"
			      "def outer():\n"
			      "    while True:\n"
			      "        inner(100)\n"
			      "sys.stdout.write('ready\\n')\n"
			      "sys.stdout.flush()\n"
			      "outer()\n";

struct child {
	pid_t pid;
	uint64_t entry; /* address of _start */
	struct sdw_maps maps;
	struct sdw_unwinder *unwinder;
	struct sdw_unwind_statistics statistics;
};

static uint8_t stack[STACK_BYTES];

/* Starts the program with an option of -X; returns false if it does not run. */
static bool start_child(const char *python, const char *option, struct child *child)
{
	char line[16] = "";
	int ends[2];
	ssize_t size;

	assert_int_equal(pipe(ends), 0);
	child->pid = fork();
	assert_true(child->pid >= 0);
	if (child->pid == 0) {
		/* not to be left behind when an assertion fails */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(ends[1], STDOUT_FILENO);
		close(ends[0]);
		close(ends[1]);
		execl(python, python, "-X", option, "-c", program, (char *)NULL);
		_exit(127);
	}
	close(ends[1]);
	size = read(ends[0], line, sizeof(line) - 1);
	close(ends[0]);
	return size == 6 && strcmp(line, "ready\n") == 0;
}

static uint64_t entry_of(pid_t pid)
{
	char path[64];
	Elf64_auxv_t item;
	uint64_t entry = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/auxv", pid);
	file = fopen(path, "re");
	assert_non_null(file);
	while (fread(&item, sizeof(item), 1, file) == 1) {
		if (item.a_type == AT_ENTRY)
			entry = item.a_un.a_val;
	}
	fclose(file);
	return entry;
}

static uint64_t end_of_stack(pid_t pid, uint64_t sp)
{
	char path[64], line[4352];
	uint64_t start, end, found = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	file = fopen(path, "re");
	assert_non_null(file);
	while (!found && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%lx-%lx", &start, &end) == 2 && sp >= start && sp < end)
			found = end;
	}
	fclose(file);
	assert_true(found > sp);
	return found;
}

static size_t take(struct child *child, struct sdw_registers *registers)
{
	struct user_regs_struct user;
	size_t size;
	int status;

	assert_int_equal(ptrace(PTRACE_INTERRUPT, child->pid, NULL, NULL), 0);
	assert_int_equal(waitpid(child->pid, &status, __WALL), child->pid);
	assert_true(WIFSTOPPED(status));
	assert_int_equal(ptrace(PTRACE_GETREGS, child->pid, NULL, &user), 0);
	*registers = (struct sdw_registers){.ip = user.rip,
					    .sp = user.rsp,
					    .bp = user.rbp,
					    .bx = user.rbx,
					    .r12 = user.r12,
					    .r13 = user.r13,
					    .r14 = user.r14,
					    .r15 = user.r15};
	size = end_of_stack(child->pid, user.rsp) - user.rsp;
	if (size > sizeof(stack))
		size = sizeof(stack);
	assert_int_equal(sdw_remote_read((uint32_t)child->pid, user.rsp, stack, size), 0);
	assert_int_equal(ptrace(PTRACE_CONT, child->pid, NULL, NULL), 0);
	return size;
}

/* How many of the frames are in the interpreter's evaluation function. */
static size_t count_evaluations(struct child *child, const uint64_t *pcs, size_t count)
{
	size_t evaluations = 0;

	for (size_t i = 0; i < count; i++) {
		uint64_t address = pcs[i] - (i > 0), vaddr;
		struct sdw_mapping *mapping = sdw_maps_find(&child->maps, address);
		struct sdw_elf *elf = mapping ? sdw_mapping_elf(&child->maps, mapping) : NULL;

		/* all code is in files, but for the trampolines of -X perf */
		assert_non_null(mapping);
		assert_true(mapping->executable);
		if (!elf)
			continue;
		assert_int_equal(sdw_mapping_to_vaddr(mapping, address, &vaddr), 0);
		evaluations += sdw_elf_is_evaluation(elf, vaddr);
	}
	return evaluations;
}

static void sample_child(struct child *child)
{
	static uint64_t pcs[SDW_MAX_NATIVE_FRAMES];
	size_t most = 0;

	for (int i = 0; i < SAMPLES; i++) {
		struct sdw_registers registers;
		size_t count, evaluations, size = take(child, &registers);

		assert_int_equal(sdw_unwind(child->unwinder, &registers, stack, size, pcs,
					    SDW_MAX_NATIVE_FRAMES, &count),
				 SDW_UNWIND_COMPLETE);
		/* the outermost frame is _start, which is less than 64 bytes long */
		assert_in_range(pcs[count - 1], child->entry, child->entry + 64);
		evaluations = count_evaluations(child, pcs, count);
		assert_true(evaluations >= 1);
		if (evaluations > most)
			most = evaluations;
		usleep(500);
	}
	/* the key function was met inside sorted() */
	assert_true(most >= 2);
	assert_int_equal(child->statistics.samples, SAMPLES);
	assert_int_equal(child->statistics.verified, SAMPLES);
	assert_int_equal(child->statistics.differed, 0);
	assert_true(child->statistics.template_samples > 0);
}

/* What -X perf leaves behind. */
static void remove_perf_map(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", pid);
	unlink(path);
}

static void check_python(const char *python, const char *option, struct sdw_file_cache *cache,
			 int *tested)
{
	struct child child = {.pid = -1};
	int status;

	if (!start_child(python, option, &child)) {
		print_message("skipped: %s does not run the program\n", python);
		waitpid(child.pid, &status, 0);
		return;
	}
	print_message("%s -X %s\n", python, option);
	assert_int_equal(ptrace(PTRACE_SEIZE, child.pid, NULL, PTRACE_O_EXITKILL), 0);
	child.entry = entry_of(child.pid);
	sdw_maps_init(&child.maps, (uint32_t)child.pid, cache);
	assert_int_equal(sdw_maps_read(&child.maps), 0);
	assert_int_equal(
		sdw_unwinder_create(&child.maps, true, true, &child.statistics, &child.unwinder),
		0);
	sample_child(&child);
	kill(child.pid, SIGKILL);
	waitpid(child.pid, &status, 0);
	remove_perf_map(child.pid);
	sdw_unwinder_free(child.unwinder);
	sdw_maps_free(&child.maps);
	(*tested)++;
}

static void find_pythons(glob_t *found)
{
	const char *root = getenv("PYENV_ROOT"), *home = getenv("HOME");
	const char *given = getenv("SDW_PYTHONS");
	char pattern[4096], *copy, *rest, *word;

	memset(found, 0, sizeof(*found));
	if (given) {
		rest = copy = strdup(given);
		assert_non_null(copy);
		for (int more = 0; (word = strtok_r(rest, " \n", &rest)); more = GLOB_APPEND)
			glob(word, more | GLOB_NOCHECK, NULL, found);
		free(copy);
		return;
	}
	glob("/usr/bin/python3.[0-9]*", 0, NULL, found);
	if (root)
		snprintf(pattern, sizeof(pattern), "%s/versions/3.*/bin/python3", root);
	else
		snprintf(pattern, sizeof(pattern), "%s/.pyenv/versions/3.*/bin/python3",
			 home ? home : "");
	glob(pattern, GLOB_APPEND, NULL, found);
}

static void test_stacks_of_living_pythons_are_whole_and_the_same_both_ways(void **state)
{
	struct sdw_file_cache *cache;
	glob_t pythons;
	int tested = 0;

	(void)state;
	find_pythons(&pythons);
	assert_int_equal(sdw_file_cache_create(&cache), 0);
	for (size_t i = 0; i < pythons.gl_pathc; i++) {
		if (strstr(pythons.gl_pathv[i], "-config") || strstr(pythons.gl_pathv[i], ".gdb"))
			continue;
		check_python(pythons.gl_pathv[i], "dev", cache, &tested);
		/* from 3.12 on: a trampoline before each evaluation; older ones do not know it */
		check_python(pythons.gl_pathv[i], "perf", cache, &tested);
	}
	globfree(&pythons);
	sdw_file_cache_free(cache);
	if (!tested) {
		print_message("skipped: no Python found\n");
		skip();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stacks_of_living_pythons_are_whole_and_the_same_both_ways),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
