// SPDX-License-Identifier: MIT
/* compare_json.c - a comparison as one JSON object; its keys are in compare_report.h. */
#include <errno.h>
#include <stdlib.h>

#include "analyze/compare_report.h"
#include "view/escape.h"
#include "view/report_header.h"

#define MAX_DISAGREEMENTS 20

const char *const sdw_difference_names[SDW_DIFFERENCE_COUNT] = {"python", "line", "native"};

/* Adding NULL (no memory) would be a JSON null, and adding to NULL does nothing. */
struct writer {
	struct json_object *object;
	int err;
};

static void put(struct writer *to, const char *key, struct json_object *value)
{
	if (!value || to->err || json_object_object_add(to->object, key, value)) {
		json_object_put(value);
		to->err = -ENOMEM;
	}
}

static void put_count(struct writer *to, const char *key, uint64_t count)
{
	put(to, key, json_object_new_uint64(count));
}

static void put_number(struct writer *to, const char *key, double number)
{
	put(to, key, sdw_json_number(number));
}

static void put_null(struct writer *to, const char *key)
{
	if (!to->err && json_object_object_add(to->object, key, NULL))
		to->err = -ENOMEM;
}

static void put_text(struct writer *to, const char *key, const char *text)
{
	put(to, key, sdw_json_text(text));
}

/* An object within an object, which keeps it; an error within goes to the outer one by end(). */
static struct writer begin(struct writer *to, const char *key)
{
	struct writer inner = {json_object_new_object(), 0};

	put(to, key, inner.object);
	inner.err = to->err;
	return inner;
}

static void end(struct writer *to, const struct writer *inner)
{
	if (!to->err)
		to->err = inner->err;
}

static struct json_object *classes_json(const struct sdw_delays *delays)
{
	struct json_object *list = json_object_new_array();
	uint64_t classes[SDW_DELAY_CLASSES];

	sdw_delays_histogram(delays, classes);
	for (unsigned int i = 0; i < SDW_DELAY_CLASSES && list; i++) {
		struct json_object *pair;

		if (!classes[i])
			continue;
		pair = json_object_new_array();
		if (!pair)
			break;
		json_object_array_add(pair, sdw_json_number(sdw_delay_class_begin(i)));
		json_object_array_add(pair, json_object_new_uint64(classes[i]));
		json_object_array_add(list, pair);
	}
	return list;
}

static void put_delays(struct writer *to, const struct sdw_delays *delays)
{
	struct writer inner = begin(to, "delay_ns");

	put_count(&inner, "p50", sdw_delays_percentile(delays, 50));
	put_count(&inner, "p90", sdw_delays_percentile(delays, 90));
	put_count(&inner, "p99", sdw_delays_percentile(delays, 99));
	put_count(&inner, "max", sdw_delays_percentile(delays, 100));
	put(&inner, "classes", classes_json(delays));
	end(to, &inner);
}

static void put_agreement(struct writer *to, const struct sdw_agreed *agreed)
{
	static const char *const keys[] = {"python_agree", "line_agree", "native_agree"};
	struct writer inner;

	for (unsigned int i = 0; i < SDW_DIFFERENCE_COUNT; i++) {
		if (agreed[i].compared)
			put_number(to, keys[i], sdw_agreed_share(&agreed[i]));
		else
			put_null(to, keys[i]);
	}
	inner = begin(to, "compared");
	for (unsigned int i = 0; i < SDW_DIFFERENCE_COUNT; i++)
		put_count(&inner, sdw_difference_names[i], agreed[i].compared);
	end(to, &inner);
}

static void put_recording(struct writer *to, const struct sdw_compare_report *report)
{
	const struct sdw_recording *recording = &report->profile->recording;

	put_text(to, "command", recording->command);
	put_text(to, "event", recording->event);
	put_text(to, "unit", recording->unit);
	put_count(to, "period", recording->period);
	put_count(to, "frequency", recording->frequency);
	if (report->trace)
		put_text(to, "trace", report->trace);
	else
		put_null(to, "trace");
}

