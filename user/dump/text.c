// SPDX-License-Identifier: MIT
/* text.c - one process for people: a paragraph about it, then one a thread, innermost frame first.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "dump/print.h"
#include "view/escape.h"
#include "view/frame_text.h"

#define BOLD  "\033[1m"
#define DIM   "\033[2m"
#define PLAIN "\033[0m"

struct printer {
	const struct sdw_dump_process *process;
	bool locals, colour;
	FILE *file;
};

static void put(const struct printer *printer, const char *text)
{
	sdw_escape_write(printer->file, text, SDW_ESCAPE_TERMINAL);
}

static void style(const struct printer *printer, const char *code)
{
	if (printer->colour)
		fputs(code, printer->file);
}

const char *sdw_dump_state_name(const struct sdw_task *task)
{
	switch (task->state) {
	case 'R':
		return "running";
	case 'S':
	case 'I':
		return "sleeping";
	case 'D':
		return "waiting"; /* cannot be interrupted: mostly for a disk, or for memory */
	case 'T':
	case 't':
		return "stopped";
	case 'Z':
	case 'X':
		return "ended";
	default:
		return "unknown";
	}
}

const char *sdw_dump_certainty_name(enum sdw_dump_certainty certainty)
{
	static const char *const names[] = {"exact", "moving", "torn", "gone", "sampled"};

	return certainty < SDW_DUMP_CERTAINTY_COUNT ? names[certainty] : "torn";
}

int64_t sdw_dump_interpreter_id(const struct sdw_dump_process *process, uint32_t index)
{
	const struct sdw_dump_interpreter *interpreter = &process->states.interpreters.items[index];

	return interpreter->id_known ? interpreter->id : (int64_t)index;
}

static void print_python(const struct printer *printer)
{
	const struct sdw_dump_process *process = printer->process;
	const struct sdw_found_interpreter *python = &process->image.interpreter;

	if (process->python == 1) {
		fprintf(printer->file, "CPython %s in ", python->version);
		put(printer, python->path);
		if (printer->locals && !process->memory.has_objects)
			fputs("; locals of this version cannot be read", printer->file);
	} else if (process->python == -ENOTSUP) {
		put(printer, python->problem);
		fputs(": native frames only", printer->file);
	} else {
		fputs("no CPython found: native frames only", printer->file);
	}
	fputc('\n', printer->file);
}

static void print_interpreter(const struct printer *printer, uint32_t index)
{
	const struct sdw_dump_process *process = printer->process;
	const struct sdw_dump_interpreter *interpreter = &process->states.interpreters.items[index];
	unsigned int holders = 0, waiters = 0;
	FILE *file = printer->file;

	fprintf(file, "Interpreter %" PRId64 ": ", sdw_dump_interpreter_id(process, index));
	if (!interpreter->has_gil) {
		fputs("no GIL (free-threaded)", file);
	} else {
		for (size_t i = 0; i < process->threads.count; i++) {
			const struct sdw_dump_thread *thread = &process->threads.items[i];

			if (thread->holds_gil && sdw_dump_is_of_gil(process, thread, index))
				fprintf(file, "%s %d", holders++ ? "," : "GIL held by thread",
					thread->task.tid);
			waiters +=
				thread->waits_for_gil && sdw_dump_is_of_gil(process, thread, index);
		}
		if (!holders)
			fputs("GIL held by no thread", file);
		if (waiters)
			fprintf(file, ", %u waiting for it", waiters);
	}
	if (interpreter->gc_known)
		fprintf(file, "; garbage collector %s",
			interpreter->gc_running ? "running" : "idle");
	fputc('\n', file);
}

