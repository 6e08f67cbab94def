// SPDX-License-Identifier: MIT
/* test_maps.c - mappings as the kernel shows them, and which file is taken to be behind them. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "target/maps.h"

struct fixture {
	struct sdw_file_cache *cache;
	struct sdw_maps maps;
	char folder[64];
	char path[128]; /* of a copy of this program, made by copy_program */
};

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	if (!fixture || sdw_file_cache_create(&fixture->cache))
		return -1;
	sdw_maps_init(&fixture->maps, (uint32_t)getpid(), fixture->cache);
	strcpy(fixture->folder, "/tmp/test_maps.XXXXXX");
	*state = fixture;
	return mkdtemp(fixture->folder) ? 0 : -1;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	sdw_maps_free(&fixture->maps);
	sdw_file_cache_free(fixture->cache);
	unlink(fixture->path);
	rmdir(fixture->folder);
	free(fixture);
	return 0;
}

static struct sdw_mapping parse(const char *line)
{
	struct sdw_mapping mapping = {0};
	size_t size = strlen(line);
	char *exact = malloc(size ? size : 1); /* so that the sanitizer sees a read beyond it */

	assert_non_null(exact);
	memcpy(exact, line, size);
	assert_int_equal(sdw_maps_parse_line(exact, size, &mapping), 0);
	free(exact);
	return mapping;
}

static void check_path(const char *line, const char *path)
{
	struct sdw_mapping mapping = parse(line);

	assert_string_equal(mapping.path, path);
	free(mapping.path);
}

static void test_a_line_gives_all_fields(void **state)
{
	struct sdw_mapping mapping = parse("7f2a00001000-7f2a00042000 r-xp 0001f000 fe:0c 247278   "
					   "                  /usr/lib/libpython3.12.so.1.0\n");

	(void)state;
	assert_int_equal(mapping.start, 0x7f2a00001000);
	assert_int_equal(mapping.end, 0x7f2a00042000);
	assert_int_equal(mapping.offset, 0x1f000);
	assert_int_equal(mapping.device_major, 0xfe);
	assert_int_equal(mapping.device_minor, 0x0c);
	assert_int_equal(mapping.inode, 247278);
	assert_true(mapping.executable);
	assert_false(mapping.file_tried);
	assert_string_equal(mapping.path, "/usr/lib/libpython3.12.so.1.0");
	free(mapping.path);
}

static void test_odd_names_are_kept_whole(void **state)
{
	(void)state;
	check_path("1000-2000 rw-p 00000000 00:00 0 \n", "");
	check_path("1000-2000 rw-p 00000000 00:00 0 [heap]", "[heap]");
	check_path("1000-2000 r--p 00000000 fe:00 7      /a b/c  d\n", "/a b/c  d");
	check_path("1000-2000 r--p 00000000 fe:00 7      /new\\012line\n", "/new\nline");
	check_path("1000-2000 r--p 00000000 fe:00 7      /back\\slash\\01\n", "/back\\slash\\01");
	check_path("1000-2000 r--p 00000000 fe:00 7      /gone (deleted)\n", "/gone (deleted)");
	check_path("1000-2000 r--s 00000000 00:01 9      /memfd:x (deleted)\n",
		   "/memfd:x (deleted)");
	check_path("1000-2000 rw-p 00000000 00:00 0      //anon\n", "//anon");
}

static void test_broken_lines_are_refused(void **state)
{
	static const char *const lines[] = {
		"",
		"\n",
		"1000",
		"1000-2000",
		"1000-2000 r-xp",
		"1000-2000 r-xp 0 fe:00",
		"2000-1000 r-xp 00000000 fe:00 7 /x",
		"1000-1000 r-xp 00000000 fe:00 7 /x",
		"10000000000000000-20000000000000000 r-xp 0 fe:00 7 /x",
		"1000-2000 r-xp fffffffffffff800 fe:00 7 /x",
		"1000-2000 r-xp 0 100000000:00 7 /x",
		"1000-2000 r-xpp 0 fe:00 7 /x",
		"1000-2000 r-xp 0 fe:00 7f /x",
		"-2000 r-xp 0 fe:00 7 /x",
		"1000 2000 r-xp 0 fe:00 7 /x",
	};
	struct sdw_mapping mapping = {.start = 42};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		assert_int_equal(sdw_maps_parse_line(lines[i], strlen(lines[i]), &mapping),
				 -EINVAL);
		assert_int_equal(mapping.start, 42);
		assert_null(mapping.path);
	}
}

