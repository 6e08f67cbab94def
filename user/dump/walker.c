// SPDX-License-Identifier: MIT
#include <errno.h>
#include <string.h>

#include "base/map64.h"
#include "dump/walker.h"
#include "target/maps.h"

#define CODE_HEAD_BYTES 256u /* bound of layout->code_span */

static uint64_t take_code(struct sdw_dump_walker *walker, uint64_t address);

static struct sdw_dump_walker *walker_of(struct sdw_walk *walk)
{
	return (struct sdw_dump_walker *)walk; /* its first member */
}

#define SDW_WALK_READ(to, size, address) \
	sdw_dump_read(walker_of(walk)->memory, (address), (to), (size))
#define SDW_WALK_CODE(walk, address) take_code(walker_of(walk), (address))
#define SDW_WALK_HIDE(value)	     (value)
#include "pywalk.h"

static uint64_t head_word(const uint8_t *head, uint32_t offset)
{
	uint64_t word = 0;

	if (offset <= CODE_HEAD_BYTES - sizeof(word))
		memcpy(&word, head + offset, sizeof(word));
	return word;
}

/* What the code table completes from the process; nothing of it was sent. */
static void fill_record(const struct sdw_dump_walker *walker, const uint8_t *head, uint64_t address,
			struct sdw_record_code *record)
{
	const struct sdw_pylayout *layout = &walker->memory->python->layout;

	*record = (struct sdw_record_code){
		.record = {.type = SDW_RECORD_CODE,
			   .size = sizeof(*record),
			   .pid = walker->memory->pid},
		.addr = address,
		.version = layout->version,
		.first_line = (int32_t)head_word(head, layout->code_firstlineno),
		.name.addr = head_word(head, layout->code_name),
		.qualname.addr = head_word(head, layout->code_qualname),
		.filename.addr = head_word(head, layout->code_filename),
		.linetable.addr = head_word(head, layout->code_linetable),
	};
	record->fingerprint = sdw_mix64(record->name.addr) ^ sdw_mix64(record->filename.addr + 1) ^
			      sdw_mix64(record->linetable.addr + 2) ^ (uint32_t)record->first_line;
	record->id = sdw_mix64(record->fingerprint ^ address << 16 ^ (uint64_t)record->record.pid);
}

/* The id of the code object, 0 if there is none. Called when the frame is kept. */
static uint64_t take_code(struct sdw_dump_walker *walker, uint64_t address)
{
	const struct sdw_found_interpreter *python = walker->memory->python;
	uint8_t head[CODE_HEAD_BYTES] = {0};
	struct sdw_record_code record;
	uint32_t index = walker->walk.count;
	int err;

	if (python->layout.code_span > sizeof(head) || index >= SDW_MAX_FRAMES ||
	    sdw_dump_read(walker->memory, address, head, python->layout.code_span))
		return 0;
	if (python->code_type_addr &&
	    head_word(head, python->layout.object_type) != python->code_type_addr)
		return 0;
	fill_record(walker, head, address, &record);
	err = sdw_code_table_add(walker->codes, &record, sizeof(record), &python->layout);
	if (err == -ENOMEM)
		walker->err = err;
	if (err)
		return 0;
	walker->frames[index] = walker->walk.frame;
	walker->code_objects[index] = address;
	return record.id;
}

int sdw_dump_walk(struct sdw_dump_walker *walker, uint64_t state)
{
	struct sdw_walk *walk = &walker->walk;
	int err;

	walker->err = 0;
	walk->layout = walker->memory->python->layout;
	walk->seed = sdw_mix64(walker->memory->pid);
	walk->count = 0;
	err = sdw_dump_read(walker->memory, state, walk->thread, SDW_THREAD_SPAN);
	if (err)
		return err;
	sdw_walk_begin(walk);
	while (!sdw_walk_step(walk))
		;
	if (!walk->count && walk->status == SDW_STATUS_COMPLETE)
		walk->status = SDW_STATUS_NO_FRAME;
	return walker->err;
}
