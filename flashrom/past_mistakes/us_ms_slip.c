/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "past_mistake.h"

const char past_mistake[] = "microseconds are taken for milliseconds";

void default_delay(unsigned int usecs)
{
	wait_ns(CLOCK_MONOTONIC, usecs * WAIT_NS_PER_MS);
}
