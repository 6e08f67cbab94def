// SPDX-License-Identifier: MIT
/* compare_table.c - a comparison as lines for people. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "analyze/compare_report.h"
#include "view/escape.h"

#define MAX_DISAGREEMENTS 5 /* of each kind */

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100 * (double)part / (double)whole : 0;
}

struct time_text {
	char text[16];
};

/* At most eight columns: 830 ns, 12.4 us, 3.10 ms, 1.20 s. */
static struct time_text time_of(double ns)
{
	static const char *const units[] = {"ns", "us", "ms", "s "};
	struct time_text made;
	unsigned int unit = 0;

	while (ns >= 999.5 && unit < 3) {
		ns /= 1000;
		unit++;
	}
	snprintf(made.text, sizeof(made.text), "%.*f %s",
		 !unit || ns >= 99.95 ? 0
		 : ns >= 9.995	      ? 1
				      : 2,
		 ns, units[unit]);
	return made;
}

static void print_head(const struct sdw_compare_report *report, FILE *file)
{
	const struct sdw_recording *recording = &report->profile->recording;

	sdw_escape_write(file, recording->command ? recording->command : "", SDW_ESCAPE_TERMINAL);
	fprintf(file, "\n%" PRIu64 " overflows of ", report->comparison->overflows);
	sdw_escape_write(file, recording->event ? recording->event : "?", SDW_ESCAPE_TERMINAL);
	if (recording->frequency)
		fprintf(file, " at %" PRIu64 " Hz", recording->frequency);
	else
		fprintf(file, ", one in %" PRIu64, recording->period);
	fputs("\n\n", file);
}

static void print_pairs(const struct sdw_comparison *comparison, FILE *file)
{
	const struct sdw_pairs *pairs = &comparison->pairs;
	uint64_t all = comparison->overflows;

	fprintf(file, "%-8s %10s %10s\n", "", "BPF", "SIGNAL");
	fprintf(file, "%-8s %10" PRIu64 " %10" PRIu64 "\n", "seen", comparison->bpf,
		comparison->signal);
	fprintf(file, "%-8s %10zu %10zu   %.2f %% of the overflows\n", "paired", pairs->count,
		pairs->count, percent(pairs->count, all));
	fprintf(file, "%-8s %10" PRIu64 " %10" PRIu64 "\n", "alone", pairs->bpf_only,
		pairs->signal_only);
	fprintf(file, "%-8s %10" PRIu64 " %10" PRIu64 "   counted as such by the path\n", "lost",
		comparison->bpf_lost, comparison->signal_lost);
	if (comparison->not_delivered)
		fprintf(file,
			"%" PRIu64
			" periods passed without an overflow (late timers, throttling): neither's\n",
			comparison->not_delivered);
	if (pairs->bpf_only || pairs->signal_only)
		fputs("\nWhy they are alone:\n", file);
	for (unsigned int i = 0; i < SDW_ALONE_COUNT; i++)
		if (pairs->alone[i])
			fprintf(file, "%10" PRIu64 "  %-18s  %s\n", pairs->alone[i],
				sdw_alone_name(i), sdw_alone_meaning(i));
	fputc('\n', file);
}

static void print_agreed(const struct sdw_agreed *agreed, FILE *file)
{
	if (agreed->compared)
		fprintf(file, "  %7.2f%%", 100 * sdw_agreed_share(agreed));
	else
		fprintf(file, "  %8s", "-");
}

static void print_delivered(const struct sdw_delivered *delivered, const char *name, uint64_t all,
			    FILE *file)
{
	const double percents[] = {50, 90, 99, 100};

	fprintf(file, "%-14s %9" PRIu64 " %6.2f%%", name, delivered->pairs,
		percent(delivered->pairs, all));
	for (size_t i = 0; i < sizeof(percents) / sizeof(*percents); i++)
		fprintf(file, "  %8s",
			time_of((double)sdw_delays_percentile(&delivered->delays, percents[i]))
				.text);
	for (unsigned int i = 0; i < SDW_DIFFERENCE_COUNT; i++)
		print_agreed(&delivered->agreed[i], file);
	fputc('\n', file);
}

static void print_deliveries(const struct sdw_comparison *comparison, FILE *file)
{
	uint64_t all = comparison->all.pairs;

	fprintf(file, "%-14s %9s %7s  %-38s  %8s\n", "", "", "", "DELAY FROM OVERFLOW TO HANDLER",
		"SAME");
	fprintf(file, "%-14s %9s %7s  %8s  %8s  %8s  %8s  %8s  %8s  %8s\n", "SIGNAL CAME", "PAIRS",
		"%", "p50", "p90", "p99", "max", "PYTHON", "LINES", "NATIVE");
	for (unsigned int i = 0; i < SDW_DELIVERY_COUNT; i++)
		if (comparison->by_delivery[i].pairs)
			print_delivered(&comparison->by_delivery[i], sdw_delivery_name(i), all,
					file);
	print_delivered(&comparison->all, "all", all, file);
	fputc('\n', file);
	for (unsigned int i = SDW_DELIVERY_KERNEL; i < SDW_DELIVERY_COUNT; i++)
		if (comparison->by_delivery[i].pairs)
			fprintf(file, "  %s: %s\n", sdw_delivery_name(i), sdw_delivery_meaning(i));
	if (comparison->late)
		fprintf(file, "  %" PRIu64 " of the handlers ran %s or more after their overflow\n",
			comparison->late, time_of((double)comparison->late_after_ns).text);
	if (comparison->incomplete)
		fprintf(file,
			"  %" PRIu64 " pairs lack a whole Python stack on one side: not compared\n",
			comparison->incomplete);
	if (comparison->handler_first)
		fprintf(file, "  %" PRIu64 " handlers seem to have run before their overflow\n",
			comparison->handler_first);
}

