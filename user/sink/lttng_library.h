/* SPDX-License-Identifier: MIT */
/*
 * lttng_library.h - the shared objects that need LTTng's libraries, opened only for --lttng.
 *
 * They are looked for beside the program, and in ../lib/sidewinder from there: never by the
 * environment or the current directory, since this may run as root.
 */
#ifndef SDW_SINK_LTTNG_LIBRARY_H
#define SDW_SINK_LTTNG_LIBRARY_H

/*
 * Opens one of ours by its file name and finds its symbol. Returns it, for as long as the process
 * lives, or NULL after saying what is missing.
 */
void *sdw_lttng_library_open(const char *file, const char *symbol);

#endif
