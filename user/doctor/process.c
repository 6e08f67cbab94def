// SPDX-License-Identifier: MIT
/* process.c - a living process: looked at as record and dump would. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "capture/target_threads.h"
#include "doctor/target.h"
#include "dump/process.h"
#include "target/container.h"
#include "target/container_state.h"

#define ID_DIGITS    64 /* of an id that a runtime made ... */
#define SHOWN_DIGITS 12 /* ... and of it, as runtimes do */

static void find_libc(struct sdw_dump_process *process, struct sdw_findings *findings)
{
	const struct sdw_maps *maps = &process->image.maps;

	for (size_t i = 0; i < maps->count; i++) {
		const char *path = maps->items[i].path, *name = strrchr(path, '/');

		name = name ? name + 1 : path;
		if (!strncmp(name, "libc.so.6", 9) || !strncmp(name, "libc-2.", 7)) {
			sdw_findings_add(findings, "libc", SDW_LEVEL_OK, NULL, "glibc, %s", path);
			return;
		}
		if (!strncmp(name, "ld-musl-", 8) || !strncmp(name, "libc.musl-", 10)) {
			sdw_findings_add(findings, "libc", SDW_LEVEL_OK, NULL, "musl, %s", path);
			return;
		}
	}
	sdw_findings_add(findings, "libc", SDW_LEVEL_NOTE, NULL,
			 "no shared one: a static program, or another C library");
}

/* The file that holds the interpreter which was found; the path may be cut at its front. */
static void find_python(struct sdw_dump_process *process, struct sdw_findings *findings)
{
	const struct sdw_found_interpreter *python = &process->image.interpreter;
	struct sdw_maps *maps = &process->image.maps;
	size_t length = strlen(python->path);

	if (process->python == 0) {
		sdw_findings_add(findings, "python", SDW_LEVEL_FAULT, NULL,
				 "no CPython is mapped: record and dump give native frames only");
		return;
	}
	if (process->python == -EAGAIN) {
		sdw_findings_add(findings, "python", SDW_LEVEL_WARNING, NULL,
				 "an interpreter that is just starting: try again");
		return;
	}
	if (process->python == -ENOTSUP)
		sdw_findings_add(findings, "walk", SDW_LEVEL_FAULT, NULL, "%s: native frames only",
				 python->problem);
	for (size_t i = 0; i < maps->count; i++) {
		struct sdw_mapping *mapping = &maps->items[i];
		size_t size = strlen(mapping->path);

		if (!mapping->executable || size < length ||
		    strcmp(mapping->path + size - length, python->path) != 0)
			continue;
		if (sdw_mapping_elf(maps, mapping)) {
			sdw_doctor_file(mapping->elf, mapping->path, process->python == 1,
					findings);
			return;
		}
	}
}

static void judge_threads(const struct sdw_dump_process *process, struct sdw_findings *findings)
{
	size_t python = 0, broken = 0, count = process->threads.count;

	for (size_t i = 0; i < count; i++) {
		const struct sdw_dump_thread *thread = &process->threads.items[i];

		python += thread->has_state;
		broken += thread->python_status == SDW_STATUS_BROKEN ||
			  thread->python_status == SDW_STATUS_UNREADABLE;
	}
	sdw_findings_add(
		findings, "threads", broken ? SDW_LEVEL_WARNING : SDW_LEVEL_OK, NULL,
		"%zu, with a Python thread state %zu; interpreters: %zu; Python stacks that "
		"cannot be read whole: %zu",
		count, python, process->states.interpreters.count, broken);
}

static void judge_namespace(const struct sdw_dump_process *process, struct sdw_findings *findings)
{
	const struct sdw_task *task = &process->threads.items[0].task;

	if (task->inner_tid != task->tid)
		sdw_findings_add(findings, "target_namespace", SDW_LEVEL_NOTE, NULL,
				 "in a pid namespace of its own, where it is %d", task->inner_tid);
}

static void judge_container(uint32_t pid, struct sdw_findings *findings)
{
	const struct sdw_container *container = NULL;
	struct sdw_containers *containers;
	int digits;

	if (sdw_containers_create(sdw_container_state_root(), &containers))
		return;
	if (!sdw_containers_of(containers, pid, &container) && container) {
		/* a name that was chosen is shown whole */
		digits = strlen(container->id) == ID_DIGITS ? SHOWN_DIGITS : INT32_MAX;
		sdw_findings_add(findings, "container", SDW_LEVEL_OK, NULL, "%.*s%s%s%s%s", digits,
				 container->id, *container->name ? ", " : "", container->name,
				 *container->pod ? ", pod " : "", container->pod);
	}
	sdw_containers_free(containers);
}

static void refuse(pid_t pid, int err, struct sdw_doctor_target *target)
{
	char fix[64];

	snprintf(fix, sizeof(fix), "sudo sidewinder doctor -p %d", pid);
	if (err == -EACCES)
		sdw_findings_add(&target->findings, "memory", SDW_LEVEL_FAULT,
				 geteuid() ? fix : "docker run --cap-add=SYS_PTRACE ...",
				 "not permitted to read it");
	else
		sdw_findings_add(&target->findings, "process", SDW_LEVEL_FAULT, NULL, "%s",
				 err == -ECHILD ? "has ended already" : strerror(-err));
}

int sdw_doctor_process(struct sdw_dumper *dumper, const struct sdw_works *machine, pid_t pid,
		       struct sdw_doctor_target *target)
{
	struct sdw_dump_process process;
	pid_t group;
	int err;

	*target = (struct sdw_doctor_target){0};
	snprintf(target->name, sizeof(target->name), "pid %d", pid);
	err = sdw_target_check(pid, &group);
	if (err) {
		if (err == -EINVAL)
			sdw_findings_add(&target->findings, "process", SDW_LEVEL_FAULT, NULL,
					 "a thread of process %d: ask for that", group);
		else
			refuse(pid, err, target);
		return 0;
	}
	target->found = true;
	err = sdw_dump_process_read(dumper, pid, &process);
	if (!err) {
		find_python(&process, &target->findings);
		find_libc(&process, &target->findings);
		judge_threads(&process, &target->findings);
		judge_namespace(&process, &target->findings);
		judge_container((uint32_t)pid, &target->findings);
		target->works.bpf = machine->bpf && process.python == 1;
		target->works.dump = true;
	} else {
		refuse(pid, err, target);
	}
	sdw_dump_process_free(&process);
	return err == -ENOMEM ? err : 0;
}
