// SPDX-License-Identifier: MIT
/* summary.c - totals of a recording as lines or as JSON; names and meanings are those of
 * counters.h. */
#include <errno.h>
#include <json-c/json.h>
#include <string.h>

#include "capture/perf_events.h"
#include "ui/summary.h"

#define TEXT(name, text, meaning)    text,
#define MEANING(name, text, meaning) meaning,

static const char *const status_names[] = {SDW_STATUS_LIST(TEXT)};
static const char *const status_meanings[] = {SDW_STATUS_LIST(MEANING)};
static const char *const lost_names[] = {SDW_LOST_LIST(TEXT)};
static const char *const lost_meanings[] = {SDW_LOST_LIST(MEANING)};

uint64_t sdw_totals_samples(const struct sdw_totals *totals)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < SDW_STATUS_COUNT; i++)
		sum += totals->status[i];
	return sum;
}

uint64_t sdw_totals_lost(const struct sdw_totals *totals)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < SDW_LOST_COUNT; i++)
		if (i != SDW_LOST_OUTSIDE_TARGET)
			sum += totals->lost[i];
	return sum;
}

uint64_t sdw_totals_target_overflows(const struct sdw_totals *totals)
{
	return totals->overflows - totals->lost[SDW_LOST_OUTSIDE_TARGET];
}

double sdw_totals_loss(const struct sdw_totals *totals)
{
	uint64_t overflows = sdw_totals_target_overflows(totals);

	return overflows ? (double)sdw_totals_lost(totals) / (double)overflows : 0;
}

double sdw_totals_dropped(const struct sdw_totals *totals)
{
	uint64_t never =
		totals->lost[SDW_LOST_NOT_DELIVERED] + totals->lost[SDW_LOST_OUTSIDE_NAMESPACE];
	uint64_t overflows = sdw_totals_target_overflows(totals) - never;

	return overflows ? (double)(sdw_totals_lost(totals) - never) / (double)overflows : 0;
}

static const char *plural(uint64_t number, const char *one, const char *many)
{
	return number == 1 ? one : many;
}

static void print_counter(FILE *to, uint64_t count, const char *name, const char *meaning)
{
	if (count)
		fprintf(to, "  %10llu  %-17s %s\n", (unsigned long long)count, name, meaning);
}

static void print_unwind(const struct sdw_unwind_statistics *unwind, FILE *to)
{
	if (!unwind->samples)
		return;
	fprintf(to, "native stacks: %.1f %% of %llu by templates alone",
		100.0 * (double)unwind->template_samples / (double)unwind->samples,
		(unsigned long long)unwind->samples);
	if (unwind->verified)
		fprintf(to, "; %llu of %llu unwound both ways differ",
			(unsigned long long)unwind->differed, (unsigned long long)unwind->verified);
	fputc('\n', to);
}

static void print_handlers(const struct sdw_summary *summary, FILE *to)
{
	uint64_t written = summary->handler_events, off = summary->handler_off;

	if (summary->config->path == SDW_PATH_BPF)
		return;
	fprintf(to, ", %llu %s from the signal handler", (unsigned long long)written,
		plural(written, "event", "events"));
	if (off)
		fprintf(to, " (%llu not taken: the session did not have the process then)",
			(unsigned long long)off);
}

static void print_lttng(const struct sdw_summary *summary, FILE *to)
{
	const struct sdw_lttng_outcome *lttng = summary->lttng;

	fputs("LTTng", to);
	if (!lttng->own)
		fprintf(to, " session %s", lttng->session);
	fprintf(to, ": %llu %s discarded", (unsigned long long)lttng->events_discarded,
		plural(lttng->events_discarded, "event", "events"));
	if (lttng->snapshots)
		fprintf(to, ", %llu %s", (unsigned long long)lttng->snapshots,
			plural(lttng->snapshots, "snapshot", "snapshots"));
	print_handlers(summary, to);
	fprintf(to, "%s\n", lttng->incomplete ? ", incomplete" : "");
	fprintf(to, "trace: %s\n", lttng->trace);
}

static void print_sched(const struct sdw_sched_totals *sched, FILE *to)
{
	fprintf(to, "scheduler: %llu %s, %llu lost\n", (unsigned long long)sched->events,
		plural(sched->events, "event", "events"), (unsigned long long)sched->lost);
}

void sdw_summary_print(const struct sdw_summary *summary, FILE *to)
{
	const struct sdw_totals *totals = &summary->totals;
	const struct sdw_config *config = summary->config;
	uint64_t samples = sdw_totals_samples(totals), lost = sdw_totals_lost(totals);
	uint64_t overflows = sdw_totals_target_overflows(totals);
	size_t i;

	fprintf(to, "%llu %s in %.2f s of %u %s, %u %s; event %s, ", (unsigned long long)samples,
		plural(samples, "sample", "samples"), (double)totals->duration_ns / 1e9,
		totals->processes, plural(totals->processes, "process", "processes"),
		totals->threads, plural(totals->threads, "thread", "threads"), config->event.name);
	if (config->frequency)
		fprintf(to, "%llu Hz\n", (unsigned long long)config->frequency);
	else
		fprintf(to, "period %llu\n", (unsigned long long)config->period);
	if (totals->status[SDW_STATUS_COMPLETE] != samples)
		for (i = 0; i < SDW_STATUS_COUNT; i++)
			print_counter(to, totals->status[i], status_names[i], status_meanings[i]);
	fprintf(to, "lost: %llu of %llu %s", (unsigned long long)lost,
		(unsigned long long)overflows, plural(overflows, "overflow", "overflows"));
	fprintf(to, lost ? " (%.3g %%)\n" : "\n", 100 * sdw_totals_loss(totals));
	for (i = 0; i < SDW_LOST_COUNT; i++)
		print_counter(to, totals->lost[i], lost_names[i], lost_meanings[i]);
	print_unwind(&summary->unwind, to);
	if (!totals->complete)
		fputs("the recording did not end in order: the trace is incomplete\n", to);
	if (config->sched)
		print_sched(&summary->sched, to);
	if (summary->lttng)
		print_lttng(summary, to);
	if (!summary->lttng || strcmp(summary->trace, summary->lttng->trace))
		fprintf(to, "trace: %s\n", summary->trace);
}

