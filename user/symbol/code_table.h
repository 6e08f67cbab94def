/* SPDX-License-Identifier: MIT */
/*
 * code_table.h - the consumer's store of Python code objects: from an id to name, file and line.
 *
 * In:  code records of all images, and when an image ends.
 * Out: what a frame is called. Equal code objects of different images (a forked server's) are kept
 *      once. Memory is bounded: beyond the bound a code object is counted and has a placeholder.
 */
#ifndef SDW_CODE_TABLE_H
#define SDW_CODE_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include <linux/types.h>

#include "base/strings.h"
#include "events.h"
#include "pylayout.h"
#include "symbol/pycode.h"
#include "symbol/remote_text.h"

/* A code object. Two with the same name, file (both compared as pointers) and line are equal in a
 * trace. */
struct sdw_code {
	const char *name; /* kept in the strings given; never NULL: "[unknown]" */
	const char *file; /* the same; of one too long the end, behind an ellipsis */
	uint32_t first_line;
	uint8_t incomplete; /* a later record for its id may say more: do not keep this answer */
	/* private, as all below */
	uint8_t table_known;
	uint16_t version;
	uint32_t references; /* ids that mean it */
	uint32_t table_size;
	uint64_t hash;
	struct sdw_code *next; /* with the same hash */
	uint8_t table[];
};

struct sdw_code_statistics {
	uint64_t records;      /* taken */
	uint64_t broken;       /* refused: sizes or kinds that contradict each other */
	uint64_t completed;    /* of which something was read from the process */
	uint64_t incomplete;   /* of which a name or the line table is missing or cut */
	uint64_t out_of_bound; /* refused: no memory is left within the bound */
	uint64_t
		lines_unknown; /* lookups answered with the first line: no table, or a broken one */
};

struct sdw_code_table;

/*
 * max_bytes bounds `strings` (whoever fills it) and the table together. `read` reads a process's
 * memory, NULL for sdw_remote_read(). Returns 0 or -ENOMEM.
 */
int sdw_code_table_create(struct sdw_strings *strings, uint64_t max_bytes, sdw_read_memory read,
			  struct sdw_code_table **table);
void sdw_code_table_free(struct sdw_code_table *table); /* NULL is allowed */

/*
 * Takes a record of `size` bytes. `layout` is that of its interpreter, to read what was not sent;
 * NULL if the process is gone or must not be read. A record for a known id only adds what was
 * missing. Returns 0, -EINVAL (broken, counted), -ENOSPC (beyond the bound, counted) or -ENOMEM.
 */
int sdw_code_table_add(struct sdw_code_table *table, const struct sdw_record_code *record,
		       size_t size, const struct sdw_pylayout *layout);

/*
 * The code object with this id, valid until the next add or forget. Never NULL: one without a
 * record is
 * "[unknown]", or "[out of memory bound]" once records were refused for it.
 */
const struct sdw_code *sdw_code_table_find(const struct sdw_code_table *table, uint64_t id);

/* The line being executed at `instruction` (struct sdw_python_frame); 0: none. */
uint32_t sdw_code_table_line(struct sdw_code_table *table, const struct sdw_code *code,
			     int32_t instruction);

/* The same with its columns (pycode.h). */
struct sdw_position sdw_code_table_position(struct sdw_code_table *table,
					    const struct sdw_code *code, int32_t instruction);

/* Forgets the code objects of an image that ended and whose samples were all seen. */
void sdw_code_table_forget(struct sdw_code_table *table, uint32_t pid, uint32_t epoch);

const struct sdw_code_statistics *sdw_code_table_statistics(const struct sdw_code_table *table);

/* Bytes in use, of the table and its strings. */
uint64_t sdw_code_table_bytes(const struct sdw_code_table *table);

#endif
