// SPDX-License-Identifier: MIT
/* trace_find.c - see trace_find.h. */
#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/log.h"
#include "view/reader.h"
#include "view/trace_find.h"

#define PATTERN "sidewinder-*"

static bool is_newer(const struct stat *a, const struct stat *b)
{
	if (a->st_mtim.tv_sec != b->st_mtim.tv_sec)
		return a->st_mtim.tv_sec > b->st_mtim.tv_sec;
	return a->st_mtim.tv_nsec > b->st_mtim.tv_nsec;
}

static int find_newest(char **path)
{
	struct stat best = {0}, status;
	const char *name = NULL;
	glob_t found = {0};
	int err = 0;

	if (glob(PATTERN, GLOB_NOSORT, NULL, &found) == GLOB_NOSPACE)
		err = -ENOMEM;
	for (size_t i = 0; i < found.gl_pathc && !err; i++) {
		if (stat(found.gl_pathv[i], &status) < 0 || !S_ISDIR(status.st_mode))
			continue;
		if (name && !is_newer(&status, &best))
			continue;
		name = found.gl_pathv[i];
		best = status;
	}
	if (!err && !name) {
		sdw_error("no trace in this directory (" PATTERN "): name one, or record one with "
			  "'sidewinder record -- COMMAND'");
		err = -ENOENT;
	}
	if (!err) {
		*path = strdup(name);
		err = *path ? 0 : -ENOMEM;
	}
	globfree(&found);
	return err;
}

int sdw_trace_find(const char *given, char **path)
{
	struct stat status;

	*path = NULL;
	if (!given)
		return find_newest(path);
	if (stat(given, &status) < 0) {
		int err = -errno;

		sdw_error("cannot read the trace %s: %s", given, strerror(-err));
		return err;
	}
	if (!S_ISDIR(status.st_mode)) {
		sdw_error("%s is not a trace: a trace is a directory", given);
		return -ENOTDIR;
	}
	*path = strdup(given);
	return *path ? 0 : -ENOMEM;
}

/* Reads the trace through a filter. */
static int read_filtered(const char *path, const struct sdw_filter *filter,
			 struct sdw_profile *profile)
{
	struct sdw_filter_sink sink;
	int err = sdw_filter_sink_init(&sink, filter, &profile->sink);

	if (!err)
		err = sdw_trace_read(path, &sink.sink);
	if (!err && sink.samples && !profile->buckets.count) {
		sdw_error("%s: none of %llu samples is left: only %s", path,
			  (unsigned long long)sink.samples, sink.text);
		err = -ENOENT;
	}
	sdw_filter_sink_free(&sink);
	return err;
}

static int load(const char *given, bool keep_samples, bool keep_columns,
		const struct sdw_filter *filter, struct sdw_profile *profile)
{
	char *path;
	int err = sdw_trace_find(given, &path);

	if (err)
		return err;
	err = sdw_profile_init(profile, keep_samples);
	if (err)
		goto out;
	profile->keep_columns = keep_columns;
	err = sdw_filter_is_set(filter) ? read_filtered(path, filter, profile)
					: sdw_trace_read(path, &profile->sink);
	if (err)
		sdw_profile_free(profile);
out:
	if (err == -ENOMEM)
		sdw_error("out of memory while reading %s", path);
	free(path);
	return err;
}

int sdw_trace_load_filtered(const char *given, bool keep_samples, const struct sdw_filter *filter,
			    struct sdw_profile *profile)
{
	return load(given, keep_samples, false, filter, profile);
}

int sdw_trace_load_columns(const char *given, const struct sdw_filter *filter,
			   struct sdw_profile *profile)
{
	return load(given, false, true, filter, profile);
}

int sdw_trace_load(const char *given, bool keep_samples, struct sdw_profile *profile)
{
	const struct sdw_filter all = {0};

	return sdw_trace_load_filtered(given, keep_samples, &all, profile);
}
