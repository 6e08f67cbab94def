// SPDX-License-Identifier: MIT
/* texts.c - see texts.h. */
#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "view/texts.h"

int sdw_texts_number(struct sdw_texts *texts, const char *text, uint32_t *number)
{
	const char *kept = sdw_strings_keep(&texts->strings, text);
	uint64_t key = (uint64_t)(uintptr_t)kept;
	const uint64_t *found = kept ? sdw_map64_find(&texts->number_of, key) : NULL;

	if (found) {
		*number = (uint32_t)*found;
		return 0;
	}
	if (!kept || texts->count >= UINT32_MAX || sdw_array_reserve(texts, 1) ||
	    sdw_map64_set(&texts->number_of, key, texts->count))
		return -ENOMEM;
	*number = (uint32_t)texts->count;
	texts->items[texts->count++] = kept;
	return 0;
}

void sdw_texts_free(struct sdw_texts *texts)
{
	sdw_strings_free(&texts->strings);
	sdw_map64_free(&texts->number_of);
	free(texts->items);
	*texts = (struct sdw_texts){0};
}
