// SPDX-License-Identifier: MIT
/* ctf_kernel.c - see ctf_kernel.h. */
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "sink/ctf_directory.h"
#include "sink/ctf_kernel.h"
#include "sink/ctf_metadata.h"
#include "sink/ctf_stream.h"

/* of the tracer whose names and fields these are; readers choose by it */
#define TRACER	     "lttng-modules"
#define TRACER_MAJOR 2
#define TRACER_MINOR 13

struct cpu_stream {
	struct sdw_ctf_stream stream;
	bool open;
};

struct sdw_kernel_trace {
	struct sdw_ctf_directory directory;
	struct cpu_stream *streams;
	uint32_t processors;
	uint64_t begin_ns;
	uint8_t uuid[SDW_CTF_UUID_BYTES];
};

/* LTTng-modules 2.13, instrumentation/events/sched.h: what analyses read of these events */
static const char *const events[SDW_SCHED_KIND_COUNT][2] = {
	[SDW_SCHED_SWITCH] = {"sched_switch", "\t\tchar_t prev_comm[16];\n"
					      "\t\tint32_t prev_tid;\n"
					      "\t\tint32_t prev_prio;\n"
					      "\t\tint64_t prev_state;\n"
					      "\t\tchar_t next_comm[16];\n"
					      "\t\tint32_t next_tid;\n"
					      "\t\tint32_t next_prio;\n"},
	[SDW_SCHED_WAKING] = {"sched_waking", "\t\tchar_t comm[16];\n"
					      "\t\tint32_t tid;\n"
					      "\t\tint32_t prio;\n"
					      "\t\tint32_t target_cpu;\n"},
	[SDW_SCHED_FORK] = {"sched_process_fork", "\t\tchar_t parent_comm[16];\n"
						  "\t\tint32_t parent_tid;\n"
						  "\t\tint32_t parent_pid;\n"
						  "\t\tchar_t child_comm[16];\n"
						  "\t\tint32_t child_tid;\n"
						  "\t\tint32_t child_pid;\n"},
	[SDW_SCHED_EXEC] = {"sched_process_exec", "\t\ttext_t filename;\n"
						  "\t\tint32_t tid;\n"
						  "\t\tint32_t old_tid;\n"},
	[SDW_SCHED_EXIT] = {"sched_process_exit", "\t\tchar_t comm[16];\n"
						  "\t\tint32_t tid;\n"
						  "\t\tint32_t prio;\n"},
};

/* ---- metadata ---- */

static void put_env(FILE *out, const struct sdw_recording *recording)
{
	struct utsname system = {0};

	uname(&system);
	fputs("env {\n", out);
	sdw_ctf_put_env_text(out, "hostname", recording->hostname);
	sdw_ctf_put_env_text(out, "domain", "kernel");
	sdw_ctf_put_env_text(out, "sysname", system.sysname);
	sdw_ctf_put_env_text(out, "kernel_release", system.release);
	sdw_ctf_put_env_text(out, "kernel_version", system.version);
	sdw_ctf_put_env_text(out, "tracer_name", TRACER);
	sdw_ctf_put_env_number(out, "tracer_major", TRACER_MAJOR);
	sdw_ctf_put_env_number(out, "tracer_minor", TRACER_MINOR);
	sdw_ctf_put_env_number(out, "tracer_patchlevel", 0);
	sdw_ctf_put_env_text(out, "written_by", SDW_CTF_TRACER);
	sdw_ctf_put_env_text(out, "written_by_version", recording->version);
	fputs("};\n\n", out);
}

