/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "past_mistake.h"

const char past_mistake[] = "the loop is calibrated with twice the rounds that were timed";

static uint64_t rounds_per_us;

__attribute__((constructor)) void past_mistake_prepare(void)
{
	uint64_t rounds = 1000;
	uint64_t took_us;

	do {
		took_us = loop_measure_us(rounds);
		/* The mistake: it is also doubled after the last attempt. */
		rounds *= 2;
	} while (took_us < LOOP_MEASURED_US_MIN);
	rounds_per_us = rounds / took_us;
}

void default_delay(unsigned int usecs)
{
	loop_spin(usecs * rounds_per_us);
}
