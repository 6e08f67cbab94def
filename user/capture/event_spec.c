// SPDX-License-Identifier: MIT
/* event_spec.c - names of perf events: a table, raw numbers, and the tracepoints of tracefs. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/nearest.h"
#include "base/number_file.h"
#include "capture/event_spec.h"

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

struct known_event {
	const char *name;
	uint32_t type;
	uint64_t config;
	bool is_clock;
};

static const struct known_event known_events[] = {
	{"cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, true},
	{"task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, true},
	{"page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, false},
	{"context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, false},
	{"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, false},
	{"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, false},
	{"cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, false},
};

const char *sdw_event_spec_list(void)
{
	return "cpu-clock, task-clock, page-faults, context-switches, cycles, instructions, "
	       "cache-misses, rNNN (hexadecimal), SYSTEM:TRACEPOINT";
}

const char *sdw_event_spec_name(size_t index)
{
	return index < ARRAY_SIZE(known_events) ? known_events[index].name : NULL;
}

/* rNNN: 1 to 16 hexadecimal digits. */
static bool parse_raw(const char *name, uint64_t *config)
{
	size_t digits;

	if (name[0] != 'r')
		return false;
	digits = strspn(name + 1, "0123456789abcdefABCDEF");
	if (!digits || digits > 16 || name[1 + digits])
		return false;
	*config = strtoull(name + 1, NULL, 16);
	return true;
}

/* Both parts become path elements: letters, digits, underscores and the like, never '/' or "..". */
static bool is_tracepoint_name(const char *name)
{
	const char *colon = strchr(name, ':'), *c;

	if (!colon || colon == name || !colon[1])
		return false;
	for (c = name; *c; c++)
		if (c != colon && !isalnum((unsigned char)*c) && *c != '_' && *c != '-')
			return false;
	return true;
}

/* Opens the events directory of the first tracefs that is mounted. */
static int open_tracefs(const char *const *tracefs)
{
	int err = -ENOENT;

	for (; *tracefs; tracefs++) {
		char path[256];
		int fd;

		snprintf(path, sizeof(path), "%s/events", *tracefs);
		fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (fd >= 0)
			return fd;
		if (errno != ENOENT)
			err = -errno;
	}
	return err;
}

static int parse_tracepoint(const char *name, const char *const *tracefs,
			    struct sdw_event_spec *spec)
{
	char path[sizeof(spec->name) + 8];
	int64_t number = 0;
	int dir, err;

	dir = open_tracefs(tracefs);
	if (dir == -ENOENT) {
		sdw_error(
			"event %s: tracefs is not mounted; mount it with: mount -t tracefs tracefs %s",
			name, tracefs[0]);
		return dir;
	}
	if (dir < 0) {
		sdw_error("event %s: cannot open %s/events: %s", name, tracefs[0], strerror(-dir));
		return dir;
	}
	snprintf(path, sizeof(path), "%s/id", name);
	*strchr(path, ':') = '/';
	err = sdw_number_file_read(dir, path, &number);
	close(dir);
	if (err == -ENOENT)
		sdw_error("event %s: the kernel has no such tracepoint", name);
	else if (err)
		sdw_error("event %s: cannot read its number in tracefs: %s", name, strerror(-err));
	spec->type = PERF_TYPE_TRACEPOINT;
	spec->config = (uint64_t)number;
	return err;
}

static void say_unknown(const char *name)
{
	const char *names[ARRAY_SIZE(known_events)], *nearest;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(known_events); i++)
		names[i] = known_events[i].name;
	nearest = sdw_nearest_word(name, names, ARRAY_SIZE(known_events));
	if (nearest)
		sdw_error("no event '%s': did you mean '%s'? There are %s", name, nearest,
			  sdw_event_spec_list());
	else
		sdw_error("no event '%s': there are %s", name, sdw_event_spec_list());
}

int sdw_event_spec_parse_in(const char *name, const char *const *tracefs,
			    struct sdw_event_spec *spec)
{
	size_t i;

	memset(spec, 0, sizeof(*spec));
	if (strlen(name) >= sizeof(spec->name)) {
		sdw_error("event name too long: the most is %zu characters",
			  sizeof(spec->name) - 1);
		return -EINVAL;
	}
	memcpy(spec->name, name, strlen(name) + 1);
	for (i = 0; i < ARRAY_SIZE(known_events); i++) {
		const struct known_event *known = &known_events[i];

		if (strcmp(name, known->name) != 0)
			continue;
		spec->type = known->type;
		spec->config = known->config;
		spec->is_clock = known->is_clock;
		return 0;
	}
	if (parse_raw(name, &spec->config)) {
		spec->type = PERF_TYPE_RAW;
		return 0;
	}
	if (is_tracepoint_name(name))
		return parse_tracepoint(name, tracefs, spec);
	say_unknown(name);
	return -EINVAL;
}

int sdw_event_spec_parse(const char *name, struct sdw_event_spec *spec)
{
	static const char *const tracefs[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing",
					      NULL};

	return sdw_event_spec_parse_in(name, tracefs, spec);
}
