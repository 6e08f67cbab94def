// SPDX-License-Identifier: MIT
/*
 * test_unwind.c - unwinds this very process at known places, by the library and by templates, and
 * holds the result against the return addresses themselves and against glibc's backtrace().
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <execinfo.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

#include "unwind/unwind.h"

#define MAX_DEPTH   64
#define STACK_BYTES 65536

/* A sample of this process, and what is known to be right for it. */
struct capture {
	struct sdw_registers registers;
	size_t stack_size;
	uint8_t stack[STACK_BYTES];
	uint64_t known[MAX_DEPTH]; /* return addresses from known[1] on */
	size_t known_count;
	void *backtrace[MAX_DEPTH];
	int backtrace_count;
};

static struct sdw_file_cache *cache;
static struct sdw_maps maps;

/* All the stack above `from`, read as the profiler would read it. */
static void copy_stack(struct capture *capture, uint64_t from)
{
	pthread_attr_t attributes;
	void *start;
	size_t size;

	pthread_getattr_np(pthread_self(), &attributes);
	pthread_attr_getstack(&attributes, &start, &size);
	pthread_attr_destroy(&attributes);
	size = (uint64_t)start + size - from;
	capture->stack_size = size < STACK_BYTES ? size : STACK_BYTES;
	assert_int_equal(
		sdw_remote_read((uint32_t)getpid(), from, capture->stack, capture->stack_size), 0);
}

#define take_registers(to)                       \
	__asm__ volatile("lea 0(%%rip), %%rax\n" \
			 "mov %%rax, 0(%0)\n"    \
			 "mov %%rsp, 8(%0)\n"    \
			 "mov %%rbp, 16(%0)\n"   \
			 "mov %%rbx, 24(%0)\n"   \
			 "mov %%r12, 32(%0)\n"   \
			 "mov %%r13, 40(%0)\n"   \
			 "mov %%r14, 48(%0)\n"   \
			 "mov %%r15, 56(%0)\n"   \
			 :                       \
			 : "r"(to)               \
			 : "rax", "memory")

static void note_caller(struct capture *capture, void *address)
{
	if (!capture->known_count)
		capture->known_count = 1;
	capture->known[capture->known_count++] = (uint64_t)address;
}

__attribute__((noinline)) static void take(struct capture *capture)
{
	note_caller(capture, __builtin_return_address(0));
	take_registers(&capture->registers);
	copy_stack(capture, capture->registers.sp);
	capture->backtrace_count = backtrace(capture->backtrace, MAX_DEPTH);
}

__attribute__((noinline)) static int inner(struct capture *capture, int n)
{
	volatile char room[200];

	room[n] = 1;
	take(capture);
	note_caller(capture, __builtin_return_address(0));
	return room[n] + n;
}

__attribute__((noinline)) static int outer(struct capture *capture, int n)
{
	int result = inner(capture, n + 1) * 2;

	note_caller(capture, __builtin_return_address(0));
	return result + 1;
}

static struct capture *in_callback;

static int compare(const void *a, const void *b)
{
	if (in_callback) {
		take(in_callback);
		in_callback = NULL;
	}
	return *(const int *)a - *(const int *)b;
}

static void on_signal(int number)
{
	(void)number;
	take(in_callback);
}

struct result {
	uint64_t pcs[SDW_MAX_NATIVE_FRAMES];
	size_t count;
	int end;
	struct sdw_unwind_statistics statistics;
};

static struct sdw_unwinder *make_unwinder(bool templates, bool verify, struct result *result)
{
	struct sdw_unwinder *unwinder;

	assert_int_equal(
		sdw_unwinder_create(&maps, templates, verify, &result->statistics, &unwinder), 0);
	return unwinder;
}

static void unwind(struct sdw_unwinder *unwinder, const struct capture *capture,
		   struct result *result)
{
	result->end = sdw_unwind(unwinder, &capture->registers, capture->stack, capture->stack_size,
				 result->pcs, SDW_MAX_NATIVE_FRAMES, &result->count);
}

