// SPDX-License-Identifier: MIT
/*
 * test_compare_report.c - what a comparison prints, of a recording whose every number is known.
 * With
 * "--compare FILE" it writes the page of it, which tests/browser looks at.
 */
#include <errno.h>
#include <json-c/json.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "analyze/compare_report.h"
#include "events.h"
#include "profile_builder.h"

#define MS   1000000ull
#define MAIN "main@app.py:1:12;"

struct given {
	struct builder b;
	struct sdw_comparison comparison;
	struct sdw_compare_report report;
	struct sdw_cost cost;
	uint64_t pair;
};

static void send_bpf(struct given *given, uint32_t stack, uint64_t pair, uint8_t flags)
{
	struct sdw_sample_event event = {
		.time_ns = given->b.now_ns += MS,
		.thread = 1,
		.stack = stack,
		.weight = MS,
		.pair = pair,
		.flags = flags,
	};

	SEND(&given->b, sample, &event);
}

static void send_pair(struct given *given, const char *bpf, const char *signal, uint64_t delay_ns,
		      uint8_t delivery)
{
	struct sdw_signal_sample_event event = {
		.thread = 1,
		.weight = MS,
		.pair = ++given->pair,
		.delivery = delivery,
		.stack = builder_stack(&given->b, signal),
	};

	send_bpf(given, builder_stack(&given->b, bpf), given->pair,
		 delivery & SDW_SIGNAL_AFTER_KERNEL ? SDW_SAMPLE_KERNEL_MODE : 0);
	event.overflow_ns = given->b.now_ns;
	event.time_ns = event.handler_ns = given->b.now_ns + delay_ns;
	assert_int_equal(sdw_sink_signal_sample(given->b.sink, &event), 0);
}

/* Twelve overflows: ten paired, one merged into a blocked signal, one before the agent. */
static void build(struct given *given, const char *worst_name)
{
	struct builder *b = &given->b;
	char worst[256];

	memset(given, 0, sizeof(*given));
	builder_start(b, "ns");
	b->profile.recording.path = SDW_PATH_BOTH;
	builder_thread(b, builder_process(b, 12, "python3"), 12, "python3");
	snprintf(worst, sizeof(worst), MAIN "%s@app.py:9:9", worst_name);
	send_bpf(given, builder_stack(b, MAIN), 99, 0);
	for (int i = 0; i < 7; i++)
		send_pair(given, MAIN "f@app.py:3:4", MAIN "f@app.py:3:4", 2000, 0);
	send_pair(given, MAIN "f@app.py:3:4;n read@/lib/libc.so.6", MAIN "f@app.py:3:5", 40000,
		  SDW_SIGNAL_AFTER_KERNEL);
	send_pair(given, MAIN "f@app.py:3:4", worst, 1500000, SDW_SIGNAL_BLOCKED);
	send_bpf(given, builder_stack(b, MAIN "f@app.py:3:4"), 98, 0);
	send_pair(given, MAIN "g@app.py:7:8", MAIN "g@app.py:7:8", 3000, 0);
	builder_end(b, 0);
	assert_int_equal(sdw_comparison_make_of_profile(&given->comparison, &b->profile), 0);
	given->report.profile = &b->profile;
	given->report.comparison = &given->comparison;
}

static void add_cost(struct given *given)
{
	static const double more[SDW_WAY_COUNT] = {0, 0.010, 0.012, 0.030};
	struct sdw_cost *cost = &given->cost;

	cost->rounds = 3;
	for (unsigned int way = 0; way < SDW_WAY_COUNT; way++) {
		for (unsigned int i = 0; i < 3; i++) {
			cost->runs[way][i] = (struct sdw_cost_run){
				.cpu_s = 1 + 0.1 * i + more[way] * (1 + 0.1 * i),
				.samples = way == SDW_WAY_NONE ? 0 : 1000,
				.bytes = way == SDW_WAY_BPF ? 32000 : 96000,
			};
			cost->empty[way][i].cpu_s = 0.001 + more[way] / 100;
			cost->empty[way][i].profiler_s = way >= SDW_WAY_BPF ? 0.02 : 0;
		}
	}
	given->report.cost = cost;
}

static void destroy(struct given *given)
{
	sdw_truth_result_free(&given->report.bpf_truth);
	sdw_truth_result_free(&given->report.signal_truth);
	sdw_comparison_free(&given->comparison);
	sdw_profile_free(&given->b.profile);
}

