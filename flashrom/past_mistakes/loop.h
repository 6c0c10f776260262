/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PAST_MISTAKE_LOOP_H
#define PAST_MISTAKE_LOOP_H

#include <stdint.h>

/** The shortest run of a loop from which its speed is computed: a quarter of a second. */
#define LOOP_MEASURED_US_MIN UINT64_C(250000)

/** Counts to `rounds`, in a time that depends on the CPU. */
void loop_spin(uint64_t rounds);

/** Runs `rounds` and returns the time in microseconds. */
uint64_t loop_measure_us(uint64_t rounds);

/** Returns the rounds per microsecond, rounded up, at the CPU's present speed. */
uint64_t loop_calibrate(void);

#endif
