/* SPDX-License-Identifier: MIT */
/* filter_options.h - the options that say which samples a view is of, alike in every view. */
#ifndef SDW_FILTER_OPTIONS_H
#define SDW_FILTER_OPTIONS_H

#include "base/options.h"
#include "view/filter.h"

/* Entries of an option table; `member` of `target` is a struct sdw_filter. */
/* clang-format off */
/* NOLINTBEGIN(bugprone-macro-parentheses): a member's path cannot stand in parentheses */
#define SDW_FILTER_OPTIONS(target, member)                                                         \
	{.type = SDW_OPTION_HEADING, .help = "Of which samples:"},                                 \
	{SDW_OPTION_DOUBLE, 0, "from", "SECONDS", SDW_OPTION_FIELD(target, member.from_s),         \
	 .help = "from so many seconds after the recording began"},                                \
	{SDW_OPTION_DOUBLE, 0, "until", "SECONDS", SDW_OPTION_FIELD(target, member.until_s),       \
	 .help = "until so many seconds after the recording began"},                               \
	{SDW_OPTION_STRING, 0, "thread", "NAME|TID", SDW_OPTION_FIELD(target, member.thread),      \
	 .help = "of threads with this name or number; in names, also below, * and ? stand for "   \
		 "any characters or one"},                                                         \
	{SDW_OPTION_STRING, 0, "process", "NAME|PID", SDW_OPTION_FIELD(target, member.process),    \
	 .help = "of processes with this name or number"},                                         \
	{SDW_OPTION_STRING, 0, "container", "NAME|ID", SDW_OPTION_FIELD(target, member.container), \
	 .help = "of processes in this container, by its name, the beginning of its id, or its "   \
		 "pod"},                                                                           \
	{SDW_OPTION_STRING, 0, "function", "NAME", SDW_OPTION_FIELD(target, member.function),      \
	 .help = "with this function in their stack"},                                             \
	{SDW_OPTION_DOUBLE, 0, "live", "SECONDS", SDW_OPTION_FIELD(target, member.live_s),         \
	 .help = "of a net:// url: read for so many seconds (default: until its session ends, or " \
		 "Ctrl-C)"}
/* NOLINTEND(bugprone-macro-parentheses) */
/* clang-format on */

#endif
