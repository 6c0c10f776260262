/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PAST_MISTAKE_LOOP_H
#define PAST_MISTAKE_LOOP_H

#include <stdint.h>

/** For how long a loop has to run before its speed is taken from it: a quarter of a second. */
#define LOOP_MEASURED_US_MIN UINT64_C(250000)

/** Count to `rounds`. How long that takes is the CPU's affair. */
void loop_spin(uint64_t rounds);

/** Returns the duration of this run. */
uint64_t loop_measure_us(uint64_t rounds);

/** Rounds a microsecond, rounded up, as the CPU is at this moment. */
uint64_t loop_calibrate(void);

#endif
