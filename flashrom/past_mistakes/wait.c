/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>

#include "past_mistake.h"

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

#define ROUNDS_FIRST 1000

uint64_t loop_measure_us(uint64_t rounds)
{
	const uint64_t start_ns = wait_now_ns(CLOCK_MONOTONIC);

	loop_spin(rounds);
	return (wait_now_ns(CLOCK_MONOTONIC) - start_ns) / WAIT_NS_PER_US;
}

uint64_t loop_calibrate(void)
{
	uint64_t rounds = ROUNDS_FIRST;
	uint64_t took_us = loop_measure_us(rounds);

	while (took_us < LOOP_MEASURED_US_MIN) {
		rounds *= 2;
		took_us = loop_measure_us(rounds);
	}
	return rounds / took_us + 1;
}
