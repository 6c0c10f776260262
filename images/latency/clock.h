/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CLOCK_MONOTONIC, the clock of all measurements here, and conversions. */
#ifndef LATENCY_CLOCK_H
#define LATENCY_CLOCK_H

#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#define NS_PER_S INT64_C(1000000000)
#define NS_PER_MS INT64_C(1000000)
#define NS_PER_US INT64_C(1000)

static inline int64_t clock_read_ns(clockid_t clock)
{
	struct timespec now;

	if (clock_gettime(clock, &now) != 0)
		abort();
	return now.tv_sec * NS_PER_S + now.tv_nsec;
}

static inline int64_t clock_now_ns(void)
{
	return clock_read_ns(CLOCK_MONOTONIC);
}

static inline struct timespec clock_timespec(int64_t ns)
{
	return (struct timespec){(time_t)(ns / NS_PER_S), ns % NS_PER_S};
}

#endif
