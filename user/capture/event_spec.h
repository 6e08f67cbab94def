/* SPDX-License-Identifier: MIT */
/*
 * event_spec.h - turns what -e names into a perf event.
 *
 * Names: those of sdw_event_spec_name(), rNNN (the processor's own number, hexadecimal), and a
 * tracepoint as system:name, whose number comes from tracefs.
 */
#ifndef SDW_EVENT_SPEC_H
#define SDW_EVENT_SPEC_H

#include <stddef.h>

#include "capture/config.h"

/*
 * Fills spec->name, type, config, is_clock. Returns 0, or -errno after logging what is wrong:
 * -EINVAL no such event, -ENOENT no such tracepoint or tracefs is not mounted, -EACCES.
 */
int sdw_event_spec_parse(const char *name, struct sdw_event_spec *spec);

/* The same with the directories where tracefs may be, NULL at the end, for tests. */
int sdw_event_spec_parse_in(const char *name, const char *const *tracefs,
			    struct sdw_event_spec *spec);

/* "cpu-clock, task-clock, ..., rNNN, SYSTEM:TRACEPOINT": for messages and help. */
const char *sdw_event_spec_list(void);

/* The names of events other than raw ones and tracepoints; NULL after the last. */
const char *sdw_event_spec_name(size_t index);

#endif
