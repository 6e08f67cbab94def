// SPDX-License-Identifier: MIT
/* test_native.c - addresses of this very process get the names they should have. */
#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "symbol/native.h"
#include "unwind/frame_table.h"

struct fixture {
	struct sdw_file_cache *cache;
	struct sdw_maps maps;
	struct sdw_perf_map perf_map;
	struct sdw_strings strings;
	char perf_path[64];
	uint8_t *code; /* a page of executable anonymous memory, and one after it that is not */
};

/* named as C++ would; last instruction is a call, so that its return address lies outside */
__attribute__((noinline, used)) static int cpp_named(int x) __asm__("_ZN3sdw4testEi");
static int cpp_named(int x)
{
	return x + 1;
}

/* as an interpreter's functions for one instruction each are */
__attribute__((noinline, used)) static int one_instruction(int x) __asm__("_TAIL_CALL_BINARY_OP");
static int one_instruction(int x)
{
	return x + 2;
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	assert_non_null(f);
	f->code = mmap(NULL, 2 * page, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(f->code != MAP_FAILED);
	assert_int_equal(mprotect(f->code + page, page, PROT_NONE), 0);
	assert_int_equal(sdw_file_cache_create(&f->cache), 0);
	sdw_maps_init(&f->maps, (uint32_t)getpid(), f->cache);
	assert_int_equal(sdw_maps_read(&f->maps), 0);
	f->perf_map.pid = (uint32_t)getpid();
	snprintf(f->perf_path, sizeof(f->perf_path), "/tmp/perf-%d.map", (int)getpid());
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	unlink(f->perf_path);
	sdw_perf_map_free(&f->perf_map);
	sdw_strings_free(&f->strings);
	sdw_maps_free(&f->maps);
	sdw_file_cache_free(f->cache);
	munmap(f->code, 2 * (size_t)sysconf(_SC_PAGESIZE));
	free(f);
	return 0;
}

static struct sdw_native_symbol resolve(struct fixture *f, uint64_t pc, bool is_return_address)
{
	struct sdw_native_symbol symbol;

	assert_int_equal(sdw_native_resolve(&f->maps, &f->perf_map, &f->strings, pc,
					    is_return_address, &symbol),
			 0);
	assert_non_null(symbol.name);
	assert_non_null(symbol.module);
	return symbol;
}

static void test_functions_of_the_program_have_their_names(void **state)
{
	struct sdw_native_symbol symbol = resolve(
		*state, (uintptr_t)test_functions_of_the_program_have_their_names + 3, false);
	char self[4096] = "";

	assert_true(readlink("/proc/self/exe", self, sizeof(self) - 1) > 0);
	assert_string_equal(symbol.name, "test_functions_of_the_program_have_their_names");
	assert_string_equal(symbol.module, self);
	assert_false(symbol.trampoline);
}

static void test_cpp_functions_are_demangled(void **state)
{
	assert_int_equal(cpp_named(1), 2);
	assert_string_equal(resolve(*state, (uintptr_t)cpp_named, false).name, "sdw::test(int)");
}

static void test_functions_for_one_instruction_are_to_be_hidden(void **state)
{
	assert_int_equal(one_instruction(1), 3);
	assert_true(resolve(*state, (uintptr_t)one_instruction, false).trampoline);
}

static void test_functions_of_a_library_have_their_names(void **state)
{
	struct sdw_native_symbol symbol = resolve(*state, (uintptr_t)getpid + 1, false);

	assert_non_null(strstr(symbol.name, "getpid"));
	assert_non_null(strstr(symbol.module, "/libc"));
}

static void test_a_return_address_stands_for_the_call_before_it(void **state)
{
	struct sdw_native_symbol at = resolve(*state, (uintptr_t)cpp_named, false);
	struct sdw_native_symbol before = resolve(*state, (uintptr_t)cpp_named, true);

	assert_string_equal(at.name, "sdw::test(int)");
	assert_string_not_equal(before.name, "sdw::test(int)");
}

static void test_the_vdso_has_names(void **state)
{
	uint64_t vdso = getauxval(AT_SYSINFO_EHDR);
	bool found = false;

	if (!vdso)
		skip();
	for (uint64_t at = vdso; at < vdso + 4096 && !found; at += 4) {
		struct sdw_native_symbol symbol = resolve(*state, at, false);

		assert_string_equal(symbol.module, "[vdso]");
		found = strstr(symbol.name, "clock_gettime") != NULL;
	}
	assert_true(found);
}

static void test_an_address_without_symbol_keeps_its_number(void **state)
{
	/* the ELF header of a library is no function */
	struct fixture *f = *state;
	struct sdw_mapping *mapping = sdw_maps_find(&f->maps, (uintptr_t)getpid);
	struct sdw_native_symbol symbol;
	struct sdw_elf *elf;
	uint64_t vaddr, address = 0;
	struct sdw_elf_symbol found;
	char expected[32];

	assert_non_null(mapping);
	elf = sdw_mapping_elf(&f->maps, mapping);
	assert_non_null(elf);
	for (uint64_t at = mapping->start; at < mapping->end && !address; at++) {
		assert_int_equal(sdw_mapping_to_vaddr(mapping, at, &vaddr), 0);
		if (sdw_elf_symbol_at(elf, vaddr, &found) == -ENOENT)
			address = at;
	}
	assert_true(address != 0);
	symbol = resolve(f, address, false);
	snprintf(expected, sizeof(expected), "0x%" PRIx64, vaddr);
	assert_string_equal(symbol.name, expected);
	assert_non_null(strstr(symbol.module, "/libc"));
}

/* An address inside of a function that has an unwind table and no symbol; 0: there is none. */
static uint64_t find_nameless(struct fixture *f, struct sdw_mapping *mapping,
			      struct sdw_frame_entry *entry)
{
	struct sdw_elf *elf = sdw_mapping_elf(&f->maps, mapping);
	struct sdw_frame_tables tables = {0};
	struct sdw_elf_symbol found;
	uint64_t vaddr, at = elf ? mapping->start : mapping->end;

	for (; at < mapping->end; at += 16) {
		if (sdw_mapping_to_vaddr(mapping, at, &vaddr) ||
		    !sdw_elf_symbol_at(elf, vaddr, &found) || !sdw_elf_stub_at(elf, vaddr, &found))
			continue;
		if (!sdw_frame_table_find(&tables, elf, vaddr, entry) && entry->start < vaddr)
			break;
	}
	sdw_frame_tables_free(&tables);
	return at < mapping->end ? at : 0;
}

static void test_all_addresses_of_a_function_without_symbol_are_named_by_its_start(void **state)
{
	struct fixture *f = *state;
	struct sdw_frame_entry entry = {0};
	char expected[32];
	uint64_t at = 0;

	for (size_t i = 0; i < f->maps.count && !at; i++) {
		if (f->maps.items[i].executable && f->maps.items[i].inode)
			at = find_nameless(f, &f->maps.items[i], &entry);
	}
	if (!at)
		skip(); /* every library has its debug file installed */
	snprintf(expected, sizeof(expected), "0x%" PRIx64, entry.start);
	assert_string_equal(resolve(f, at, false).name, expected);
	assert_string_equal(resolve(f, at + 1, true).name, expected);
	assert_true(resolve(f, at, false).start == entry.start);
}

static void test_stubs_are_named_after_the_function_that_they_call(void **state)
{
	struct fixture *f = *state;
	struct sdw_mapping *mapping = sdw_maps_find(
		&f->maps, (uintptr_t)test_stubs_are_named_after_the_function_that_they_call);
	uint64_t vaddr, size, bias, found = 0;
	struct sdw_elf *elf;

	assert_non_null(mapping);
	elf = sdw_mapping_elf(&f->maps, mapping);
	assert_non_null(elf);
	assert_int_equal(sdw_mapping_bias(mapping, &bias), 0);
	if (sdw_elf_section_address(elf, ".plt.sec", &vaddr, &size) &&
	    sdw_elf_section_address(elf, ".plt", &vaddr, &size))
		skip(); /* linked with -z now -fno-plt */
	for (uint64_t at = vaddr; at < vaddr + size; at += 16) {
		struct sdw_native_symbol symbol = resolve(f, bias + at + 9, false);

		/* teardown() calls it */
		found += !strcmp(symbol.name, "unlink@plt");
		if (!strcmp(symbol.name, "unlink@plt"))
			assert_true(symbol.start == at);
	}
	assert_int_equal(found, 1);
}

/* As libpython does, whose evaluation function may be replaced: by a stub. */
static void test_a_stub_of_the_evaluation_function_is_the_interpreters_own(void **state)
{
	struct fixture *f = *state;
	char folder[] = "/tmp/sidewinder-stub-XXXXXX", path[64], command[512];
	uint64_t vaddr, size, bias, found = 0;
	struct sdw_mapping *mapping;
	struct sdw_elf *elf;
	void *library;

	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/lib.so", folder);
	snprintf(command, sizeof(command),
		 "echo 'void _PyEval_EvalFrameDefault(void); void other(void);"
		 "void f(void) { _PyEval_EvalFrameDefault(); other(); }' |"
		 "cc -shared -fPIC -fplt -Wl,-z,lazy -x c -o %s - && test -s %s",
		 path, path);
	if (system(command)) {
		rmdir(folder);
		skip(); /* no compiler of that name */
	}
	library = dlopen(path, RTLD_LAZY);
	assert_non_null(library);
	assert_int_equal(sdw_maps_read(&f->maps), 0);
	mapping = sdw_maps_find(&f->maps, (uintptr_t)dlsym(library, "f"));
	elf = sdw_mapping_elf(&f->maps, mapping);
	assert_non_null(elf);
	assert_int_equal(sdw_mapping_bias(mapping, &bias), 0);
	if (sdw_elf_section_address(elf, ".plt.sec", &vaddr, &size))
		assert_int_equal(sdw_elf_section_address(elf, ".plt", &vaddr, &size), 0);
	for (uint64_t at = vaddr; at < vaddr + size; at += 16) {
		struct sdw_native_symbol symbol = resolve(f, bias + at, false);

		if (!strcmp(symbol.name, "_PyEval_EvalFrameDefault@plt")) {
			assert_true(symbol.trampoline);
			found |= 1;
		} else if (!strcmp(symbol.name, "other@plt")) {
			assert_false(symbol.trampoline);
			found |= 2;
		}
	}
	assert_int_equal(found, 3);
	dlclose(library);
	unlink(path);
	rmdir(folder);
}

static void test_an_address_outside_of_every_mapping_is_unknown(void **state)
{
	struct sdw_native_symbol symbol = resolve(*state, 0x1234, false);

	assert_string_equal(symbol.name, "0x1234");
	assert_string_equal(symbol.module, "[unknown]");
	symbol = resolve(*state, 0, true);
	assert_string_equal(symbol.name, "0x0");
}

static void test_code_without_a_file_is_anonymous_or_named_by_the_perf_map(void **state)
{
	struct fixture *f = *state;
	uint64_t code = (uintptr_t)f->code;
	struct sdw_native_symbol symbol = resolve(f, code + 8, false);
	FILE *file;

	assert_string_equal(symbol.name, "[anonymous]");
	assert_string_equal(symbol.module, "");

	file = fopen(f->perf_path, "wx");
	assert_non_null(file);
	fprintf(file, "%" PRIx64 " 10 compiled\n%" PRIx64 " 10 py::work:/a.py\n", code, code + 16);
	fclose(file);
	symbol = resolve(f, code + 8, false);
	assert_string_equal(symbol.name, "compiled");
	assert_string_equal(symbol.module, "[jit]");
	assert_false(symbol.trampoline);
	assert_true(symbol.start == code);
	symbol = resolve(f, code + 16, true); /* returns behind its last instruction */
	assert_string_equal(symbol.name, "compiled");
	symbol = resolve(f, code + 16, false);
	assert_string_equal(symbol.name, "py::work:/a.py");
	assert_true(symbol.trampoline);
	symbol = resolve(f, code + 32, false);
	assert_string_equal(symbol.name, "[anonymous]");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_functions_of_the_program_have_their_names),
		TEST(test_cpp_functions_are_demangled),
		TEST(test_functions_for_one_instruction_are_to_be_hidden),
		TEST(test_functions_of_a_library_have_their_names),
		TEST(test_a_return_address_stands_for_the_call_before_it),
		TEST(test_the_vdso_has_names),
		TEST(test_an_address_without_symbol_keeps_its_number),
		TEST(test_all_addresses_of_a_function_without_symbol_are_named_by_its_start),
		TEST(test_stubs_are_named_after_the_function_that_they_call),
		TEST(test_a_stub_of_the_evaluation_function_is_the_interpreters_own),
		TEST(test_an_address_outside_of_every_mapping_is_unknown),
		TEST(test_code_without_a_file_is_anonymous_or_named_by_the_perf_map),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
