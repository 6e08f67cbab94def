/* SPDX-License-Identifier: MIT */
/*
 * stack_builder.h - makes one stack of a sample's Python, native and kernel frames, and names it.
 *
 * In:  the Python stack, program counters, kernel addresses. Out: the id of a stack in the sink.
 * A combination that was seen before costs a hash of its addresses; only a new one is merged,
 * symbolised and announced.
 */
#ifndef SDW_STACK_BUILDER_H
#define SDW_STACK_BUILDER_H

#include "capture/image.h"
#include "capture/python_stacks.h"
#include "symbol/catalog.h"
#include "symbol/code_table.h"
#include "symbol/kernel.h"
#include "unwind/merge.h"

struct sdw_raw_stack {
	uint64_t time_ns;
	struct sdw_image *image;
	uint64_t python_id;
	const struct sdw_python_stack *python; /* NULL: none */
	uint8_t status;			       /* enum sdw_status */
	uint8_t flags;			       /* enum sdw_sample_flags */
	const uint64_t *pcs;		       /* native, innermost first */
	size_t native_count;
	int native_end; /* enum sdw_unwind_end */
	bool native_cut;
	const uint64_t *kernel; /* innermost first */
	size_t kernel_count;
};

struct sdw_stack_builder {
	struct sdw_catalog *catalog;
	struct sdw_strings *strings;
	struct sdw_code_table *codes;
	struct sdw_kernel_symbols *kernel; /* NULL: not read */
	bool interpreter_frames;
	bool columns;
	uint64_t max_memory;	/* bytes: of the catalog 3/4, of `known` 1/4 */
	struct sdw_map64 known; /* hash of a raw stack -> sink id; begun anew when it is full */
	uint64_t unmatched;	/* new stacks in which evaluations and entries did not agree */
	uint64_t out_of_memory; /* samples whose stack was not kept */
	uint8_t *entry, *native_kind;	 /* scratch */
	struct sdw_merged_frame *merged; /* scratch */
};

int sdw_stack_builder_init(struct sdw_stack_builder *builder, struct sdw_catalog *catalog,
			   struct sdw_strings *strings, struct sdw_code_table *codes,
			   uint64_t max_memory);

/*
 * Reads the names of the kernel's functions: a tenth of a second or more, in which no ring is
 * drained. So it is done before the recording begins.
 */
void sdw_stack_builder_read_kernel(struct sdw_stack_builder *builder);
void sdw_stack_builder_free(struct sdw_stack_builder *builder);

/* Returns 0 and the sink's stack id (0: nothing is known of it), or -errno. */
int sdw_stack_build(struct sdw_stack_builder *builder, const struct sdw_raw_stack *raw,
		    uint32_t *id);

#endif
