// SPDX-License-Identifier: MIT
#include <errno.h>
#include <stdlib.h>

#include "dump/native_stack.h"

#define FIRST_BYTES (16u << 10)
#define MAX_BYTES   (16u << 20)
#define PAGE_BYTES  4096u

static int make_room(struct sdw_dumper *dumper, size_t size)
{
	uint8_t *larger;

	if (size <= dumper->stack_room)
		return 0;
	larger = realloc(dumper->stack, size);
	if (!larger)
		return -ENOMEM;
	dumper->stack = larger;
	dumper->stack_room = size;
	return 0;
}

/* Makes the copy larger, up to `size` bytes or to the end of what is mapped. */
static int copy(struct sdw_dumper *dumper, uint64_t sp, size_t size)
{
	const struct sdw_dump_memory *memory = dumper->walker->memory;
	size_t step = size - dumper->stack_size;
	int err = make_room(dumper, size);

	while (!err && dumper->stack_size < size) {
		uint64_t at = sp + dumper->stack_size;
		size_t part = size - dumper->stack_size < step ? size - dumper->stack_size : step;

		if (step == PAGE_BYTES && part > PAGE_BYTES - at % PAGE_BYTES)
			part = PAGE_BYTES - at % PAGE_BYTES;
		if (sdw_dump_read(memory, at, dumper->stack + dumper->stack_size, part) == 0)
			dumper->stack_size += part;
		else if (step > PAGE_BYTES)
			step = PAGE_BYTES; /* then page by page, up to the one that is not there */
		else
			break;
	}
	return err;
}

/* Unwinds with more and more of the stack. Returns enum sdw_unwind_end, or -errno. */
static int unwind(struct sdw_dumper *dumper, struct sdw_image *image,
		  const struct sdw_registers *registers, bool known, size_t *count)
{
	size_t wanted = FIRST_BYTES;
	int end, err;

	dumper->stack_size = 0;
	for (;;) {
		err = copy(dumper, registers->sp, wanted);
		if (err)
			return err;
		if (!dumper->stack_size)
			return -EFAULT;
		end = (known ? sdw_unwind : sdw_unwind_sleeping)(
			image->unwinder, registers, dumper->stack, dumper->stack_size, dumper->pcs,
			SDW_MAX_NATIVE_FRAMES, count);
		if (end != SDW_UNWIND_NO_STACK || dumper->stack_size < wanted ||
		    wanted >= MAX_BYTES)
			return end;
		wanted *= 4;
	}
}

int sdw_dump_native_read(struct sdw_dumper *dumper, struct sdw_image *image,
			 const struct sdw_task *task, struct sdw_dump_native *native)
{
	struct sdw_registers registers = {.ip = task->pc, .sp = task->sp};
	bool known;
	int err;

	*native = (struct sdw_dump_native){0};
	if (!image->unwinder) {
		err = sdw_unwinder_create(&image->maps, true, false, &dumper->unwinding,
					  &image->unwinder);
		if (err)
			return err;
	}
	known = sdw_register_reader_find(&dumper->registers, task, &registers);
	native->end = unwind(dumper, image, &registers, known, &native->count);
	if (native->end == SDW_UNWIND_BAD && !known) {
		/* a step needed a register that /proc does not tell */
		sdw_register_reader_read(&dumper->registers);
		known = sdw_register_reader_find(&dumper->registers, task, &registers);
		if (known)
			native->end = unwind(dumper, image, &registers, known, &native->count);
	}
	return native->end < 0 ? native->end : 0;
}
