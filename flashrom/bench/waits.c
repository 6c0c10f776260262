/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "waits.h"

#include <stdlib.h>
#include <time.h>

/* The names of default_delay() in the builds of the delay layer, see meson.build. */
void delay_hybrid_slack(unsigned int usecs);
void delay_hybrid(unsigned int usecs);
void delay_slack(unsigned int usecs);
void delay_neither(unsigned int usecs);

static int64_t read_ns(clockid_t clock)
{
	struct timespec now;

	if (clock_gettime(clock, &now) != 0)
		abort();
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t bench_now_ns(void)
{
	return read_ns(CLOCK_MONOTONIC);
}

int64_t bench_cpu_ns(void)
{
	return read_ns(CLOCK_THREAD_CPUTIME_ID);
}

static void plain_nanosleep(unsigned int usecs)
{
	const struct timespec length = {usecs / 1000000, (long)(usecs % 1000000) * 1000};

	nanosleep(&length, NULL);
}

static void plain_polling(unsigned int usecs)
{
	const int64_t deadline_ns = bench_now_ns() + (int64_t)usecs * 1000;

	while (bench_now_ns() < deadline_ns)
		;
}

const struct wait bench_waits[WAITS] = {
	{"nanosleep", plain_nanosleep},
	{"polling", plain_polling},
	{"neither", delay_neither},
	{"slack", delay_slack},
	{"hybrid", delay_hybrid},
	{"hybrid+slack", delay_hybrid_slack},
};
