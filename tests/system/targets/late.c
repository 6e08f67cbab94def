// SPDX-License-Identifier: MIT
/* late.c - a library that is loaded late: works for so many seconds of CPU time. */
#include <time.h>

static double used(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

void work_late(double seconds)
{
	double end = used() + seconds;

	while (used() < end) {
		for (volatile int i = 0; i < 10000; i++)
			;
	}
}
