// SPDX-License-Identifier: MIT
/* test_pprof.c - what a reader of pprof's format finds in an export, unpacked by protobuf-c. */
#include <string.h>

#include "profile_builder.h"
#include "proto/pprof.pb-c.h"
#include "view/export.h"
#include <zlib.h>

#define MAX_BYTES (1 << 20)

/* Exports, decompresses and unpacks; ends the builder. */
static Sdw__Pprof__Profile *export(struct builder *builder)
{
	static uint8_t bytes[MAX_BYTES];
	Sdw__Pprof__Profile *profile;
	z_stream zlib = {0};
	size_t count = 0;
	char *packed = NULL;
	FILE *file = open_memstream(&packed, &count);

	assert_non_null(file);
	assert_int_equal(sdw_export_pprof(&builder->profile, file), 0);
	fclose(file);
	sdw_profile_free(&builder->profile);
	assert_int_equal(inflateInit2(&zlib, 15 + 16), Z_OK); /* gzip, and nothing else */
	zlib.next_in = (uint8_t *)packed;
	zlib.avail_in = (uInt)count;
	zlib.next_out = bytes;
	zlib.avail_out = sizeof(bytes);
	assert_int_equal(inflate(&zlib, Z_FINISH), Z_STREAM_END);
	profile = sdw__pprof__profile__unpack(NULL, zlib.total_out, bytes);
	assert_non_null(profile);
	inflateEnd(&zlib);
	free(packed);
	return profile;
}

static const char *text_at(const Sdw__Pprof__Profile *profile, int64_t number)
{
	assert_in_range(number, 0, profile->n_string_table - 1);
	return profile->string_table[number];
}

static const Sdw__Pprof__Location *location_of(const Sdw__Pprof__Profile *profile, uint64_t id)
{
	assert_in_range(id, 1, profile->n_location);
	assert_int_equal(profile->location[id - 1]->id, id);
	return profile->location[id - 1];
}

static const Sdw__Pprof__Function *function_of(const Sdw__Pprof__Profile *profile, uint64_t id)
{
	uint64_t function = location_of(profile, id)->line[0]->function_id;

	assert_in_range(function, 1, profile->n_function);
	assert_int_equal(profile->function[function - 1]->id, function);
	return profile->function[function - 1];
}

static void expect_frame(const Sdw__Pprof__Profile *profile, uint64_t id, const char *name,
			 const char *file, int64_t first_line, int64_t line)
{
	const Sdw__Pprof__Function *function = function_of(profile, id);

	assert_string_equal(text_at(profile, function->name), name);
	assert_string_equal(text_at(profile, function->filename), file);
	assert_int_equal(function->start_line, first_line);
	assert_int_equal(location_of(profile, id)->line[0]->line, line);
}

static const char *module_of(const Sdw__Pprof__Profile *profile, uint64_t id)
{
	uint64_t mapping = location_of(profile, id)->mapping_id;

	if (!mapping)
		return "";
	assert_in_range(mapping, 1, profile->n_mapping);
	assert_int_equal(profile->mapping[mapping - 1]->id, mapping);
	assert_true(profile->mapping[mapping - 1]->has_functions);
	return text_at(profile, profile->mapping[mapping - 1]->filename);
}

static uint32_t start_one_thread(struct builder *builder, const char *unit)
{
	builder_start(builder, unit);
	return builder_thread(builder, builder_process(builder, 12, "python3"), 13, "worker");
}

static void test_a_stack_is_innermost_first_with_lines_and_modules(void **state)
{
	struct builder b;
	uint32_t thread = start_one_thread(&b, "ns");
	Sdw__Pprof__Profile *profile;
	const Sdw__Pprof__Sample *sample;

	(void)state;
	builder_sample(&b, thread,
		       builder_stack(&b, "<module>@/srv/app.py:1:30;A.run@/srv/app.py:7:9;"
					 "n memcpy@/usr/lib/libc.so.6;k ksys_read"),
		       3, 1000000, SDW_STATUS_COMPLETE);
	profile = export(&b);
	assert_int_equal(profile->n_sample, 1);
	sample = profile->sample[0];
	assert_int_equal(sample->n_location_id, 4);
	expect_frame(profile, sample->location_id[0], "ksys_read", "", 0, 0);
	expect_frame(profile, sample->location_id[1], "memcpy", "", 0, 0);
	expect_frame(profile, sample->location_id[2], "A.run", "/srv/app.py", 7, 9);
	expect_frame(profile, sample->location_id[3], "<module>", "/srv/app.py", 1, 30);
	assert_string_equal(module_of(profile, sample->location_id[0]), "[kernel]");
	assert_string_equal(module_of(profile, sample->location_id[1]), "/usr/lib/libc.so.6");
	assert_string_equal(module_of(profile, sample->location_id[2]), "");
	assert_int_equal(sample->n_value, 2);
	assert_int_equal(sample->value[0], 3);
	assert_int_equal(sample->value[1], 3000000);
	sdw__pprof__profile__free_unpacked(profile, NULL);
}

