/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The clock that everything here is measured by: CLOCK_MONOTONIC. */
#ifndef LATENCY_CLOCK_H
#define LATENCY_CLOCK_H

#include <stdint.h>
#include <time.h>

#define NS_PER_S INT64_C(1000000000)
#define NS_PER_MS INT64_C(1000000)
#define NS_PER_US INT64_C(1000)

int64_t clock_now_ns(void);

/* What clock_getres() says of a clock; 0 where there is none. */
int64_t clock_resolution_ns(clockid_t clock);

/* CPU time of this process. */
int64_t clock_cpu_ns(void);

struct timespec clock_timespec(int64_t ns);

#endif
