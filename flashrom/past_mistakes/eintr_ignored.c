/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "past_mistake.h"

const char past_mistake[] = "a sleep that a signal cut short counts as a whole one";

#define US_PER_S 1000000

static struct timespec timespec_of(unsigned int usecs)
{
	return (struct timespec){
		.tv_sec = usecs / US_PER_S,
		.tv_nsec = (long)(usecs % US_PER_S * WAIT_NS_PER_US),
	};
}

void default_delay(unsigned int usecs)
{
	const struct timespec length = timespec_of(usecs);

	if (usecs * WAIT_NS_PER_US < WAIT_SLEEP_NS_MIN)
		wait_ns(CLOCK_MONOTONIC, usecs * WAIT_NS_PER_US);
	else
		nanosleep(&length, NULL);
}
