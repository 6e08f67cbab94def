// SPDX-License-Identifier: MIT
/* Takes /proc/stat; gives the idle time of all processors. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "capture/idle_time.h"

uint64_t sdw_idle_time_parse(const char *text)
{
	uint64_t idle, waiting, ticks = 0;
	long rate = sysconf(_SC_CLK_TCK);

	for (; text; text = strchr(text, '\n')) {
		text += *text == '\n';
		/* cpu0 user nice system idle iowait ...; "cpu " is their sum, rounded */
		if (strncmp(text, "cpu", 3) != 0 || !isdigit((unsigned char)text[3]))
			continue;
		if (sscanf(text, "cpu%*u %*u %*u %*u %" SCNu64 " %" SCNu64, &idle, &waiting) == 2)
			ticks += idle + waiting;
	}
	return rate > 0 ? ticks * (uint64_t)(1000000000 / rate) : 0;
}

uint64_t sdw_idle_time_ns(void)
{
	char line[512];
	uint64_t sum = 0;
	FILE *file = fopen("/proc/stat", "re");

	if (!file)
		return 0;
	/* the lines of processors come first; one further down can be very long */
	while (fgets(line, sizeof(line), file) && !strncmp(line, "cpu", 3))
		sum += sdw_idle_time_parse(line);
	fclose(file);
	return sum;
}
