/* SPDX-License-Identifier: MIT */
/*
 * reader_places.h - the traces that a path means: itself, those of an LTTng session's directory, or
 * what a relay daemon streams.
 */
#ifndef SDW_READER_PLACES_H
#define SDW_READER_PLACES_H

#include <stdbool.h>
#include <stddef.h>

enum sdw_trace_kind {
	SDW_TRACE_OURS,	 /* a directory that sink/ctf.c writes */
	SDW_TRACE_LTTNG, /* one that LTTng writes */
	SDW_TRACE_LIVE,	 /* net://HOST/host/NAME/SESSION */
};

struct sdw_trace_place {
	enum sdw_trace_kind kind;
	char *path;
};

struct sdw_trace_places {
	struct sdw_trace_place *items;
	size_t count, room;
};

/* Does it name a relay daemon instead of a directory? */
bool sdw_trace_is_url(const char *path);

/*
 * Adds what `path` means. Of a session's snapshots only the newest is taken. Returns 0, -ENOENT
 * (there is no trace), -EINVAL with what is wrong in `problem`, or another -errno.
 */
int sdw_trace_places_add(struct sdw_trace_places *places, const char *path, char *problem,
			 size_t size);

void sdw_trace_places_free(struct sdw_trace_places *places);

#endif
