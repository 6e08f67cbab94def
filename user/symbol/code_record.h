/* SPDX-License-Identifier: MIT */
/*
 * code_record.h - what one code record (events.h) says, completed from the living process.
 *
 * In:  a record of the ring buffer, whose contents the target controls; a layout to read more with.
 * Out: names as UTF-8 and the line table, or a refusal of a record that contradicts itself.
 */
#ifndef SDW_CODE_RECORD_H
#define SDW_CODE_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/types.h>

#include "events.h"
#include "symbol/remote_text.h"

#define SDW_MAX_FETCHED_NAME_BYTES  4096u      /* of a name or path, before it is decoded */
#define SDW_MAX_FETCHED_TABLE_BYTES (1u << 20) /* of a line table */

/* A code object's own words; strings and table are malloc'ed. */
struct sdw_code_words {
	char *name; /* qualified where the interpreter has it; NULL: not known */
	char *file; /* NULL: not known */
	uint8_t *table;
	size_t table_size;
	bool table_known; /* false: no line but the first can be told */
	bool table_cut;
	bool completed; /* something was read from the process */
	bool missing;	/* something is still not known, or cut */
	bool may_grow;	/* ... and a later record may say more: it is not cut by our own bounds */
};

/* Returns 0, or -EINVAL if sizes, kinds and bounds of the record do not agree. */
int sdw_code_record_check(const struct sdw_record_code *record, size_t size);

/*
 * Takes the words out of a record that was checked. What was not sent is read from `process`,
 * unless that is NULL, if the code object is still the one that was announced. Returns 0 or
 * -ENOMEM.
 */
int sdw_code_record_words(const struct sdw_record_code *record,
			  const struct sdw_remote_process *process, struct sdw_code_words *words);

void sdw_code_words_free(struct sdw_code_words *words);

#endif
