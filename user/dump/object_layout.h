/* SPDX-License-Identifier: MIT */
/*
 * object_layout.h - where things are inside CPython's objects, beyond what a stack needs
 * (pylayout.h): values of locals, names of threads, who waits for the GIL.
 *
 * All offsets are in bytes. Those of the built-in types count from the end of the object's head
 * (reference count and type), so that they hold for free-threaded builds, whose head is larger.
 */
#ifndef SDW_OBJECT_LAYOUT_H
#define SDW_OBJECT_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "pylayout.h"

struct sdw_object_layout {
	uint16_t version; /* major << 8 | minor */
	bool free_threaded;

	uint32_t interpreter_id;      /* int64_t */
	uint32_t interpreter_modules; /* sys.modules, a dict */
	uint32_t runtime_gil;	      /* <= 3.11: the GIL itself, in _PyRuntime */
	uint32_t interpreter_gil;     /* >= 3.12: pointer to the interpreter's GIL */
	uint32_t gil_size;

	uint32_t frame_locals;	/* first of the frame's fast locals, cells and free variables */
	uint32_t code_varnames; /* <= 3.10: tuples of names, in the order of the frame's slots */
	uint32_t code_cellvars;
	uint32_t code_freevars;
	uint32_t code_names; /* >= 3.11: co_localsplusnames, one name a slot */
	uint32_t code_kinds; /* >= 3.11: co_localspluskinds, bytes: one a slot */

	uint32_t tuple_items; /* of a tuple, behind its head: 3.14 and later keep a hash there, too
			       */

	/* PyDictKeysObject */
	bool keys_have_size; /* <= 3.10: dk_size, a number; later dk_log2_index_bytes */
	uint32_t keys_size;  /* dk_size or dk_log2_index_bytes (u8), and dk_log2_size before it */
	uint32_t keys_kind;  /* >= 3.11: u8, 0: entries have a hash in front */
	uint32_t keys_nentries;
	uint32_t keys_indices; /* the index table; entries follow it */
	uint32_t values_first; /* PyDictValues: the first value */

	uint32_t managed_dict; /* >= 3.11: how far in front of an instance its dict's pointer is */
	uint32_t heap_type_keys; /* ht_cached_keys of a class: names of its instances' values */
};

/* The layout that goes with `layout`. Returns 0, or -ENOTSUP where this version is not known. */
int sdw_object_layout_for(const struct sdw_pylayout *layout, struct sdw_object_layout *objects);

#endif
