/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The delay layer. One self-contained file: it needs a POSIX.1-2008 libc and its own header, and is
 * configured by CONFIG_DELAY_MINIMUM_SLEEP_US alone.
 *
 * Nothing is calibrated and no resolution is asked for. A count of loop iterations says nothing
 * about time once the CPU's clock may change, or the thread may move to a faster core, and a timer
 * resolution that the system claims may be coarser or finer than the truth. What is left is to
 * read a clock until it shows the deadline; sleeping only makes that cheaper.
 */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include "platform/udelay.h"

/* Shorter waits poll: below this, giving up the CPU costs more time than the wait itself. */
#ifndef CONFIG_DELAY_MINIMUM_SLEEP_US
#define CONFIG_DELAY_MINIMUM_SLEEP_US 100
#endif

#define US_PER_S 1000000u
#define NS_PER_US 1000
#define NS_PER_S 1000000000L

static struct timespec clock_now(void)
{
	struct timespec now;

	/* Without a clock no wait can be kept. Returning would be a wait of no length at all. */
	if (clock_gettime(CLOCK_MONOTONIC, &now) != 0)
		abort();
	return now;
}

/*
 * Seconds and nanoseconds stay apart, so that no product or sum leaves a 32-bit long: nanoseconds
 * reach 999,999,999 + 999,999,000 at most.
 */
static struct timespec deadline_after(struct timespec now, unsigned int usecs)
{
	now.tv_sec += (time_t)(usecs / US_PER_S);
	now.tv_nsec += (long)(usecs % US_PER_S) * NS_PER_US;
	if (now.tv_nsec >= NS_PER_S) {
		now.tv_sec++;
		now.tv_nsec -= NS_PER_S;
	}
	return now;
}

static bool deadline_passed(const struct timespec *deadline)
{
	const struct timespec now = clock_now();

	if (now.tv_sec != deadline->tv_sec)
		return now.tv_sec > deadline->tv_sec;
	return now.tv_nsec >= deadline->tv_nsec;
}

/* An absolute deadline needs no sum over what is left: a signal only means to go back to sleep. */
static bool sleep_toward(const struct timespec *deadline)
{
	const int status = clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, deadline, NULL);

	return status == 0 || status == EINTR;
}

/* A variable, since comparing with a literal threshold of 0 draws a warning (-Wtype-limits). */
static bool long_enough_to_sleep(unsigned int usecs)
{
	const unsigned int threshold_us = CONFIG_DELAY_MINIMUM_SLEEP_US;

	return usecs >= threshold_us;
}

#ifdef CONFIG_DELAY_TEST_CUT_PERCENT
/* A delay layer that is wrong on purpose, for those who test whether wrong ones get caught. */
static unsigned int requested(unsigned int usecs)
{
	return (unsigned int)((unsigned long long)usecs * CONFIG_DELAY_TEST_CUT_PERCENT / 100);
}
#else
static unsigned int requested(unsigned int usecs)
{
	return usecs;
}
#endif

void default_delay(unsigned int usecs)
{
	const unsigned int wait_us = requested(usecs);
	struct timespec deadline;
	bool may_sleep;

	if (wait_us == 0)
		return;
	deadline = deadline_after(clock_now(), wait_us);
	may_sleep = long_enough_to_sleep(wait_us);

	/* The clock has the last word: a sleep that came back too soon is slept again. */
	while (!deadline_passed(&deadline)) {
		if (may_sleep)
			may_sleep = sleep_toward(&deadline);
	}
}
