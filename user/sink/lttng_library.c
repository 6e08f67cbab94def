// SPDX-License-Identifier: MIT
/* lttng_library.c - see lttng_library.h. */
#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "sink/lttng_library.h"

/* The directory of our own program, without the last '/'. */
static bool find_directory(char *directory, size_t room)
{
	ssize_t length = readlink("/proc/self/exe", directory, room - 1);
	char *slash;

	if (length <= 0 || (size_t)length >= room - 1)
		return false;
	directory[length] = '\0';
	slash = strrchr(directory, '/');
	if (!slash)
		return false;
	*slash = '\0';
	return true;
}

void *sdw_lttng_library_open(const char *file, const char *symbol)
{
	static const char *const places[] = {"", "/../lib/sidewinder"};
	char directory[PATH_MAX], path[PATH_MAX + 64];
	void *library = NULL, *found;

	if (!find_directory(directory, sizeof(directory))) {
		sdw_error("--lttng: cannot find the directory of this program");
		return NULL;
	}
	for (size_t i = 0; i < sizeof(places) / sizeof(*places) && !library; i++) {
		snprintf(path, sizeof(path), "%s%s/%s", directory, places[i], file);
		if (access(path, F_OK))
			continue;
		library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
		if (!library) {
			sdw_error(
				"--lttng: %s; LTTng's libraries are in the packages liblttng-ust1 "
				"and liblttng-ctl0",
				dlerror());
			return NULL;
		}
	}
	if (!library) {
		sdw_error("--lttng: this Sidewinder was built without LTTng: there is no %s beside "
			  "the program",
			  file);
		return NULL;
	}
	found = dlsym(library, symbol);
	if (!found)
		sdw_error("--lttng: %s is not of this version", path);
	return found; /* never closed: liblttng-ust has threads */
}
