/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "loop.h"

#include "wait.h"

#define ROUNDS_FIRST 1000

uint64_t loop_measure_us(uint64_t rounds)
{
	const uint64_t start_ns = wait_now_ns(CLOCK_MONOTONIC);

	loop_spin(rounds);
	return (wait_now_ns(CLOCK_MONOTONIC) - start_ns) / WAIT_NS_PER_US;
}

uint64_t loop_calibrate(void)
{
	uint64_t rounds = ROUNDS_FIRST;
	uint64_t took_us = loop_measure_us(rounds);

	while (took_us < LOOP_MEASURED_US_MIN) {
		rounds *= 2;
		took_us = loop_measure_us(rounds);
	}
	return rounds / took_us + 1;
}
