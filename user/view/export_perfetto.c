// SPDX-License-Identifier: MIT
/*
 * export_perfetto.c - a trace for Perfetto's page and trace processor: a perf sample each.
 *
 * A trace is packets one behind the other: each is packed by itself and written at once. Names,
 * frames and call stacks are interned: sent once, with a number. The "mapping" of a Python function
 * is its source file, since the reader takes functions of one name and mapping for one.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "events.h"
#include "proto/perfetto.pb-c.h"
#include "view/escape.h"
#include "view/export.h"
#include "view/frame_text.h"
#include "view/places.h"
#include "view/texts.h"
#include "view/thread_samples.h"

#define SEQUENCE	1 /* all packets are of one writer */
#define STATE_CLEARED	1 /* of sequence_flags */
#define STATE_NEEDED	2
#define CLOCK_ID_REAL	1 /* of BuiltinClock */
#define CLOCK_ID_MONO	3
#define COUNTER_CLOCK	1 /* of PerfEvents.Counter: SW_CPU_CLOCK */
#define MODE_KERNEL	1 /* of Profiling.CpuMode */
#define MODE_USER	2
#define STACK_OF_STATUS UINT32_MAX /* less the status: the id of a stack that is not there */

struct perfetto {
	ProtobufCBuffer buffer; /* first: what messages are packed into */
	const struct sdw_profile *profile;
	FILE *file;
	struct sdw_places places;
	struct sdw_texts texts, modules;
	struct sdw_map64 callstacks; /* stack id -> 1: it was sent */
	struct sdw_stack_frames frames;
	SDW_PROFILE_ARRAY(uint64_t) ids; /* the frames of the call stack that is being sent */
	uint64_t *counted;		 /* by processor: the weight of its samples so far */
	bool is_clock;
	int err;
};

static void append(ProtobufCBuffer *buffer, size_t count, const uint8_t *bytes)
{
	fwrite(bytes, 1, count, ((struct perfetto *)buffer)->file); /* its first member */
}

static void emit(struct perfetto *out, Sdw__Perfetto__TracePacket *packet)
{
	Sdw__Perfetto__Trace trace = SDW__PERFETTO__TRACE__INIT;

	packet->trusted_packet_sequence_id = SEQUENCE;
	trace.n_packet = 1;
	trace.packet = &packet;
	if (!out->err)
		protobuf_c_message_pack_to_buffer(&trace.base, &out->buffer);
}

/* What all packets after these two lean on: the clocks, and which event was counted. */
static void emit_start(struct perfetto *out)
{
	const struct sdw_recording *recording = &out->profile->recording;
	Sdw__Perfetto__ClockSnapshot__Clock mono = SDW__PERFETTO__CLOCK_SNAPSHOT__CLOCK__INIT;
	Sdw__Perfetto__ClockSnapshot__Clock real = SDW__PERFETTO__CLOCK_SNAPSHOT__CLOCK__INIT;
	Sdw__Perfetto__ClockSnapshot__Clock *clocks[] = {&mono, &real};
	Sdw__Perfetto__ClockSnapshot snapshot = SDW__PERFETTO__CLOCK_SNAPSHOT__INIT;
	Sdw__Perfetto__Timebase timebase = SDW__PERFETTO__TIMEBASE__INIT;
	Sdw__Perfetto__PerfSampleDefaults sample = SDW__PERFETTO__PERF_SAMPLE_DEFAULTS__INIT;
	Sdw__Perfetto__TracePacketDefaults defaults = SDW__PERFETTO__TRACE_PACKET_DEFAULTS__INIT;
	Sdw__Perfetto__TracePacket first = SDW__PERFETTO__TRACE_PACKET__INIT, second = first;
	char *event = sdw_escape_text(sdw_text_or_unknown(recording->event), SDW_ESCAPE_NOTHING);

	if (!event) {
		out->err = -ENOMEM;
		return;
	}
	mono.clock_id = CLOCK_ID_MONO;
	mono.timestamp = recording->start_ns;
	real.clock_id = CLOCK_ID_REAL;
	real.timestamp = recording->start_unix_ns;
	snapshot.n_clocks = 2;
	snapshot.clocks = clocks;
	snapshot.primary_trace_clock = CLOCK_ID_MONO;
	first.clock_snapshot = &snapshot;
	first.first_packet_on_sequence = true;
	emit(out, &first);
	timebase.name = event;
	timebase.counter = out->is_clock ? COUNTER_CLOCK : 0;
	timebase.interval_case = recording->period ? SDW__PERFETTO__TIMEBASE__INTERVAL_PERIOD
						   : SDW__PERFETTO__TIMEBASE__INTERVAL_FREQUENCY;
	if (recording->period)
		timebase.period = recording->period;
	else
		timebase.frequency = recording->frequency;
	sample.timebase = &timebase;
	defaults.timestamp_clock_id = CLOCK_ID_MONO;
	defaults.perf_sample_defaults = &sample;
	second.trace_packet_defaults = &defaults;
	second.sequence_flags = STATE_CLEARED;
	emit(out, &second);
	free(event);
}

