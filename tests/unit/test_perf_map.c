// SPDX-License-Identifier: MIT
/* test_perf_map.c - names of just-in-time code, from a file that anybody may have written. */
#include <errno.h>
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

#include "symbol/perf_map.h"

struct fixture {
	char root[64];
	char path[96]; /* of perf-7.map below it */
	int root_fd, fd;
	struct sdw_perf_map map;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	strcpy(f->root, "/tmp/sdw-test-XXXXXX");
	assert_non_null(mkdtemp(f->root));
	snprintf(f->path, sizeof(f->path), "%s/tmp", f->root);
	assert_int_equal(mkdir(f->path, 0755), 0);
	strcat(f->path, "/perf-7.map");
	f->root_fd = open(f->root, O_PATH | O_DIRECTORY);
	f->fd = open(f->path, O_RDWR | O_CREAT | O_EXCL, 0644);
	assert_true(f->root_fd >= 0 && f->fd >= 0);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	char command[128];

	sdw_perf_map_free(&f->map);
	close(f->fd);
	close(f->root_fd);
	snprintf(command, sizeof(command), "rm -rf '%s'", f->root);
	assert_int_equal(system(command), 0);
	free(f);
	return 0;
}

static void append(struct fixture *f, const char *text)
{
	assert_int_equal(write(f->fd, text, strlen(text)), strlen(text));
}

static void expect(struct fixture *f, uint64_t address, const char *name)
{
	const struct sdw_perf_map_entry *entry = sdw_perf_map_find(&f->map, address);

	if (!name) {
		assert_null(entry);
		return;
	}
	assert_non_null(entry);
	assert_string_equal(entry->name, name);
	assert_true(address >= entry->start && address < entry->end);
}

static void test_lines_name_their_ranges(void **state)
{
	struct fixture *f = *state;

	append(f, "7f0000001000 10 py::main:/a b.py\n0x7f0000001010 0x8 second\n");
	assert_int_equal(sdw_perf_map_read(&f->map, f->fd), 1);
	expect(f, 0x7f0000000fff, NULL);
	expect(f, 0x7f0000001000, "py::main:/a b.py");
	expect(f, 0x7f000000100f, "py::main:/a b.py");
	expect(f, 0x7f0000001010, "second");
	expect(f, 0x7f0000001018, NULL);
}

static void test_a_line_counts_only_when_it_is_whole(void **state)
{
	struct fixture *f = *state;

	append(f, "1000 10 first\n2000 10 sec");
	assert_int_equal(sdw_perf_map_read(&f->map, f->fd), 1);
	expect(f, 0x1000, "first");
	expect(f, 0x2000, NULL);
	assert_int_equal(sdw_perf_map_read(&f->map, f->fd), 0);
	append(f, "ond\n");
	assert_int_equal(sdw_perf_map_read(&f->map, f->fd), 1);
	expect(f, 0x1000, "first");
	expect(f, 0x2000, "second");
}

static void test_later_lines_replace_those_that_they_overlap(void **state)
{
	struct fixture *f = *state;

	append(f, "1000 100 old\n1100 100 other\n1000 80 new\n");
	assert_int_equal(sdw_perf_map_read(&f->map, f->fd), 1);
	expect(f, 0x1010, "new");
	expect(f, 0x1110, "other");
}

static void test_many_lines_are_found_after_they_are_sorted_in(void **state)
{
	struct fixture *f = *state;
	char line[64], name[16];

	for (unsigned int i = 0; i < 3000; i++) {
		/* descending and with gaps, and each written twice under another name */
		snprintf(line, sizeof(line), "%x 8 a%u\n%x 8 b%u\n", 0x900000 - i * 16, i,
			 0x900000 - i * 16, i);
		append(f, line);
		if (i % 700 == 0)
			assert_int_equal(sdw_perf_map_read(&f->map, f->fd), 1);
	}
	assert_int_equal(sdw_perf_map_read(&f->map, f->fd), 1);
	for (unsigned int i = 0; i < 3000; i++) {
		snprintf(name, sizeof(name), "b%u", i);
		expect(f, 0x900000 - i * 16 + 7, name);
		expect(f, 0x900000 - i * 16 + 8, NULL);
	}
	assert_int_equal(f->map.sorted.count, 3000);
}

