/* SPDX-License-Identifier: MIT */
/* record_lttng.h - `record --lttng`: its directory, its sink, and what became of it. */
#ifndef SDW_RECORD_LTTNG_H
#define SDW_RECORD_LTTNG_H

#include "cmd/capture_options.h"
#include "sink/lttng.h"

/* clang-format off */
#define SDW_RECORD_LTTNG_OPTIONS                                                                   \
	{SDW_OPTION_HEADING,                                                                       \
	 .help = "Through LTTng, without -o instead of a directory of ours:"},                     \
	{SDW_OPTION_STRING, 0, "lttng", "SESSION", SDW_CAPTURE_FIELD(config.lttng.session),        \
	 .value_optional = true,                                                                   \
	 .help = "send the recording through LTTng-UST: into SESSION, which is there, or into "    \
		 "one of our own; a session daemon is started where none runs"},                   \
	{SDW_OPTION_STRING, 0, "lttng-output", "DIR", SDW_CAPTURE_FIELD(config.lttng.output),      \
	 .help = "where the own session writes, made new (default: sidewinder-DATE-TIME here, "    \
		 "or with -o its DIR and '-lttng')"},                                              \
	{SDW_OPTION_STRING, 0, "lttng-url", "URL", SDW_CAPTURE_FIELD(config.lttng.url),            \
	 .help = "stream to a relay daemon, as net://HOST, where it can be read while it comes"},  \
	{SDW_OPTION_FLAG, 0, "snapshot", NULL, SDW_CAPTURE_FIELD(config.lttng.snapshot),           \
	 .help = "keep the last minute or so in memory, and write it at the end, on SIGUSR1, and " \
		 "by --snapshot-when"},                                                            \
	{SDW_OPTION_STRING, 0, "snapshot-when", "CONDITION",                                       \
	 SDW_CAPTURE_FIELD(config.lttng.when),                                                     \
	 .help = "write it too when samples per second rise above N ('rate>N'), or when a "        \
		 "function is seen ('function=NAME', with * and ?)"},                              \
	{SDW_OPTION_SIZE, 0, "snapshot-memory", "SIZE", SDW_CAPTURE_FIELD(config.lttng.memory),    \
	 .min = 1 << 18, .help = "for what is kept in memory, all processors together"}
/* clang-format on */

struct sdw_record_lttng {
	char directory[PATH_MAX]; /* made for an own session; "": none was */
	struct sdw_lttng_outcome outcome;
};

/* What does not go together. Returns 0, or -EINVAL after saying it. */
int sdw_record_lttng_check(struct sdw_config *config);

/*
 * Makes the directory, where one is needed, and the sink. Returns 0 or -errno after saying what is
 * wrong, and then leaves nothing behind.
 */
int sdw_record_lttng_create(const struct sdw_config *config, struct sdw_record_lttng *lttng,
			    struct sdw_sink **sink);

/* Removes the directory again, after the sink was closed: nothing was recorded. */
void sdw_record_lttng_remove(struct sdw_record_lttng *lttng);

/* Is the LTTng trace not whole, beyond what --max-loss allows of `samples`? Then says so. */
bool sdw_record_lttng_lost(const struct sdw_record_lttng *lttng, uint64_t samples, double max_loss);

#endif
