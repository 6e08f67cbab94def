// SPDX-License-Identifier: MIT
/*
 * test_interpreter.c - which CPython a process runs and where its things are: on every interpreter
 * of this machine that is found, and on forged files. What an interpreter says of itself is the
 * judge.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <dlfcn.h>
#include <errno.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "target/python_file.h"

#include "debug_offsets.h"
#include "elf_builder.h"

/* says its version and the address of PyCode_Type, and stays in three known frames */
static const char program[] = "import sys, time\n"
			      "def inner():\n"
			      "    sys.stdout.write('%d.%d.%d %x\\n' % (sys.version_info[:3] +\n"
			      "        (id(type(compile('0', '', 'eval'))),)))\n"
			      "    sys.stdout.flush()\n"
			      "    time.sleep(60)\n"
			      "def outer():\n"
			      "    inner()\n"
			      "outer()\n";

struct python {
	pid_t pid;
	char version[32];
	unsigned long long code_type;
	struct sdw_maps maps;
};

struct fixture {
	struct sdw_file_cache *cache;
	glob_t executables;
};

static void find_executables(glob_t *found)
{
	const char *root = getenv("PYENV_ROOT"), *home = getenv("HOME");
	char pattern[1024];

	glob("/usr/bin/python3", 0, NULL, found);
	glob("/usr/local/bin/python3", GLOB_APPEND, NULL, found);
	snprintf(pattern, sizeof(pattern), "%s%s/versions/[23].*/bin/python", root ? root : home,
		 root ? "" : "/.pyenv");
	glob(pattern, GLOB_APPEND, NULL, found);
}

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	if (!fixture || sdw_file_cache_create(&fixture->cache))
		return -1;
	find_executables(&fixture->executables);
	*state = fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	globfree(&fixture->executables);
	sdw_file_cache_free(fixture->cache);
	free(fixture);
	return 0;
}

static void start(struct fixture *fixture, const char *executable, struct python *python)
{
	int ends[2];
	FILE *output;

	memset(python, 0, sizeof(*python));
	assert_int_equal(pipe(ends), 0);
	python->pid = fork();
	if (python->pid == 0) {
		dup2(ends[1], STDOUT_FILENO);
		close(ends[0]);
		execl(executable, executable, "-E", "-c", program, (char *)NULL);
		_exit(127);
	}
	close(ends[1]);
	output = fdopen(ends[0], "r");
	assert_non_null(output);
	assert_int_equal(fscanf(output, "%31s %llx", python->version, &python->code_type), 2);
	fclose(output);
	sdw_maps_init(&python->maps, (uint32_t)python->pid, fixture->cache);
	assert_int_equal(sdw_maps_read(&python->maps), 0);
}

static void end_process(struct python *python)
{
	kill(python->pid, SIGKILL);
	waitpid(python->pid, NULL, 0);
	sdw_maps_free(&python->maps);
}

static bool is_supported(const char *version)
{
	unsigned int major = 0, minor = 0;

	assert_int_equal(sscanf(version, "%u.%u.", &major, &minor), 2);
	return (major == 2 && minor == 7) || (major == 3 && minor >= 6 && minor <= 15);
}

static uint64_t word_at(const struct python *python, uint64_t address)
{
	uint64_t word = 0;

	assert_int_equal(sdw_remote_read((uint32_t)python->pid, address, &word, sizeof(word)), 0);
	return word;
}

/* Appends "NAME " of a frame's code object, if it is one. */
static void append_name(const struct python *python, const struct sdw_found_interpreter *found,
			uint64_t frame, char *names, size_t room)
{
	const struct sdw_pylayout *layout = &found->layout;
	uint64_t code =
		word_at(python, frame + layout->frame_code) & ~(uint64_t)layout->frame_code_tags;
	uint64_t name;
	char text[32] = "";

	if (word_at(python, code + layout->object_type) != found->code_type_addr)
		return;
	/* the shim frames of 3.12 have a code object too: they are told by their owner */
	if (layout->frame_kind >= SDW_FRAMES_SHIM_CFRAME &&
	    (word_at(python, frame + layout->frame_owner) & 0xff) >= 3)
		return;
	name = word_at(python, code + layout->code_name);
	assert_in_range(word_at(python, name + layout->unicode_length), 1, sizeof(text) - 1);
	assert_int_equal(sdw_remote_read((uint32_t)python->pid, name + layout->unicode_ascii_data,
					 text, word_at(python, name + layout->unicode_length)),
			 0);
	assert_true(strlen(names) + strlen(text) + 2 < room);
	strcat(strcat(names, text), " ");
}

