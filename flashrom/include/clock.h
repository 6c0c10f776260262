/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CLOCK_H
#define CLOCK_H

#include <stdint.h>

#define NS_PER_US UINT64_C(1000)
#define NS_PER_MS UINT64_C(1000000)
#define NS_PER_S UINT64_C(1000000000)

/** A source of time and delays. It is always an argument, so tests can pass their own. */
struct clock {
	uint64_t (*now_ns)(void *context);
	void (*delay_us)(void *context, unsigned int us);
	void *context;
};

/** CLOCK_MONOTONIC and the delay layer. */
extern const struct clock system_clock;

static inline uint64_t clock_now_ns(const struct clock *clock)
{
	return clock->now_ns(clock->context);
}

static inline void clock_delay_us(const struct clock *clock, unsigned int us)
{
	clock->delay_us(clock->context, us);
}

#endif