static int print_frame(const struct sdw_profile *profile, const char *path, uint32_t frame,
		       FILE *file)
{
	char *text = frame ? sdw_compare_frame_text(profile, frame) : NULL;

	if (frame && !text)
		return -ENOMEM;
	fprintf(file, "  %s ", path);
	if (text)
		sdw_escape_write(file, text, SDW_ESCAPE_TERMINAL);
	else
		fputs("no further frame", file);
	free(text);
	return 0;
}

static int print_disagreements(const struct sdw_compare_report *report, FILE *file)
{
	const struct sdw_agreement *agreement = &report->comparison->agreement;
	unsigned int shown[SDW_DIFFERENCE_COUNT] = {0};
	int err = 0;

	if (agreement->disagreements.count)
		fputs("\nThe commonest disagreements, where they begin:\n", file);
	for (size_t i = 0; i < agreement->disagreements.count && !err; i++) {
		const struct sdw_disagreement *at = &agreement->disagreements.items[i];

		if (shown[at->what]++ >= MAX_DISAGREEMENTS)
			continue;
		fprintf(file, "%10" PRIu64 "  %-6s", at->count, sdw_difference_names[at->what]);
		err = print_frame(report->profile, "BPF", at->bpf, file);
		err = err ?: print_frame(report->profile, " signal", at->signal, file);
		fputc('\n', file);
	}
	return err;
}

static void print_cost(const struct sdw_cost *cost, FILE *file)
{
	fprintf(file, "\nCost to the program, %u %s by turns: CPU time, median (least to most)\n",
		cost->rounds, cost->rounds == 1 ? "round" : "rounds");
	fprintf(file, "%-38s %-24s %-24s %8s %7s  %8s  %8s\n", "", "PROGRAM, s",
		"A SAMPLE ADDS, us", "QUICKEST", "BYTES", "SET-UP", "PROFILER");
	for (unsigned int way = 0; way < SDW_WAY_COUNT; way++) {
		struct sdw_spread cpu = sdw_cost_cpu_s(cost, way);
		struct sdw_spread added = sdw_cost_added_us(cost, way);

		fprintf(file, "%-38s %6.3f (%6.3f to %6.3f)", sdw_way_words(way), cpu.median,
			cpu.least, cpu.most);
		if (way == SDW_WAY_NONE) {
			fputc('\n', file);
			continue;
		}
		fprintf(file, " %6.2f (%6.2f to %6.2f) %8.2f", added.median, added.least,
			added.most, sdw_cost_added_quickest_us(cost, way));
		if (way >= SDW_WAY_BPF)
			fprintf(file, " %7.1f", sdw_cost_bytes(cost, way));
		else
			fprintf(file, " %7s", "-");
		fprintf(file, "  %8s",
			time_of(1e3 * fmax(0, sdw_cost_setup_us(cost, way).median)).text);
		if (way >= SDW_WAY_BPF)
			fprintf(file, "  %8s",
				time_of(1e3 * sdw_cost_profiler_us(cost, way).median).text);
		fputc('\n', file);
	}
	fputs("QUICKEST: of the quickest run of each; "
	      "SET-UP: what a command that does nothing took more; PROFILER: what starting the "
	      "recording took.\n",
	      file);
}

static void print_truth(const struct sdw_compare_report *report, FILE *file)
{
	const struct sdw_truth_result *bpf = &report->bpf_truth, *signal = &report->signal_truth;

	fprintf(file, "\nAgainst the truth, %zu functions:\n%-24s %10s %10s %10s\n",
		report->truth->count, "", "TRUTH", "BPF", "SIGNAL");
	for (size_t i = 0; i < report->truth->count; i++) {
		char *name = sdw_escape_text(report->truth->items[i].name, SDW_ESCAPE_TERMINAL);

		fprintf(file, "%-24s %9.3f%% %9.3f%% %9.3f%%\n", name ? name : "?",
			100 * report->truth->items[i].share, percent(bpf->samples[i], bpf->counted),
			percent(signal->samples[i], signal->counted));
		free(name);
	}
	fprintf(file, "%-24s %10s %9.3f%% %9.3f%%\n", "RMS error", "", bpf->rms, signal->rms);
	fprintf(file, "%-24s %10s %9.3f%% %9.3f%%\n", "L2 error", "", bpf->l2, signal->l2);
	fprintf(file, "%-24s %10s %10" PRIu64 " %10" PRIu64 "\n", "samples in none of them", "",
		bpf->outside, signal->outside);
}

int sdw_compare_print(const struct sdw_compare_report *report, FILE *file)
{
	int err;

	print_head(report, file);
	print_pairs(report->comparison, file);
	print_deliveries(report->comparison, file);
	err = print_disagreements(report, file);
	if (report->cost)
		print_cost(report->cost, file);
	if (report->truth)
		print_truth(report, file);
	if (report->trace) {
		fputs("\ntrace: ", file);
		sdw_escape_write(file, report->trace, SDW_ESCAPE_TERMINAL);
		fputc('\n', file);
	}
	return err;
}
