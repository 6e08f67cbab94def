/* SPDX-License-Identifier: MIT */
/*
 * compare_report.h - what `sidewinder compare` prints: a table, JSON, a page.
 *
 * Keys of the JSON object, all of them stable; numbers of what was not measured are null:
 *
 *   command, event, unit, period, frequency, trace
 *   overflows     each once, seen by a path or counted as lost
 *   paired, bpf_only, signal_only; seen {bpf, signal}
 *   alone         {cause: samples without a partner}, the causes of pairs.h; alone_meaning {cause:
 *                 words} of those that there are
 *   lost          {bpf, signal, coalesced, not_delivered}: overflows that the path counted as lost;
 *                 merged by the kernel into the signal of an earlier one; periods that passed
 *                 without an overflow, which are in no other number
 *   late, late_after_ns   handlers that ran so long after their overflow, or longer
 *   python_agree, line_agree, native_agree   shares, 0 to 1, of the pairs that can be compared
 *   compared {python, line, native}, incomplete   how many these are; pairs without a whole stack
 *   delay_ns      {p50, p90, p99, max, classes: [[begin, pairs], ...]}
 *   delivery      by how the signal came: {pairs, share, delay_ns, python_agree, ...}
 *   disagreements [{what, count, bpf, signal}], the commonest first
 *   bytes_per_sample {bpf, signal}; cpu_us_per_sample {none, floor, bpf, signal}: medians of what a
 *                 sample adds to the CPU time of the program
 *   cost          {rounds, and by way: cpu_s {median, least, most}, runs, added_us, setup_us,
 *                 profiler_us {median, least, most}, added_quickest_us (of the quickest runs),
 *                 samples}
 *   truth         {functions: [{name, share, bpf, signal}], bpf, signal: {rms, l2, counted,
 * outside}}
 */
#ifndef SDW_COMPARE_REPORT_H
#define SDW_COMPARE_REPORT_H

#include <json-c/json.h>
#include <stdio.h>

#include "analyze/comparison.h"
#include "analyze/cost.h"
#include "analyze/truth.h"

struct sdw_compare_report {
	const struct sdw_profile *profile;
	const struct sdw_comparison *comparison;
	const char *trace;	       /* NULL: it was not kept */
	const struct sdw_cost *cost;   /* NULL: not measured */
	const struct sdw_truth *truth; /* NULL: not given */
	struct sdw_truth_result bpf_truth, signal_truth;
};

/* All of these: 0 or -ENOMEM; the stream keeps its own error. */
int sdw_compare_print(const struct sdw_compare_report *report, FILE *file);
int sdw_compare_print_json(const struct sdw_compare_report *report, FILE *file);

/* One page for a browser that needs nothing else, with the distributions drawn. */
int sdw_compare_print_page(const struct sdw_compare_report *report, FILE *file);

/* The object, to be put by the caller; NULL without memory. */
struct json_object *sdw_compare_json(const struct sdw_compare_report *report);

/* A frame as "name (file:line)"; the line of Python frames only. To be freed; NULL: no memory. */
char *sdw_compare_frame_text(const struct sdw_profile *profile, uint32_t frame);

extern const char *const sdw_difference_names[SDW_DIFFERENCE_COUNT];

#endif
