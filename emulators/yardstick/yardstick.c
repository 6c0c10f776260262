/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The waits of a canary or a control of a gate. They share no code with flashrom, so that a change
 * under test cannot blind the rig.
 *
 * ASK_PERCENT is the share of the part's longest busy time that is requested, SLEEP_PERCENT the
 * share of the request that is slept. The chip witness must find a short request, the delay witness
 * a short sleep.
 */
#include "floor.h"
#include "shared/timespec.h"

#include <errno.h>

void default_delay(unsigned int microseconds)
{
	const struct timespec end =
		timespec_of(monotonic_ns() + microseconds * NS_PER_US * SLEEP_PERCENT / 100);

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, NULL) == EINTR)
		;
}

void yardstick_wait(const struct busy_time *busy)
{
	const uint64_t longest_us = (busy->max.ns + NS_PER_US - 1) / NS_PER_US;

	default_delay((unsigned int)(longest_us * ASK_PERCENT / 100));
}