static void put_pairs(struct writer *to, const struct sdw_comparison *comparison)
{
	const struct sdw_pairs *pairs = &comparison->pairs;
	struct writer inner;

	put_count(to, "overflows", comparison->overflows);
	put_count(to, "paired", pairs->count);
	put_count(to, "bpf_only", pairs->bpf_only);
	put_count(to, "signal_only", pairs->signal_only);
	inner = begin(to, "seen");
	put_count(&inner, "bpf", comparison->bpf);
	put_count(&inner, "signal", comparison->signal);
	end(to, &inner);
	inner = begin(to, "alone");
	for (unsigned int i = 0; i < SDW_ALONE_COUNT; i++)
		put_count(&inner, sdw_alone_name(i), pairs->alone[i]);
	end(to, &inner);
	inner = begin(to, "alone_meaning");
	for (unsigned int i = 0; i < SDW_ALONE_COUNT; i++)
		if (pairs->alone[i])
			put_text(&inner, sdw_alone_name(i), sdw_alone_meaning(i));
	end(to, &inner);
	inner = begin(to, "lost");
	put_count(&inner, "bpf", comparison->bpf_lost);
	put_count(&inner, "signal", comparison->signal_lost);
	put_count(&inner, "coalesced", pairs->alone[SDW_ALONE_COALESCED]);
	put_count(&inner, "not_delivered", comparison->not_delivered);
	end(to, &inner);
	put_count(to, "late", comparison->late);
	put_count(to, "late_after_ns", comparison->late_after_ns);
	put_agreement(to, comparison->all.agreed);
	put_count(to, "incomplete", comparison->incomplete);
	put_delays(to, &comparison->all.delays);
}

static void put_deliveries(struct writer *to, const struct sdw_comparison *comparison)
{
	struct writer inner = begin(to, "delivery");

	for (unsigned int i = 0; i < SDW_DELIVERY_COUNT; i++) {
		const struct sdw_delivered *delivered = &comparison->by_delivery[i];
		struct writer one = begin(&inner, sdw_delivery_name(i));
		uint64_t all = comparison->all.pairs;

		put_count(&one, "pairs", delivered->pairs);
		put_number(&one, "share", all ? (double)delivered->pairs / (double)all : 0);
		put_agreement(&one, delivered->agreed);
		put_delays(&one, &delivered->delays);
		end(&inner, &one);
	}
	end(to, &inner);
}

static void put_frame(struct writer *to, const char *key, const struct sdw_profile *profile,
		      uint32_t frame)
{
	char *text;

	if (!frame) {
		put_null(to, key);
		return;
	}
	text = sdw_compare_frame_text(profile, frame);
	put(to, key, text ? sdw_json_text(text) : NULL);
	free(text);
}

static void put_disagreements(struct writer *to, const struct sdw_compare_report *report)
{
	const struct sdw_agreement *agreement = &report->comparison->agreement;
	struct json_object *list = json_object_new_array();

	put(to, "disagreements", list);
	for (size_t i = 0; i < agreement->disagreements.count && i < MAX_DISAGREEMENTS; i++) {
		const struct sdw_disagreement *at = &agreement->disagreements.items[i];
		struct writer one = {json_object_new_object(), to->err};

		if (!one.object || to->err) {
			json_object_put(one.object);
			to->err = -ENOMEM;
			return;
		}
		json_object_array_add(list, one.object);
		put_text(&one, "what", sdw_difference_names[at->what]);
		put_count(&one, "count", at->count);
		put_frame(&one, "bpf", report->profile, at->bpf);
		put_frame(&one, "signal", report->profile, at->signal);
		end(to, &one);
	}
}

static void put_spread(struct writer *to, const char *key, struct sdw_spread spread)
{
	struct writer inner = begin(to, key);

	put_number(&inner, "median", spread.median);
	put_number(&inner, "least", spread.least);
	put_number(&inner, "most", spread.most);
	end(to, &inner);
}

static struct json_object *runs_json(const struct sdw_cost *cost, enum sdw_way way)
{
	struct json_object *list = json_object_new_array();

	for (unsigned int i = 0; i < cost->rounds && list; i++)
		json_object_array_add(list, sdw_json_number(cost->runs[way][i].cpu_s));
	return list;
}

