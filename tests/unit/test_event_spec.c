// SPDX-License-Identifier: MIT
/* Which perf event a name on the command line stands for. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/stat.h>

#include "base/log.h"
#include "capture/event_spec.h"

static const char *const no_tracefs[] = {"/nonexistent/tracing", NULL};

static void assert_event(const char *name, uint32_t type, uint64_t config, bool is_clock)
{
	struct sdw_event_spec spec;

	assert_int_equal(sdw_event_spec_parse_in(name, no_tracefs, &spec), 0);
	assert_string_equal(spec.name, name);
	assert_int_equal(spec.type, type);
	assert_int_equal(spec.config, config);
	assert_int_equal(spec.is_clock, is_clock);
	assert_false(spec.by_default);
}

static void test_every_name_of_the_help_text_is_an_event(void **state)
{
	(void)state;
	assert_event("cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, true);
	assert_event("task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, true);
	assert_event("page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, false);
	assert_event("context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, false);
	assert_event("cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, false);
	assert_event("instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, false);
	assert_event("cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, false);
}

static void test_raw_event_is_hexadecimal(void **state)
{
	(void)state;
	assert_event("r1a8", PERF_TYPE_RAW, 0x1a8, false);
	assert_event("rFFFFFFFFFFFFFFFF", PERF_TYPE_RAW, UINT64_MAX, false);
}

static void test_what_is_no_event_is_refused(void **state)
{
	static const char *const names[] = {
		"",	     "r",      "r0x1", "r1g",	   "r11111111111111111",
		"CPU-CLOCK", "cycle",  ":",    "sched:",   ":x",
		"a:b:c",     "../a:b", "a:/b", "a:../../b"};
	struct sdw_event_spec spec;
	char name[200];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_int_equal(sdw_event_spec_parse_in(names[i], no_tracefs, &spec), -EINVAL);
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	assert_int_equal(sdw_event_spec_parse_in(name, no_tracefs, &spec), -EINVAL);
}

static void make_directory(const char *base, const char *path)
{
	char full[512];

	snprintf(full, sizeof(full), "%s/%s", base, path);
	assert_int_equal(mkdir(full, 0700), 0);
}

static void test_tracepoint_has_its_number_from_tracefs(void **state)
{
	char base[] = "/tmp/sdw-test-XXXXXX", command[64], path[128];
	const char *tracefs[] = {"/nonexistent/tracing", base, NULL};
	struct sdw_event_spec spec;
	int fd;

	(void)state;
	assert_non_null(mkdtemp(base));
	make_directory(base, "events");
	make_directory(base, "events/sched");
	make_directory(base, "events/sched/sched_switch");
	snprintf(path, sizeof(path), "%s/events/sched/sched_switch/id", base);
	fd = open(path, O_WRONLY | O_CREAT, 0600);
	assert_int_equal(write(fd, "317\n", 4), 4);
	close(fd);
	assert_int_equal(sdw_event_spec_parse_in("sched:sched_switch", tracefs, &spec), 0);
	assert_int_equal(spec.type, PERF_TYPE_TRACEPOINT);
	assert_int_equal(spec.config, 317);
	assert_string_equal(spec.name, "sched:sched_switch");
	assert_int_equal(sdw_event_spec_parse_in("sched:nothing", tracefs, &spec), -ENOENT);
	assert_int_equal(sdw_event_spec_parse_in("sched:sched_switch", no_tracefs, &spec), -ENOENT);
	snprintf(command, sizeof(command), "rm -r %s", base);
	assert_int_equal(system(command), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_name_of_the_help_text_is_an_event),
		cmocka_unit_test(test_raw_event_is_hexadecimal),
		cmocka_unit_test(test_what_is_no_event_is_refused),
		cmocka_unit_test(test_tracepoint_has_its_number_from_tracefs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
