// SPDX-License-Identifier: MIT
#include "cmd/table_options.h"

#define DEFAULT_LIMIT 30

const struct sdw_option_word sdw_table_by_words[] = {
	{"function", SDW_REPORT_FUNCTION},   {"line", SDW_REPORT_LINE},
	{"file", SDW_REPORT_FILE},	     {"module", SDW_REPORT_MODULE},
	{"thread", SDW_REPORT_THREAD},	     {"process", SDW_REPORT_PROCESS},
	{"container", SDW_REPORT_CONTAINER}, {NULL, 0},
};

const struct sdw_option_word sdw_table_sort_words[] = {
	{"self", SDW_REPORT_SELF},
	{"total", SDW_REPORT_TOTAL},
	{NULL, 0},
};

void sdw_table_take_arguments(struct sdw_report_options *rows,
			      const struct sdw_table_arguments *arguments)
{
	if (rows->limit == SDW_TABLE_NO_LIMIT_SAID)
		rows->limit = arguments->json ? 0 : DEFAULT_LIMIT;
	rows->python_only = !arguments->native;
}
