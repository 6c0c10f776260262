/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Times of the system in nanoseconds. */
#ifndef EMULATORS_SHARED_TIMESPEC_H
#define EMULATORS_SHARED_TIMESPEC_H

#include <stdint.h>
#include <time.h>

#include "shared/units.h"

static inline uint64_t timespec_ns(const struct timespec *time)
{
	return (uint64_t)time->tv_sec * NS_PER_S + (uint64_t)time->tv_nsec;
}

static inline struct timespec timespec_of(uint64_t ns)
{
	return (struct timespec){
		.tv_sec = (time_t)(ns / NS_PER_S),
		.tv_nsec = (long)(ns % NS_PER_S),
	};
}

/* Returns the time of CLOCK_MONOTONIC, which all programs of a machine share. */
static inline uint64_t monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return timespec_ns(&now);
}

#endif
