/* SPDX-License-Identifier: MIT */
/* record_options.h - the command line of `sidewinder record` as a struct sdw_config. */
#ifndef SDW_RECORD_OPTIONS_H
#define SDW_RECORD_OPTIONS_H

#include "base/options.h"
#include "capture/config.h"

/*
 * Fills `config`, whose strings point into argv, from the arguments; everything that can be known
 * without asking the kernel for rights is checked. What is wrong was said. Always followed by
 * sdw_record_options_free().
 */
enum sdw_options_result sdw_record_options_parse(int argc, char **argv, struct sdw_config *config);
void sdw_record_options_free(struct sdw_config *config);

#endif