static void walk(const struct python *python, const struct sdw_found_interpreter *found,
		 char *names, size_t room)
{
	const struct sdw_pylayout *layout = &found->layout;
	uint64_t interpreter, thread, frame;

	interpreter = word_at(python, found->runtime_addr + layout->runtime_interpreters_head);
	thread = word_at(python, interpreter + layout->interpreter_threads_head);
	assert_int_equal(word_at(python, thread + layout->thread_interpreter), interpreter);
	assert_int_equal(word_at(python, thread + layout->thread_next), 0);
	frame = word_at(python, thread + layout->thread_frame);
	if (layout->cframe_current_frame != SDW_NO_OFFSET)
		frame = word_at(python, frame + layout->cframe_current_frame);
	names[0] = '\0';
	for (int i = 0; i < 20 && frame; i++) {
		append_name(python, found, frame, names, room);
		frame = word_at(python, frame + layout->frame_previous);
	}
	assert_int_equal(frame, 0);
}

static void check_supported(const struct python *python, const struct sdw_found_interpreter *found)
{
	char names[128];

	assert_string_equal(found->problem, "");
	assert_string_equal(found->version, python->version);
	assert_int_equal(found->code_type_addr, python->code_type);
	walk(python, found, names, sizeof(names));
	assert_string_equal(names, "inner outer <module> ");
}

static void check_refused(const struct python *python, const struct sdw_found_interpreter *found)
{
	char problem[160];

	snprintf(problem, sizeof(problem), "CPython %s is not supported (2.7 and 3.6 to 3.15 are)",
		 python->version);
	assert_string_equal(found->problem, problem);
	assert_string_equal(found->version, python->version);
}

static void test_every_interpreter_is_walked_or_refused_by_name(void **state)
{
	struct fixture *fixture = *state;
	struct sdw_found_interpreter found;

	if (!fixture->executables.gl_pathc)
		skip();
	for (size_t i = 0; i < fixture->executables.gl_pathc; i++) {
		struct python python;

		start(fixture, fixture->executables.gl_pathv[i], &python);
		print_message("CPython %s\n", python.version);
		if (is_supported(python.version)) {
			assert_int_equal(sdw_interpreter_find(&python.maps, &found), 1);
			check_supported(&python, &found);
		} else {
			assert_int_equal(sdw_interpreter_find(&python.maps, &found), -ENOTSUP);
			check_refused(&python, &found);
		}
		end_process(&python);
	}
}

static void test_a_second_process_reads_nothing_of_the_file_again(void **state)
{
	struct fixture *fixture = *state;
	struct sdw_found_interpreter first, second;
	struct python a, b;
	size_t i = 0;

	if (!fixture->executables.gl_pathc)
		skip();
	start(fixture, fixture->executables.gl_pathv[0], &a);
	start(fixture, fixture->executables.gl_pathv[0], &b);
	assert_int_equal(sdw_interpreter_find(&a.maps, &first), 1);
	assert_int_equal(sdw_interpreter_find(&b.maps, &second), 1);
	assert_memory_equal(&first.layout, &second.layout, sizeof(first.layout));
	/* the same file in memory, and the same answer kept with it */
	while (strcmp(a.maps.items[i].path, first.path) != 0)
		i++;
	for (size_t j = 0; j < b.maps.count; j++) {
		if (strcmp(b.maps.items[j].path, first.path) == 0)
			assert_ptr_equal(sdw_mapping_elf(&b.maps, &b.maps.items[j]),
					 sdw_mapping_elf(&a.maps, &a.maps.items[i]));
	}
	end_process(&a);
	end_process(&b);
}

