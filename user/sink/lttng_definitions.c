// SPDX-License-Identifier: MIT
/* lttng_definitions.c - see lttng_definitions.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "sink/lttng_definitions.h"

#define EVENT_BYTES 20 /* of an event without its strings, header included, about */

/* Keeps a copy of *text and makes *text point to it. */
static int keep_text(struct sdw_lttng_definitions *all, const char **text)
{
	const char *kept = sdw_strings_keep(&all->strings, *text ? *text : "");

	if (!kept)
		return -ENOMEM;
	*text = kept;
	all->bytes += strlen(kept) + 1;
	return 0;
}

#define append(all, array, event)                                                 \
	({                                                                        \
		int append_err = (event)->id == (array)->count + 1 ? 0 : -EINVAL; \
                                                                                  \
		append_err = append_err ?: sdw_array_reserve(array, 1);           \
		if (!append_err) {                                                \
			(array)->items[(array)->count++] = *(event);              \
			(all)->bytes += EVENT_BYTES;                              \
		}                                                                 \
		append_err;                                                       \
	})

int sdw_lttng_keep_recording(struct sdw_lttng_definitions *all, const struct sdw_recording *event)
{
	struct sdw_recording kept = *event;

	kept.filter = "";
	if (keep_text(all, &kept.version) || keep_text(all, &kept.hostname) ||
	    keep_text(all, &kept.command) || keep_text(all, &kept.event) ||
	    keep_text(all, &kept.unit))
		return -ENOMEM;
	all->recording = kept;
	return 0;
}

int sdw_lttng_keep_process(struct sdw_lttng_definitions *all, const struct sdw_process_event *event)
{
	struct sdw_process_event kept = *event;

	if (keep_text(all, &kept.comm) || keep_text(all, &kept.container) ||
	    keep_text(all, &kept.container_name) || keep_text(all, &kept.pod))
		return -ENOMEM;
	return append(all, &all->processes, &kept);
}

int sdw_lttng_keep_thread(struct sdw_lttng_definitions *all, const struct sdw_thread_event *event)
{
	struct sdw_thread_event kept = *event;

	if (!kept.process || kept.process > all->processes.count)
		return -EINVAL;
	if (keep_text(all, &kept.name))
		return -ENOMEM;
	return append(all, &all->threads, &kept);
}

int sdw_lttng_keep_code(struct sdw_lttng_definitions *all, const struct sdw_code_event *event)
{
	struct sdw_code_event kept = *event;

	if (!all->keep)
		return 0;
	if (keep_text(all, &kept.name) || keep_text(all, &kept.file))
		return -ENOMEM;
	return append(all, &all->codes, &kept);
}

int sdw_lttng_keep_frame(struct sdw_lttng_definitions *all, const struct sdw_frame_event *event)
{
	return all->keep ? append(all, &all->frames, event) : 0;
}

int sdw_lttng_keep_stack(struct sdw_lttng_definitions *all, const struct sdw_stack_event *event)
{
	return all->keep ? append(all, &all->stacks, event) : 0;
}

void sdw_lttng_tell(const struct sdw_lttng_definitions *all,
		    const struct sdw_lttng_provider *provider, uint8_t recorder)
{
	provider->recording(recorder, all->snapshot, &all->recording);
	provider->state(recorder, true);
	for (size_t i = 0; i < all->processes.count; i++)
		provider->process(recorder, &all->processes.items[i]);
	for (size_t i = 0; i < all->threads.count; i++)
		provider->thread(recorder, &all->threads.items[i]);
	for (size_t i = 0; i < all->codes.count; i++)
		provider->code(recorder, &all->codes.items[i]);
	for (size_t i = 0; i < all->frames.count; i++)
		provider->frame(recorder, &all->frames.items[i]);
	for (size_t i = 0; i < all->stacks.count; i++)
		provider->stack(recorder, &all->stacks.items[i]);
	provider->state(recorder, false);
}

void sdw_lttng_definitions_free(struct sdw_lttng_definitions *all)
{
	sdw_strings_free(&all->strings);
	free(all->processes.items);
	free(all->threads.items);
	free(all->codes.items);
	free(all->frames.items);
	free(all->stacks.items);
	*all = (struct sdw_lttng_definitions){0};
}
