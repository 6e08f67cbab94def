/* SPDX-License-Identifier: MIT */
/*
 * registers.h - all user-mode registers of threads that sleep, where BPF programs may be loaded.
 *
 * /proc tells a sleeping thread's stack pointer and program counter. Code that keeps a frame
 * pointer needs that register, too; a small BPF program reads it without stopping anybody.
 */
#ifndef SDW_DUMP_REGISTERS_H
#define SDW_DUMP_REGISTERS_H

#include <stdbool.h>
#include <stddef.h>

#include <linux/types.h>

#include "dump/task.h"
#include "task_registers.h"

struct bpf_object;
struct bpf_link;

struct sdw_register_reader {
	bool tried;
	struct bpf_object *object; /* NULL: not loaded yet, or cannot be had here */
	struct bpf_link *link;
	struct {
		struct sdw_task_registers *items; /* as of the last read */
		size_t count, room;
	} tasks;
};

/*
 * Reads the registers of all threads. Loads the program the first time, which takes a tenth of a
 * second or two; does nothing where that is not allowed. All zeroes is a reader.
 */
void sdw_register_reader_read(struct sdw_register_reader *reader);
void sdw_register_reader_close(struct sdw_register_reader *reader);

/*
 * The registers of a thread that sleeps since before the last read. False: they are not known, or
 * it ran since.
 */
bool sdw_register_reader_find(const struct sdw_register_reader *reader, const struct sdw_task *task,
			      struct sdw_registers *registers);

#endif