static void test_a_process_that_is_gone_is_said_to_be(void **state)
{
	struct fixture *fixture = *state;
	struct sdw_found_interpreter found;
	struct python python;

	if (!fixture->executables.gl_pathc)
		skip();
	start(fixture, fixture->executables.gl_pathv[0], &python);
	assert_int_equal(sdw_interpreter_find(&python.maps, &found), 1);
	kill(python.pid, SIGKILL);
	waitpid(python.pid, NULL, 0);
	assert_int_equal(sdw_interpreter_find(&python.maps, &found), -ESRCH);
	sdw_maps_free(&python.maps);
}

static void test_a_program_without_python_has_none(void **state)
{
	struct fixture *fixture = *state;
	struct sdw_found_interpreter found;
	struct sdw_maps maps;

	sdw_maps_init(&maps, (uint32_t)getpid(), fixture->cache);
	assert_int_equal(sdw_maps_read(&maps), 0);
	assert_int_equal(sdw_interpreter_find(&maps, &found), 0);
	sdw_maps_free(&maps);
}

/* Finds the path of some supported libpython. */
static bool find_library(struct fixture *fixture, char *path, size_t room)
{
	struct sdw_found_interpreter found;

	for (size_t i = 0; i < fixture->executables.gl_pathc; i++) {
		struct python python;
		int result;

		start(fixture, fixture->executables.gl_pathv[i], &python);
		result = sdw_interpreter_find(&python.maps, &found);
		end_process(&python);
		if (result == 1 && strstr(found.path, ".so")) {
			snprintf(path, room, "%s", found.path);
			return true;
		}
	}
	return false;
}

static void test_a_library_that_is_only_loaded_is_to_be_tried_again(void **state)
{
	struct fixture *fixture = *state;
	struct sdw_found_interpreter found;
	struct sdw_maps maps;
	char path[256], byte;
	int ends[2];
	pid_t pid;

	if (!find_library(fixture, path, sizeof(path)))
		skip(); /* no shared libpython here */
	assert_int_equal(pipe(ends), 0);
	pid = fork();
	if (pid == 0) {
		if (!dlopen(path, RTLD_NOW | RTLD_GLOBAL) || write(ends[1], "", 1) != 1)
			_exit(1);
		pause();
	}
	assert_int_equal(read(ends[0], &byte, 1), 1);
	sdw_maps_init(&maps, (uint32_t)pid, fixture->cache);
	assert_int_equal(sdw_maps_read(&maps), 0);
	assert_int_equal(sdw_interpreter_find(&maps, &found), -EAGAIN);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	sdw_maps_free(&maps);
	close(ends[0]);
	close(ends[1]);
}

static void test_a_program_whose_libraries_are_not_mapped_yet_is_to_be_tried_again(void **state)
{
	struct fixture *fixture = *state;
	struct sdw_found_interpreter found;
	struct sdw_maps maps;
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		/* stops right after exec, before the dynamic loader runs */
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execl("/proc/self/exe", "test", (char *)NULL);
		_exit(127);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSTOPPED(status));
	sdw_maps_init(&maps, (uint32_t)pid, fixture->cache);
	assert_int_equal(sdw_maps_read(&maps), 0);
	assert_int_equal(sdw_interpreter_find(&maps, &found), -EAGAIN);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	sdw_maps_free(&maps);
}

/* A file with these symbols, whose first bytes of code are `bytes`; the caller releases *elf. */
static const struct sdw_python_file *look_at(const struct built_symbol *symbols, size_t count,
					     const void *bytes, size_t size, struct sdw_elf **elf)
{
	const struct sdw_python_file *file;
	struct built_elf built;

	built_start(&built, SHT_DYNSYM, symbols, count);
	built_sections(&built, ".extra", 0, NULL, 0);
	memcpy(built.bytes + BUILT_TEXT_AT, bytes, size);
	assert_int_equal(sdw_elf_open_memory(built.bytes, built.size, elf), 0);
	file = sdw_python_file_of(*elf);
	assert_non_null(file);
	return file;
}

