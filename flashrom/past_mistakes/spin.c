/* SPDX-License-Identifier: GPL-2.0-or-later */
/* In a file of its own, so that tests can say how fast their CPU is. */
#include "loop.h"

void loop_spin(uint64_t rounds)
{
	/* Volatile, or the compiler would see that nobody needs the sum. */
	for (volatile uint64_t i = 0; i < rounds; i++)
		;
}
