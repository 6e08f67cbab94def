// SPDX-License-Identifier: MIT
/* thread.c - one thread: its stack, read until it is known to belong together, or given up. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "dump/locals.h"
#include "dump/native_stack.h"
#include "dump/process.h"
#include "view/frame_text.h"

#define MAX_ATTEMPTS	 10
#define MAX_SEARCH_BYTES (256u << 10) /* of a stack, for a frame */
#define PAGE_BYTES	 4096u
#define PAUSE_NS	 500000 /* between attempts: a thread that wakes and sleeps again may be done */

/* One attempt's findings. */
struct look {
	struct sdw_task task; /* before it */
	struct sdw_dump_python *python;
	struct sdw_dump_native native;
	bool native_known;
	struct sdw_dump_locals *locals; /* of each Python frame, or NULL */
	uint32_t locals_count;
};

static void free_frames(struct sdw_dump_thread *thread)
{
	for (size_t i = 0; i < thread->frames.count; i++)
		sdw_dump_locals_free(&thread->frames.items[i].locals);
	thread->frames.count = 0;
}

void sdw_dump_thread_free(struct sdw_dump_thread *thread)
{
	free_frames(thread);
	free(thread->frames.items);
	free(thread->python_name);
}

static void free_locals(struct look *look)
{
	for (uint32_t i = 0; i < look->locals_count; i++)
		sdw_dump_locals_free(&look->locals[i]);
	free(look->locals);
	look->locals = NULL;
	look->locals_count = 0;
}

/* ---- which thread states ---- */

struct marked_state {
	struct sdw_dump_state state;
	uint64_t mark;
};

/* True if another sleeping thread's stack lies between this one's and the mark. */
static bool is_of_another(const struct sdw_dump_process *process, uint64_t sp, uint64_t mark)
{
	for (size_t i = 0; i < process->threads.count; i++) {
		const struct sdw_task *task = &process->threads.items[i].task;

		if (task->asleep && task->sp > sp && task->sp <= mark)
			return true;
	}
	return false;
}

/*
 * 3.8 to 3.10: the word that tells may also be left over on another stack from before. If the
 * thread that made the state has it on its own, the state is that one's.
 */
static bool is_of_its_maker(const struct sdw_dump_process *process, size_t index, uint64_t frame)
{
	uint64_t words[PAGE_BYTES / sizeof(uint64_t)];

	if (process->memory.python->layout.frame_kind != SDW_FRAMES_OBJECTS)
		return false;
	for (size_t i = 0; i < process->threads.count; i++) {
		const struct sdw_task *task = &process->threads.items[i].task;
		uint64_t at = task->sp, part = PAGE_BYTES - at % PAGE_BYTES;

		if (!task->asleep || task->inner_tid != process->state_tids[index])
			continue;
		for (; at < task->sp + MAX_SEARCH_BYTES; at += part, part = PAGE_BYTES) {
			if (sdw_dump_read(&process->memory, at, words, part))
				break;
			for (size_t j = 0; j < part / sizeof(words[0]); j++)
				if (words[j] == frame)
					return true;
		}
	}
	return false;
}

static bool is_own(const struct sdw_dumper *dumper, const struct sdw_dump_process *process,
		   const struct look *look, size_t index, struct marked_state *candidate)
{
	const struct sdw_dump_memory *memory = &process->memory;
	bool named = process->state_tids[index] == look->task.inner_tid;
	bool several = process->states.interpreters.count > 1;

	if (!named && (!several || !process->states.all.items[index].frame))
		return false;
	candidate->mark = 0;
	if (sdw_dump_state_read(memory, &process->states, process->states.all.items[index].address,
				&candidate->state))
		return false;
	if (!several || !look->task.asleep)
		return named;
	candidate->mark =
		sdw_dump_state_mark(memory, &candidate->state, look->task.sp, dumper->stack,
				    look->native_known ? dumper->stack_size : 0);
	if (!candidate->mark || is_of_another(process, look->task.sp, candidate->mark))
		return false;
	return named || !is_of_its_maker(process, index, candidate->state.frame);
}