static void test_wrong_lines_are_counted_and_change_nothing(void **state)
{
	struct fixture *f = *state;

	append(f, "\n1000\n1000 10\n1000 10 \nxyz 10 a\n1000 -1 b\n1000 0 empty\n"
		  "ffffffffffffffff 2 wraps\n10000000000000000 1 large\n3000 1 good\n");
	assert_int_equal(sdw_perf_map_read(&f->map, f->fd), 1);
	assert_int_equal(f->map.dropped, 9);
	assert_int_equal(f->map.lines, 1);
	expect(f, 0x1000, NULL);
	expect(f, 0x3000, "good");
}

static void test_all_maps_together_have_a_bound(void **state)
{
	struct fixture *f = *state;
	struct sdw_perf_map_budget budget = {.max = 20000};
	struct sdw_perf_map other = {.budget = &budget};
	char line[64];

	f->map.budget = &budget;
	for (unsigned int i = 0; i < 1000; i++) {
		snprintf(line, sizeof(line), "%x 8 function%u\n", 0x1000 + i * 16, i);
		append(f, line);
	}
	assert_int_equal(sdw_perf_map_read(&f->map, f->fd), 1);
	assert_in_range(f->map.lines, 50, 500);
	assert_int_equal(f->map.lines + f->map.dropped, 1000);
	assert_in_range(budget.used, budget.max, budget.max + 10000);
	expect(f, 0x1000, "function0");
	expect(f, 0x1000 + 999 * 16, NULL);
	assert_int_equal(sdw_perf_map_read(&other, f->fd), 1);
	assert_int_equal(other.lines, 0);
	/* what an image had is free again when it ends */
	sdw_perf_map_free(&f->map);
	assert_int_equal(budget.used, 0);
	sdw_perf_map_free(&other);
	assert_int_equal(sdw_perf_map_read(&other, f->fd), 1);
	assert_true(other.lines > 50);
	sdw_perf_map_free(&other);
	assert_int_equal(budget.used, 0);
}

static void test_names_are_made_printable_and_bounded(void **state)
{
	struct fixture *f = *state;
	char name[3001], expected[1200];

	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	append(f, "1000 10 a\xff\xc3\xa9\n2000 10 ");
	append(f, name);
	append(f, "\n");
	assert_int_equal(sdw_perf_map_read(&f->map, f->fd), 1);
	expect(f, 0x1000, "a\\xff\xc3\xa9");
	snprintf(expected, sizeof(expected), "%.1024s\xe2\x80\xa6", name);
	expect(f, 0x2000, expected);
}

static void test_a_line_without_end_is_skipped(void **state)
{
	struct fixture *f = *state;
	static char junk[300001];

	memset(junk, 'j', sizeof(junk) - 1);
	append(f, junk);
	assert_int_equal(sdw_perf_map_read(&f->map, f->fd), 1);
	append(f, "\n1000 10 after\n");
	assert_int_equal(sdw_perf_map_read(&f->map, f->fd), 1);
	expect(f, 0x1000, "after");
	assert_int_equal(f->map.lines, 1);
}

static void test_a_file_that_starts_anew_is_read_anew(void **state)
{
	struct fixture *f = *state;

	append(f, "1000 10 old_one\n2000 10 old_two\n");
	assert_int_equal(sdw_perf_map_read(&f->map, f->fd), 1);
	assert_int_equal(ftruncate(f->fd, 0), 0);
	assert_int_equal(lseek(f->fd, 0, SEEK_SET), 0);
	append(f, "1000 10 new\n");
	assert_int_equal(sdw_perf_map_read(&f->map, f->fd), 1);
	expect(f, 0x1000, "new");
	expect(f, 0x2000, NULL);
}