static void check_result(const struct capture *capture, const struct result *result)
{
	int skipped = 0;

	assert_int_equal(result->end, SDW_UNWIND_COMPLETE);
	assert_int_equal(result->pcs[0], capture->registers.ip);
	for (size_t i = 1; i < capture->known_count; i++)
		assert_int_equal(result->pcs[i], capture->known[i]);
	/* what backtrace() has inside take() depends on how it is called */
	while (skipped < capture->backtrace_count &&
	       (uint64_t)capture->backtrace[skipped] != capture->known[1])
		skipped++;
	assert_int_equal(result->count - 1, capture->backtrace_count - skipped);
	for (size_t i = 1; i < result->count; i++)
		assert_int_equal(result->pcs[i],
				 (uint64_t)capture->backtrace[(size_t)skipped + i - 1]);
}

/* By the library, with templates that are learned, and with templates that are known. */
static void check_all_ways(const struct capture *capture)
{
	static struct result plain, learning;
	struct sdw_unwinder *unwinder;
	uint64_t steps;

	plain = learning = (struct result){.count = 0};
	unwinder = make_unwinder(false, false, &plain);
	unwind(unwinder, capture, &plain);
	sdw_unwinder_free(unwinder);
	check_result(capture, &plain);
	assert_int_equal(plain.statistics.template_steps, 0);

	unwinder = make_unwinder(true, true, &learning);
	unwind(unwinder, capture, &learning);
	check_result(capture, &learning);
	assert_int_equal(learning.statistics.library_steps + learning.statistics.template_steps,
			 learning.count);
	steps = learning.statistics.template_steps;
	unwind(unwinder, capture, &learning);
	check_result(capture, &learning);
	assert_true(learning.statistics.template_steps > steps);
	assert_int_equal(learning.statistics.samples, 2);
	assert_int_equal(learning.statistics.verified, 2);
	assert_int_equal(learning.statistics.differed, 0);
	sdw_unwinder_free(unwinder);
}

static void test_nested_functions_unwind_to_their_return_addresses(void **state)
{
	static struct capture capture;

	(void)state;
	outer(&capture, 1);
	assert_int_equal(capture.known_count, 4);
	check_all_ways(&capture);
}

/* Its frame can be found by its frame pointer alone. */
__attribute__((noinline)) static int of_any_size(struct capture *capture, size_t n)
{
	volatile char *room = __builtin_alloca(n);

	room[n - 1] = 1;
	take(capture);
	return room[n - 1];
}

/* Where only pc and stack pointer are known, what is found is right, and other registers are not
 * looked at. */
static void test_without_registers_the_stack_is_right_as_far_as_it_goes(void **state)
{
	static struct capture capture;
	static struct result whole, part;

	(void)state;
	assert_int_equal(of_any_size(&capture, 100 + (size_t)capture.known_count), 1);
	for (int templates = 0; templates < 2; templates++) {
		struct sdw_unwinder *unwinder = make_unwinder(templates, false, &whole);
		struct sdw_registers registers = {
			.ip = capture.registers.ip, .sp = capture.registers.sp, .bp = 0x4711};

		unwind(unwinder, &capture, &whole);
		check_result(&capture, &whole);
		for (int again = 0; again < 2; again++) {
			part.end = sdw_unwind_sleeping(unwinder, &registers, capture.stack,
						       capture.stack_size, part.pcs,
						       SDW_MAX_NATIVE_FRAMES, &part.count);
			assert_true(part.end == SDW_UNWIND_COMPLETE || part.end == SDW_UNWIND_BAD);
			assert_true(part.count >= 1 && part.count <= whole.count);
			assert_memory_equal(part.pcs, whole.pcs, part.count * sizeof(part.pcs[0]));
			if (part.end == SDW_UNWIND_COMPLETE)
				assert_int_equal(part.count, whole.count);
		}
		sdw_unwinder_free(unwinder);
	}
}

static void test_callback_of_qsort_unwinds_through_the_c_library(void **state)
{
	static struct capture capture;
	int numbers[] = {3, 1, 2, 5, 4};

	(void)state;
	in_callback = &capture;
	qsort(numbers, 5, sizeof(numbers[0]), compare);
	assert_int_equal(capture.known_count, 2);
	check_all_ways(&capture);
}