/* The thread's states, innermost first. */
static size_t find_states(const struct sdw_dumper *dumper, const struct sdw_dump_process *process,
			  const struct look *look, struct sdw_dump_state *states)
{
	struct marked_state found[SDW_MAX_NESTED_STATES], candidate;
	size_t count = 0, at;

	for (size_t i = 0; i < process->states.all.count && count < SDW_MAX_NESTED_STATES; i++) {
		if (!is_own(dumper, process, look, i, &candidate))
			continue;
		for (at = count; at > 0; at--) {
			const struct marked_state *other = &found[at - 1];
			bool inside =
				candidate.mark != other->mark
					? candidate.mark < other->mark
					: candidate.state.used_last && !other->state.used_last;

			if (!inside)
				break;
			found[at] = *other;
		}
		found[at] = candidate;
		count++;
	}
	for (size_t i = 0; i < count; i++)
		states[i] = found[i].state;
	return count;
}

/* ---- one look ---- */

static int read_locals(struct sdw_dumper *dumper, const struct sdw_dump_process *process,
		       struct look *look)
{
	const struct sdw_dump_python *python = look->python;
	uint32_t count = python->stack->frames;
	int err = 0;

	free_locals(look);
	if (!dumper->locals || !process->memory.has_objects || !count)
		return 0;
	look->locals = calloc(count, sizeof(*look->locals));
	if (!look->locals)
		return -ENOMEM;
	look->locals_count = count;
	for (uint32_t i = 0; !err && i < count; i++)
		err = sdw_dump_locals_read(&process->memory, python->code_objects[i],
					   python->frames[i], &look->locals[i]);
	return err;
}

static int look_once(struct sdw_dumper *dumper, struct sdw_dump_process *process, struct look *look)
{
	struct sdw_dump_state states[SDW_MAX_NESTED_STATES];
	size_t count = 0;
	int err;

	look->native = (struct sdw_dump_native){0};
	look->native_known = false;
	dumper->stack_size = 0;
	if (look->task.asleep) {
		err = sdw_dump_native_read(dumper, &process->image, &look->task, &look->native);
		if (err && err != -EFAULT)
			return err;
		look->native_known = !err;
	}
	if (process->python == 1)
		count = find_states(dumper, process, look, states);
	err = sdw_dump_python_read(dumper, states, count, look->python);
	return err ?: read_locals(dumper, process, look);
}

static void pause_a_little(void)
{
	const struct timespec time = {.tv_nsec = PAUSE_NS};

	nanosleep(&time, NULL);
}

/* Looks until the thread did not run during a look. Returns 0 or -errno. */
static int look_well(struct sdw_dumper *dumper, struct sdw_dump_process *process, struct look *look,
		     enum sdw_dump_certainty *certainty)
{
	uint64_t chain = 0;
	int err;

	*certainty = SDW_DUMP_TORN;
	for (int i = 0; i < MAX_ATTEMPTS; i++) {
		struct sdw_task after;

		if (i)
			pause_a_little();
		err = sdw_task_read(process->pid, look->task.tid, &look->task);
		err = err ?: look_once(dumper, process, look);
		err = err ?: sdw_task_read(process->pid, look->task.tid, &after);
		if (err)
			return err;
		if (after.state == 'Z' || after.state == 'X')
			return -ESRCH; /* a main thread that ended before the others */
		if (sdw_task_is_unmoved(&look->task, &after)) {
			*certainty = SDW_DUMP_EXACT;
			return 0;
		}
		/* the native stack is the first to be torn; Python frames live longer */
		look->native_known = false;
		if (i && look->python->chain == chain) {
			*certainty = SDW_DUMP_MOVING;
			if (!look->task.asleep && !after.asleep)
				return 0;
		}
		chain = look->python->chain;
	}
	return 0;
}

/* ---- frames ---- */