static void put_cost(struct writer *to, const struct sdw_cost *cost)
{
	struct writer inner;

	if (!cost) {
		put_null(to, "cost");
		return;
	}
	inner = begin(to, "cost");
	put_count(&inner, "rounds", cost->rounds);
	for (unsigned int way = 0; way < SDW_WAY_COUNT; way++) {
		struct writer one = begin(&inner, sdw_way_name(way));

		put_spread(&one, "cpu_s", sdw_cost_cpu_s(cost, way));
		put(&one, "runs", runs_json(cost, way));
		put_spread(&one, "added_us", sdw_cost_added_us(cost, way));
		put_number(&one, "added_quickest_us", sdw_cost_added_quickest_us(cost, way));
		put_spread(&one, "setup_us", sdw_cost_setup_us(cost, way));
		put_spread(&one, "profiler_us", sdw_cost_profiler_us(cost, way));
		put_count(&one, "samples", cost->rounds ? cost->runs[way][0].samples : 0);
		end(&inner, &one);
	}
	end(to, &inner);
}

static void put_per_sample(struct writer *to, const struct sdw_cost *cost)
{
	struct writer inner = begin(to, "bytes_per_sample");

	for (unsigned int way = SDW_WAY_BPF; way < SDW_WAY_COUNT; way++) {
		if (cost)
			put_number(&inner, sdw_way_name(way), sdw_cost_bytes(cost, way));
		else
			put_null(&inner, sdw_way_name(way));
	}
	end(to, &inner);
	inner = begin(to, "cpu_us_per_sample");
	for (unsigned int way = 0; way < SDW_WAY_COUNT; way++) {
		if (cost)
			put_number(&inner, sdw_way_name(way), sdw_cost_added_us(cost, way).median);
		else
			put_null(&inner, sdw_way_name(way));
	}
	end(to, &inner);
}

static void put_truth_result(struct writer *to, const char *key,
			     const struct sdw_truth_result *result)
{
	struct writer inner = begin(to, key);

	put_number(&inner, "rms", result->rms);
	put_number(&inner, "l2", result->l2);
	put_count(&inner, "counted", result->counted);
	put_count(&inner, "outside", result->outside);
	end(to, &inner);
}

static double share_of(const struct sdw_truth_result *result, size_t function)
{
	return result->counted ? (double)result->samples[function] / (double)result->counted : 0;
}

static void put_truth(struct writer *to, const struct sdw_compare_report *report)
{
	struct json_object *list;
	struct writer inner;

	if (!report->truth) {
		put_null(to, "truth");
		return;
	}
	inner = begin(to, "truth");
	put_truth_result(&inner, "bpf", &report->bpf_truth);
	put_truth_result(&inner, "signal", &report->signal_truth);
	list = json_object_new_array();
	put(&inner, "functions", list);
	for (size_t i = 0; i < report->truth->count && !inner.err; i++) {
		struct writer one = {json_object_new_object(), 0};

		if (!one.object || json_object_array_add(list, one.object)) {
			json_object_put(one.object);
			inner.err = -ENOMEM;
			break;
		}
		put_text(&one, "name", report->truth->items[i].name);
		put_number(&one, "share", report->truth->items[i].share);
		put_number(&one, "bpf", share_of(&report->bpf_truth, i));
		put_number(&one, "signal", share_of(&report->signal_truth, i));
		end(&inner, &one);
	}
	end(to, &inner);
}

struct json_object *sdw_compare_json(const struct sdw_compare_report *report)
{
	struct writer to = {json_object_new_object(), 0};

	if (!to.object)
		return NULL;
	put_recording(&to, report);
	put_pairs(&to, report->comparison);
	put_deliveries(&to, report->comparison);
	put_disagreements(&to, report);
	put_per_sample(&to, report->cost);
	put_cost(&to, report->cost);
	put_truth(&to, report);
	if (to.err) {
		json_object_put(to.object);
		return NULL;
	}
	return to.object;
}

int sdw_compare_print_json(const struct sdw_compare_report *report, FILE *file)
{
	struct json_object *object = sdw_compare_json(report);
	const char *text =
		object ? json_object_to_json_string_ext(
				 object, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE)
		       : NULL;

	if (text)
		sdw_escape_json_line(file, text);
	json_object_put(object);
	return text ? 0 : -ENOMEM;
}
