/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "past_mistake.h"

const char past_mistake[] = "milliseconds are taken for microseconds";

void default_delay(unsigned int usecs)
{
	const unsigned int ms = usecs / 1000;

	wait_ns(CLOCK_MONOTONIC, ms * WAIT_NS_PER_US);
}