static int add(struct json_object *object, const char *key, struct json_object *value)
{
	return value && json_object_object_add(object, key, value) == 0 ? 0 : -ENOMEM;
}

static int add_counters(struct json_object *object, const char *key, const uint64_t *counters,
			const char *const *names, size_t count)
{
	struct json_object *inner = json_object_new_object();
	size_t i;
	int err = add(object, key, inner);

	for (i = 0; i < count && !err; i++)
		err = add(inner, names[i], json_object_new_uint64(counters[i]));
	return err;
}

static int add_unwind(struct json_object *object, const struct sdw_unwind_statistics *unwind)
{
	struct json_object *inner = json_object_new_object();
	const struct {
		const char *key;
		uint64_t value;
	} numbers[] = {
		{"samples", unwind->samples},
		{"template_samples", unwind->template_samples},
		{"template_steps", unwind->template_steps},
		{"library_steps", unwind->library_steps},
		{"verified", unwind->verified},
		{"differed", unwind->differed},
	};
	size_t i;
	int err = add(object, "unwind", inner);

	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]) && !err; i++)
		err = add(inner, numbers[i].key, json_object_new_uint64(numbers[i].value));
	return err;
}

static int add_handlers(struct json_object *object, const struct sdw_summary *summary)
{
	struct json_object *inner = json_object_new_object();
	int err = add(object, "handler_events", inner);

	err = err ?: add(inner, "written", json_object_new_uint64(summary->handler_events));
	err = err ?: add(inner, "not_taken", json_object_new_uint64(summary->handler_off));
	return err
		       ?: add(inner, "discarded",
			      json_object_new_uint64(summary->lttng->handler_discarded));
}

static int add_lttng(struct json_object *object, const struct sdw_summary *summary)
{
	const struct sdw_lttng_outcome *lttng = summary->lttng;
	struct json_object *inner = json_object_new_object();
	int err = add(object, "lttng", inner);

	err = err ?: add(inner, "session", json_object_new_string(lttng->session));
	err = err ?: add(inner, "trace", json_object_new_string(lttng->trace));
	err = err
		      ?: add(inner, "events_discarded",
			     json_object_new_uint64(lttng->events_discarded));
	err = err ?: add(inner, "snapshots", json_object_new_uint64(lttng->snapshots));
	err = err ?: add(inner, "incomplete", json_object_new_boolean(lttng->incomplete));
	return err || summary->config->path == SDW_PATH_BPF ? err : add_handlers(inner, summary);
}

static int add_sched(struct json_object *object, const struct sdw_sched_totals *sched)
{
	struct json_object *inner = json_object_new_object();
	int err = add(object, "scheduler", inner);

	err = err ?: add(inner, "events", json_object_new_uint64(sched->events));
	return err ?: add(inner, "lost", json_object_new_uint64(sched->lost));
}

static int fill(struct json_object *object, const struct sdw_summary *summary)
{
	const struct sdw_totals *totals = &summary->totals;
	const struct sdw_config *config = summary->config;
	uint64_t period = sdw_events_fixed_period(config);
	int err;

	err = add(object, "trace", json_object_new_string(summary->trace));
	err = err
		      ?: add(object, "duration_s",
			     json_object_new_double((double)totals->duration_ns / 1e9));
	err = err ?: add(object, "event", json_object_new_string(config->event.name));
	err = err
		      ?: add(object, "period_or_freq",
			     json_object_new_uint64(config->frequency ?: config->period));
	/* which of the two that is: the one that was asked for; a clock's frequency fixes its
	 * period */
	err = err ?: add(object, "frequency", json_object_new_uint64(config->frequency));
	err = err ?: add(object, "period", json_object_new_uint64(period));
	err = err ?: add(object, "overflows", json_object_new_uint64(totals->overflows));
	err = err ?: add(object, "samples", json_object_new_uint64(sdw_totals_samples(totals)));
	err = err ?: add_counters(object, "status", totals->status, status_names, SDW_STATUS_COUNT);
	err = err ?: add_counters(object, "lost", totals->lost, lost_names, SDW_LOST_COUNT);
	err = err ?: add(object, "processes", json_object_new_uint64(totals->processes));
	err = err ?: add(object, "threads", json_object_new_uint64(totals->threads));
	err = err ?: add(object, "complete", json_object_new_boolean(totals->complete));
	err = err ?: add_unwind(object, &summary->unwind);
	if (config->sched)
		err = err ?: add_sched(object, &summary->sched);
	return err || !summary->lttng ? err : add_lttng(object, summary);
}

int sdw_summary_print_json(const struct sdw_summary *summary, FILE *to)
{
	struct json_object *object = json_object_new_object();
	const char *text;
	int err;

	if (!object)
		return -ENOMEM;
	err = fill(object, summary);
	text = err ? NULL
		   : json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN |
								    JSON_C_TO_STRING_NOSLASHESCAPE);
	if (!err && !text)
		err = -ENOMEM;
	errno = EIO;
	if (!err && (fprintf(to, "%s\n", text) < 0 || fflush(to)))
		err = -errno;
	json_object_put(object);
	return err;
}