static void add(struct sdw_maps *maps, uint64_t start, uint64_t end, uint64_t offset, char *path)
{
	struct sdw_mapping mapping = {
		.start = start, .end = end, .offset = offset, .inode = 1, .path = path};

	assert_int_equal(sdw_maps_add(maps, &mapping), 0);
}

static void check_item(const struct sdw_maps *maps, size_t index, uint64_t start, uint64_t end,
		       uint64_t offset, const char *path)
{
	assert_in_range(index, 0, maps->count - 1);
	assert_int_equal(maps->items[index].start, start);
	assert_int_equal(maps->items[index].end, end);
	assert_int_equal(maps->items[index].offset, offset);
	assert_string_equal(maps->items[index].path, path);
}

static void test_mappings_are_kept_in_order_and_found(void **state)
{
	struct sdw_maps *maps = &((struct fixture *)*state)->maps;
	uint32_t generation = maps->generation;

	add(maps, 0x5000, 0x6000, 0, "c");
	add(maps, 0x1000, 0x2000, 0, "a");
	add(maps, 0x2000, 0x3000, 0, "b");
	assert_int_equal(maps->count, 3);
	assert_int_equal(maps->generation, generation + 3);
	assert_string_equal(sdw_maps_find(maps, 0x1000)->path, "a");
	assert_string_equal(sdw_maps_find(maps, 0x1fff)->path, "a");
	assert_string_equal(sdw_maps_find(maps, 0x2000)->path, "b");
	assert_string_equal(sdw_maps_find(maps, 0x5fff)->path, "c");
	assert_null(sdw_maps_find(maps, 0xfff));
	assert_null(sdw_maps_find(maps, 0x3000));
	assert_null(sdw_maps_find(maps, 0x6000));
	assert_null(sdw_maps_find(maps, UINT64_MAX));
}

static void test_a_mapping_inside_another_splits_it(void **state)
{
	struct sdw_maps *maps = &((struct fixture *)*state)->maps;

	add(maps, 0x1000, 0x9000, 0x100000, "old");
	add(maps, 0x3000, 0x5000, 0, "new");
	assert_int_equal(maps->count, 3);
	check_item(maps, 0, 0x1000, 0x3000, 0x100000, "old");
	check_item(maps, 1, 0x3000, 0x5000, 0, "new");
	check_item(maps, 2, 0x5000, 0x9000, 0x104000, "old");
}

static void test_a_mapping_over_others_cuts_the_first_and_last_and_removes_between(void **state)
{
	struct sdw_maps *maps = &((struct fixture *)*state)->maps;

	add(maps, 0x1000, 0x3000, 0, "first");
	add(maps, 0x3000, 0x4000, 0, "between");
	add(maps, 0x5000, 0x6000, 0, "between too");
	add(maps, 0x6000, 0x9000, 0x2000, "last");
	add(maps, 0x2000, 0x7000, 0x8000, "new");
	assert_int_equal(maps->count, 3);
	check_item(maps, 0, 0x1000, 0x2000, 0, "first");
	check_item(maps, 1, 0x2000, 0x7000, 0x8000, "new");
	check_item(maps, 2, 0x7000, 0x9000, 0x3000, "last");
	add(maps, 0, 0x10000, 0, "all");
	assert_int_equal(maps->count, 1);
	check_item(maps, 0, 0, 0x10000, 0, "all");
}

static void test_a_copy_is_another_processes(void **state)
{
	struct fixture *fixture = *state;
	struct sdw_maps copy;

	add(&fixture->maps, 0x1000, 0x3000, 0, "a");
	assert_int_equal(sdw_maps_copy(&copy, &fixture->maps, 77), 0);
	add(&fixture->maps, 0x1000, 0x3000, 0, "b");
	assert_int_equal(copy.pid, 77);
	assert_int_equal(copy.count, 1);
	check_item(&copy, 0, 0x1000, 0x3000, 0, "a");
	sdw_maps_free(&copy);
}

