/* SPDX-License-Identifier: MIT */
/*
 * target.h - what can be done with one target: a living process, or a command's interpreter.
 *
 * In:  a pid, or the name of a command; the file behind it is looked at, never run.
 * Out: findings, and which ways work (as far as the machine lets them).
 */
#ifndef SDW_DOCTOR_TARGET_H
#define SDW_DOCTOR_TARGET_H

#include "doctor/findings.h"
#include "dump/dumper.h"

struct sdw_doctor_target {
	char name[256]; /* "pid 12", or the command; not escaped */
	bool found;	/* false: there is no such process or program */
	struct sdw_findings findings;
	struct sdw_works works;
};

/* `machine` says what works here at all. Each returns 0 or -ENOMEM. */
int sdw_doctor_process(struct sdw_dumper *dumper, const struct sdw_works *machine, pid_t pid,
		       struct sdw_doctor_target *target);
int sdw_doctor_command(const struct sdw_works *machine, const char *command,
		       struct sdw_doctor_target *target);

/* What a file says of the CPython in it; findings "python", "build" and "layout". */
void sdw_doctor_file(struct sdw_elf *elf, const char *path, bool living,
		     struct sdw_findings *findings);

/*
 * The interpreter that runs a command: the program itself, or what the first line of a script
 * names, found as execvp() does. Returns 0 and a path, or -errno.
 */
int sdw_command_interpreter(const char *command, char *path, size_t size);

/*
 * Libraries that a program names as needed, by the file that the dynamic loader would take:
 * calls `found` with the path of each, until it returns true. Returns what that returned.
 */
bool sdw_needed_libraries(struct sdw_elf *elf, const char *program,
			  bool (*found)(void *context, const char *path), void *context);

#endif