static void check_file(const struct built_symbol *symbols, size_t count, const void *bytes,
		       size_t size, const char *version, const char *problem)
{
	struct sdw_elf *elf;
	const struct sdw_python_file *file = look_at(symbols, count, bytes, size, &elf);

	assert_true(file->is_python);
	assert_string_equal(file->version, version);
	assert_string_equal(file->problem, problem);
	sdw_elf_unref(elf);
}

static void check_offsets(uint64_t version, uint64_t free_threaded, uint64_t constant,
			  const char *shown, const char *problem)
{
	static const struct built_symbol symbols[] = {
		{"_PyRuntime", BUILT_TEXT, 283320, STT_OBJECT, STB_GLOBAL},
		{"Py_Version", BUILT_TEXT + 0x800, 8, STT_OBJECT, STB_GLOBAL},
	};
	uint8_t bytes[0x808] = {0};
	uint64_t words[WORDS];

	memcpy(words, real_offsets, sizeof(words));
	memcpy(words, "xdebugpy", 8);
	words[VERSION] = version;
	words[FREE_THREADED] = free_threaded;
	memcpy(bytes, words, sizeof(words));
	memcpy(bytes + 0x800, &constant, sizeof(constant));
	check_file(symbols, 2, bytes, sizeof(bytes), shown, problem);
}

static void test_files_that_describe_themselves_are_taken_at_their_word(void **state)
{
	(void)state;
	check_offsets(0x030d00f0, 0, 0x030d00f0, "3.13.0", "");
	check_offsets(0x030d0cf0, 0, 0x030d0cf0, "3.13.12", "");
	check_offsets(0x030d00c2, 0, 0x030d00c2, "3.13.0rc2", "");
	check_offsets(0x030d00f0, 1, 0x030d00f0, "3.13.0", "");
	check_offsets(0x030d00a5, 0, 0x030d00a5, "3.13.0a5",
		      "CPython 3.13.0a5, a pre-release, is not supported");
	check_offsets(0x031002f0, 0, 0x031002f0, "3.16.2",
		      "CPython 3.16.2 is not supported yet (2.7 and 3.6 to 3.15 are)");
	check_offsets(0x030d00f0, 2, 0x030d00f0, "3.13.0",
		      "CPython 3.13.0 is not supported (2.7 and 3.6 to 3.15 are)");
	check_offsets(0x030d00f0, 0, 0x030c00f0, "3.13.0",
		      "CPython 3.13.0 gives two versions of itself");
}

static void check_constant(uint64_t constant, const char *other, const char *version,
			   const char *problem)
{
	const struct built_symbol symbols[] = {
		{"_PyRuntime", BUILT_TEXT + 0x100, 0, STT_OBJECT, STB_GLOBAL},
		{"Py_Version", BUILT_TEXT, 8, STT_OBJECT, STB_GLOBAL},
		{other, BUILT_TEXT + 0x200, 8, STT_FUNC, STB_GLOBAL},
	};

	check_file(symbols, 3, &constant, sizeof(constant), version, problem);
}

static void test_the_version_constant_decides(void **state)
{
	(void)state;
	check_constant(0x030b04f0, "other", "3.11.4", "");
	check_constant(0x030c0af0, "other", "3.12.10", "");
	check_constant(0x030b04f0, "_Py_NegativeRefcount", "3.11.4", "");
	check_constant(0x031000f0, "other", "3.16.0",
		       "CPython 3.16.0 is not supported yet (2.7 and 3.6 to 3.15 are)");
	check_constant(0x030d00f0, "other", "3.13.0",
		       "CPython 3.13.0 is not supported (2.7 and 3.6 to 3.15 are)");
	check_constant(0, "other", "0.0.0",
		       "CPython 0.0.0 is not supported (2.7 and 3.6 to 3.15 are)");
}

