// SPDX-License-Identifier: MIT
/* process.c - one process: what it is, its interpreters, then each thread. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/utf8.h"
#include "capture/target_threads.h"
#include "dump/process.h"
#include "dump/thread_names.h"

#define MAX_LOOKS     20 /* at a process that is just starting, or whose lists change */
#define LOOK_PAUSE_NS 5000000
#define MAX_SECONDS   20   /* for all stacks and values; as much for names */
#define MIN_RATE      50   /* threads a second, where there are many: a busy machine has 1000 */
#define COMMAND_BYTES 4096 /* of a command line */

static void pause_a_little(void)
{
	const struct timespec time = {.tv_nsec = LOOK_PAUSE_NS};

	nanosleep(&time, NULL);
}

static ssize_t read_proc(pid_t pid, const char *name, char *text, size_t size)
{
	char path[64];
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	got = read(fd, text, size - 1);
	close(fd);
	text[got > 0 ? got : 0] = '\0';
	return got;
}

static int read_command(struct sdw_dump_process *process)
{
	char text[COMMAND_BYTES];
	ssize_t got;

	got = read_proc(process->pid, "comm", process->comm, sizeof(process->comm));
	if (got > 0 && process->comm[got - 1] == '\n')
		process->comm[got - 1] = '\0';
	got = read_proc(process->pid, "cmdline", text, sizeof(text));
	while (got > 0 && !text[got - 1])
		got--;
	for (ssize_t i = 0; i < got; i++)
		if (!text[i])
			text[i] = ' ';
	text[got > 0 ? got : 0] = '\0';
	process->command = sdw_utf8_repair(text);
	return process->command ? 0 : -ENOMEM;
}

static int find_python(struct sdw_dump_process *process)
{
	struct sdw_maps *maps = &process->image.maps;
	struct sdw_found_interpreter *found = &process->image.interpreter;
	int err;

	for (int i = 0; i < MAX_LOOKS; i++) {
		if (i)
			pause_a_little();
		err = sdw_maps_read(maps);
		if (err)
			return err == -EPERM ? -EACCES : err;
		if (!maps->count)
			return -ENOEXEC; /* not even a program: a kernel thread */
		process->python = sdw_interpreter_find(maps, found);
		if (process->python != -EAGAIN)
			break;
	}
	if (process->python == -ESRCH || process->python == -ENOMEM)
		return process->python;
	if (process->python == -EPERM || process->python == -EACCES)
		return -EACCES;
	process->memory = (struct sdw_dump_memory){
		.pid = (uint32_t)process->pid,
		.python = found,
	};
	if (process->python == 1)
		process->memory.has_objects =
			sdw_object_layout_for(&found->layout, &process->memory.objects) == 0;
	return 0;
}

static int list_threads(struct sdw_dump_process *process)
{
	struct sdw_pid_list processes = {.items = &process->pid, .count = 1}, tids = {0};
	int err = sdw_target_threads_list(&processes, &tids);

	for (size_t i = 0; !err && i < tids.count; i++) {
		struct sdw_dump_thread thread = {0};

		err = sdw_task_read(process->pid, tids.items[i], &thread.task);
		if (err == -ESRCH) {
			err = 0;
			continue;
		}
		err = err ?: sdw_array_reserve(&process->threads, 1);
		if (!err)
			process->threads.items[process->threads.count++] = thread;
	}
	sdw_pid_list_free(&tids);
	return err ?: process->threads.count ? 0 : -ESRCH;
}

static bool is_tid(const void *context, int32_t tid)
{
	const struct sdw_dump_process *process = context;

	for (size_t i = 0; i < process->threads.count; i++)
		if (process->threads.items[i].task.inner_tid == tid)
			return true;
	return false;
}

static int read_states(struct sdw_dump_process *process)
{
	struct sdw_dump_states *states = &process->states;
	int err = -EAGAIN;

	if (process->python != 1)
		return 0;
	for (int i = 0; i < MAX_LOOKS && err == -EAGAIN; i++)
		err = sdw_dump_states_read(&process->memory, states);
	if (err == -ENOMEM)
		return err;
	process->state_tids = calloc(states->all.count + 1, sizeof(*process->state_tids));
	if (!process->state_tids)
		return -ENOMEM;
	for (size_t i = 0; i < states->all.count; i++)
		process->state_tids[i] = sdw_dump_thread_number(
			(uint32_t)process->pid, states->all.items[i].thread_id, is_tid, process);
	return 0;
}

static int find_names(struct sdw_dump_process *process)
{
	int err = 0;

	if (!process->memory.has_objects)
		return 0;
	for (size_t i = 0; !err && i < process->states.interpreters.count; i++) {
		struct sdw_thread_names names = {0};
		const struct sdw_dump_interpreter *interpreter =
			&process->states.interpreters.items[i];

		err = sdw_thread_names_read(&process->memory, interpreter->address, &names);
		for (size_t j = 0; !err && j < names.count; j++) {
			int32_t tid = sdw_dump_thread_number(
				(uint32_t)process->pid, names.items[j].thread_id, is_tid, process);

			for (size_t k = 0; tid && k < process->threads.count; k++) {
				struct sdw_dump_thread *thread = &process->threads.items[k];

				if (thread->task.inner_tid != tid || thread->python_name)
					continue;
				thread->python_name = names.items[j].name;
				names.items[j].name = NULL;
			}
		}
		sdw_thread_names_free(&names);
	}
	return err;
}

int sdw_dump_process_read(struct sdw_dumper *dumper, pid_t pid, struct sdw_dump_process *process)
{
	int err;

	*process = (struct sdw_dump_process){.pid = pid};
	process->image.pid = (uint32_t)pid;
	process->image.perf_map.pid = (uint32_t)pid;
	sdw_maps_init(&process->image.maps, (uint32_t)pid, dumper->files);
	err = read_command(process);
	err = err ?: find_python(process);
	err = err ?: list_threads(process);
	sdw_dump_memory_allow(&process->memory,
			      MAX_SECONDS + (unsigned int)(process->threads.count / MIN_RATE));
	err = err ?: read_states(process);
	dumper->walker->memory = &process->memory;
	for (size_t i = 0; !err && i < process->threads.count; i++)
		err = sdw_dump_thread_read(dumper, process, i);
	if (err)
		return err;
	sdw_dump_memory_allow(&process->memory, MAX_SECONDS);
	sdw_dump_gil_read(process);
	return find_names(process);
}

void sdw_dump_process_free(struct sdw_dump_process *process)
{
	for (size_t i = 0; i < process->threads.count; i++)
		sdw_dump_thread_free(&process->threads.items[i]);
	free(process->threads.items);
	free(process->state_tids);
	free(process->command);
	sdw_dump_states_free(&process->states);
	sdw_unwinder_free(process->image.unwinder);
	sdw_maps_free(&process->image.maps);
	sdw_perf_map_free(&process->image.perf_map);
	sdw_map64_free(&process->image.native_codes);
}