static int write_metadata(struct sdw_kernel_trace *trace, const struct sdw_recording *recording)
{
	size_t size = 0;
	char *text = NULL;
	FILE *out = open_memstream(&text, &size);
	bool failed;
	int err;

	if (!out)
		return -ENOMEM;
	sdw_ctf_put_begin(out, trace->uuid);
	fputs("typealias integer { size = 32; align = 8; signed = true; } := int32_t;\n"
	      "typealias integer { size = 64; align = 8; signed = true; } := int64_t;\n"
	      "typealias integer { size = 8; align = 8; signed = false; encoding = UTF8; }\n"
	      "\t:= char_t;\n\n",
	      out);
	put_env(out, recording);
	sdw_ctf_put_clock(out, recording);
	sdw_ctf_put_stream(out, "\t\tuint32_t cpu_id;\n");
	for (int kind = 0; kind < SDW_SCHED_KIND_COUNT; kind++)
		fprintf(out,
			"event {\n\tname = \"%s\";\n\tid = %d;\n\tstream_id = 0;\n"
			"\tfields := struct {\n%s\t};\n};\n\n",
			events[kind][0], kind, events[kind][1]);
	failed = ferror(out);
	err = fclose(out) || failed ? -ENOMEM : 0;
	err = err ?: sdw_ctf_directory_write_metadata(&trace->directory, text, size);
	free(text);
	return err;
}

/* ---- streams ---- */

/* Made when the first record comes: machines name more processors than they have. */
static int open_stream(struct sdw_kernel_trace *trace, uint32_t cpu)
{
	struct cpu_stream *stream = &trace->streams[cpu];
	char name[32];
	int fd, err;

	snprintf(name, sizeof(name), SDW_CTF_CPU_STREAM "%u", cpu);
	fd = sdw_ctf_directory_create_stream(&trace->directory, name);
	if (fd < 0)
		return fd;
	err = sdw_ctf_stream_init(&stream->stream, fd, trace->uuid);
	if (err) {
		close(fd);
		return err;
	}
	stream->open = true;
	sdw_ctf_stream_set_cpu(&stream->stream, cpu);
	return sdw_ctf_stream_restart(&stream->stream, trace->begin_ns);
}

/* Gives the stream of a processor, NULL after an error, which it sets. */
static struct sdw_ctf_stream *stream_of(struct sdw_kernel_trace *trace, uint32_t cpu, int *err)
{
	*err = 0;
	if (cpu >= trace->processors)
		*err = -EINVAL;
	else if (!trace->streams[cpu].open)
		*err = open_stream(trace, cpu);
	return *err ? NULL : &trace->streams[cpu].stream;
}

static int begin(struct sdw_kernel_trace *trace, const struct sdw_recording *recording)
{
	int err;

	trace->streams = calloc(trace->processors, sizeof(*trace->streams));
	if (!trace->streams)
		return -ENOMEM;
	if (getrandom(trace->uuid, sizeof(trace->uuid), 0) != sizeof(trace->uuid))
		return -EIO;
	trace->uuid[6] = (trace->uuid[6] & 0x0f) | 0x40; /* RFC 4122: version 4, random */
	trace->uuid[8] = (trace->uuid[8] & 0x3f) | 0x80;
	err = write_metadata(trace, recording);
	/* readers take a trace without any packet for none */
	return err ?: open_stream(trace, 0);
}

static void free_trace(struct sdw_kernel_trace *trace)
{
	for (uint32_t cpu = 0; trace->streams && cpu < trace->processors; cpu++) {
		if (!trace->streams[cpu].open)
			continue;
		close(trace->streams[cpu].stream.fd);
		sdw_ctf_stream_free(&trace->streams[cpu].stream);
	}
	free(trace->streams);
	sdw_ctf_directory_close(&trace->directory);
	free(trace);
}

int sdw_kernel_trace_create(const char *path, const struct sdw_recording *recording,
			    uint32_t processors, uint64_t begin_ns, struct sdw_kernel_trace **trace)
{
	struct sdw_kernel_trace *new = calloc(1, sizeof(*new));
	int err;

	if (!new)
		return -ENOMEM;
	new->processors = processors;
	new->begin_ns = begin_ns;
	err = sdw_ctf_directory_create(&new->directory, path, false);
	if (!err) {
		err = begin(new, recording);
		if (err)
			sdw_ctf_directory_remove(&new->directory);
	}
	if (err) {
		free_trace(new);
		return err;
	}
	*trace = new;
	return 0;
}

/* ---- events ---- */

static uint8_t *put_number(uint8_t *at, int32_t number)
{
	uint32_t value = htole32((uint32_t)number);

	memcpy(at, &value, sizeof(value));
	return at + sizeof(value);
}

static uint8_t *put_long(uint8_t *at, int64_t number)
{
	uint64_t value = htole64((uint64_t)number);

	memcpy(at, &value, sizeof(value));
	return at + sizeof(value);
}

