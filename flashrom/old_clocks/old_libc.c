/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Imitates old systems for which the rig has no guest: a clock that advances in steps of
 * CLOCK_STEP_US, and sleeps that are cut to whole units of SLEEP_UNIT_US. Both use the guest's own
 * clock and sleeps. The linker redirects the program's calls to this file (--wrap).
 */
#include <errno.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define US_PER_S 1000000
#define NS_PER_US 1000

int __real_gettimeofday(struct timeval *now, void *zone);
int __real_nanosleep(const struct timespec *length, struct timespec *left);
int __real_usleep(useconds_t usecs);

/* NOLINTBEGIN(misc-use-internal-linkage): the linker redirects calls to them */
int __wrap_gettimeofday(struct timeval *now, void *zone);
int __wrap_nanosleep(const struct timespec *length, struct timespec *left);
int __wrap_usleep(useconds_t usecs);

int __wrap_gettimeofday(struct timeval *now, void *zone)
{
	const int result = __real_gettimeofday(now, zone);
	long long us = now->tv_sec * (long long)US_PER_S + now->tv_usec;

	us -= us % CLOCK_STEP_US;
	now->tv_sec = us / US_PER_S;
	now->tv_usec = us % US_PER_S;
	return result;
}

int __wrap_nanosleep(const struct timespec *length, struct timespec *left)
{
	struct timespec whole = *length;

	whole.tv_nsec -= whole.tv_nsec % ((long)SLEEP_UNIT_US * NS_PER_US);
	return __real_nanosleep(&whole, left);
}

int __wrap_usleep(useconds_t usecs)
{
	if (usecs >= US_PER_S) {
		errno = EINVAL;
		return -1;
	}
	return __real_usleep(usecs - usecs % SLEEP_UNIT_US);
}
/* NOLINTEND(misc-use-internal-linkage) */
