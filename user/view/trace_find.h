/* SPDX-License-Identifier: MIT */
/*
 * trace_find.h - which trace a command works on.
 *
 * In:  the path that was given, or none. Out: the path of a directory; by default the newest
 *      "sidewinder-*" in the current directory.
 */
#ifndef SDW_TRACE_FIND_H
#define SDW_TRACE_FIND_H

#include "view/filter.h"
#include "view/profile.h"

/* Returns 0 and a path to be freed by the caller, or -errno after saying what is missing. */
int sdw_trace_find(const char *given, char **path);

/*
 * Finds a trace and reads it into `profile`, which must not be initialized and is to be freed if
 * this succeeds. Returns 0 or -errno, after saying what is wrong.
 */
int sdw_trace_load(const char *given, bool keep_samples, struct sdw_profile *profile);

/* The same, of only what `filter` asks for; that nothing is left is an error too, and told. */
int sdw_trace_load_filtered(const char *given, bool keep_samples, const struct sdw_filter *filter,
			    struct sdw_profile *profile);

/* The same without samples, for what shows expressions (keep_columns of profile.h). */
int sdw_trace_load_columns(const char *given, const struct sdw_filter *filter,
			   struct sdw_profile *profile);

#endif
