/* SPDX-License-Identifier: MIT */
/*
 * print.h - dumps for people and for programs.
 *
 * In:  processes (process.h), whose names come from targets. Out: text in which no name steers the
 * terminal, or JSON with stable keys (see json.c).
 */
#ifndef SDW_DUMP_PRINT_H
#define SDW_DUMP_PRINT_H

#include <json-c/json.h>
#include <stdio.h>

#include "dump/process.h"

/* locals: they were asked for. */
void sdw_dump_print(const struct sdw_dump_process *process, bool locals, bool colour, FILE *file);

/* The process as a JSON object; NULL without memory. */
struct json_object *sdw_dump_json(const struct sdw_dump_process *process, bool locals);

/* Its own number; up to 3.6, which has none, its place in the list. */
int64_t sdw_dump_interpreter_id(const struct sdw_dump_process *process, uint32_t index);

/* "running", "sleeping" ...; stable names. */
const char *sdw_dump_state_name(const struct sdw_task *task);
const char *sdw_dump_certainty_name(enum sdw_dump_certainty certainty);

#endif