static void emit_thread(struct perfetto *out, const struct sdw_profile_thread *of)
{
	const struct sdw_profile *profile = out->profile;
	const struct sdw_profile_process *owner = sdw_process_of(profile, of->process);
	Sdw__Perfetto__ProcessTree__Process process = SDW__PERFETTO__PROCESS_TREE__PROCESS__INIT;
	Sdw__Perfetto__ProcessTree__Thread thread = SDW__PERFETTO__PROCESS_TREE__THREAD__INIT;
	Sdw__Perfetto__ProcessTree__Process *processes = &process;
	Sdw__Perfetto__ProcessTree__Thread *threads = &thread;
	Sdw__Perfetto__ProcessTree tree = SDW__PERFETTO__PROCESS_TREE__INIT;
	Sdw__Perfetto__TracePacket packet = SDW__PERFETTO__TRACE_PACKET__INIT;
	char *name = sdw_escape_text(sdw_text_or_unknown(of->name), SDW_ESCAPE_NOTHING);
	char *text = sdw_process_text(owner);
	char *comm = sdw_escape_text(sdw_text_or_unknown(text), SDW_ESCAPE_NOTHING);

	if (!name || !text || !comm)
		out->err = -ENOMEM;
	process.pid = (int32_t)owner->pid;
	process.ppid = (int32_t)sdw_process_of(profile, owner->parent)->pid;
	process.n_cmdline = 1;
	process.cmdline = &comm;
	process.cmdline_is_comm = true;
	thread.tid = (int32_t)of->tid;
	thread.tgid = (int32_t)owner->pid;
	thread.name = name;
	tree.n_processes = tree.n_threads = 1;
	tree.processes = &processes;
	tree.threads = &threads;
	packet.process_tree = &tree;
	packet.timestamp = of->first_ns;
	packet.sequence_flags = STATE_NEEDED;
	emit(out, &packet);
	free(name);
	free(text);
	free(comm);
}

/* Only of threads that have samples: a filter may have left few. */
static void emit_threads(struct perfetto *out)
{
	const struct sdw_profile *profile = out->profile;
	bool *used = calloc(profile->threads.count + 1, sizeof(*used));

	if (!used) {
		out->err = -ENOMEM;
		return;
	}
	for (size_t i = 0; i < profile->buckets.count; i++)
		used[profile->buckets.items[i].thread] = true;
	for (size_t i = 1; i < profile->threads.count; i++) {
		if (used[i])
			emit_thread(out, &profile->threads.items[i]);
	}
	free(used);
}

static void emit_interned(struct perfetto *out, Sdw__Perfetto__InternedData *data)
{
	Sdw__Perfetto__TracePacket packet = SDW__PERFETTO__TRACE_PACKET__INIT;

	packet.interned_data = data;
	packet.sequence_flags = STATE_NEEDED;
	emit(out, &packet);
}

/* Numbers a text, from 1; a new one is put into *string. Returns whether it is new. */
static bool intern(struct perfetto *out, struct sdw_texts *texts, const char *text,
		   Sdw__Perfetto__InternedString *string)
{
	size_t before = texts->count;
	uint32_t number = 0;

	if (sdw_texts_number(texts, text, &number))
		out->err = -ENOMEM;
	string->iid = (uint64_t)number + 1;
	string->str.data = (uint8_t *)(uintptr_t)text;
	string->str.len = strlen(text);
	return texts->count > before;
}

/* Returns the number of a file: of its mapping, of its path, and of it as a source. */
static uint64_t emit_mapping(struct perfetto *out, const char *path)
{
	Sdw__Perfetto__InternedString string = SDW__PERFETTO__INTERNED_STRING__INIT;
	Sdw__Perfetto__InternedString *strings = &string;
	Sdw__Perfetto__Mapping mapping = SDW__PERFETTO__MAPPING__INIT, *mappings = &mapping;
	Sdw__Perfetto__InternedData data = SDW__PERFETTO__INTERNED_DATA__INIT;

	if (!intern(out, &out->modules, path, &string))
		return string.iid;
	mapping.iid = string.iid;
	mapping.n_path_string_ids = 1;
	mapping.path_string_ids = &string.iid;
	data.n_mapping_paths = data.n_source_paths = data.n_mappings = 1;
	data.mapping_paths = data.source_paths = &strings;
	data.mappings = &mappings;
	emit_interned(out, &data);
	return string.iid;
}

static void emit_place(struct perfetto *out, const struct sdw_place *place, uint64_t iid)
{
	const struct sdw_profile_code *code = &out->places.functions.items[place->function];
	const char *file = code->kind == SDW_CODE_KERNEL ? "[kernel]" : code->file;
	Sdw__Perfetto__InternedString string = SDW__PERFETTO__INTERNED_STRING__INIT;
	Sdw__Perfetto__InternedString *strings = &string;
	Sdw__Perfetto__Frame frame = SDW__PERFETTO__FRAME__INIT, *frames = &frame;
	Sdw__Perfetto__InternedData data = SDW__PERFETTO__INTERNED_DATA__INIT;
	char *name = sdw_place_name(code),
	     *path = sdw_escape_text(file ? file : "", SDW_ESCAPE_NOTHING);
	char *valid = name ? sdw_escape_text(name, SDW_ESCAPE_NOTHING) : NULL;

	if (valid && path) {
		frame.iid = iid;
		frame.mapping_id = emit_mapping(out, path);
		data.n_function_names = intern(out, &out->texts, valid, &string);
		data.function_names = &strings;
		frame.function_name_id = string.iid;
		if (code->kind == SDW_CODE_PYTHON) {
			frame.source_path_iid = frame.mapping_id;
			frame.line_number = place->line;
		}
		data.n_frames = 1;
		data.frames = &frames;
		emit_interned(out, &data);
	} else {
		out->err = -ENOMEM;
	}
	free(name);
	free(path);
	free(valid);
}

