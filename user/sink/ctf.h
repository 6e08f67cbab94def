/* SPDX-License-Identifier: MIT */
/* ctf.h - writes a recording as a CTF 1.8 directory. Events and fields: sink.h, README. */
#ifndef SDW_SINK_CTF_H
#define SDW_SINK_CTF_H

#include "sink.h"

/*
 * Creates the directory `path` (mode 0700, its files 0600) for a new trace. Returns 0 and the sink,
 * which its close() frees, or -errno: -EEXIST when the path exists.
 * If `path` exists and is a trace or an empty directory, and force is set, its files are replaced.
 */
int sdw_ctf_create(const char *path, bool force, struct sdw_sink **sink);

#endif
