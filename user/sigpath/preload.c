// SPDX-License-Identifier: MIT
/* preload.c - where the agent is: beside the program as it was built, or where make install puts
 * it.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "sigpath.h"
#include "sigpath/preload.h"

#define AGENT	"sidewinder-agent.so"
#define PRELOAD "LD_PRELOAD"

/* Returns 0 and the path, or -errno. */
static int find_agent(char path[PATH_MAX])
{
	static const char *const places[] = {"%s/" AGENT, "%s/../lib/sidewinder/" AGENT};
	char own[PATH_MAX], *slash;
	ssize_t length = readlink("/proc/self/exe", own, sizeof(own) - 1);

	if (length < 0)
		return -errno;
	own[length] = '\0';
	slash = strrchr(own, '/');
	if (!slash)
		return -ENOENT;
	*slash = '\0';
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		char tried[PATH_MAX + 64];

		// NOLINTNEXTLINE(clang-diagnostic-format-nonliteral): two literals above
		snprintf(tried, sizeof(tried), places[i], own);
		if (realpath(tried, path))
			return 0;
	}
	return -ENOENT;
}

int sdw_preload_check(void)
{
	char path[PATH_MAX];
	int err = find_agent(path);

	if (err) {
		sdw_error("the agent " AGENT " is neither beside this program nor in "
			  "../lib/sidewinder: %s",
			  strerror(-err));
		return err;
	}
	if (!strpbrk(path, " :\t\n"))
		return 0;
	sdw_error("LD_PRELOAD cannot name %s: there is a blank or a colon in it", path);
	return -EINVAL;
}

int sdw_preload_set(const char *socket_name, char **before)
{
	const char *now = getenv(PRELOAD);
	char path[PATH_MAX], *both;
	int err = find_agent(path);

	*before = NULL;
	if (err)
		return err;
	if (now) {
		*before = strdup(now);
		if (!*before)
			return -ENOMEM;
	}
	if (asprintf(&both, "%s%s%s", path, now && *now ? ":" : "", now ? now : "") < 0)
		return -ENOMEM;
	if (setenv(PRELOAD, both, 1) || setenv(SDW_SIGPATH_ENVIRONMENT, socket_name, 1))
		err = -errno;
	free(both);
	return err;
}

void sdw_preload_undo(char *before)
{
	if (before)
		setenv(PRELOAD, before, 1);
	else
		unsetenv(PRELOAD);
	unsetenv(SDW_SIGPATH_ENVIRONMENT);
	free(before);
}
