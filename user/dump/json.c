// SPDX-License-Identifier: MIT
/*
 * json.c - one process as a JSON object. Its keys, all of them stable:
 *
 *   pid, comm, command, python: null, or {version, path, problem (null if it can be walked)}
 *   interpreters: [{id, gil_holders: [tid], gil_waiters: [tid], gc_running (or null)}]
 *   threads, by tid: [{tid, inner_tid, comm, name (threading's, or null), state (running, sleeping,
 *     waiting, stopped, ended, unknown), syscall (name or number, or null), certainty (exact: it
 *     did not run meanwhile; moving: it ran, two looks agreed; torn; gone; sampled: it ran, taken
 *     in an interrupt), holds_gil, waits_for_gil, interpreters: [id] whose code it runs, innermost
 *     first, python_status (of counters.h), native (true: the native stack was read), frames,
 *     innermost first: [{kind (python, native, marker), name, file, line, locals (asked for, of
 *     Python frames): {name: text like repr()}}]}]
 */
#include <errno.h>

#include "dump/print.h"
#include "view/frame_text.h"
#include "view/report_header.h"

static void add(struct json_object *object, const char *key, struct json_object *value)
{
	json_object_object_add(object, key, value);
}

static struct json_object *python_json(const struct sdw_dump_process *process)
{
	const struct sdw_found_interpreter *python = &process->image.interpreter;
	struct json_object *object;

	if (process->python != 1 && process->python != -ENOTSUP)
		return NULL;
	object = json_object_new_object();
	if (!object)
		return NULL;
	add(object, "version", sdw_json_text(python->version));
	add(object, "path", sdw_json_text(python->path));
	add(object, "problem", process->python == 1 ? NULL : sdw_json_text(python->problem));
	return object;
}

static struct json_object *interpreter_json(const struct sdw_dump_process *process, uint32_t index)
{
	struct json_object *object = json_object_new_object();
	struct json_object *holders = json_object_new_array(), *waiters = json_object_new_array();
	const struct sdw_dump_interpreter *interpreter = &process->states.interpreters.items[index];

	add(object, "id", json_object_new_int64(sdw_dump_interpreter_id(process, index)));
	for (size_t i = 0; i < process->threads.count; i++) {
		const struct sdw_dump_thread *thread = &process->threads.items[i];

		if (thread->holds_gil && sdw_dump_is_of_gil(process, thread, index))
			json_object_array_add(holders, json_object_new_int(thread->task.tid));
		if (thread->waits_for_gil && sdw_dump_is_of_gil(process, thread, index))
			json_object_array_add(waiters, json_object_new_int(thread->task.tid));
	}
	add(object, "gil_holders", holders);
	add(object, "gil_waiters", waiters);
	add(object, "gc_running",
	    interpreter->gc_known ? json_object_new_boolean(interpreter->gc_running) : NULL);
	return object;
}

static struct json_object *frame_json(const struct sdw_dump_frame *frame, bool locals)
{
	static const char *const kinds[] = {"python", "native", "kernel", "marker"};
	struct json_object *object = json_object_new_object(), *values;

	add(object, "kind",
	    json_object_new_string(frame->kind < SDW_CODE_KIND_COUNT ? kinds[frame->kind]
								     : "marker"));
	add(object, "name", sdw_json_text(frame->name));
	add(object, "file", sdw_json_text(frame->file));
	add(object, "line", json_object_new_int64(frame->line));
	if (!locals || frame->kind != SDW_CODE_PYTHON)
		return object;
	values = json_object_new_object();
	for (size_t i = 0; i < frame->locals.count; i++)
		add(values, frame->locals.items[i].name,
		    sdw_json_text(frame->locals.items[i].value));
	add(object, "locals", values);
	return object;
}

static struct json_object *syscall_json(const struct sdw_task *task)
{
	const char *name;

	if (!task->asleep || task->syscall == SDW_NO_SYSCALL)
		return NULL;
	name = sdw_syscall_name(task->syscall);
	return name ? json_object_new_string(name) : json_object_new_int64(task->syscall);
}

static struct json_object *thread_json(const struct sdw_dump_process *process,
				       const struct sdw_dump_thread *thread, bool locals)
{
	const struct sdw_task *task = &thread->task;
	struct json_object *object = json_object_new_object(), *frames = json_object_new_array();
	struct json_object *interpreters = json_object_new_array();

	add(object, "tid", json_object_new_int(task->tid));
	add(object, "inner_tid", json_object_new_int(task->inner_tid));
	add(object, "comm", sdw_json_text(task->comm));
	add(object, "name", thread->python_name ? sdw_json_text(thread->python_name) : NULL);
	add(object, "state", json_object_new_string(sdw_dump_state_name(task)));
	add(object, "syscall", syscall_json(task));
	add(object, "certainty",
	    json_object_new_string(sdw_dump_certainty_name(thread->certainty)));
	add(object, "holds_gil", json_object_new_boolean(thread->holds_gil));
	add(object, "waits_for_gil", json_object_new_boolean(thread->waits_for_gil));
	for (size_t i = 0; i < thread->interpreter_count; i++)
		json_object_array_add(interpreters, json_object_new_int64(sdw_dump_interpreter_id(
							    process, thread->interpreters[i])));
	add(object, "interpreters", interpreters);
	add(object, "python_status",
	    json_object_new_string(sdw_status_name(thread->python_status)));
	add(object, "native", json_object_new_boolean(thread->native_known));
	for (size_t i = 0; i < thread->frames.count; i++)
		json_object_array_add(frames, frame_json(&thread->frames.items[i], locals));
	add(object, "frames", frames);
	return object;
}

struct json_object *sdw_dump_json(const struct sdw_dump_process *process, bool locals)
{
	struct json_object *object = json_object_new_object();
	struct json_object *interpreters = json_object_new_array();
	struct json_object *threads = json_object_new_array();

	if (!object || !interpreters || !threads) {
		json_object_put(object);
		json_object_put(interpreters);
		json_object_put(threads);
		return NULL;
	}
	add(object, "pid", json_object_new_int(process->pid));
	add(object, "comm", sdw_json_text(process->comm));
	add(object, "command", sdw_json_text(process->command));
	add(object, "python", python_json(process));
	for (size_t i = 0; i < process->states.interpreters.count; i++)
		json_object_array_add(interpreters, interpreter_json(process, (uint32_t)i));
	add(object, "interpreters", interpreters);
	for (size_t i = 0; i < process->threads.count; i++)
		json_object_array_add(threads,
				      thread_json(process, &process->threads.items[i], locals));
	add(object, "threads", threads);
	return object;
}
