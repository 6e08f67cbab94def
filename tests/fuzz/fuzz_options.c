// SPDX-License-Identifier: MIT
/* fuzz_options.c - command lines of `record`. Input: the arguments, NUL after each. */
#include <getopt.h>

#include "base/log.h"
#include "cmd/record_options.h"
#include "fuzz/input.h"

#define MAX_ARGUMENTS 32

static void check(const struct sdw_config *config)
{
	fuzz_assert(config->frequency || config->period);
	fuzz_assert(config->ring_bytes && !(config->ring_bytes & (config->ring_bytes - 1)));
	fuzz_assert(config->duration_s >= 0);
	fuzz_assert(config->max_loss >= 0 && config->max_loss <= 1);
	fuzz_assert(config->command || config->pid_count || config->all);
	for (size_t i = 0; i < config->pid_count; i++)
		fuzz_assert(config->pids[i] > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), *argv[MAX_ARGUMENTS + 2] = {(char *)"record"};
	struct sdw_config config = {0};
	int argc = 1;

	if (!text)
		abort();
	memcpy(text, data, size);
	text[size] = '\0';
	for (size_t at = 0; at < size && argc <= MAX_ARGUMENTS; at += strlen(text + at) + 1)
		argv[argc++] = text + at;
	sdw_log_set_level(SDW_LOG_ERROR);
	optind = 0; /* glibc: as if it had not been called yet */
	if (sdw_record_options_parse(argc, argv, &config) == SDW_OPTIONS_GO_ON)
		check(&config);
	sdw_record_options_free(&config);
	free(text);
	return 0;
}