static void test_signal_handler_unwinds_into_the_code_it_interrupted(void **state)
{
	static struct capture capture;
	struct sigaction action = {.sa_handler = on_signal}, before;

	(void)state;
	in_callback = &capture;
	assert_int_equal(sigaction(SIGUSR1, &action, &before), 0);
	assert_int_equal(raise(SIGUSR1), 0);
	sigaction(SIGUSR1, &before, NULL);
	in_callback = NULL;
	check_all_ways(&capture);
}

static void *in_thread(void *capture)
{
	outer(capture, 2);
	return NULL;
}

static void test_thread_unwinds_to_its_start(void **state)
{
	static struct capture capture;
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, in_thread, &capture), 0);
	pthread_join(thread, NULL);
	/* the thread's stack is gone, but not what was captured of it */
	check_all_ways(&capture);
}

static void test_cut_stack_gives_the_inner_frames_and_says_so(void **state)
{
	static struct capture capture;
	static struct result whole, cut;
	struct sdw_unwinder *unwinder;
	size_t size;

	(void)state;
	whole = cut = (struct result){.count = 0};
	outer(&capture, 3);
	unwinder = make_unwinder(true, true, &whole);
	unwind(unwinder, &capture, &whole);
	size = capture.stack_size;
	for (capture.stack_size = 0; capture.stack_size < size / 2; capture.stack_size += 8) {
		unwind(unwinder, &capture, &cut);
		assert_int_not_equal(cut.end, SDW_UNWIND_BAD);
		assert_in_range(cut.count, 1, whole.count);
		assert_memory_equal(cut.pcs, whole.pcs, cut.count * sizeof(cut.pcs[0]));
		if (cut.count < whole.count)
			assert_int_equal(cut.end, SDW_UNWIND_NO_STACK);
		if (!capture.stack_size)
			assert_int_equal(cut.count, 1);
	}
	assert_int_equal(whole.statistics.differed, 0);
	sdw_unwinder_free(unwinder);
}

static void test_room_for_few_frames_ends_too_deep(void **state)
{
	static struct capture capture;
	static struct result result;
	struct sdw_unwinder *unwinder;
	uint64_t pcs[3] = {0, 0, 99};
	size_t count = 0;

	(void)state;
	outer(&capture, 1);
	for (int templates = 0; templates < 2; templates++) {
		unwinder = make_unwinder(templates, false, &result);
		assert_int_equal(sdw_unwind(unwinder, &capture.registers, capture.stack,
					    capture.stack_size, pcs, 2, &count),
				 SDW_UNWIND_TOO_DEEP);
		assert_int_equal(count, 2);
		assert_int_equal(pcs[1], capture.known[1]);
		assert_int_equal(pcs[2], 99);
		sdw_unwinder_free(unwinder);
	}
}

static void test_code_without_a_file_has_no_tables(void **state)
{
	static struct capture capture;
	static struct result result;

	(void)state;
	outer(&capture, 1);
	capture.registers.ip = 0x1000;
	for (int templates = 0; templates < 2; templates++) {
		struct sdw_unwinder *unwinder = make_unwinder(templates, false, &result);

		unwind(unwinder, &capture, &result);
		assert_int_equal(result.end, SDW_UNWIND_NO_TABLES);
		assert_int_equal(result.count, 1);
		sdw_unwinder_free(unwinder);
	}
}

/* Runs code that no file holds, which calls take(); the return address in it must be met, and its
 * caller's. known: it is stepped out of without libunwind once it was met. */
__attribute__((noinline)) static void check_made_code(const uint8_t *code, size_t size,
						      size_t after, bool known)
{
	static struct capture capture;
	static struct result result;
	void (*run)(struct capture *, int, int, void (*)(struct capture *));
	uint8_t *place = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(place, MAP_FAILED);
	memcpy(place, code, size);
	memcpy(&run, &place, sizeof(run));
	capture.known_count = 0;
	run(&capture, 0, 0, take);
	note_caller(&capture, __builtin_return_address(0));
	assert_int_equal(sdw_maps_read(&maps), 0);
	for (int templates = 0; templates < 2; templates++) {
		struct sdw_unwinder *unwinder;

		result.statistics = (struct sdw_unwind_statistics){0};
		unwinder = make_unwinder(templates, true, &result);
		unwind(unwinder, &capture, &result);
		unwind(unwinder, &capture, &result);
		assert_int_equal(result.end, SDW_UNWIND_COMPLETE);
		assert_int_equal(result.pcs[1], (uint64_t)place + after);
		assert_in_range(result.pcs[2], (uint64_t)check_made_code,
				(uint64_t)check_made_code + 2000);
		assert_int_equal(result.pcs[3], capture.known[2]);
		assert_int_equal(result.statistics.differed, 0);
		assert_int_equal(result.statistics.template_samples, templates && known);
		sdw_unwinder_free(unwinder);
	}
	munmap(place, 4096);
}

