/* SPDX-License-Identifier: MIT */
/*
 * places.h - which frames are the same function, and which the same line of it.
 *
 * In:  a profile (profile.h), whose codes differ by process even where they are one function.
 * Out: dense numbers, from 0, for functions (kind, name, whole file and first line agree) and for
 * places in them (function and line being executed), as formats want them that have tables of both;
 * only those that are in the stack of a sample.
 */
#ifndef SDW_PLACES_H
#define SDW_PLACES_H

#include "view/profile.h"

struct sdw_place {
	uint32_t function;
	uint32_t line; /* being executed, 0: none or not known; only of Python */
};

struct sdw_places {
	SDW_PROFILE_ARRAY(struct sdw_profile_code) functions; /* of each one code like it */
	SDW_PROFILE_ARRAY(struct sdw_place) places;
	uint32_t *of_frame; /* by frame id: the place */
	/* by enum sdw_status: the place of samples without a stack, a marker with its name;
	 * UINT32_MAX: there is no such sample
	 */
	uint32_t of_status[SDW_STATUS_COUNT];
};

/* Returns 0 or -ENOMEM; to be freed in either case. `profile` must stay as it is until then. */
int sdw_places_make(struct sdw_places *places, const struct sdw_profile *profile);
void sdw_places_free(struct sdw_places *places);

/* By stack id: is it, or is it below, the stack of a sample? To be freed; NULL: out of memory. */
bool *sdw_stacks_used(const struct sdw_profile *profile);

/* The name that formats show, of a marker in brackets; to be freed. NULL: out of memory. */
char *sdw_place_name(const struct sdw_profile_code *code);

#endif
