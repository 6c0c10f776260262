// SPDX-License-Identifier: GPL-2.0-or-later
#include "series.h"
#include "clock.h"

#include <poll.h>
#include <sched.h>
#include <stddef.h>
#include <string.h>
#include <sys/select.h>
#include <time.h>

static void nop(int64_t request_ns)
{
	(void)request_ns;
}

static void yield(int64_t request_ns)
{
	(void)request_ns;
	sched_yield();
}

static void sleep_relative(int64_t request_ns)
{
	const struct timespec length = clock_timespec(request_ns);

	nanosleep(&length, NULL);
}

static void sleep_by_clock(int64_t request_ns)
{
	const struct timespec length = clock_timespec(request_ns);

	clock_nanosleep(CLOCK_MONOTONIC, 0, &length, NULL);
}

/* Rounds up to whole microseconds: a wait must not be shorter than requested. */
static void wait_in_select(int64_t request_ns)
{
	const int64_t us = (request_ns + NS_PER_US - 1) / NS_PER_US;
	struct timeval length = {
		.tv_sec = (time_t)(us / (NS_PER_S / NS_PER_US)),
		.tv_usec = (suseconds_t)(us % (NS_PER_S / NS_PER_US)),
	};

	select(0, NULL, NULL, NULL, &length);
}

static void wait_in_pselect(int64_t request_ns)
{
	const struct timespec length = clock_timespec(request_ns);

	pselect(0, NULL, NULL, NULL, &length, NULL);
}

/* Rounds up to whole milliseconds, for the same reason. */
static void wait_in_poll(int64_t request_ns)
{
	poll(NULL, 0, (int)((request_ns + NS_PER_MS - 1) / NS_PER_MS));
}

static void wait_in_ppoll(int64_t request_ns)
{
	const struct timespec length = clock_timespec(request_ns);

	ppoll(NULL, 0, &length, NULL);
}

static const struct wait waits[] = {
	{"nop", nop},
	{"sched_yield", yield},
	{"nanosleep", sleep_relative},
	{"clock_nanosleep", sleep_by_clock},
	{"select", wait_in_select},
	{"pselect", wait_in_pselect},
	{"poll", wait_in_poll},
	{"ppoll", wait_in_ppoll},
};

const struct wait *wait_find(const char *name)
{
	for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
		if (strcmp(waits[i].name, name) == 0)
			return &waits[i];
	}
	return NULL;
}
