// SPDX-License-Identifier: MIT
/* remote_text.c - str and bytes objects of a living process, by the layout of its interpreter. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <linux/types.h>

#include "events.h"
#include "symbol/remote_text.h"

/* Bound of a str object's head, to the end of its state: 36 bytes from CPython 3.6 on, 52 without a
 * GIL */
#define HEAD_BYTES 64u
/* CPython's own bound of lengths is PY_SSIZE_T_MAX; no name comes near this one */
#define MAX_LENGTH (1ull << 40)

/* Bits of PyASCIIObject.state above `kind` (CPython 3.6 to 3.15 unicodeobject.h) */
#define STATE_COMPACT (1u << 3)
#define STATE_ASCII   (1u << 4)

/* Length and state. Reads no byte behind them: the object may be the last one of its page. */
static int read_head(const struct sdw_remote_process *process, uint64_t address, uint64_t *length,
		     uint32_t *state)
{
	const struct sdw_pylayout *layout = process->layout;
	uint8_t head[HEAD_BYTES];
	size_t size;
	int err;

	if (layout->unicode_length > HEAD_BYTES - sizeof(*length) ||
	    layout->unicode_state > HEAD_BYTES - sizeof(*state))
		return -EINVAL;
	size = layout->unicode_length + sizeof(*length);
	if (size < layout->unicode_state + sizeof(*state))
		size = layout->unicode_state + sizeof(*state);
	err = process->read(process->pid, address, head, size);
	if (err)
		return err;
	memcpy(length, head + layout->unicode_length, sizeof(*length));
	memcpy(state, head + layout->unicode_state, sizeof(*state));
	return 0;
}

static int read_into(const struct sdw_remote_process *process, uint64_t address,
		     struct sdw_remote_text *text)
{
	int err = 0;

	text->bytes = malloc(text->size ? text->size : 1);
	if (!text->bytes)
		return -ENOMEM;
	if (text->size)
		err = process->read(process->pid, address, text->bytes, text->size);
	if (err) {
		free(text->bytes);
		text->bytes = NULL;
	}
	return err;
}

/* The beginning or the end of a bytes object. */
static int read_bytes(const struct sdw_remote_process *process, uint64_t address, size_t max_bytes,
		      bool from_end, struct sdw_remote_text *text)
{
	const struct sdw_pylayout *layout = process->layout;
	uint64_t length;
	int err;

	*text = (struct sdw_remote_text){.kind = SDW_TEXT_BYTES};
	err = process->read(process->pid, address + layout->bytes_size, &length, sizeof(length));
	if (err)
		return err;
	if (length > MAX_LENGTH)
		return -EINVAL;
	text->cut = length > max_bytes;
	text->size = text->cut ? max_bytes : length;
	address += layout->bytes_data + (from_end ? length - text->size : 0);
	return read_into(process, address, text);
}

int sdw_remote_string(const struct sdw_remote_process *process, uint64_t address, size_t max_bytes,
		      bool from_end, struct sdw_remote_text *text)
{
	const struct sdw_pylayout *layout = process->layout;
	uint64_t length, size, data;
	uint32_t state, unit;
	int err;

	if (layout->unicode_state == SDW_NO_OFFSET) /* 2.7: names are bytes objects */
		return read_bytes(process, address, max_bytes, from_end, text);
	*text = (struct sdw_remote_text){0};
	err = read_head(process, address, &length, &state);
	if (err)
		return err;
	state >>= layout->unicode_state_kind & 31;
	unit = state & 7;
	if (!(state & STATE_COMPACT) || (unit != 1 && unit != 2 && unit != 4) ||
	    length > MAX_LENGTH)
		return -EINVAL;
	data = address + layout->unicode_compact_data;
	text->kind = unit == 1 ? SDW_TEXT_LATIN1 : unit == 2 ? SDW_TEXT_UCS2 : SDW_TEXT_UCS4;
	if (state & STATE_ASCII) {
		data = address + layout->unicode_ascii_data;
		text->kind = SDW_TEXT_ASCII;
		unit = 1;
	}
	size = length * unit;
	text->cut = size > max_bytes;
	text->size = text->cut ? max_bytes : size;
	if (from_end)
		data += size - text->size;
	return read_into(process, data, text);
}

int sdw_remote_bytes(const struct sdw_remote_process *process, uint64_t address, size_t max_bytes,
		     struct sdw_remote_text *text)
{
	return read_bytes(process, address, max_bytes, false, text);
}
