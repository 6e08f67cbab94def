// SPDX-License-Identifier: MIT
/* frame_text.c - see frame_text.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "view/frame_text.h"

int sdw_stack_frames_get(const struct sdw_profile *profile, uint32_t stack,
			 struct sdw_stack_frames *frames)
{
	int err;

	frames->count = 0;
	while (stack && stack < profile->stacks.count) {
		const struct sdw_profile_stack *at = &profile->stacks.items[stack];

		err = sdw_array_reserve(frames, 1);
		if (err)
			return err;
		frames->items[frames->count++] = at->frame;
		if (at->parent >= stack) /* not a stack that was defined before: would never end */
			break;
		stack = at->parent;
	}
	for (size_t i = 0, j = frames->count; i + 1 < j; i++) {
		uint32_t other = frames->items[--j];

		frames->items[j] = frames->items[i];
		frames->items[i] = other;
	}
	return 0;
}

const struct sdw_profile_code *sdw_frame_code(const struct sdw_profile *profile, uint32_t frame)
{
	static const struct sdw_profile_code missing = {.kind = SDW_CODE_MARKER};
	uint32_t code = frame < profile->frames.count ? profile->frames.items[frame].code : 0;

	return code && code < profile->codes.count ? &profile->codes.items[code] : &missing;
}

uint32_t sdw_frame_line(const struct sdw_profile *profile, uint32_t frame)
{
	return frame < profile->frames.count ? profile->frames.items[frame].line : 0;
}

const char *sdw_text_or_unknown(const char *text)
{
	return text && *text ? text : "?";
}

const char *sdw_base_name(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return sdw_text_or_unknown(slash && slash[1] ? slash + 1 : path);
}

const char *sdw_marker_text(const char *name, size_t *bytes)
{
	name = sdw_text_or_unknown(name);
	*bytes = strlen(name);
	if (*bytes > 2 && name[0] == '[' && name[*bytes - 1] == ']') {
		*bytes -= 2;
		return name + 1;
	}
	return name;
}

const struct sdw_profile_thread *sdw_thread_of(const struct sdw_profile *profile, uint32_t thread)
{
	static const struct sdw_profile_thread none;

	return thread < profile->threads.count ? &profile->threads.items[thread] : &none;
}

const struct sdw_profile_process *sdw_process_of(const struct sdw_profile *profile,
						 uint32_t process)
{
	static const struct sdw_profile_process none;

	return process < profile->processes.count ? &profile->processes.items[process] : &none;
}

#define SDW_TEXT(name, text, meaning)	 text,
#define SDW_MEANING(name, text, meaning) meaning,

const char *sdw_status_name(unsigned int status)
{
	static const char *const names[] = {SDW_STATUS_LIST(SDW_TEXT)};

	return status < SDW_STATUS_COUNT ? names[status] : "?";
}

const char *sdw_status_meaning(unsigned int status)
{
	static const char *const meanings[] = {SDW_STATUS_LIST(SDW_MEANING)};

	return status < SDW_STATUS_COUNT ? meanings[status] : "?";
}

const char *sdw_lost_name(unsigned int reason)
{
	static const char *const names[] = {SDW_LOST_LIST(SDW_TEXT)};

	return reason < SDW_LOST_COUNT ? names[reason] : "?";
}

const char *sdw_lost_meaning(unsigned int reason)
{
	static const char *const meanings[] = {SDW_LOST_LIST(SDW_MEANING)};

	return reason < SDW_LOST_COUNT ? meanings[reason] : "?";
}

bool sdw_profile_is_weighted(const struct sdw_profile *profile)
{
	const char *unit = profile->recording.unit;
	uint64_t weight = 0;

	/* a clock's period never changes: its samples are all alike, and easier to read */
	if (!unit || strcmp(unit, "ns") == 0)
		return false;
	for (size_t i = 0; i < profile->buckets.count; i++)
		weight |= profile->buckets.items[i].weight;
	return weight != 0;
}

int sdw_frame_text_init(struct sdw_frame_text *text, const struct sdw_profile *profile,
			sdw_frame_render *render)
{
	*text = (struct sdw_frame_text){.profile = profile, .render = render};
	text->items = calloc(profile->frames.count + 1, sizeof(*text->items));
	return text->items ? 0 : -ENOMEM;
}

const char *sdw_frame_text_get(struct sdw_frame_text *text, uint32_t frame)
{
	const struct sdw_profile *profile = text->profile;
	size_t bytes, at = frame < profile->frames.count ? frame : profile->frames.count;
	char **item = &text->items[at];
	bool failed;
	FILE *file;

	if (*item)
		return *item;
	file = open_memstream(item, &bytes);
	if (!file)
		return NULL;
	text->render(file, sdw_frame_code(profile, frame), sdw_frame_line(profile, frame));
	failed = ferror(file);
	if (fclose(file) || failed) {
		free(*item);
		*item = NULL;
	}
	return *item;
}

void sdw_frame_text_free(struct sdw_frame_text *text)
{
	if (text->items) {
		for (size_t i = 0; i <= text->profile->frames.count; i++)
			free(text->items[i]);
	}
	free(text->items);
	*text = (struct sdw_frame_text){0};
}

bool sdw_is_long_id(const char *id)
{
	return strlen(id) == 64 && strspn(id, "0123456789abcdef") == 64;
}

const char *sdw_container_text(const struct sdw_profile_process *process,
			       char text[SDW_CONTAINER_TEXT_BYTES])
{
	if (process->container_name && *process->container_name)
		return process->container_name;
	if (!process->container)
		return "";
	if (!sdw_is_long_id(process->container))
		return process->container;
	memcpy(text, process->container, SDW_SHORT_ID);
	text[SDW_SHORT_ID] = 0;
	return text;
}

char *sdw_process_text(const struct sdw_profile_process *process)
{
	char room[SDW_CONTAINER_TEXT_BYTES], *text;
	const char *container = sdw_container_text(process, room);

	if (asprintf(&text, "%s%s%s", sdw_text_or_unknown(process->comm), *container ? " in " : "",
		     container) < 0)
		return NULL;
	return text;
}
