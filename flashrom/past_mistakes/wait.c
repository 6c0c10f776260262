/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "wait.h"

#include <errno.h>
#include <stdlib.h>

#define NS_PER_S UINT64_C(1000000000)

uint64_t wait_now_ns(clockid_t clock)
{
	struct timespec now;

	if (clock_gettime(clock, &now) != 0)
		abort();
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

void wait_poll_until(clockid_t clock, uint64_t until_ns)
{
	while (wait_now_ns(clock) < until_ns)
		;
}

void wait_sleep_until(clockid_t clock, uint64_t until_ns)
{
	const struct timespec until = {
		.tv_sec = (time_t)(until_ns / NS_PER_S),
		.tv_nsec = (long)(until_ns % NS_PER_S),
	};

	while (clock_nanosleep(clock, TIMER_ABSTIME, &until, NULL) == EINTR)
		;
	wait_poll_until(clock, until_ns);
}

void wait_ns(clockid_t clock, uint64_t length_ns)
{
	const uint64_t until_ns = wait_now_ns(clock) + length_ns;

	if (length_ns < WAIT_SLEEP_NS_MIN)
		wait_poll_until(clock, until_ns);
	else
		wait_sleep_until(clock, until_ns);
}
