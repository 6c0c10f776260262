/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_WAITS_H
#define BENCH_WAITS_H

#include <stddef.h>
#include <stdint.h>

/** A kind of wait. */
struct wait {
	const char *name;
	void (*wait)(unsigned int usecs);
};

#define WAITS 6

/** Plain nanosleep and plain polling first, then the delay layer in its variants. */
extern const struct wait bench_waits[WAITS];

/** Return CLOCK_MONOTONIC, and the CPU time of this thread. */
int64_t bench_now_ns(void);
int64_t bench_cpu_ns(void);

#endif