static void test_a_function_of_two_processes_is_one_and_its_lines_are_places(void **state)
{
	struct builder b;
	uint32_t thread = start_one_thread(&b, "ns");
	Sdw__Pprof__Profile *profile;

	(void)state;
	builder_sample(&b, thread, builder_stack(&b, "f@/a.py:1:2"), 1, 1, SDW_STATUS_COMPLETE);
	builder_sample(&b, thread, builder_stack(&b, "f@/a.py:1:2"), 1, 1, SDW_STATUS_COMPLETE);
	builder_sample(&b, thread, builder_stack(&b, "f@/a.py:1:3"), 1, 1, SDW_STATUS_COMPLETE);
	builder_sample(&b, thread, builder_stack(&b, "f@/a.py:9:9"), 1, 1, SDW_STATUS_COMPLETE);
	builder_sample(&b, thread, builder_stack(&b, "f@/b.py:1:2"), 1, 1, SDW_STATUS_COMPLETE);
	profile = export(&b);
	assert_int_equal(profile->n_function, 3);
	assert_int_equal(profile->n_location, 4);
	assert_int_equal(profile->sample[0]->location_id[0], profile->sample[1]->location_id[0]);
	assert_ptr_equal(function_of(profile, profile->sample[1]->location_id[0]),
			 function_of(profile, profile->sample[2]->location_id[0]));
	sdw__pprof__profile__free_unpacked(profile, NULL);
}

static void test_time_period_and_units_are_those_of_the_recording(void **state)
{
	struct builder b;
	uint32_t thread = start_one_thread(&b, "ns");
	Sdw__Pprof__Profile *profile;

	(void)state;
	builder_sample(&b, thread, builder_stack(&b, "f@a.py:1:2"), 2, 1000000,
		       SDW_STATUS_COMPLETE);
	builder_end(&b, 7);
	profile = export(&b);
	assert_int_equal(profile->time_nanos, 1700000000000000000);
	assert_int_equal(profile->duration_nanos, 2500000000);
	assert_int_equal(profile->period, 1000000); /* of 1000 Hz */
	assert_string_equal(text_at(profile, profile->period_type->type), "cpu");
	assert_string_equal(text_at(profile, profile->period_type->unit), "nanoseconds");
	assert_int_equal(profile->n_sample_type, 2);
	assert_string_equal(text_at(profile, profile->sample_type[0]->type), "samples");
	assert_string_equal(text_at(profile, profile->sample_type[0]->unit), "count");
	assert_string_equal(text_at(profile, profile->sample_type[1]->type), "cpu");
	assert_string_equal(text_at(profile, profile->default_sample_type), "cpu");
	assert_string_equal(profile->string_table[0], "");
	assert_string_equal(text_at(profile, profile->comment[1]), "python3 app.py");
	assert_string_equal(text_at(profile, profile->comment[2]),
			    "cpu-clock at 1000 Hz, 2.50 s, 2 samples, 7 lost (78%)");
	sdw__pprof__profile__free_unpacked(profile, NULL);
}

static void test_labels_tell_the_container(void **state)
{
	static const char id[] = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
	static const char *const keys[] = {"container", "container_id", "pod"};
	const char *const texts[] = {"web", id, "shop/web-1"};
	struct builder b;
	uint32_t thread, unnamed;
	Sdw__Pprof__Profile *profile;
	Sdw__Pprof__Label **label;

	(void)state;
	builder_start(&b, "ns");
	thread = builder_thread(&b, builder_contained(&b, 5, "py", id, "web", "shop/web-1"), 5,
				"py");
	unnamed = builder_thread(&b, builder_contained(&b, 6, "py", id, "", ""), 6, "py");
	builder_sample(&b, thread, builder_stack(&b, "f@a.py:1:2"), 1, 1, SDW_STATUS_COMPLETE);
	builder_sample(&b, unnamed, builder_stack(&b, "f@a.py:1:2"), 1, 1, SDW_STATUS_COMPLETE);
	profile = export(&b);
	assert_int_equal(profile->sample[0]->n_label, 7);
	label = profile->sample[0]->label;
	for (size_t i = 0; i < 3; i++) {
		assert_string_equal(text_at(profile, label[4 + i]->key), keys[i]);
		assert_string_equal(text_at(profile, label[4 + i]->str), texts[i]);
	}
	assert_int_equal(profile->sample[1]->n_label, 6);
	assert_string_equal(text_at(profile, profile->sample[1]->label[4]->str), "0123456789ab");
	sdw__pprof__profile__free_unpacked(profile, NULL);
}