static void test_the_table_tells_all_of_it(void **state)
{
	struct given given;
	char *text = NULL;

	(void)state;
	build(&given, "late\x1b[31m");
	CAPTURE(text, 0, sdw_compare_print(&given.report, out));
	assert_string_equal(
		text,
		"python3 app.py\n"
		"12 overflows of cpu-clock at 1000 Hz\n"
		"\n"
		"                BPF     SIGNAL\n"
		"seen             12         10\n"
		"paired           10         10   83.33 % of the overflows\n"
		"alone             2          0\n"
		"lost              0          0   counted as such by the path\n"
		"\n"
		"Why they are alone:\n"
		"         1  coalesced           only BPF: the signal of an earlier overflow was still pending, or its handler ran\n"
		"         1  before_agent        only BPF: before the thread's event was ready to signal (start, exec, new thread)\n"
		"\n"
		"                                  DELAY FROM OVERFLOW TO HANDLER              SAME\n"
		"SIGNAL CAME        PAIRS       %       p50       p90       p99       max    PYTHON     LINES    NATIVE\n"
		"user_mode              8  80.00%   2.00 us   3.00 us   3.00 us   3.00 us   100.00%   100.00%         -\n"
		"kernel_mode            1  10.00%   40.0 us   40.0 us   40.0 us   40.0 us   100.00%     0.00%     0.00%\n"
		"blocked                1  10.00%   1.50 ms   1.50 ms   1.50 ms   1.50 ms     0.00%         -         -\n"
		"all                   10 100.00%   2.00 us   40.0 us   1.50 ms   1.50 ms    90.00%    88.89%     0.00%\n"
		"\n"
		"  kernel_mode: when the kernel returned to the program: the overflow hit it\n"
		"  blocked: when the thread let it: it had the signal blocked\n"
		"  1 of the handlers ran 1.00 ms or more after their overflow\n"
		"\n"
		"The commonest disagreements, where they begin:\n"
		"         1  python  BPF f (app.py:4)   signal late\\x1b[31m (app.py:9)\n"
		"         1  line    BPF f (app.py:4)   signal f (app.py:5)\n"
		"         1  native  BPF read (libc.so.6)   signal no further frame\n");
	free(text);
	destroy(&given);
}

static void test_cost_is_taken_within_a_round(void **state)
{
	struct given given;
	struct sdw_spread spread;
	char *text = NULL;

	(void)state;
	build(&given, "late");
	add_cost(&given);
	spread = sdw_cost_added_us(&given.cost, SDW_WAY_BPF);
	assert_true(fabs(spread.median - 13.2) < 1e-6);
	assert_true(fabs(spread.least - 12) < 1e-6 && fabs(spread.most - 14.4) < 1e-6);
	assert_true(sdw_cost_added_us(&given.cost, SDW_WAY_NONE).median == 0);
	CAPTURE(text, 0, sdw_compare_print(&given.report, out));
	assert_non_null(strstr(text, "\nthe BPF path alone                      1.113 ( 1.012 to  "
				     "1.214)  13.20 ( 12.00 to  14.40)    12.00    32.0  "));
	assert_non_null(strstr(text, "\nnot sampled                             1.100 ( 1.000 to  "
				     "1.200)\n"));
	free(text);
	destroy(&given);
}

static struct json_object *get(struct json_object *object, const char *key)
{
	struct json_object *value = NULL;

	assert_true(json_object_object_get_ex(object, key, &value));
	return value;
}

static double number(struct json_object *object, const char *outer, const char *key)
{
	return json_object_get_double(get(outer ? get(object, outer) : object, key));
}

static void test_json_has_what_programs_rely_on(void **state)
{
	struct json_object *object;
	struct given given;
	char *text = NULL;

	(void)state;
	build(&given, "late");
	add_cost(&given);
	CAPTURE(text, 0, sdw_compare_print_json(&given.report, out));
	object = json_tokener_parse(text);
	assert_non_null(object);
	assert_true(number(object, NULL, "overflows") == 12);
	assert_true(number(object, NULL, "paired") == 10);
	assert_true(number(object, NULL, "bpf_only") == 2);
	assert_true(number(object, NULL, "signal_only") == 0);
	assert_true(number(object, NULL, "python_agree") == 0.9);
	assert_true(fabs(number(object, NULL, "line_agree") - 8 / 9.0) < 1e-8);
	assert_true(number(object, NULL, "native_agree") == 0);
	assert_true(number(object, "delay_ns", "p50") == 2000);
	assert_true(number(object, "delay_ns", "p99") == 1500000);
	assert_true(number(object, "delay_ns", "max") == 1500000);
	assert_true(number(object, "cpu_us_per_sample", "none") == 0);
	assert_true(fabs(number(object, "cpu_us_per_sample", "floor") - 11) < 1e-6);
	assert_true(fabs(number(object, "cpu_us_per_sample", "bpf") - 13.2) < 1e-6);
	assert_true(fabs(number(object, "cpu_us_per_sample", "signal") - 33) < 1e-6);
	assert_true(number(object, "bytes_per_sample", "bpf") == 32);
	assert_true(number(object, "bytes_per_sample", "signal") == 96);
	assert_true(number(object, "lost", "bpf") == 0);
	assert_true(number(object, "lost", "signal") == 0);
	assert_true(number(object, "lost", "coalesced") == 1);
	assert_true(number(object, "alone", "before_agent") == 1);
	assert_true(number(get(object, "delivery"), "user_mode", "pairs") == 8);
	assert_null(get(object, "truth"));
	json_object_put(object);
	free(text);
	destroy(&given);
}

