/* SPDX-License-Identifier: GPL-2.0-or-later */
/* In a file of its own, so that tests can replace it and set the speed of the CPU. */
#include "past_mistake.h"

void loop_spin(uint64_t rounds)
{
	/* Volatile, so that the compiler does not remove the loop. */
	for (volatile uint64_t i = 0; i < rounds; i++)
		;
}
