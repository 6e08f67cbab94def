// SPDX-License-Identifier: MIT
/* test_perfetto.c - the packets of an export for Perfetto, unpacked by protobuf-c. */
#include "profile_builder.h"
#include "events.h"
#include "proto/perfetto.pb-c.h"
#include "view/export.h"

static Sdw__Perfetto__Trace *export(struct builder *builder)
{
	Sdw__Perfetto__Trace *trace;
	size_t count = 0;
	char *packed = NULL;
	FILE *file = open_memstream(&packed, &count);

	assert_non_null(file);
	assert_int_equal(sdw_export_perfetto(&builder->profile, file), 0);
	fclose(file);
	sdw_profile_free(&builder->profile);
	trace = sdw__perfetto__trace__unpack(NULL, count, (const uint8_t *)packed);
	assert_non_null(trace);
	free(packed);
	return trace;
}

/* Sample packet `n`, from 0. */
static const Sdw__Perfetto__TracePacket *sample_at(const Sdw__Perfetto__Trace *trace, size_t n)
{
	for (size_t i = 0; i < trace->n_packet; i++) {
		if (trace->packet[i]->perf_sample && !n--)
			return trace->packet[i];
	}
	fail_msg("there are not so many samples");
	return NULL;
}

/* The packets before the one that uses it must have given an id. */
#define FIND(kind, field, id)                                                                      \
	static const Sdw__Perfetto__##kind *find_##field(const Sdw__Perfetto__Trace *trace,        \
							 uint64_t id)                              \
	{                                                                                          \
		for (size_t i = 0; i < trace->n_packet; i++) {                                     \
			const Sdw__Perfetto__InternedData *data = trace->packet[i]->interned_data; \
                                                                                                   \
			for (size_t k = 0; data && k < data->n_##field; k++) {                     \
				if (data->field[k]->iid == (id))                                   \
					return data->field[k];                                     \
			}                                                                          \
		}                                                                                  \
		fail_msg(#field " %d is not there", (int)(id));                                    \
		return NULL;                                                                       \
	}

FIND(InternedString, function_names, id)
FIND(InternedString, mapping_paths, id)
FIND(InternedString, source_paths, id)
FIND(Mapping, mappings, id)
FIND(Frame, frames, id)
FIND(Callstack, callstacks, id)

static void expect_text(const Sdw__Perfetto__InternedString *string, const char *text)
{
	assert_int_equal(string->str.len, strlen(text));
	assert_memory_equal(string->str.data, text, string->str.len);
}

static void expect_frame(const Sdw__Perfetto__Trace *trace, uint64_t id, const char *name,
			 const char *file, uint32_t line)
{
	const Sdw__Perfetto__Frame *frame = find_frames(trace, id);
	const Sdw__Perfetto__Mapping *mapping = find_mappings(trace, frame->mapping_id);

	expect_text(find_function_names(trace, frame->function_name_id), name);
	assert_int_equal(mapping->n_path_string_ids, 1);
	expect_text(find_mapping_paths(trace, mapping->path_string_ids[0]), file);
	assert_int_equal(frame->line_number, line);
	if (line)
		expect_text(find_source_paths(trace, frame->source_path_iid), file);
	else
		assert_int_equal(frame->source_path_iid, 0);
}

static void test_the_first_packets_set_clock_and_event(void **state)
{
	Sdw__Perfetto__Trace *trace;
	const Sdw__Perfetto__TracePacket *clock, *defaults;
	struct builder b;

	(void)state;
	builder_start(&b, "ns");
	trace = export(&b);
	assert_int_equal(trace->n_packet, 2);
	clock = trace->packet[0];
	defaults = trace->packet[1];
	assert_int_equal(clock->clock_snapshot->primary_trace_clock, 3);
	assert_int_equal(clock->clock_snapshot->clocks[0]->clock_id, 3);
	assert_int_equal(clock->clock_snapshot->clocks[0]->timestamp, 1000000000);
	assert_int_equal(clock->clock_snapshot->clocks[1]->clock_id, 1);
	assert_int_equal(clock->clock_snapshot->clocks[1]->timestamp, 1700000000000000000);
	assert_int_equal(defaults->sequence_flags, 1);
	assert_int_equal(defaults->trace_packet_defaults->timestamp_clock_id, 3);
	assert_int_equal(defaults->trace_packet_defaults->perf_sample_defaults->timebase->frequency,
			 1000);
	assert_int_equal(clock->trusted_packet_sequence_id, defaults->trusted_packet_sequence_id);
	sdw__perfetto__trace__free_unpacked(trace, NULL);
}

static void test_a_sample_has_its_thread_time_and_stack_root_first(void **state)
{
	Sdw__Perfetto__Trace *trace;
	const Sdw__Perfetto__TracePacket *packet;
	const Sdw__Perfetto__Callstack *stack;
	struct builder b;
	uint32_t thread;

	(void)state;
	builder_start(&b, "ns");
	thread = builder_thread(&b, builder_process(&b, 12, "python3"), 13, "worker");
	builder_sample(&b, thread,
		       builder_stack(&b, "f@/srv/a.py:1:30;n memcpy@/lib/libc.so.6;k ksys_read"), 2,
		       1000, SDW_STATUS_COMPLETE);
	builder_sample(&b, thread, 0, 1, 1000, SDW_STATUS_NO_PYTHON);
	trace = export(&b);
	assert_string_equal(trace->packet[2]->process_tree->threads[0]->name, "worker");
	assert_int_equal(trace->packet[2]->process_tree->threads[0]->tgid, 12);
	assert_string_equal(trace->packet[2]->process_tree->processes[0]->cmdline[0], "python3");
	packet = sample_at(trace, 1);
	assert_null(packet->interned_data); /* its stack was sent with the first */
	assert_int_equal(packet->timestamp, 1002000000);
	assert_int_equal(packet->perf_sample->pid, 12);
	assert_int_equal(packet->perf_sample->tid, 13);
	assert_int_equal(packet->perf_sample->timebase_count, 2000);
	stack = find_callstacks(trace, packet->perf_sample->callstack_iid);
	assert_int_equal(stack->n_frame_ids, 3);
	expect_frame(trace, stack->frame_ids[0], "f", "/srv/a.py", 30);
	expect_frame(trace, stack->frame_ids[1], "memcpy", "/lib/libc.so.6", 0);
	expect_frame(trace, stack->frame_ids[2], "ksys_read", "[kernel]", 0);
	stack = find_callstacks(trace, sample_at(trace, 2)->perf_sample->callstack_iid);
	assert_int_equal(stack->n_frame_ids, 1);
	expect_frame(trace, stack->frame_ids[0], "[no_python]", "", 0);
	sdw__perfetto__trace__free_unpacked(trace, NULL);
}

static void test_losses_are_told_where_they_were(void **state)
{
	const struct sdw_lost_event lost[] = {
		{.time_ns = 5000000000, .count = 7, .reason = SDW_LOST_RING_FULL},
		{.time_ns = 5000000000, .count = 9, .reason = SDW_LOST_OUTSIDE_TARGET}};
	Sdw__Perfetto__Trace *trace;
	struct builder b;

	(void)state;
	builder_start(&b, "ns");
	SEND(&b, lost, &lost[0]);
	SEND(&b, lost, &lost[1]); /* not asked for: no loss */
	trace = export(&b);
	assert_int_equal(trace->n_packet, 3);
	assert_int_equal(sample_at(trace, 0)->perf_sample->kernel_records_lost, 7);
	assert_int_equal(sample_at(trace, 0)->timestamp, 5000000000);
	sdw__perfetto__trace__free_unpacked(trace, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_first_packets_set_clock_and_event),
		cmocka_unit_test(test_a_sample_has_its_thread_time_and_stack_root_first),
		cmocka_unit_test(test_losses_are_told_where_they_were),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