static void test_an_event_that_is_no_clock_is_counted_by_its_name(void **state)
{
	struct builder b;
	uint32_t thread = start_one_thread(&b, "events");
	Sdw__Pprof__Profile *profile;

	(void)state;
	builder_sample(&b, thread, builder_stack(&b, "f@a.py:1:2"), 2, 5000, SDW_STATUS_COMPLETE);
	profile = export(&b);
	assert_string_equal(text_at(profile, profile->sample_type[1]->type), "cache-misses");
	assert_string_equal(text_at(profile, profile->sample_type[1]->unit), "count");
	assert_int_equal(profile->sample[0]->value[1], 10000);
	assert_int_equal(profile->period, 0); /* the kernel adapts it */
	sdw__pprof__profile__free_unpacked(profile, NULL);
}

static void test_labels_tell_process_and_thread(void **state)
{
	static const char *const keys[] = {"process", "pid", "thread", "tid"};
	struct builder b;
	uint32_t thread = start_one_thread(&b, "ns");
	Sdw__Pprof__Profile *profile;
	Sdw__Pprof__Label **label;

	(void)state;
	builder_sample(&b, thread, builder_stack(&b, "f@a.py:1:2"), 1, 1, SDW_STATUS_COMPLETE);
	profile = export(&b);
	assert_int_equal(profile->sample[0]->n_label, 4);
	label = profile->sample[0]->label;
	for (size_t i = 0; i < 4; i++)
		assert_string_equal(text_at(profile, label[i]->key), keys[i]);
	assert_string_equal(text_at(profile, label[0]->str), "python3");
	assert_int_equal(label[1]->num, 12);
	assert_string_equal(text_at(profile, label[2]->str), "worker");
	assert_int_equal(label[3]->num, 13);
	sdw__pprof__profile__free_unpacked(profile, NULL);
}

static void test_what_is_missing_is_a_frame_in_brackets(void **state)
{
	struct builder b;
	uint32_t thread = start_one_thread(&b, "ns");
	Sdw__Pprof__Profile *profile;

	(void)state;
	builder_sample(&b, thread, 0, 2, 1, SDW_STATUS_NO_PYTHON);
	builder_sample(&b, thread, builder_stack(&b, "x [truncated];f@a.py:1:2"), 1, 1,
		       SDW_STATUS_TRUNCATED);
	profile = export(&b);
	expect_frame(profile, profile->sample[0]->location_id[0], "[no_python]", "", 0, 0);
	expect_frame(profile, profile->sample[1]->location_id[1], "[truncated]", "", 0, 0);
	sdw__pprof__profile__free_unpacked(profile, NULL);
}

static void test_names_cannot_steer_the_terminal_that_shows_them(void **state)
{
	struct builder b;
	uint32_t thread = start_one_thread(&b, "ns");
	uint32_t code = builder_code(&b, SDW_CODE_PYTHON, "a\x1b[31m\xff", "x\n.py", 1);
	Sdw__Pprof__Profile *profile;

	(void)state;
	builder_sample(&b, thread, builder_push(&b, 0, code, 2), 1, 1, SDW_STATUS_COMPLETE);
	profile = export(&b);
	expect_frame(profile, profile->sample[0]->location_id[0], "a\\x1b[31m\\xff", "x\\x0a.py", 1,
		     2);
	sdw__pprof__profile__free_unpacked(profile, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_stack_is_innermost_first_with_lines_and_modules),
		cmocka_unit_test(test_a_function_of_two_processes_is_one_and_its_lines_are_places),
		cmocka_unit_test(test_time_period_and_units_are_those_of_the_recording),
		cmocka_unit_test(test_an_event_that_is_no_clock_is_counted_by_its_name),
		cmocka_unit_test(test_labels_tell_process_and_thread),
		cmocka_unit_test(test_labels_tell_the_container),
		cmocka_unit_test(test_what_is_missing_is_a_frame_in_brackets),
		cmocka_unit_test(test_names_cannot_steer_the_terminal_that_shows_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
