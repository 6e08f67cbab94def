/* SPDX-License-Identifier: MIT */
/* pid_option.h - process ids as verbs take them: "12", "12,13", again and again. */
#ifndef SDW_PID_OPTION_H
#define SDW_PID_OPTION_H

#include "capture/target_threads.h"

/*
 * Adds the ids in `value` to `list`, in the order given, each once. Returns 0, or -errno after
 * saying, in the name of `verb`, what is wrong.
 */
int sdw_pid_option_take(const char *verb, const char *value, struct sdw_pid_list *list);

#endif