static void test_what_was_not_measured_is_null(void **state)
{
	struct json_object *object;
	struct given given;

	(void)state;
	build(&given, "late");
	object = sdw_compare_json(&given.report);
	assert_non_null(object);
	assert_null(get(object, "cost"));
	assert_null(get(get(object, "cpu_us_per_sample"), "bpf"));
	assert_null(get(get(object, "bytes_per_sample"), "signal"));
	assert_null(get(get(get(object, "delivery"), "wrong_thread"), "python_agree"));
	json_object_put(object);
	destroy(&given);
}

static void test_no_name_ends_the_data_of_the_page(void **state)
{
	struct given given;
	char *text = NULL, *at;
	unsigned int ends = 0;

	(void)state;
	build(&given, "</script><b>");
	add_cost(&given);
	CAPTURE(text, 0, sdw_compare_print_page(&given.report, out));
	for (at = text; (at = strstr(at, "</script>")); at++)
		ends++;
	assert_int_equal(ends, 2);
	assert_non_null(strstr(text, "\\u003c/script>\\u003cb>"));
	assert_null(strstr(text, "@DATA@"));
	assert_null(strstr(text, "@NONCE@"));
	free(text);
	destroy(&given);
}

static void test_a_recording_of_one_path_is_refused(void **state)
{
	struct sdw_comparison comparison;
	struct builder b;

	(void)state;
	builder_start(&b, "ns");
	assert_int_equal(sdw_comparison_make_of_profile(&comparison, &b.profile), -ENODATA);
	sdw_comparison_free(&comparison);
	sdw_profile_free(&b.profile);
}

/* Writes `text` to a file and reads it as the truth; returns what reading gave. */
static int read_truth(const char *text, struct sdw_truth *truth)
{
	char path[] = "/tmp/sidewinder-truth-XXXXXX";
	int fd = mkstemp(path), err;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
	err = sdw_truth_read(path, truth);
	unlink(path);
	return err;
}

static void test_the_error_is_that_of_the_shares(void **state)
{
	struct sdw_truth truth;
	struct given given;

	(void)state;
	build(&given, "late");
	/* BPF: f 9 + 1 of 12, g 1, main alone outside; signal: f 8, g 1, late outside */
	assert_int_equal(read_truth("{\"shares\": {\"f\": 3, \"g\": 1}}", &truth), 0);
	assert_int_equal(truth.count, 2);
	assert_true(truth.items[0].share == 0.75);
	assert_int_equal(sdw_truth_compare(&truth, &given.b.profile, &given.comparison.bpf_samples,
					   &given.report.bpf_truth),
			 0);
	assert_int_equal(sdw_truth_compare(&truth, &given.b.profile,
					   &given.comparison.signal_samples,
					   &given.report.signal_truth),
			 0);
	assert_int_equal(given.report.bpf_truth.counted, 11);
	assert_int_equal(given.report.bpf_truth.outside, 1);
	assert_int_equal(given.report.signal_truth.counted, 9);
	assert_int_equal(given.report.signal_truth.outside, 1);
	assert_true(fabs(given.report.bpf_truth.l2 - 100 * (10 / 11.0 - 0.75) * sqrt(2)) < 1e-9);
	assert_true(fabs(given.report.bpf_truth.rms - 100 * (10 / 11.0 - 0.75)) < 1e-9);
	sdw_truth_free(&truth);
	destroy(&given);
}

static void test_a_truth_that_is_none_is_refused(void **state)
{
	static const char *const wrong[] = {"",
					    "[]",
					    "{}",
					    "{\"f\": \"x\"}",
					    "{\"f\": -1}",
					    "{\"f\": 0}",
					    "{\"f\": 1e999}",
					    "{\"f\": 0.5,",
					    "{\"f\": [1]}"};
	struct sdw_truth truth;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		assert_int_equal(read_truth(wrong[i], &truth), -EINVAL);
		sdw_truth_free(&truth);
	}
	assert_int_equal(sdw_truth_read("/nonexistent", &truth), -ENOENT);
	sdw_truth_free(&truth);
}

static int write_page(const char *path)
{
	FILE *file = fopen(path, "w");
	struct given given;
	int err;

	build(&given, "</script><img src=x onerror=hacked=1>");
	add_cost(&given);
	err = file ? sdw_compare_print_page(&given.report, file) : -errno;
	if (file && fclose(file))
		err = -errno;
	destroy(&given);
	return err;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_table_tells_all_of_it),
		cmocka_unit_test(test_cost_is_taken_within_a_round),
		cmocka_unit_test(test_json_has_what_programs_rely_on),
		cmocka_unit_test(test_what_was_not_measured_is_null),
		cmocka_unit_test(test_no_name_ends_the_data_of_the_page),
		cmocka_unit_test(test_a_recording_of_one_path_is_refused),
		cmocka_unit_test(test_the_error_is_that_of_the_shares),
		cmocka_unit_test(test_a_truth_that_is_none_is_refused),
	};

	if (argc == 3 && strcmp(argv[1], "--compare") == 0)
		return write_page(argv[2]) ? 1 : 0;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
