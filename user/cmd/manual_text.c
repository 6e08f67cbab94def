// SPDX-License-Identifier: MIT
/* manual_text.c - what the manual pages say beyond the tables of options. */
#include <string.h>

#include "cmd/manual.h"
#include "counters.h"

#define MEANING(name, text, meaning) {text, meaning},

#define FILE_TRACE                                                                                                 \
	{                                                                                                          \
		"sidewinder-DATE-TIME/",                                                                           \
			"a trace, as record makes it: the files metadata and stream in the Common Trace Format "   \
			"1.8, which babeltrace2(1) prints too. It belongs to its owner alone (0700, 0600): names " \
			"and paths can be secrets"                                                                 \
	}

static const struct sdw_manual_item program_description[] = {
	{NULL,
	 "Nothing is changed in the programs that it looks at: no restart, no agent, no "
	 "signal, no stop. At each overflow of a performance counter, or of a clock, a BPF "
	 "program reads the stack of CPython 2.7 and 3.6 to 3.15 out of the interrupted thread's "
	 "memory. Native and kernel frames are added in the order in which they were called. "
	 "Every overflow is a sample, or counted as lost for exactly one reason."},
	{0},
};

static const struct sdw_manual_item requirements[] = {
	{NULL, "Only record needs these; report and export run everywhere."},
	{"Kernel",
	 "Linux 5.10 or later on x86-64, with CONFIG_BPF_SYSCALL, CONFIG_BPF_EVENTS, "
	 "CONFIG_PERF_EVENTS and CONFIG_DEBUG_INFO_BTF, as distributions have it. Without "
	 "the last, give the kernel's types with --btf FILE to record. Before 5.17 stacks "
	 "are followed less deep, and those that are cut are counted as truncated."},
	{"Rights", "root, or CAP_BPF and CAP_PERFMON, and CAP_SYS_PTRACE to look at the processes "
		   "of others. What is missing is named before anything is recorded. A container "
		   "gets them with docker run --cap-add=BPF --cap-add=PERFMON "
		   "--cap-add=SYS_PTRACE. A kernel that is locked down for confidentiality lets "
		   "nobody load BPF programs, nor does a user namespace."},
	{"Counters", "Where there is no hardware counter, as in most virtual machines, cpu-clock "
		     "is counted instead of cycles, and said so."},
	{0},
};

static const struct sdw_manual_item program_exit[] = {
	{"0", "it worked"},
	{"1", "it did not; what was tried, and on what, is on standard error"},
	{"2", "it was asked for the wrong way"},
	{NULL, "sidewinder-record(1) has others."},
	{0},
};

static const struct sdw_manual_item program_environment[] = {
	{"PAGER", "what report shows long tables with (default: less -R); empty or cat: nothing"},
	{"NO_COLOR", "if not empty, tables on a terminal have no colours"},
	{"COLUMNS", "width of tables (default: that of the terminal; no limit elsewhere)"},
	{"TERM", "with dumb, tables have no colours"},
	{"XDG_CONFIG_HOME, HOME", "where the configuration file is"},
	{0},
};

static const struct sdw_manual_item trace_files[] = {FILE_TRACE, {0}};

#define FILE_CONFIG                                                   \
	{                                                             \
		"$XDG_CONFIG_HOME/sidewinder/config",                 \
			"defaults of options; without that variable " \
			"$HOME/.config/sidewinder/config"             \
	}

static const struct sdw_manual_item program_files[] = {FILE_TRACE, FILE_CONFIG, {0}};

static const struct sdw_manual_item configuration[] = {
	{NULL, "Each line of the configuration file is an option of a verb, by its long name, and "
	       "its value; 'yes' or 'no' where it takes none. Empty lines and those that begin "
	       "with # are nothing. What the command line says replaces what the file says. A line "
	       "that is wrong is named with its number, and nothing is done."},
	{"record.frequency = 500", "take 500 samples a second"},
	{"report.native = yes", "show native functions too"},
	{"export.to = flamegraph", "write pages, if nothing else is asked for"},
	{NULL, "sidewinder --no-config VERB leaves the file out."},
	{0},
};

static const struct sdw_manual_section program_sections[] = {
	{"", program_description},
	{"CONFIGURATION", configuration},
	{"REQUIREMENTS", requirements},
	{"EXIT STATUS", program_exit},
	{"ENVIRONMENT", program_environment},
	{"FILES", program_files},
	{0},
};

