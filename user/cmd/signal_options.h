/* SPDX-License-Identifier: MIT */
/* signal_options.h - options of the signal path, for verbs that record by it. */
#ifndef SDW_SIGNAL_OPTIONS_H
#define SDW_SIGNAL_OPTIONS_H

#include "base/options.h"
#include "capture/config.h"
#include "sigpath.h"

#define SDW_SIGNAL_CHOOSE (-1) /* delivery: the best that this kernel has */

extern const struct sdw_option_word sdw_path_words[];
extern const struct sdw_option_word sdw_signal_words[];
extern const struct sdw_option_word sdw_signal_unwind_words[];

/* Do they go together? Returns 0, or -EINVAL after saying what does not. */
int sdw_signal_options_check(const char *verb, struct sdw_config *config);

/*
 * Chooses the delivery where it was not asked for; is the agent there? Returns 0, or -errno after
 * saying what is missing.
 */
int sdw_signal_check(struct sdw_config *config);

/* clang-format off */
#define SDW_SIGNAL_OPTIONS(field)                                                                  \
	{SDW_OPTION_HEADING, .help = "By which path (a command only, unless it is bpf):"},         \
	{SDW_OPTION_WORD, 0, "path", "PATH", field(path), .words = sdw_path_words,                 \
	 .help = "bpf (default): read from the kernel; signal: by an agent in the process, "       \
		 "without privilege; both: on the same overflows"},                                \
	SDW_SIGNAL_HOW_OPTIONS(field)

/* The same for a verb that does not choose the path. */
#define SDW_SIGNAL_HOW_OPTIONS(field)                                                              \
	{SDW_OPTION_WORD, 0, "signal", "HOW", field(signal.delivery), .words = sdw_signal_words,   \
	 .help = "sigtrap: synchronous, from Linux 5.13 (default from 5.19); sigio: as older "     \
		 "profilers do"},                                                                  \
	{SDW_OPTION_NUMBER, 0, "signal-number", "N", field(signal.number), .min = 1, .max = 64,    \
	 .help = "another signal than 29 (SIGIO), for --signal=sigio"},                            \
	{SDW_OPTION_FLAG, 0, "rearm", NULL, field(signal.rearm),                                   \
	 .help = "stop counting at each overflow until the handler has run"},                      \
	{SDW_OPTION_WORD, 0, "unwind", "WHERE", field(signal.unwind),                              \
	 .words = sdw_signal_unwind_words,                                                         \
	 .help = "native stacks: offline (default): copied, unwound by the recorder; online: "     \
		 "by libunwind in the handler"},                                                   \
	{SDW_OPTION_NUMBER, 0, "unwind-depth", "N", field(signal.unwind_depth), .min = 1,          \
	 .max = SDW_SIGPATH_MAX_FRAMES,                                                            \
	 .help = "native frames at most, for --unwind=online (default: 1024)"}
/* clang-format on */

#endif
