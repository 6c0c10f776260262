// SPDX-License-Identifier: GPL-2.0-or-later
/* The agent's clock where time is real: CLOCK_MONOTONIC, which the host compares with its own. */
#define _GNU_SOURCE
#include "hypercall.h"

#include <time.h>

#define NS_PER_S UINT64_C(1000000000)

uint64_t hypercall_virtual_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}