int sdw_dump_thread_set_frames(struct sdw_dump_thread *thread, const struct sdw_profile *profile,
			       uint32_t stack)
{
	struct sdw_stack_frames frames = {0};
	int err = sdw_stack_frames_get(profile, stack, &frames);

	free_frames(thread);
	err = err ?: sdw_array_reserve(&thread->frames, frames.count);
	for (size_t i = frames.count; !err && i > 0; i--) {
		const struct sdw_profile_code *code = sdw_frame_code(profile, frames.items[i - 1]);

		thread->frames.items[thread->frames.count++] = (struct sdw_dump_frame){
			.kind = code->kind,
			.name = sdw_text_or_unknown(code->name),
			.file = code->file ? code->file : "",
			.line = sdw_frame_line(profile, frames.items[i - 1]),
		};
	}
	free(frames.items);
	return err;
}

/* The frames know their variables by their order. */
static void take_locals(struct sdw_dump_thread *thread, struct look *look)
{
	uint32_t python = 0;

	for (size_t i = 0; i < thread->frames.count && python < look->locals_count; i++) {
		if (thread->frames.items[i].kind != SDW_CODE_PYTHON)
			continue;
		thread->frames.items[i].locals = look->locals[python];
		look->locals[python++] = (struct sdw_dump_locals){0};
	}
}

/* Merges, names, and puts the frames into the thread. */
static int take_frames(struct sdw_dumper *dumper, struct sdw_dump_process *process,
		       struct sdw_dump_thread *thread, struct look *look)
{
	struct sdw_raw_stack raw = {
		.image = &process->image,
		.python_id = look->python->stack->frames ? look->python->stack->id : 0,
		.python = look->python->stack->frames ? look->python->stack : NULL,
		.status = (uint8_t)look->python->stack->status,
		.pcs = dumper->pcs,
		.native_count = look->native_known ? look->native.count : 0,
		.native_end = look->native_known ? look->native.end : SDW_UNWIND_COMPLETE,
	};
	uint32_t id;
	int err;

	err = sdw_stack_build(&dumper->builder, &raw, &id);
	err = err ?: sdw_dump_thread_set_frames(thread, &dumper->profile, id);
	take_locals(thread, look);
	return err;
}

static void take_states(const struct sdw_dump_process *process, struct sdw_dump_thread *thread,
			const struct look *look)
{
	const struct sdw_dump_python *python = look->python;

	for (size_t i = 0; i < process->states.all.count; i++)
		thread->has_state |= process->state_tids[i] == thread->task.inner_tid;
	for (size_t i = 0; i < python->state_count; i++) {
		thread->has_state = true;
		thread->states[thread->interpreter_count] = python->states[i].address;
		thread->interpreters[thread->interpreter_count++] = python->states[i].interpreter;
	}
}

int sdw_dump_thread_read(struct sdw_dumper *dumper, struct sdw_dump_process *process, size_t index)
{
	struct sdw_dump_thread *thread = &process->threads.items[index];
	struct look look = {.task = thread->task};
	int err;

	look.python = calloc(1, sizeof(*look.python));
	if (look.python)
		look.python->stack =
			calloc(1, sizeof(*look.python->stack) +
					  SDW_MAX_FRAMES * sizeof(struct sdw_python_frame));
	err = look.python && look.python->stack ? 0 : -ENOMEM;
	err = err ?: look_well(dumper, process, &look, &thread->certainty);
	if (err == -ESRCH) {
		thread->certainty = SDW_DUMP_GONE;
		thread->task.asleep = false;
		err = 0;
	} else if (!err) {
		thread->task = look.task;
		thread->python_status = (uint8_t)look.python->stack->status;
		thread->native_known = look.native_known;
		thread->native_end = look.native.end;
		take_states(process, thread, &look);
		err = take_frames(dumper, process, thread, &look);
	}
	free_locals(&look);
	if (look.python)
		free(look.python->stack);
	free(look.python);
	return err;
}