/* Copies this program to `name` and maps it whole, readable and executable. Returns where. */
static uint64_t map_copy(struct fixture *fixture, const char *name, size_t *size)
{
	struct stat status;
	void *address;
	char *bytes;
	int fd;

	snprintf(fixture->path, sizeof(fixture->path), "%s/%s", fixture->folder, name);
	fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	assert_int_equal(fstat(fd, &status), 0);
	*size = (size_t)status.st_size;
	bytes = malloc(*size);
	assert_non_null(bytes);
	assert_int_equal(read(fd, bytes, *size), *size);
	close(fd);
	fd = open(fixture->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, *size), *size);
	free(bytes);
	address = mmap(NULL, *size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	assert_ptr_not_equal(address, MAP_FAILED);
	close(fd);
	return (uint64_t)(uintptr_t)address;
}

static struct sdw_mapping *find_read(struct fixture *fixture, uint64_t address)
{
	struct sdw_mapping *mapping;

	assert_int_equal(sdw_maps_read(&fixture->maps), 0);
	mapping = sdw_maps_find(&fixture->maps, address);
	assert_non_null(mapping);
	assert_int_equal(mapping->start, address);
	return mapping;
}

static void test_own_functions_are_found_by_address_and_name(void **state)
{
	struct fixture *fixture = *state;
	uint64_t address = (uint64_t)(uintptr_t)test_own_functions_are_found_by_address_and_name;
	struct sdw_mapping *mapping;
	struct sdw_elf_symbol symbol;
	uint64_t vaddr, bias;

	assert_int_equal(sdw_maps_read(&fixture->maps), 0);
	mapping = sdw_maps_find(&fixture->maps, address + 1);
	assert_non_null(mapping);
	assert_true(mapping->executable);
	assert_non_null(sdw_mapping_elf(&fixture->maps, mapping));
	assert_int_equal(sdw_mapping_to_vaddr(mapping, address + 1, &vaddr), 0);
	assert_int_equal(sdw_elf_symbol_at(mapping->elf, vaddr, &symbol), 0);
	assert_string_equal(symbol.name, __func__);
	assert_int_equal(sdw_mapping_bias(mapping, &bias), 0);
	assert_int_equal(symbol.vaddr + bias, address);
	assert_int_equal(sdw_mapping_to_vaddr(mapping, mapping->end, &vaddr), -ENOENT);
	/* all segments of a file share one struct sdw_elf */
	mapping = sdw_maps_find(&fixture->maps, (uint64_t)(uintptr_t) "text in .rodata");
	assert_ptr_equal(sdw_mapping_elf(&fixture->maps, mapping),
			 sdw_maps_find(&fixture->maps, address)->elf);
}

static void test_reading_again_keeps_the_files(void **state)
{
	struct fixture *fixture = *state;
	uint64_t address = (uint64_t)(uintptr_t)test_reading_again_keeps_the_files;
	struct sdw_elf *elf;

	assert_int_equal(sdw_maps_read(&fixture->maps), 0);
	elf = sdw_mapping_elf(&fixture->maps, sdw_maps_find(&fixture->maps, address));
	assert_non_null(elf);
	assert_int_equal(sdw_maps_read(&fixture->maps), 0);
	assert_ptr_equal(sdw_maps_find(&fixture->maps, address)->elf, elf);
}

static bool map_files_can_be_opened(const struct sdw_mapping *mapping)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "/proc/self/map_files/%llx-%llx",
		 (unsigned long long)mapping->start, (unsigned long long)mapping->end);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	close(fd);
	return true;
}

