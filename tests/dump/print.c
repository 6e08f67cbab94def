// SPDX-License-Identifier: MIT
/* print.c - print VERSION: the object layout used for it, e.g. 3.12.1 or 3.13.5t, as text. */
#include <stdio.h>
#include <string.h>

#include "text.h"

int main(int argc, char **argv)
{
	struct sdw_pylayout layout = {0};
	struct sdw_object_layout objects;
	unsigned int major, minor;

	if (argc != 2 || sscanf(argv[1], "%u.%u", &major, &minor) != 2)
		return 2;
	layout.free_threaded = strchr(argv[1], 't') != NULL;
	layout.version = (__u16)(major << 8 | minor);
	if (sdw_object_layout_for(&layout, &objects))
		return 1;
	print_objects(&objects);
	return 0;
}
