// SPDX-License-Identifier: MIT
/* moving_clock.c - preloaded: the time of day goes back by an hour with each look at it. */
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define HOUR 3600

static long hours = 1;

int clock_gettime(clockid_t clock, struct timespec *now)
{
	int err = (int)syscall(SYS_clock_gettime, clock, now);

	if (!err && clock == CLOCK_REALTIME)
		now->tv_sec -= HOUR * hours++;
	return err;
}

time_t time(time_t *result)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	if (result)
		*result = now.tv_sec;
	return now.tv_sec;
}
