/* SPDX-License-Identifier: MIT */
/* top_json.h - a view as one JSON object; its keys are told in top_json.c. */
#ifndef SDW_TOP_JSON_H
#define SDW_TOP_JSON_H

#include <stdio.h>

#include "ui/top_view.h"

/* Prints at most `limit` rows (0: all) and a newline. Returns 0 or -ENOMEM. */
int sdw_top_print_json(const struct sdw_top_model *model, const struct sdw_top_list *list,
		       const struct sdw_top_view *view, size_t limit, FILE *to);

#endif
