// SPDX-License-Identifier: MIT
/*
 * gil.c - who holds the GIL and who waits for it.
 *
 * The holder changes every few milliseconds. So it is looked at once more after all threads, and
 * again while that disagrees: a moment at which some wait and nobody has it is one of handing over.
 */
#include <sys/syscall.h>

#include "dump/process.h"

#define MAX_LOOKS 20

/* Two that share a GIL: all up to 3.11, and those made so in later ones. */
static bool share_gil(const struct sdw_dump_process *process, uint32_t one, uint32_t other)
{
	const struct sdw_dump_interpreter *items = process->states.interpreters.items;
	size_t count = process->states.interpreters.count;

	if (one >= count || other >= count)
		return false;
	return one == other || (items[one].gil && items[one].gil == items[other].gil);
}

bool sdw_dump_is_of_gil(const struct sdw_dump_process *process,
			const struct sdw_dump_thread *thread, uint32_t interpreter)
{
	return share_gil(process, thread->gil_interpreter, interpreter);
}

/* The thread that works with the state with this index. */
static struct sdw_dump_thread *thread_of(struct sdw_dump_process *process, size_t index)
{
	uint64_t state = process->states.all.items[index].address;
	struct sdw_dump_thread *named = NULL;

	for (size_t i = 0; i < process->threads.count; i++) {
		struct sdw_dump_thread *thread = &process->threads.items[i];

		for (size_t j = 0; j < thread->interpreter_count; j++)
			if (thread->states[j] == state)
				return thread;
		if (process->state_tids[index] == thread->task.inner_tid)
			named = thread;
	}
	return named;
}

/* Hash of the states that hold a GIL now; marks their threads. */
static uint64_t mark_holders(struct sdw_dump_process *process)
{
	const struct sdw_dump_states *states = &process->states;
	uint64_t holders = 1;

	for (size_t i = 0; i < process->threads.count; i++)
		process->threads.items[i].holds_gil = false;
	for (size_t i = 0; i < states->all.count; i++) {
		struct sdw_dump_state state;
		struct sdw_dump_thread *thread;

		if (sdw_dump_state_read(&process->memory, states, states->all.items[i].address,
					&state) ||
		    !state.holds_gil || !states->interpreters.items[state.interpreter].has_gil)
			continue;
		holders = sdw_mix64(holders ^ state.address);
		thread = thread_of(process, i);
		if (thread) {
			thread->holds_gil = true;
			thread->gil_interpreter = state.interpreter;
		}
	}
	return holders;
}

/* Who waits for a GIL sleeps on a futex that is part of it (CPython Python/ceval_gil.c). */
static bool find_gil(const struct sdw_dump_process *process, const struct sdw_task *task,
		     uint32_t *index)
{
	if (!task->asleep || task->syscall != SYS_futex)
		return false;
	for (size_t i = 0; i < process->states.interpreters.count; i++) {
		const struct sdw_dump_interpreter *interpreter =
			&process->states.interpreters.items[i];

		if (interpreter->has_gil && interpreter->gil &&
		    task->arguments[0] >= interpreter->gil &&
		    task->arguments[0] - interpreter->gil < interpreter->gil_size) {
			*index = (uint32_t)i;
			return true;
		}
	}
	return false;
}

/* Returns how many wait. */
static unsigned int mark_waiters(struct sdw_dump_process *process)
{
	unsigned int waiters = 0;

	for (size_t i = 0; i < process->threads.count; i++) {
		struct sdw_dump_thread *thread = &process->threads.items[i];
		struct sdw_task now;
		uint32_t index;

		thread->waits_for_gil = false;
		if (!thread->has_state || thread->holds_gil ||
		    sdw_task_read(process->pid, thread->task.tid, &now) ||
		    !find_gil(process, &now, &index))
			continue;
		thread->waits_for_gil = true;
		thread->gil_interpreter = index;
		waiters++;
	}
	return waiters;
}

void sdw_dump_gil_read(struct sdw_dump_process *process)
{
	const uint64_t nobody = 1;

	if (process->python != 1)
		return;
	for (int i = 0; i < MAX_LOOKS; i++) {
		uint64_t before = mark_holders(process);
		unsigned int waiters = mark_waiters(process);

		if (mark_holders(process) == before && (before != nobody || !waiters))
			return;
	}
}
