/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "past_mistake.h"

const char past_mistake[] = "nanoseconds are counted in 32 bits, which hold 4.29 s of them";

void default_delay(unsigned int usecs)
{
	const uint32_t length_ns = (uint32_t)(usecs * WAIT_NS_PER_US);

	wait_ns(CLOCK_MONOTONIC, length_ns);
}