static int collect_frames(struct perfetto *out, const struct sdw_sample_event *sample)
{
	int err = sdw_stack_frames_get(out->profile, sample->stack, &out->frames);

	out->ids.count = 0;
	if (!err)
		err = sdw_array_reserve(&out->ids, out->frames.count + 1);
	if (err)
		return err;
	for (size_t i = 0; i < out->frames.count; i++)
		out->ids.items[out->ids.count++] =
			(uint64_t)out->places.of_frame[out->frames.items[i]] + 1;
	if (!out->frames.count)
		out->ids.items[out->ids.count++] =
			(uint64_t)out->places.of_status[sample->status] + 1;
	return 0;
}

static void emit_sample(struct perfetto *out, const struct sdw_sample_event *event)
{
	const struct sdw_profile_thread *thread = sdw_thread_of(out->profile, event->thread);
	uint64_t iid = event->stack ? event->stack : STACK_OF_STATUS - event->status;
	Sdw__Perfetto__Callstack stack = SDW__PERFETTO__CALLSTACK__INIT, *stacks = &stack;
	Sdw__Perfetto__InternedData data = SDW__PERFETTO__INTERNED_DATA__INIT;
	Sdw__Perfetto__PerfSample sample = SDW__PERFETTO__PERF_SAMPLE__INIT;
	Sdw__Perfetto__TracePacket packet = SDW__PERFETTO__TRACE_PACKET__INIT;

	if (!sdw_map64_find(&out->callstacks, iid)) {
		out->err = collect_frames(out, event);
		if (!out->err)
			out->err = sdw_map64_set(&out->callstacks, iid, 1);
		stack.iid = iid;
		stack.n_frame_ids = out->ids.count;
		stack.frame_ids = out->ids.items;
		data.n_callstacks = 1;
		data.callstacks = &stacks;
		packet.interned_data = &data;
	}
	sample.cpu = event->cpu;
	sample.pid = sdw_process_of(out->profile, thread->process)->pid;
	sample.tid = thread->tid;
	sample.callstack_iid = iid;
	sample.cpu_mode = event->flags & SDW_SAMPLE_KERNEL_MODE ? MODE_KERNEL : MODE_USER;
	sample.timebase_count = out->counted[event->cpu] += event->weight;
	packet.timestamp = event->time_ns;
	packet.perf_sample = &sample;
	packet.sequence_flags = STATE_NEEDED;
	emit(out, &packet);
}

static void emit_loss(struct perfetto *out, const struct sdw_lost_event *lost)
{
	Sdw__Perfetto__PerfSample sample = SDW__PERFETTO__PERF_SAMPLE__INIT;
	Sdw__Perfetto__TracePacket packet = SDW__PERFETTO__TRACE_PACKET__INIT;

	if (lost->reason == SDW_LOST_OUTSIDE_TARGET) /* nobody asked for these: no loss */
		return;
	sample.kernel_records_lost = lost->count;
	packet.timestamp = lost->time_ns;
	packet.perf_sample = &sample;
	packet.sequence_flags = STATE_NEEDED;
	emit(out, &packet);
}

static void emit_all(struct perfetto *out)
{
	const struct sdw_profile *profile = out->profile;

	emit_start(out);
	emit_threads(out);
	for (size_t i = 0; i < out->places.places.count && !out->err; i++)
		emit_place(out, &out->places.places.items[i], i + 1);
	for (size_t i = 0; i < profile->samples.count && !out->err && !ferror(out->file); i++)
		emit_sample(out, &profile->samples.items[i]);
	for (size_t i = 0; i < profile->lost.count; i++)
		emit_loss(out, &profile->lost.items[i]);
}

int sdw_export_perfetto(const struct sdw_profile *profile, FILE *file)
{
	const char *unit = profile->recording.unit;
	struct perfetto out = {.buffer.append = append, .profile = profile, .file = file};

	out.is_clock = unit && strcmp(unit, "ns") == 0;
	out.counted = calloc(UINT16_MAX + 1, sizeof(*out.counted));
	out.err = out.counted ? sdw_places_make(&out.places, profile) : -ENOMEM;
	if (!out.err)
		emit_all(&out);
	sdw_places_free(&out.places);
	sdw_texts_free(&out.texts);
	sdw_texts_free(&out.modules);
	sdw_map64_free(&out.callstacks);
	free(out.frames.items);
	free(out.ids.items);
	free(out.counted);
	return out.err;
}
