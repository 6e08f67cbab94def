/* SPDX-License-Identifier: MIT */
/* print.h - what the doctor found, for people and for programs. */
#ifndef SDW_DOCTOR_PRINT_H
#define SDW_DOCTOR_PRINT_H

#include <json-c/json.h>
#include <stdio.h>

#include "doctor/findings.h"

/* A heading and a line for each finding; text of targets is escaped. */
void sdw_findings_print(const char *title, const struct sdw_findings *findings, bool colour,
			FILE *file);
/* A line a way, and whether it works. no_signal: why the signal path is out of question, or NULL.
 */
void sdw_works_print(const struct sdw_works *works, const char *no_signal, bool colour, FILE *file);

/* [{key, level, text, fix (null: none)}]; NULL without memory. */
struct json_object *sdw_findings_json(const struct sdw_findings *findings);
/* {bpf, signal, dump}; NULL without memory. */
struct json_object *sdw_works_json(const struct sdw_works *works);

#endif
