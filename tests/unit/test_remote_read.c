// SPDX-License-Identifier: MIT
/* test_remote_read.c - memory of a process that makes its readers wait for ever (userfaultfd). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "target/maps.h"

#define PAGE	   4096u
#define BIG	   (300u << 10)
#define UNSERVED   0
#define TIMEOUTS   3 /* after so many a target is barred */
#define WORD_VALUE 0x1122334455667788ull

static const uint64_t word = WORD_VALUE;
static uint8_t big[BIG];

struct target {
	pid_t pid;
	uint64_t trap; /* address of a page whose fault nobody serves; UNSERVED: there is none */
};

/* A page that is missing, and a descriptor that is told of each fault in it and never read. */
static void *make_trap(void)
{
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register range = {.mode = UFFDIO_REGISTER_MODE_MISSING};
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (fd < 0 || page == MAP_FAILED || ioctl(fd, UFFDIO_API, &api))
		return NULL;
	range.range.start = (uintptr_t)page;
	range.range.len = PAGE;
	return ioctl(fd, UFFDIO_REGISTER, &range) ? NULL : page;
}

static struct target start_target(void)
{
	struct target target = {0};
	uint64_t trap;
	int ready[2];

	assert_int_equal(pipe(ready), 0);
	target.pid = fork();
	assert_true(target.pid >= 0);
	if (target.pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		trap = (uintptr_t)make_trap();
		if (write(ready[1], &trap, sizeof(trap)) < 0)
			_exit(1);
		pause();
		_exit(0);
	}
	assert_int_equal(read(ready[0], &target.trap, sizeof(target.trap)), sizeof(target.trap));
	close(ready[0]);
	close(ready[1]);
	return target;
}

static void end_target(const struct target *target)
{
	kill(target->pid, SIGKILL);
	waitpid(target->pid, NULL, 0);
}

static int read_word(const struct target *target)
{
	uint64_t value = 0;
	int err = sdw_remote_read((uint32_t)target->pid, (uintptr_t)&word, &value, sizeof(value));

	if (!err)
		assert_int_equal(value, WORD_VALUE);
	return err;
}

static void test_a_target_that_makes_readers_wait_is_barred_and_others_are_read(void **state)
{
	struct target slow = start_target(), other = start_target();
	uint64_t value = 7;

	(void)state;
	if (slow.trap == UNSERVED) {
		end_target(&slow);
		end_target(&other);
		skip(); /* no userfaultfd, or no right to it */
	}
	for (int i = 0; i < TIMEOUTS; i++) {
		assert_int_equal(read_word(&slow), 0);
		assert_int_equal(sdw_remote_read((uint32_t)slow.pid, slow.trap, &value, 8),
				 -ETIMEDOUT);
		assert_int_equal(value, 7);
		assert_int_equal(read_word(&other), 0);
	}
	assert_int_equal(read_word(&slow), -EFAULT);
	assert_int_equal(read_word(&other), 0);
	end_target(&slow);
	end_target(&other);
}

static void test_what_is_long_is_read_whole(void **state)
{
	uint8_t *copy = malloc(BIG);
	struct target target;

	(void)state;
	assert_non_null(copy);
	for (size_t i = 0; i < BIG; i++)
		big[i] = (uint8_t)(i * 31 >> 3);
	target = start_target();
	assert_int_equal(sdw_remote_read((uint32_t)target.pid, (uintptr_t)big, copy, BIG), 0);
	assert_memory_equal(copy, big, BIG);
	assert_int_equal(sdw_remote_read((uint32_t)target.pid, 16, copy, 8), -EFAULT);
	end_target(&target);
	assert_int_equal(sdw_remote_read((uint32_t)target.pid, (uintptr_t)big, copy, 8), -ESRCH);
	free(copy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_long_is_read_whole),
		cmocka_unit_test(
			test_a_target_that_makes_readers_wait_is_barred_and_others_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
