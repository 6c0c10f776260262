/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "past_mistake.h"

const char past_mistake[] = "short waits sleep, and long ones poll the clock";

void default_delay(unsigned int usecs)
{
	const uint64_t length_ns = usecs * WAIT_NS_PER_US;
	const uint64_t until_ns = wait_now_ns(CLOCK_MONOTONIC) + length_ns;

	if (length_ns > WAIT_SLEEP_NS_MIN)
		wait_poll_until(CLOCK_MONOTONIC, until_ns);
	else
		wait_sleep_until(CLOCK_MONOTONIC, until_ns);
}