static void test_a_deleted_file_with_a_replacement_is_the_mapped_one(void **state)
{
	struct fixture *fixture = *state;
	struct sdw_mapping *mapping;
	uint64_t address;
	size_t size;
	int fd;

	address = map_copy(fixture, "odd name (deleted)\n\\012", &size);
	assert_int_equal(unlink(fixture->path), 0);
	fd = open(fixture->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	assert_int_equal(write(fd, "junk", 4), 4);
	close(fd);
	mapping = find_read(fixture, address);
	if (!map_files_can_be_opened(mapping)) {
		munmap((void *)(uintptr_t)address, size);
		skip(); /* CAP_CHECKPOINT_RESTORE is missing */
	}
	assert_non_null(sdw_mapping_elf(&fixture->maps, mapping));
	munmap((void *)(uintptr_t)address, size);
}

/* As the kernel's mmap record of a process that is gone would say it. */
static struct sdw_elf *open_by_path(struct fixture *fixture, const struct stat *status, char *path)
{
	struct sdw_mapping mapping = {
		.start = 0x1000,
		.end = 0x2000,
		.inode = status->st_ino,
		.device_major = major(status->st_dev),
		.device_minor = minor(status->st_dev),
		.executable = true,
		.path = path,
	};

	fixture->maps.pid = INT_MAX; /* beyond any pid */
	assert_int_equal(sdw_maps_add(&fixture->maps, &mapping), 0);
	return sdw_mapping_elf(&fixture->maps, sdw_maps_find(&fixture->maps, 0x1000));
}

static void test_a_file_of_a_process_that_is_gone_is_found_by_path(void **state)
{
	struct fixture *fixture = *state;
	char path[PATH_MAX] = "";
	struct stat status;

	assert_true(readlink("/proc/self/exe", path, sizeof(path) - 1) > 0);
	assert_int_equal(stat(path, &status), 0);
	assert_non_null(open_by_path(fixture, &status, path));
}

static void test_another_file_at_the_same_path_is_refused(void **state)
{
	struct fixture *fixture = *state;
	char path[PATH_MAX] = "";
	struct stat status;

	assert_true(readlink("/proc/self/exe", path, sizeof(path) - 1) > 0);
	assert_int_equal(stat(path, &status), 0);
	status.st_ino++;
	assert_null(open_by_path(fixture, &status, path));
}

static void test_a_fifo_at_the_path_does_not_block(void **state)
{
	struct fixture *fixture = *state;
	struct stat status;

	snprintf(fixture->path, sizeof(fixture->path), "%s/fifo", fixture->folder);
	assert_int_equal(mkfifo(fixture->path, 0600), 0);
	assert_int_equal(stat(fixture->path, &status), 0);
	alarm(60);
	assert_null(open_by_path(fixture, &status, fixture->path));
	alarm(0);
}

static void test_a_file_that_is_no_elf_has_none(void **state)
{
	struct fixture *fixture = *state;
	struct stat status;
	int fd;

	snprintf(fixture->path, sizeof(fixture->path), "%s/text", fixture->folder);
	fd = open(fixture->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	assert_int_equal(write(fd,
			       "\x7f"
			       "ELF, but only so far",
			       21),
			 21);
	close(fd);
	assert_int_equal(stat(fixture->path, &status), 0);
	assert_null(open_by_path(fixture, &status, fixture->path));
}

static void test_the_vdso_is_read_from_memory(void **state)
{
	struct fixture *fixture = *state;
	struct sdw_elf_symbol symbol;
	struct sdw_elf *elf = NULL;

	assert_int_equal(sdw_maps_read(&fixture->maps), 0);
	for (size_t i = 0; i < fixture->maps.count; i++) {
		struct sdw_mapping *mapping = &fixture->maps.items[i];

		if (strcmp(mapping->path, "[vdso]") == 0)
			elf = sdw_mapping_elf(&fixture->maps, mapping);
	}
	if (!elf)
		skip(); /* booted with vdso=0 */
#ifdef __x86_64__
	assert_int_equal(sdw_elf_symbol_named(elf, "__vdso_clock_gettime", &symbol), 0);
#else
	assert_int_equal(sdw_elf_symbol_named(elf, "__kernel_clock_gettime", &symbol), 0);
#endif
}

static void test_maps_of_a_process_that_is_gone_say_so(void **state)
{
	struct fixture *fixture = *state;
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	fixture->maps.pid = (uint32_t)pid;
	assert_int_equal(sdw_maps_read(&fixture->maps), -ESRCH);
	assert_int_equal(sdw_remote_read((uint32_t)pid, 0x1000, fixture->path, 8), -ESRCH);
}

static void test_a_remote_read_is_whole_or_fails(void **state)
{
	long page = sysconf(_SC_PAGESIZE);
	char *pages = mmap(NULL, 2 * (size_t)page, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char to[16] = "";
	uint64_t end = (uint64_t)(uintptr_t)pages + (uint64_t)page;

	(void)state;
	assert_ptr_not_equal(pages, MAP_FAILED);
	assert_int_equal(munmap(pages + page, (size_t)page), 0);
	memcpy(pages + page - 8, "the end", 8);
	assert_int_equal(sdw_remote_read((uint32_t)getpid(), end - 8, to, 8), 0);
	assert_string_equal(to, "the end");
	assert_int_equal(sdw_remote_read((uint32_t)getpid(), end - 8, to, 9), -EFAULT);
	assert_int_equal(sdw_remote_read((uint32_t)getpid(), end, to, 1), -EFAULT);
	assert_int_equal(sdw_remote_read((uint32_t)getpid(), UINT64_MAX - 3, to, 8), -EFAULT);
	munmap(pages, (size_t)page);
}

static void *stay(void *unused)
{
	(void)unused;
	pause();
	return NULL;
}

/* A child whose main thread has ended and another has not. */
static pid_t fork_without_main_thread(void)
{
	char path[64], state = 0;
	pid_t child = fork();
	pthread_t thread;
	FILE *file;

	assert_true(child >= 0);
	if (child == 0) {
		if (pthread_create(&thread, NULL, stay, NULL))
			_exit(1);
		syscall(SYS_exit, 0);
	}
	snprintf(path, sizeof(path), "/proc/%d/stat", child);
	while (state != 'Z') {
		file = fopen(path, "r");
		assert_non_null(file);
		assert_int_equal(fscanf(file, "%*d (%*[^)]) %c", &state), 1);
		fclose(file);
		usleep(1000);
	}
	return child;
}

static void test_a_process_is_read_though_its_main_thread_has_ended(void **state)
{
	static const char word[8] = {'p', 'r', 'e', 'c', 'i', 'o', 'u', 's'};
	struct fixture *fixture = *state;
	pid_t child = fork_without_main_thread();
	struct sdw_mapping *mapping;
	char bytes[8] = "";

	fixture->maps.pid = (uint32_t)child;
	assert_int_equal(sdw_maps_read(&fixture->maps), 0);
	mapping = sdw_maps_find(&fixture->maps, (uint64_t)(uintptr_t)fork_without_main_thread);
	assert_non_null(mapping);
	assert_non_null(sdw_mapping_elf(&fixture->maps, mapping));
	assert_int_equal(fixture->maps.pid, child);
	assert_int_equal(sdw_remote_read((uint32_t)child, (uint64_t)(uintptr_t)word, bytes, 8), 0);
	assert_memory_equal(bytes, word, 8);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	assert_int_equal(sdw_remote_read((uint32_t)child, (uint64_t)(uintptr_t)word, bytes, 8),
			 -ESRCH);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_line_gives_all_fields),
		TEST(test_odd_names_are_kept_whole),
		TEST(test_broken_lines_are_refused),
		TEST(test_mappings_are_kept_in_order_and_found),
		TEST(test_a_mapping_inside_another_splits_it),
		TEST(test_a_mapping_over_others_cuts_the_first_and_last_and_removes_between),
		TEST(test_a_copy_is_another_processes),
		TEST(test_own_functions_are_found_by_address_and_name),
		TEST(test_reading_again_keeps_the_files),
		TEST(test_a_deleted_file_with_a_replacement_is_the_mapped_one),
		TEST(test_a_file_of_a_process_that_is_gone_is_found_by_path),
		TEST(test_another_file_at_the_same_path_is_refused),
		TEST(test_a_fifo_at_the_path_does_not_block),
		TEST(test_a_file_that_is_no_elf_has_none),
		TEST(test_the_vdso_is_read_from_memory),
		TEST(test_maps_of_a_process_that_is_gone_say_so),
		TEST(test_a_remote_read_is_whole_or_fails),
		TEST(test_a_process_is_read_though_its_main_thread_has_ended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