static void print_state(const struct printer *printer, const struct sdw_dump_thread *thread)
{
	const struct sdw_task *task = &thread->task;
	FILE *file = printer->file;

	fprintf(file, ": %s", sdw_dump_state_name(task));
	if (task->asleep && task->syscall != SDW_NO_SYSCALL) {
		const char *name = sdw_syscall_name(task->syscall);

		if (name)
			fprintf(file, " in %s", name);
		else
			fprintf(file, " in system call %ld", task->syscall);
	}
	if (thread->holds_gil)
		fputs(", holds the GIL", file);
	if (thread->waits_for_gil)
		fputs(", waits for the GIL", file);
	if (printer->process->states.interpreters.count > 1 && thread->interpreter_count) {
		for (size_t i = 0; i < thread->interpreter_count; i++)
			fprintf(file, "%s%" PRId64, i ? " in " : ", interpreter ",
				sdw_dump_interpreter_id(printer->process, thread->interpreters[i]));
	}
	if (thread->certainty == SDW_DUMP_MOVING)
		fputs(" [read while it ran]", file);
	else if (thread->certainty == SDW_DUMP_TORN)
		fputs(" [read while it ran: may be torn]", file);
	else if (thread->certainty == SDW_DUMP_SAMPLED)
		fputs(" [taken in an interrupt]", file);
	else if (thread->certainty == SDW_DUMP_GONE)
		fputs(" [has ended]", file);
}

static void print_place(const struct printer *printer, const struct sdw_dump_frame *frame)
{
	if (frame->kind == SDW_CODE_MARKER || !frame->file[0])
		return;
	fputs(" (", printer->file);
	put(printer, frame->kind == SDW_CODE_PYTHON ? frame->file : sdw_base_name(frame->file));
	if (frame->line)
		fprintf(printer->file, ":%" PRIu32, frame->line);
	fputc(')', printer->file);
}

static void print_frame(const struct printer *printer, const struct sdw_dump_frame *frame)
{
	if (frame->kind != SDW_CODE_PYTHON)
		style(printer, DIM);
	fputs("    ", printer->file);
	put(printer, frame->name);
	print_place(printer, frame);
	if (frame->kind != SDW_CODE_PYTHON)
		style(printer, PLAIN);
	fputc('\n', printer->file);
	for (size_t i = 0; i < frame->locals.count; i++) {
		fputs("        ", printer->file);
		put(printer, frame->locals.items[i].name);
		fputs(" = ", printer->file);
		put(printer, frame->locals.items[i].value);
		fputc('\n', printer->file);
	}
}

static void print_thread(const struct printer *printer, const struct sdw_dump_thread *thread)
{
	style(printer, BOLD);
	fprintf(printer->file, "\nThread %d ", thread->task.tid);
	if (thread->python_name) {
		fputc('"', printer->file);
		put(printer, thread->python_name);
		fputs("\" ", printer->file);
	}
	fputc('(', printer->file);
	put(printer, thread->task.comm);
	fputc(')', printer->file);
	print_state(printer, thread);
	style(printer, PLAIN);
	fputc('\n', printer->file);
	for (size_t i = 0; i < thread->frames.count; i++)
		print_frame(printer, &thread->frames.items[i]);
	if (thread->frames.count || thread->certainty == SDW_DUMP_GONE)
		return;
	fprintf(printer->file, "    no frame: %s\n",
		thread->task.asleep ? sdw_status_meaning(thread->python_status)
				    : "its native stack cannot be read while it runs");
}

void sdw_dump_print(const struct sdw_dump_process *process, bool locals, bool colour, FILE *file)
{
	struct printer printer = {process, locals, colour, file};

	style(&printer, BOLD);
	fprintf(file, "Process %d (", process->pid);
	put(&printer, process->comm);
	fputs("): ", file);
	put(&printer, process->command);
	style(&printer, PLAIN);
	fputc('\n', file);
	print_python(&printer);
	for (size_t i = 0; i < process->states.interpreters.count; i++)
		print_interpreter(&printer, (uint32_t)i);
	for (size_t i = 0; i < process->threads.count; i++)
		print_thread(&printer, &process->threads.items[i]);
}
