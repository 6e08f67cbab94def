/* SPDX-License-Identifier: MIT */
/*
 * call_glue.h - the interpreter's own functions that carry a call from one Python function to
 * another.
 *
 * Up to 3.10 every Python-to-Python call goes through some of them, later only calls with *args and
 * the like. Between two Python frames, alone, they say nothing: the call is the interpreter's
 * business.
 */
#ifndef SDW_CALL_GLUE_H
#define SDW_CALL_GLUE_H

#include <stdbool.h>

/* True for such a function, also in a part that the compiler split off (NAME.cold, NAME.isra.0). */
bool sdw_is_call_glue(const char *name);

#endif