static void test_only_a_plain_file_of_the_owner_is_opened(void **state)
{
	struct fixture *f = *state;
	char other[128];
	int fd = sdw_perf_map_open(f->root_fd, 7, getuid());

	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(sdw_perf_map_open(f->root_fd, 8, getuid()), -ENOENT);

	/* a second name: its other one may be anybody's file */
	snprintf(other, sizeof(other), "%s/other", f->root);
	assert_int_equal(link(f->path, other), 0);
	assert_int_equal(sdw_perf_map_open(f->root_fd, 7, getuid()), -EPERM);
	assert_int_equal(unlink(f->path), 0);

	assert_int_equal(symlink("../other", f->path), 0);
	assert_int_equal(sdw_perf_map_open(f->root_fd, 7, getuid()), -EPERM);
	assert_int_equal(unlink(f->path), 0);

	assert_int_equal(mkfifo(f->path, 0644), 0); /* does not hang either */
	assert_int_equal(sdw_perf_map_open(f->root_fd, 7, getuid()), -EPERM);
	assert_int_equal(unlink(f->path), 0);

	assert_int_equal(mkdir(f->path, 0755), 0);
	assert_int_equal(sdw_perf_map_open(f->root_fd, 7, getuid()), -EPERM);
	assert_int_equal(rmdir(f->path), 0);
}

static void test_a_file_of_another_user_is_not_believed(void **state)
{
	struct fixture *f = *state;

	if (getuid() != 0)
		skip(); /* only root can give files away */
	assert_int_equal(fchown(f->fd, 12345, 12345), 0);
	assert_int_equal(sdw_perf_map_open(f->root_fd, 7, 0), -EPERM);
	assert_int_equal(sdw_perf_map_open(f->root_fd, 7, 12346), -EPERM);
	close(sdw_perf_map_open(f->root_fd, 7, 12345));
	assert_int_equal(fchown(f->fd, 0, 0), 0);
	close(sdw_perf_map_open(f->root_fd, 7, 12345)); /* root's is */
}

static void test_a_folder_that_leads_elsewhere_is_not_followed(void **state)
{
	struct fixture *f = *state;
	char folder[96], moved[96];

	snprintf(folder, sizeof(folder), "%s/tmp", f->root);
	snprintf(moved, sizeof(moved), "%s/moved", f->root);
	assert_int_equal(rename(folder, moved), 0);
	assert_int_equal(symlink("/tmp", folder), 0);
	assert_int_equal(sdw_perf_map_open(f->root_fd, 7, getuid()), -EPERM);
}

static void test_a_file_that_is_too_large_is_refused(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(ftruncate(f->fd, 10LL << 30), 0);
	assert_int_equal(sdw_perf_map_open(f->root_fd, 7, getuid()), -EFBIG);
}

static void test_the_map_of_a_living_process_is_found_by_its_pid(void **state)
{
	struct sdw_perf_map map = {.pid = (uint32_t)getpid()};
	char path[64];
	FILE *file;

	(void)state;
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	assert_int_equal(sdw_perf_map_refresh(&map), -ENOENT);
	file = fopen(path, "wx");
	assert_non_null(file);
	fputs("1000 10 mine\n", file);
	fclose(file);
	assert_int_equal(sdw_perf_map_refresh(&map), 1);
	assert_int_equal(unlink(path), 0);
	assert_string_equal(sdw_perf_map_find(&map, 0x1004)->name, "mine");
	sdw_perf_map_free(&map);
	map.pid = 0x7fffffff;
	assert_int_equal(sdw_perf_map_refresh(&map), -ENOENT); /* no such process */
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_lines_name_their_ranges),
		TEST(test_a_line_counts_only_when_it_is_whole),
		TEST(test_later_lines_replace_those_that_they_overlap),
		TEST(test_many_lines_are_found_after_they_are_sorted_in),
		TEST(test_wrong_lines_are_counted_and_change_nothing),
		TEST(test_all_maps_together_have_a_bound),
		TEST(test_names_are_made_printable_and_bounded),
		TEST(test_a_line_without_end_is_skipped),
		TEST(test_a_file_that_starts_anew_is_read_anew),
		TEST(test_only_a_plain_file_of_the_owner_is_opened),
		TEST(test_a_file_of_another_user_is_not_believed),
		TEST(test_a_folder_that_leads_elsewhere_is_not_followed),
		TEST(test_a_file_that_is_too_large_is_refused),
		cmocka_unit_test(test_the_map_of_a_living_process_is_found_by_its_pid),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
