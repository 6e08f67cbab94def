/* SPDX-License-Identifier: MIT */
/*
 * code_records.h - code records to send to a code table, and a process that holds their objects.
 *
 * The process is an array of bytes; the layout of its objects is made up for the test.
 */
#ifndef SDW_TEST_CODE_RECORDS_H
#define SDW_TEST_CODE_RECORDS_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include "symbol/code_table.h"

#define PID	  77u
#define EPOCH	  5u
#define BASE	  0x10000ull /* address of the process's first byte */
#define CODE_AT	  BASE
#define NAME_AT	  (BASE + 0x100)
#define FILE_AT	  (BASE + 0x10000)
#define TABLE_AT  (BASE + 0x20000)
#define UNLIMITED (1ull << 30)

static const struct sdw_pylayout LAYOUT = {
	.version = 0x030c,
	.code_filename = 16,
	.code_name = 24,
	.code_qualname = 32,
	.code_firstlineno = 40,
	.code_linetable = 48,
	.code_span = 64,
	.bytes_size = 16,
	.bytes_data = 32,
	.unicode_length = 16,
	.unicode_state = 32,
	.unicode_state_kind = 2,
	.unicode_ascii_data = 40,
	.unicode_compact_data = 56,
};

static struct {
	uint8_t bytes[0x400000];
	unsigned int reads;
	bool gone;
	unsigned int change_after; /* reads, after which the code object is another; 0: never */
} process;

static inline int read_process(uint32_t pid, uint64_t address, void *to, size_t size)
{
	if (process.gone || pid != PID)
		return -ESRCH;
	if (address < BASE || address - BASE > sizeof(process.bytes) ||
	    size > sizeof(process.bytes) - (address - BASE))
		return -EFAULT;
	memcpy(to, process.bytes + (address - BASE), size);
	if (++process.reads == process.change_after)
		memset(process.bytes + (CODE_AT - BASE), 0x55, 64);
	return 0;
}

static inline void poke(uint64_t address, const void *bytes, size_t size)
{
	memcpy(process.bytes + (address - BASE), bytes, size);
}

static inline void poke_word(uint64_t address, uint64_t word)
{
	poke(address, &word, sizeof(word));
}

/* A compact str: kind 1, 2 or 4, or 0 for ASCII. */
static inline void poke_string(uint64_t address, uint32_t kind, const void *text, size_t length)
{
	uint32_t state = (kind ? kind : 1) << 2 | 1u << 5 | (kind ? 0u : 1u << 6);

	poke_word(address + 16, length);
	poke(address + 32, &state, sizeof(state));
	poke(address + (kind ? 56 : 40), text, length * (kind ? kind : 1));
}

struct fixture {
	struct sdw_strings strings;
	struct sdw_code_table *table;
	struct sdw_record_code record;
	uint8_t sent[0x10000]; /* what follows the record */
	size_t used;
};

static inline int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	memset(&process, 0, sizeof(process));
	assert_int_equal(sdw_code_table_create(&f->strings, UNLIMITED, read_process, &f->table), 0);
	f->record.record.type = SDW_RECORD_CODE;
	f->record.record.pid = PID;
	f->record.record.epoch = EPOCH;
	f->record.id = 1000;
	f->record.addr = CODE_AT;
	f->record.first_line = 7;
	f->record.version = 0x030c;
	*state = f;
	return 0;
}

static inline int teardown(void **state)
{
	struct fixture *f = *state;

	sdw_code_table_free(f->table);
	sdw_strings_free(&f->strings);
	free(f);
	return 0;
}

/* Adds the next text, in the order name, qualname, filename, linetable. */
static inline void send_text(struct fixture *f, struct sdw_text *text, uint32_t kind,
			     const void *bytes, uint32_t size, uint64_t length)
{
	text->kind = kind;
	text->bytes = size;
	text->length = length;
	memcpy(f->sent + f->used, bytes, size);
	f->used += size;
}

static inline void send_ascii(struct fixture *f, struct sdw_text *text, const char *bytes)
{
	send_text(f, text, SDW_TEXT_ASCII, bytes, (uint32_t)strlen(bytes), strlen(bytes));
}

/* line 8 for four bytes of code, then 10 for two */
static const uint8_t LINES[] = {0x80 | 11 << 3 | 1, 0, 0, 0x80 | 12 << 3, 0, 0};

static inline void send_lines(struct fixture *f)
{
	send_text(f, &f->record.linetable, SDW_TEXT_BYTES, LINES, sizeof(LINES), sizeof(LINES));
}

static inline void send_usual(struct fixture *f)
{
	f->record.qualname.addr = NAME_AT;
	send_ascii(f, &f->record.name, "run");
	send_ascii(f, &f->record.qualname, "App.run");
	send_ascii(f, &f->record.filename, "/srv/app.py");
	send_lines(f);
}

/* Sends the record in a buffer of exactly its size. */
static inline int add_sized(struct fixture *f, size_t size, const struct sdw_pylayout *layout)
{
	struct sdw_record_code *copy = malloc(size ? size : 1);
	size_t head = size < sizeof(*copy) ? size : sizeof(*copy);
	int err;

	assert_non_null(copy);
	memcpy(copy, &f->record, head);
	memcpy((uint8_t *)copy + head, f->sent, size - head);
	err = sdw_code_table_add(f->table, copy, size, layout);
	free(copy);
	return err;
}

static inline int add(struct fixture *f, const struct sdw_pylayout *layout)
{
	f->record.record.size = (uint32_t)(sizeof(f->record) + f->used);
	return add_sized(f, f->record.record.size, layout);
}

static inline void expect(struct fixture *f, uint64_t id, const char *name, const char *file)
{
	const struct sdw_code *code = sdw_code_table_find(f->table, id);

	assert_string_equal(code->name, name);
	assert_string_equal(code->file, file);
}

static inline uint32_t line(struct fixture *f, uint64_t id, int32_t instruction)
{
	return sdw_code_table_line(f->table, sdw_code_table_find(f->table, id), instruction);
}

static inline const struct sdw_code_statistics *statistics(struct fixture *f)
{
	return sdw_code_table_statistics(f->table);
}

/* Puts the code object that the record announces into the process. */
static inline void build_process(struct fixture *f)
{
	static const uint16_t name[] = {'n', 0x540d};

	poke_word(CODE_AT + 16, FILE_AT);
	poke_word(CODE_AT + 24, NAME_AT);
	poke_word(CODE_AT + 32, NAME_AT);
	poke_word(CODE_AT + 40, 7);
	poke_word(CODE_AT + 48, TABLE_AT);
	poke_string(NAME_AT, 2, name, 2);
	poke_string(FILE_AT, 0, "/srv/paged out.py", 17);
	poke_word(TABLE_AT + 16, sizeof(LINES));
	poke(TABLE_AT + 32, LINES, sizeof(LINES));
	f->record.name.addr = f->record.qualname.addr = NAME_AT;
	f->record.filename.addr = FILE_AT;
	f->record.linetable.addr = TABLE_AT;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

#endif
