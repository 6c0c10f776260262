/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdbool.h>

#include "past_mistake.h"

const char past_mistake[] = "a clock that claims to be coarse is given up for a calibrated loop";

#define RESOLUTION_NS_MAX 100

static uint64_t rounds_per_us; /* 0: the clock is trusted */

/* Without high-resolution timers Linux reports a tick of 1 to 10 ms, though the clock counts ns. */
static bool claims_to_be_fine(void)
{
	struct timespec resolution;

	return clock_getres(CLOCK_MONOTONIC, &resolution) == 0 && resolution.tv_sec == 0 &&
	       resolution.tv_nsec <= RESOLUTION_NS_MAX;
}

__attribute__((constructor)) void past_mistake_prepare(void)
{
	rounds_per_us = claims_to_be_fine() ? 0 : loop_calibrate();
}

void default_delay(unsigned int usecs)
{
	if (rounds_per_us == 0)
		wait_ns(CLOCK_MONOTONIC, usecs * WAIT_NS_PER_US);
	else
		loop_spin(usecs * rounds_per_us);
}
