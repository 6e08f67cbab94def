/* SPDX-License-Identifier: MIT */
/* findings.h - what the doctor has to say: what is the case, how bad it is, what mends it. */
#ifndef SDW_FINDINGS_H
#define SDW_FINDINGS_H

#include <stdbool.h>
#include <stddef.h>

enum sdw_level {
	SDW_LEVEL_OK,
	SDW_LEVEL_NOTE,	   /* works, with a limit that is worth knowing */
	SDW_LEVEL_WARNING, /* works worse than it could */
	SDW_LEVEL_FAULT,   /* something does not work because of it */
	SDW_LEVEL_COUNT,
};

struct sdw_finding {
	const char *key; /* stable, for programs */
	enum sdw_level level;
	char text[320]; /* not escaped: may hold names of a target */
	char fix[200];	/* one command, or "" */
};

struct sdw_findings {
	struct sdw_finding *items;
	size_t count, room;
	bool out_of_memory; /* one or more are missing */
};

/* fix: NULL for none. */
void sdw_findings_add(struct sdw_findings *findings, const char *key, enum sdw_level level,
		      const char *fix, const char *format, ...)
	__attribute__((format(printf, 5, 6)));
void sdw_findings_free(struct sdw_findings *findings);

/* "ok", "note", "warning", "fault" */
const char *sdw_level_name(enum sdw_level level);

/* The ways to look at a Python program, and whether they work. */
struct sdw_works {
	bool bpf;    /* record: samples by BPF programs */
	bool signal; /* record --path=signal: samples by signals, of commands that it starts */
	bool dump;   /* dump: reading the memory of a living process */
};

#endif
