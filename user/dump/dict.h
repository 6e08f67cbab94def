/* SPDX-License-Identifier: MIT */
/*
 * dict.h - reads dicts and the attributes of instances in the memory of another process.
 *
 * The dict may change meanwhile: what is read is bounded, and may be a mixture of before and after.
 */
#ifndef SDW_DUMP_DICT_H
#define SDW_DUMP_DICT_H

#include "dump/object.h"

#define SDW_DICT_BLOCK 64u /* entries read at once */

struct sdw_dict_reader {
	const struct sdw_dump_memory *memory;
	uint64_t entries; /* address of the first */
	uint64_t values;  /* address of the first value of a split table; 0: in the entries */
	uint64_t count, next;
	uint32_t entry_words, key_word;
	uint64_t first_read; /* index of the first entry in `block` */
	uint64_t read;	     /* entries in it */
	uint64_t block[SDW_DICT_BLOCK * 3];
};

/* Begins to read a dict. Returns 0 or -errno. */
int sdw_dict_open(const struct sdw_dump_memory *memory, uint64_t address,
		  struct sdw_dict_reader *reader);

/* The next entry that has a value; false: no more, or unreadable. */
bool sdw_dict_next(struct sdw_dict_reader *reader, uint64_t *key, uint64_t *value);

/* The value whose key is the str `name`. Returns 0 or -ENOENT. */
int sdw_dict_find(const struct sdw_dump_memory *memory, uint64_t address, const char *name,
		  uint64_t *value);

/* An attribute in an instance's own __dict__, however it is kept. Returns 0 or -ENOENT. */
int sdw_instance_find(const struct sdw_dump_memory *memory, uint64_t address, const char *name,
		      uint64_t *value);

#endif