static void test_made_code_with_a_frame_pointer_is_stepped_out_of(void **state)
{
	/* push %rbp; mov %rsp, %rbp; nop; call *%rcx; pop %rbp; ret */
	static const uint8_t code[] = {0x55, 0x48, 0x89, 0xe5, 0x90, 0xff, 0xd1, 0x5d, 0xc3};

	(void)state;
	check_made_code(code, sizeof(code), 7, false);
}

static void test_perf_trampolines_of_cpython_are_stepped_out_of(void **state)
{
	/* 3.12: sub $8, %rsp; call *%rcx; add $8, %rsp; ret */
	static const uint8_t old[] = {0x48, 0x83, 0xec, 0x08, 0xff, 0xd1,
				      0x48, 0x83, 0xc4, 0x08, 0xc3};
	/* 3.14: endbr64; push %rbp; mov %rsp, %rbp; call *%rcx; pop %rbp; ret */
	static const uint8_t new[] = {0xf3, 0x0f, 0x1e, 0xfa, 0x55, 0x48,
				      0x89, 0xe5, 0xff, 0xd1, 0x5d, 0xc3};

	(void)state;
	check_made_code(old, sizeof(old), 6, true);
	check_made_code(new, sizeof(new), 10, true);
}

static void test_garbage_registers_and_stacks_end_without_frames_that_are_not_there(void **state)
{
	static struct capture capture;
	static struct result result;
	struct sdw_unwinder *unwinder = make_unwinder(true, true, &result);
	unsigned int seed = 7;

	(void)state;
	for (int turn = 0; turn < 2000; turn++) {
		capture.known_count = 0;
		outer(&capture, 1);
		for (int i = 0; i < 20; i++)
			capture.stack[(size_t)rand_r(&seed) % 2048] = (uint8_t)rand_r(&seed);
		if (turn % 3 == 0)
			capture.registers.bp ^= (uint64_t)rand_r(&seed) << (turn % 40);
		if (turn % 3 == 1)
			capture.registers.ip += (uint64_t)(rand_r(&seed) % 4096);
		unwind(unwinder, &capture, &result);
		assert_in_range(result.count, 1, SDW_MAX_NATIVE_FRAMES);
		assert_int_equal(result.statistics.differed, 0);
	}
	sdw_unwinder_free(unwinder);
}

static int set_up(void **state)
{
	(void)state;
	if (sdw_file_cache_create(&cache))
		return -1;
	sdw_maps_init(&maps, (uint32_t)getpid(), cache);
	/* what backtrace() loads at its first call must be among the mappings */
	return backtrace((void *[1]){NULL}, 1) == 1 ? sdw_maps_read(&maps) : -1;
}

static int tear_down(void **state)
{
	(void)state;
	sdw_maps_free(&maps);
	sdw_file_cache_free(cache);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nested_functions_unwind_to_their_return_addresses),
		cmocka_unit_test(test_without_registers_the_stack_is_right_as_far_as_it_goes),
		cmocka_unit_test(test_callback_of_qsort_unwinds_through_the_c_library),
		cmocka_unit_test(test_signal_handler_unwinds_into_the_code_it_interrupted),
		cmocka_unit_test(test_thread_unwinds_to_its_start),
		cmocka_unit_test(test_cut_stack_gives_the_inner_frames_and_says_so),
		cmocka_unit_test(test_room_for_few_frames_ends_too_deep),
		cmocka_unit_test(test_code_without_a_file_has_no_tables),
		cmocka_unit_test(test_made_code_with_a_frame_pointer_is_stepped_out_of),
		cmocka_unit_test(test_perf_trampolines_of_cpython_are_stepped_out_of),
		cmocka_unit_test(
			test_garbage_registers_and_stacks_end_without_frames_that_are_not_there),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
