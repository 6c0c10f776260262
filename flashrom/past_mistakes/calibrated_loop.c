/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "past_mistake.h"

const char past_mistake[] = "waits count loops, as many as once were a microsecond";

/* The mistake: the speed of one core at one moment is used forever. */
static uint64_t rounds_per_us;

__attribute__((constructor)) void past_mistake_prepare(void)
{
	rounds_per_us = loop_calibrate();
}

void default_delay(unsigned int usecs)
{
	loop_spin(usecs * rounds_per_us);
}