/* Py_GetVersion at BUILT_TEXT refers to `text`, which ends a longer text as compilers merge them.
 */
static void check_text(const char *text, const char *runtime, const char *version,
		       const char *problem)
{
	const struct built_symbol symbols[] = {
		{"Py_GetVersion", BUILT_TEXT, 12, STT_FUNC, STB_GLOBAL},
		{runtime, BUILT_TEXT + 0x100, 0, STT_OBJECT, STB_GLOBAL},
	};
	/* push rbx; lea rcx, [rip + 56] */
	uint8_t bytes[0x80] = {0x53, 0x48, 0x8d, 0x0d, 56, 0, 0, 0};

	memcpy(bytes + 59, "path/", 5);
	memcpy(bytes + 64, text, strlen(text));
	check_file(symbols, 2, bytes, sizeof(bytes), version, problem);
}

static void test_older_versions_are_read_where_the_version_function_refers_to(void **state)
{
	(void)state;
	check_text("3.8.18", "_PyRuntime", "3.8.18", "");
	check_text("3.9.2+", "_PyRuntime", "3.9.2+", "");
	check_text("3.10.0rc1", "_PyRuntime", "3.10.0rc1", "");
	check_text("3.10.0b1", "_PyRuntime", "3.10.0b1",
		   "CPython 3.10.0b1, a pre-release, is not supported");
	check_text("3.7.16", "_PyRuntime", "3.7.16", "");
	check_text("3.6.15", "_PyRuntime", "3.6.15",
		   "CPython 3.6.15 is not supported (2.7 and 3.6 to 3.15 are)");
	check_text("2.7.18", "_PyThreadState_Current", "2.7.18",
		   "CPython 2.7.18 does not say where its interpreters are");
	check_text("2.6.9", "_PyThreadState_Current", "2.6.9",
		   "CPython 2.6.9 is not supported (2.7 and 3.6 to 3.15 are)");
	check_text("3.8.18 and more", "_PyRuntime", "",
		   "a CPython whose version cannot be told (stripped?)");
}

static void test_a_runtime_of_impossible_size_is_refused(void **state)
{
	static const uint64_t sizes[] = {1, 47, 1ull << 40};
	static const uint64_t constant = 0x030b04f0;

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		const struct built_symbol symbols[] = {
			{"_PyRuntime", BUILT_TEXT + 0x100, sizes[i], STT_OBJECT, STB_GLOBAL},
			{"Py_Version", BUILT_TEXT, 8, STT_OBJECT, STB_GLOBAL},
		};

		check_file(symbols, 2, &constant, sizeof(constant), "3.11.4",
			   "CPython 3.11.4 has a _PyRuntime of an impossible size");
	}
}

static void test_a_file_without_a_runtime_is_no_python(void **state)
{
	static const struct built_symbol symbols[] = {
		{"PyCode_Type", BUILT_TEXT, 8, STT_OBJECT, STB_GLOBAL},
	};
	struct sdw_elf *elf;

	(void)state;
	assert_false(look_at(symbols, 1, "", 0, &elf)->is_python);
	sdw_elf_unref(elf);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_every_interpreter_is_walked_or_refused_by_name),
		TEST(test_a_second_process_reads_nothing_of_the_file_again),
		TEST(test_a_process_that_is_gone_is_said_to_be),
		TEST(test_a_program_without_python_has_none),
		TEST(test_a_library_that_is_only_loaded_is_to_be_tried_again),
		TEST(test_a_program_whose_libraries_are_not_mapped_yet_is_to_be_tried_again),
		cmocka_unit_test(test_files_that_describe_themselves_are_taken_at_their_word),
		cmocka_unit_test(test_the_version_constant_decides),
		cmocka_unit_test(test_older_versions_are_read_where_the_version_function_refers_to),
		cmocka_unit_test(test_a_runtime_of_impossible_size_is_refused),
		cmocka_unit_test(test_a_file_without_a_runtime_is_no_python),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
