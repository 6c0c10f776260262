/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Built once for each of the old thresholds: BUSY_THRESHOLD_US, and BUSY_THRESHOLD_NAME. */
#include "past_mistake.h"

const char past_mistake[] = "waits of up to " BUSY_THRESHOLD_NAME " poll the clock";

void default_delay(unsigned int usecs)
{
	const uint64_t until_ns = wait_now_ns(CLOCK_MONOTONIC) + usecs * WAIT_NS_PER_US;

	if (usecs <= BUSY_THRESHOLD_US)
		wait_poll_until(CLOCK_MONOTONIC, until_ns);
	else
		wait_sleep_until(CLOCK_MONOTONIC, until_ns);
}
