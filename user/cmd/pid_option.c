// SPDX-License-Identifier: MIT
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/log.h"
#include "cmd/pid_option.h"

static int add(struct sdw_pid_list *list, pid_t pid)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i] == pid)
			return 0;
	if (sdw_array_reserve(list, 1)) {
		sdw_error("out of memory");
		return -ENOMEM;
	}
	list->items[list->count++] = pid;
	return 0;
}

int sdw_pid_option_take(const char *verb, const char *value, struct sdw_pid_list *list)
{
	const char *at = value;

	for (;;) {
		char *end;
		long pid;
		int err;

		errno = 0;
		pid = strtol(at, &end, 10);
		if (*at < '0' || *at > '9' || errno || pid < 1 || pid > INT32_MAX ||
		    (*end && *end != ',')) {
			sdw_error("%s: '%s' is not a process id or a list of these", verb, value);
			return -EINVAL;
		}
		err = add(list, (pid_t)pid);
		if (err || !*end)
			return err;
		at = end + 1;
	}
}
