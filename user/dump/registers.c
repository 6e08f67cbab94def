// SPDX-License-Identifier: MIT
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "dump/registers.h"
#include "registers.skel.h"

#define MAX_TASKS (4u << 20) /* the kernel's own bound of tids */
#define BLOCK	  256u	     /* tasks read at once */

static void load(struct sdw_register_reader *reader)
{
	const struct bpf_program *program;
	const void *bytes;
	size_t size;

	reader->tried = true;
	libbpf_set_print(NULL); /* that it is not allowed is said elsewhere, where it matters */
	bytes = sdw_registers_bpf__elf_bytes(&size);
	reader->object = bpf_object__open_mem(bytes, size, NULL);
	if (!reader->object || bpf_object__load(reader->object))
		return;
	program = bpf_object__find_program_by_name(reader->object, "sdw_registers_of_task");
	reader->link = program ? bpf_program__attach_iter(program, NULL) : NULL;
}

void sdw_register_reader_close(struct sdw_register_reader *reader)
{
	bpf_link__destroy(reader->link);
	bpf_object__close(reader->object);
	free(reader->tasks.items);
	*reader = (struct sdw_register_reader){0};
}

void sdw_register_reader_read(struct sdw_register_reader *reader)
{
	size_t bytes = 0, size = sizeof(*reader->tasks.items);
	ssize_t got = 1;
	int fd;

	if (!reader->tried)
		load(reader);
	reader->tasks.count = 0;
	fd = reader->link ? bpf_iter_create(bpf_link__fd(reader->link)) : -1;
	while (fd >= 0 && got > 0 && reader->tasks.count < MAX_TASKS) {
		if (sdw_array_reserve(&reader->tasks, BLOCK))
			break;
		/* a read may end within a record */
		got = read(fd, (char *)reader->tasks.items + bytes, BLOCK * size - bytes % size);
		if (got > 0)
			bytes += (size_t)got;
		reader->tasks.count = bytes / size;
	}
	if (fd >= 0)
		close(fd);
}

bool sdw_register_reader_find(const struct sdw_register_reader *reader, const struct sdw_task *task,
			      struct sdw_registers *registers)
{
	bool found = false;

	if (!task->asleep)
		return false;
	for (size_t i = 0; i < reader->tasks.count; i++) {
		const struct sdw_task_registers *one = &reader->tasks.items[i];

		/*
		 * In a pid namespace of ours the tid is another. Then these three tell: if they are
		 * those of several threads, all must have the same registers.
		 */
		if (one->registers.sp != task->sp || one->registers.ip != task->pc ||
		    one->switches != task->switches)
			continue;
		if (one->tid == (__u32)task->tid) {
			*registers = one->registers;
			return true;
		}
		if (found && memcmp(registers, &one->registers, sizeof(*registers)) != 0)
			return false;
		*registers = one->registers;
		found = true;
	}
	return found;
}
