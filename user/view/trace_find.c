// SPDX-License-Identifier: MIT
/* trace_find.c - see trace_find.h. */
#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/log.h"
#include "view/reader.h"
#include "view/reader_places.h"
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
	if (sdw_trace_is_url(given)) {
		*path = strdup(given);
		return *path ? 0 : -ENOMEM;
	}
	if (stat(given, &status) < 0) {
		int err = -errno;

		sdw_error("cannot read trace %s: %s", given, strerror(-err));
		return err;
	}
	if (!S_ISDIR(status.st_mode)) {
		sdw_error("%s is not a trace: a trace is a directory", given);
		return -ENOTDIR;
	}
	*path = strdup(given);
	return *path ? 0 : -ENOMEM;
}

/* Reads traces through a filter. */
static int read_filtered(char **paths, size_t count, const struct sdw_filter *filter,
			 struct sdw_profile *profile)
{
	struct sdw_filter_sink sink;
	int err = sdw_filter_sink_init(&sink, filter, &profile->sink);

	if (!err)
		err = sdw_traces_read((const char *const *)paths, count, filter->live_s,
				      &sink.sink);
	if (!err && sink.samples && !profile->buckets.count) {
		sdw_error("%s: none of %llu samples is left: only %s", paths[0],
			  (unsigned long long)sink.samples, sink.text);
		err = -ENOENT;
	}
	sdw_filter_sink_free(&sink);
	return err;
}

static int read_paths(char **paths, size_t count, const struct sdw_trace_request *request,
		      struct sdw_profile *profile)
{
	const struct sdw_filter *filter = request->filter;
	int err = sdw_profile_init(profile, request->keep_samples);

	if (err)
		return err;
	profile->keep_columns = request->keep_columns;
	if (filter && sdw_filter_is_set(filter))
		err = read_filtered(paths, count, filter, profile);
	else
		err = sdw_traces_read((const char *const *)paths, count,
				      filter ? filter->live_s : 0, &profile->sink);
	if (err)
		sdw_profile_free(profile);
	else
		sdw_profile_sort(profile);
	return err;
}

int sdw_traces_load(const struct sdw_trace_request *request, struct sdw_profile *profile)
{
	size_t count = request->count ? request->count : 1, found = 0;
	char **paths = calloc(count, sizeof(char *));
	int err = paths ? 0 : -ENOMEM;

	while (!err && found < count) {
		err = sdw_trace_find(request->count ? request->traces[found] : NULL, &paths[found]);
		found += !err;
	}
	err = err ? err : read_paths(paths, count, request, profile);
	if (err == -ENOMEM)
		sdw_error("out of memory while reading traces");
	while (found)
		free(paths[--found]);
	free(paths);
	return err;
}

int sdw_trace_load_filtered(const char *given, bool keep_samples, const struct sdw_filter *filter,
			    struct sdw_profile *profile)
{
	const struct sdw_trace_request request = {.traces = &given,
						  .count = given ? 1 : 0,
						  .keep_samples = keep_samples,
						  .filter = filter};

	return sdw_traces_load(&request, profile);
}

int sdw_trace_load(const char *given, bool keep_samples, struct sdw_profile *profile)
{
	return sdw_trace_load_filtered(given, keep_samples, NULL, profile);
}
