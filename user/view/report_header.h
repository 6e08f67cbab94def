/* SPDX-License-Identifier: MIT */
/* report_header.h - what a recording was, and what it lost: lines above a table, and parts of JSON.
 */
#ifndef SDW_REPORT_HEADER_H
#define SDW_REPORT_HEADER_H

#include <json-c/json.h>
#include <stdio.h>

#include "view/profile.h"

/* Sums of a profile, also of one whose recorder was killed before it wrote totals. */
struct sdw_report_sums {
	uint64_t samples, weight;
	uint64_t status[SDW_STATUS_COUNT];
	uint64_t lost[SDW_LOST_COUNT];
	uint64_t lost_all;
	uint64_t duration_ns;
};

void sdw_report_sums_make(struct sdw_report_sums *sums, const struct sdw_profile *profile);

void sdw_report_header_print(const struct sdw_profile *profile, FILE *file);

/* {command, event, unit, period, frequency, duration_s, ...}; NULL without memory. */
struct json_object *sdw_report_header_json(const struct sdw_profile *profile);

/* A JSON string of untrusted text (NULL is ""), made valid UTF-8; NULL without memory. */
struct json_object *sdw_json_text(const char *text);

/* A JSON number with as many digits as tell something (nine), not seventeen. */
struct json_object *sdw_json_number(double number);

#endif