static const struct sdw_manual_item record_description[] = {
	{NULL, "Give a command to run, processes that run already, or everything. While it runs, a "
	       "line on the terminal says how long, how many samples and how many lost. At the "
	       "end, standard error gets the hottest functions and an account of all overflows, or "
	       "with --json standard output gets that account. Standard output is otherwise the "
	       "command's own."},
	{NULL, "SIGUSR1 asks how it looks so far: the hottest functions go to standard error, and "
	       "what was recorded can be read while the recording goes on."},
	{NULL, "Ctrl-C, SIGTERM and SIGHUP end the recording in order. After SIGKILL the trace is "
	       "readable up to a second before."},
	{0},
};

static const struct sdw_manual_item events[] = {
	{"cpu-clock, task-clock", "time on a processor, in nanoseconds; they work everywhere"},
	{"cycles, instructions, cache-misses", "hardware counters, where there are any"},
	{"page-faults, context-switches", "counted by the kernel"},
	{"rNNN", "a hardware counter by the processor's own number, hexadecimal"},
	{"SYSTEM:TRACEPOINT", "a tracepoint of the kernel, as in sched:sched_switch"},
	{0},
};

static const struct sdw_manual_item statuses[] = {
	{NULL, "Each sample says how far its Python stack was read:"},
	SDW_STATUS_LIST(MEANING){0},
};

static const struct sdw_manual_item losses[] = {
	{NULL, "Overflows that did not become samples, by cause. Samples and losses add up to the "
	       "overflows."},
	SDW_LOST_LIST(MEANING){0},
};

static const struct sdw_manual_item record_exit[] = {
	{NULL,
	 "That of the command, or 128 and the number of the signal that ended it; otherwise:"},
	{"0", "it worked"},
	{"1", "it did not; what was tried, and on what, is on standard error"},
	{"2", "it was asked for the wrong way"},
	{"3", "the trace is there, but more was lost than --max-loss allows"},
	{"126, 127", "the command cannot be run; there is no such command"},
	{0},
};

static const struct sdw_manual_item record_environment[] = {
	{"NO_COLOR", "if not empty, the table at the end has no colours"},
	{"TERM", "with dumb, the table at the end has no colours"},
	{"PATH", "where the command is looked for"},
	{0},
};

static const struct sdw_manual_item record_files[] = {
	FILE_TRACE,
	{"/tmp/perf-PID.map", "names of functions that a program made while it ran, if it wrote "
			      "them there"},
	{"/usr/lib/debug/.build-id/", "symbols of stripped files"},
	{"/sys/kernel/btf/vmlinux", "the kernel's types"},
	{0},
};

static const struct sdw_manual_section record_sections[] = {
	{"", record_description},
	{"EVENTS", events},
	{"STATUSES", statuses},
	{"LOSSES", losses},
	{"REQUIREMENTS", requirements},
	{"EXIT STATUS", record_exit},
	{"ENVIRONMENT", record_environment},
	{"FILES", record_files},
	{0},
};

static const struct sdw_manual_item report_description[] = {
	{NULL, "Self is the share of samples that hit the function itself, total that of samples "
	       "with the function anywhere in the stack, once each. On a terminal, what is longer "
	       "than it is goes through a pager."},
	{0},
};

static const struct sdw_manual_section report_sections[] = {
	{"", report_description},
	{"EXIT STATUS", program_exit},
	{"ENVIRONMENT", program_environment},
	{"FILES", trace_files},
	{0},
};

static const struct sdw_manual_section export_sections[] = {
	{"EXIT STATUS", program_exit},
	{"FILES", trace_files},
	{0},
};

static const struct sdw_manual_item help_files[] = {
	{"PREFIX/share/man/man1/", "where make install puts the manual pages"},
	{"PREFIX/share/bash-completion/completions/sidewinder", "the completion of bash"},
	{"PREFIX/share/zsh/site-functions/_sidewinder", "that of zsh"},
	{"PREFIX/share/fish/vendor_completions.d/sidewinder.fish", "that of fish"},
	{0},
};

static const struct sdw_manual_section help_sections[] = {
	{"EXIT STATUS", program_exit},
	{"FILES", help_files},
	{0},
};

/* Of a verb that has nothing to say beyond its table. */
static const struct sdw_manual_section other_sections[] = {
	{"EXIT STATUS", program_exit},
	{0},
};

const struct sdw_manual_section *sdw_manual_sections(const char *verb)
{
	static const struct {
		const char *verb;
		const struct sdw_manual_section *sections;
	} pages[] = {
		{"record", record_sections},
		{"report", report_sections},
		{"export", export_sections},
		{"help", help_sections},
	};

	if (!verb)
		return program_sections;
	for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++)
		if (strcmp(pages[i].verb, verb) == 0)
			return pages[i].sections;
	return other_sections;
}
