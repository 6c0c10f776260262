/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Measures the time from writing bytes to a socket until this process has them: the uncertainty
 * that a blocked read adds to every observation.
 */
#ifndef EMULATORS_SERPROG_WAKE_H
#define EMULATORS_SERPROG_WAKE_H

#include "clock.h"

struct wake_latency {
	uint64_t ns_min;
	uint64_t ns_max;
};

/*
 * Has a thread of normal priority send @round_count times over a loopback connection while this
 * one sleeps in poll(), as it does between requests. The thread has ended when this returns.
 * Negative errno; @round_count is at least 1.
 */
int wake_measure(enum clock_source source, unsigned int round_count, struct wake_latency *latency);

#endif
