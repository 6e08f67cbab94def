/* SPDX-License-Identifier: MIT */
/*
 * frame_text.h - stacks of a profile as arrays of frames, and frames as text that is made only
 * once.
 *
 * In:  a profile (profile.h); ids that do not exist end a stack, as a trace may come from anybody.
 * Out: frame ids root first, and per frame the text that a renderer wrote.
 */
#ifndef SDW_FRAME_TEXT_H
#define SDW_FRAME_TEXT_H

#include <stdio.h>

#include "view/profile.h"

struct sdw_stack_frames {
	uint32_t *items; /* frame ids, root first */
	size_t count, room;
};

/* Replaces `frames` by those of `stack`. Returns 0 or -ENOMEM. */
int sdw_stack_frames_get(const struct sdw_profile *profile, uint32_t stack,
			 struct sdw_stack_frames *frames);

/* The code of a frame, or an unnamed marker for an id that does not exist; never NULL. */
const struct sdw_profile_code *sdw_frame_code(const struct sdw_profile *profile, uint32_t frame);
uint32_t sdw_frame_line(const struct sdw_profile *profile, uint32_t frame);

/* Names as every view shows them: what is empty or missing is "?". */
const char *sdw_text_or_unknown(const char *text);
const char *sdw_base_name(const char *path);

/* A marker's name without the brackets that views put around it: *bytes are its length. */
const char *sdw_marker_text(const char *name, size_t *bytes);

/* The thread and process of a bucket or sample; an empty one for an id that does not exist. */
const struct sdw_profile_thread *sdw_thread_of(const struct sdw_profile *profile, uint32_t thread);
const struct sdw_profile_process *sdw_process_of(const struct sdw_profile *profile,
						 uint32_t process);

/*
 * What views call a process's container: its name, or the first digits of its id; "" for none.
 * Owned by the profile, or in `text`.
 */
#define SDW_SHORT_ID		 12
#define SDW_CONTAINER_TEXT_BYTES (SDW_SHORT_ID + 1)
/* "python3 in web", or "python3" of a process in no container; malloc'ed, NULL without memory. */
char *sdw_process_text(const struct sdw_profile_process *process);
bool sdw_is_long_id(const char *id); /* 64 hexadecimal digits */
const char *sdw_container_text(const struct sdw_profile_process *process,
			       char text[SDW_CONTAINER_TEXT_BYTES]);

/* The names of counters.h, "?" for a value that is not there. */
const char *sdw_status_name(unsigned int status);
const char *sdw_status_meaning(unsigned int status);
const char *sdw_lost_name(unsigned int reason);
const char *sdw_lost_meaning(unsigned int reason);

/* Amounts are weights where samples of one recording differ in weight, else numbers of samples. */
bool sdw_profile_is_weighted(const struct sdw_profile *profile);

typedef void sdw_frame_render(FILE *file, const struct sdw_profile_code *code, uint32_t line);

struct sdw_frame_text {
	const struct sdw_profile *profile;
	sdw_frame_render *render;
	char **items; /* by frame id */
};

int sdw_frame_text_init(struct sdw_frame_text *text, const struct sdw_profile *profile,
			sdw_frame_render *render);
/* Returns the text of `frame`, owned by `text`, or NULL without memory. */
const char *sdw_frame_text_get(struct sdw_frame_text *text, uint32_t frame);
void sdw_frame_text_free(struct sdw_frame_text *text);

#endif
