// SPDX-License-Identifier: MIT
/*
 * remote.c - says what the consumer makes of code objects that it must read from a process, for
 * names.py.
 *
 * usage: remote PID
 * In (stdin):   "ADDRESS INSTRUCTION...", a code object of that process and offsets into its
 * bytecode. Out (stdout): name, file, first line and the lines, each followed by a NUL; then a
 * newline.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/code_table.h"
#include "target/interpreter.h"

struct reader {
	struct sdw_maps maps;
	struct sdw_found_interpreter found;
	struct sdw_strings strings;
	struct sdw_code_table *codes;
	uint64_t next_id;
};

static int open_process(struct reader *reader, uint32_t pid)
{
	struct sdw_file_cache *cache;

	if (sdw_file_cache_create(&cache) ||
	    sdw_code_table_create(&reader->strings, 1u << 30, NULL, &reader->codes))
		return -1;
	sdw_maps_init(&reader->maps, pid, cache);
	if (sdw_maps_read(&reader->maps) ||
	    sdw_interpreter_find(&reader->maps, &reader->found) != 1) {
		fprintf(stderr, "remote: no CPython found: %s\n", reader->found.problem);
		return -1;
	}
	return 0;
}

static uint64_t word_at(const uint8_t *head, uint32_t offset)
{
	uint64_t word = 0;

	if (offset != SDW_NO_OFFSET)
		memcpy(&word, head + offset, sizeof(word));
	return word;
}

/* What the BPF side sends of a code object whose strings are not in memory. */
static int announce(struct reader *reader, uint64_t address, uint64_t *id)
{
	const struct sdw_pylayout *layout = &reader->found.layout;
	struct sdw_record_code record = {0};
	uint8_t head[256 + 8];

	if (layout->code_span > 256 ||
	    sdw_remote_read(reader->maps.pid, address, head, layout->code_span))
		return -1;
	*id = ++reader->next_id;
	record.record.size = sizeof(record);
	record.record.pid = reader->maps.pid;
	record.id = *id;
	record.addr = address;
	record.version = layout->version;
	record.first_line = (int32_t)word_at(head, layout->code_firstlineno);
	record.name.addr = word_at(head, layout->code_name);
	record.qualname.addr = word_at(head, layout->code_qualname);
	record.filename.addr = word_at(head, layout->code_filename);
	record.linetable.addr = word_at(head, layout->code_linetable);
	return sdw_code_table_add(reader->codes, &record, sizeof(record), layout);
}

static int answer(struct reader *reader, char *request)
{
	const struct sdw_code *code;
	char *at;
	uint64_t id;

	if (announce(reader, strtoull(request, &at, 16), &id))
		return -1;
	code = sdw_code_table_find(reader->codes, id);
	printf("%s%c%s%c%u%c", code->name, 0, code->file, 0, code->first_line, 0);
	while (*at == ' ') {
		int32_t instruction = (int32_t)strtol(at, &at, 10);

		printf("%u%c", sdw_code_table_line(reader->codes, code, instruction), 0);
	}
	putchar('\n');
	return fflush(stdout);
}

int main(int argc, char **argv)
{
	static struct reader reader;
	char *line = NULL;
	size_t room = 0;

	if (argc != 2 || open_process(&reader, (uint32_t)strtoul(argv[1], NULL, 10)))
		return 1;
	while (getline(&line, &room, stdin) > 0) {
		if (answer(&reader, line))
			return 1;
	}
	free(line);
	return 0;
}
