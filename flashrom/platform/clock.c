/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <time.h>

#include "clock.h"
#include "platform/udelay.h"

static uint64_t system_now_ns(void *context)
{
	struct timespec now;

	(void)context;
	if (clock_gettime(CLOCK_MONOTONIC, &now) != 0)
		abort();
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static void system_delay_us(void *context, unsigned int us)
{
	(void)context;
	default_delay(us);
}

const struct clock system_clock = {
	.now_ns = system_now_ns,
	.delay_us = system_delay_us,
};
