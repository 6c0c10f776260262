/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "past_mistake.h"

const char past_mistake[] = "of a wait only what is beyond whole seconds is kept";

#define US_PER_S 1000000

void default_delay(unsigned int usecs)
{
	wait_ns(CLOCK_MONOTONIC, usecs % US_PER_S * WAIT_NS_PER_US);
}
