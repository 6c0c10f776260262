// SPDX-License-Identifier: GPL-2.0-or-later
#include "clock.h"

#include <stdlib.h>

static int64_t read_ns(clockid_t clock)
{
	struct timespec now;

	if (clock_gettime(clock, &now) != 0)
		abort();
	return now.tv_sec * NS_PER_S + now.tv_nsec;
}

int64_t clock_now_ns(void)
{
	return read_ns(CLOCK_MONOTONIC);
}

int64_t clock_resolution_ns(clockid_t clock)
{
	struct timespec step;

	return clock_getres(clock, &step) == 0 ? step.tv_sec * NS_PER_S + step.tv_nsec : 0;
}

int64_t clock_cpu_ns(void)
{
	return read_ns(CLOCK_PROCESS_CPUTIME_ID);
}

struct timespec clock_timespec(int64_t ns)
{
	return (struct timespec){(time_t)(ns / NS_PER_S), ns % NS_PER_S};
}