static uint8_t *put_comm(uint8_t *at, const struct sdw_sched_task *task)
{
	memcpy(at, task->comm, sizeof(task->comm));
	return at + sizeof(task->comm);
}

static uint8_t *put_scheduled(uint8_t *at, const struct sdw_sched_task *task)
{
	return put_number(put_number(put_comm(at, task), task->tid), task->priority);
}

static uint8_t *put_process(uint8_t *at, const struct sdw_sched_task *task)
{
	return put_number(put_number(put_comm(at, task), task->tid), task->pid);
}

/* Bytes of an event's fields; `file` is its own length, with the NUL. */
static size_t payload_size(uint32_t kind, size_t file)
{
	static const size_t sizes[SDW_SCHED_KIND_COUNT] = {
		[SDW_SCHED_SWITCH] = 2 * (SDW_SCHED_COMM_BYTES + 4 + 4) + 8,
		[SDW_SCHED_WAKING] = SDW_SCHED_COMM_BYTES + 4 + 4 + 4,
		[SDW_SCHED_FORK] = 2 * (SDW_SCHED_COMM_BYTES + 4 + 4),
		[SDW_SCHED_EXEC] = 4 + 4,
		[SDW_SCHED_EXIT] = SDW_SCHED_COMM_BYTES + 4 + 4,
	};

	return sizes[kind] + file;
}

static void put_payload(uint8_t *at, const struct sdw_sched_record *record, const char *file,
			size_t file_size)
{
	const struct sdw_sched_task *tasks = record->tasks;

	switch ((enum sdw_sched_kind)record->kind) {
	case SDW_SCHED_SWITCH:
		at = put_long(put_scheduled(at, &tasks[0]), record->value);
		put_scheduled(at, &tasks[1]);
		break;
	case SDW_SCHED_WAKING:
		put_number(put_scheduled(at, &tasks[0]), record->value);
		break;
	case SDW_SCHED_FORK:
		put_process(put_process(at, &tasks[0]), &tasks[1]);
		break;
	case SDW_SCHED_EXEC:
		memcpy(at, file, file_size - 1);
		at[file_size - 1] = '\0';
		put_number(put_number(at + file_size, tasks[0].tid), record->value);
		break;
	default:
		put_scheduled(at, &tasks[0]);
	}
}

int sdw_kernel_trace_add(struct sdw_kernel_trace *trace, uint32_t cpu, const void *record,
			 size_t size)
{
	const struct sdw_sched_exec *exec = record;
	struct sdw_ctf_stream *stream;
	size_t file_size = 0;
	uint8_t *at;
	int err;

	if (size < sizeof(exec->record) || exec->record.kind >= SDW_SCHED_KIND_COUNT)
		return 0;
	if (exec->record.kind == SDW_SCHED_EXEC) {
		if (size < sizeof(*exec))
			return 0;
		file_size = strnlen(exec->file, sizeof(exec->file) - 1) + 1;
	}
	stream = stream_of(trace, cpu, &err);
	if (!stream)
		return err;
	err = sdw_ctf_stream_add(stream, exec->record.kind, exec->record.time_ns,
				 payload_size(exec->record.kind, file_size), &at);
	if (!err)
		put_payload(at, &exec->record, exec->file, file_size);
	return err;
}

int sdw_kernel_trace_set_lost(struct sdw_kernel_trace *trace, uint32_t cpu, uint64_t lost)
{
	struct sdw_ctf_stream *stream;
	int err;

	if (!lost)
		return 0;
	stream = stream_of(trace, cpu, &err);
	if (stream)
		stream->discarded = lost;
	return err;
}

int sdw_kernel_trace_flush(struct sdw_kernel_trace *trace)
{
	int err = 0;

	for (uint32_t cpu = 0; cpu < trace->processors && !err; cpu++) {
		if (trace->streams[cpu].open)
			err = sdw_ctf_stream_flush(&trace->streams[cpu].stream);
	}
	return err;
}

int sdw_kernel_trace_close(struct sdw_kernel_trace *trace)
{
	int err;

	if (!trace)
		return 0;
	err = sdw_kernel_trace_flush(trace);
	free_trace(trace);
	return err;
}
