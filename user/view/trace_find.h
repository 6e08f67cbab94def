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

/* What to read, and how. */
struct sdw_trace_request {
	const char *const *traces; /* directories, or urls of relay daemons */
	size_t count;		   /* 0: the newest directory here; several are merged (merge.h) */
	bool keep_samples;	   /* profile.h, as the next */
	bool keep_columns;
	const struct sdw_filter *filter; /* NULL: all of it; that nothing is left is an error */
};

/*
 * Finds traces and reads them into `profile`, which must not be initialized and is to be freed if
 * this succeeds. Returns 0 or -errno, after saying what is wrong.
 */
int sdw_traces_load(const struct sdw_trace_request *request, struct sdw_profile *profile);

/* The same of one, or by default (`given` is NULL) the newest. */
int sdw_trace_load(const char *given, bool keep_samples, struct sdw_profile *profile);
int sdw_trace_load_filtered(const char *given, bool keep_samples, const struct sdw_filter *filter,
			    struct sdw_profile *profile);

#endif
