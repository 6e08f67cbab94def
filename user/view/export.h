/* SPDX-License-Identifier: MIT */
/*
 * export.h - a profile in the formats of other programs.
 *
 * In:  a profile (profile.h).
 * Out: text on a stream, UTF-8 whatever the locale. Each function returns 0, or -errno for what it
 * met itself; errors of writing stay in the stream (ferror), where the caller's close finds them.
 */
#ifndef SDW_EXPORT_H
#define SDW_EXPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "view/profile.h"

struct sdw_export_options {
	bool processes;	 /* folded: the process in front of each stack */
	bool containers; /* folded: container and process in front of each stack */
	bool threads;	 /* folded: the thread in front of each stack */
	bool samples; /* jsonl: each sample instead of each distinct stack (needs keep_samples) */
};

/*
 * One line a distinct stack: frames root first, joined by ';', a space and the number of samples
 * (the sum of their weights where the event has weights). Python `function (file:line)`, native
 * `function (module)`, kernel `function [k]`, marker `[what]`
 */
int sdw_export_folded(const struct sdw_profile *profile, const struct sdw_export_options *options,
		      FILE *file);

/*
 * One JSON object a line, for a distinct stack of a thread, or a sample:
 *   pid, tid, comm: of the process; container, container_id, pod: its container's name (or the
 * first digits of its id), only where there is one; thread: its name; w: samples; weight: in the
 * recording's unit; t: seconds since the recording began (of the first such sample); state: the
 * status (counters.h); frames: root first, [kind, name, file, line] with kind p, n, k, or x for a
 * marker
 */
int sdw_export_jsonl(const struct sdw_profile *profile, const struct sdw_export_options *options,
		     FILE *file);

/* One HTML page that needs nothing else: its parts are in flamegraph/. */
int sdw_export_flamegraph(const struct sdw_profile *profile, FILE *file);

/*
 * The same of two recordings: widths are NEW's (or BASE's, by a switch), colours the change.
 * `both` has the definitions and samples of both; its threads below `base_threads` are BASE's.
 * `base` and `new` say what each was.
 */
int sdw_export_flamegraph_diff(const struct sdw_profile *both, uint32_t base_threads,
			       const struct sdw_profile *base, const struct sdw_profile *new,
			       FILE *file);

/*
 * speedscope's JSON, a profile a thread, hottest first: a sample's weight in ns, or in events where
 * the event is no clock; frames are functions at the line being executed. From when the thread was
 * first seen to its last sample, in ns since the recording began. Needs keep_samples.
 */
int sdw_export_speedscope(const struct sdw_profile *profile, FILE *file);

/* The Firefox Profiler's processed profile format; see export_firefox.c. Needs keep_samples. */
int sdw_export_firefox(const struct sdw_profile *profile, FILE *file);

/* A trace for Perfetto: each sample with its stack, each loss. Needs keep_samples. */
int sdw_export_perfetto(const struct sdw_profile *profile, FILE *file);

/*
 * One HTML page with the Python source files and each line's share of the samples: its parts are in
 * heatmap/. The sources are read now, by the rules of source_file.h.
 */
int sdw_export_heatmap(const struct sdw_profile *profile, FILE *file);

/*
 * pprof's profile.proto in gzip, for `go tool pprof`. Values: samples/count, and cpu/nanoseconds or
 * EVENT/count; labels: process, pid, thread, tid, and container, container_id, pod where there are
 * such; the header of a report as comments.
 */
int sdw_export_pprof(const struct sdw_profile *profile, FILE *file);

#endif
