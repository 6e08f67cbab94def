// SPDX-License-Identifier: MIT
#include <errno.h>
#include <stdlib.h>

#include "dump/dumper.h"

#define MAX_MEMORY (1ull << 30) /* for names and stacks */

int sdw_dumper_init(struct sdw_dumper *dumper)
{
	int err;

	*dumper = (struct sdw_dumper){0};
	dumper->walker = calloc(1, sizeof(*dumper->walker));
	dumper->pcs = calloc(SDW_MAX_NATIVE_FRAMES, sizeof(*dumper->pcs));
	if (!dumper->walker || !dumper->pcs)
		return -ENOMEM;
	err = sdw_profile_init(&dumper->profile, false);
	err = err ?: sdw_file_cache_create(&dumper->files);
	err = err ?: sdw_code_table_create(&dumper->strings, MAX_MEMORY, NULL, &dumper->codes);
	if (err)
		return err;
	sdw_catalog_init(&dumper->catalog, &dumper->profile.sink, &dumper->strings);
	dumper->walker->codes = dumper->codes;
	return sdw_stack_builder_init(&dumper->builder, &dumper->catalog, &dumper->strings,
				      dumper->codes, MAX_MEMORY);
}

void sdw_dumper_free(struct sdw_dumper *dumper)
{
	sdw_register_reader_close(&dumper->registers);
	sdw_stack_builder_free(&dumper->builder);
	sdw_catalog_free(&dumper->catalog);
	sdw_code_table_free(dumper->codes);
	sdw_profile_free(&dumper->profile);
	if (dumper->has_sampled)
		sdw_profile_free(&dumper->sampled);
	sdw_file_cache_free(dumper->files);
	sdw_strings_free(&dumper->strings);
	free(dumper->walker);
	free(dumper->pcs);
	free(dumper->stack);
}
