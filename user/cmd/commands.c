// SPDX-License-Identifier: MIT
/* commands.c - the list of sub-commands, and what stands before any of them. */
#include "cmd/commands.h"

const struct sdw_command sdw_commands[] = {
	{"record", "record a program, processes, or the whole machine", sdw_command_record,
	 &sdw_usage_record},
	{"top", "watch the hottest functions of running programs, live", sdw_command_top,
	 &sdw_usage_top},
	{"report", "print the hottest functions of a trace, who calls them, in which lines",
	 sdw_command_report, &sdw_usage_report},
	{"export", "turn a trace into a flame graph, or a file of another program",
	 sdw_command_export, &sdw_usage_export},
	{"diff", "what changed between two traces, and what of it is chance", sdw_command_diff,
	 &sdw_usage_diff},
	{"dump", "print the stack of every thread of a process as it is now", sdw_command_dump,
	 &sdw_usage_dump},
	{"doctor", "say what works here, what does not, and what mends it", sdw_command_doctor,
	 &sdw_usage_doctor},
	{"compare", "BPF against signal on the same overflows: what each saw, and what it cost",
	 sdw_command_compare, &sdw_usage_compare},
	{"help", "what a verb takes, the manual, the completion of shells", sdw_command_help,
	 &sdw_usage_help},
	{0},
};

static const struct sdw_option options[] = {
	{SDW_OPTION_FLAG, 'h', "help", .help = "the list of verbs"},
	{SDW_OPTION_FLAG, 0, "no-config",
	 .help = "before a verb: its options' defaults are not those of the configuration file"},
	{SDW_OPTION_FLAG, 'V', "version", .help = "the versions of sidewinder and its libraries"},
	{0},
};

static const char *const examples[] = {
	"sidewinder record -- python3 app.py",
	"record a program, print its hot spots",
	"sidewinder export --to=flamegraph -o flamegraph.html",
	"make a page of the newest trace",
	NULL,
};

const struct sdw_usage sdw_usage_program = {
	.arguments = "VERB [OPTION]...",
	.summary = "Shows where unmodified Python programs spend their time, with BPF.",
	.options = options,
	.examples = examples,
};
