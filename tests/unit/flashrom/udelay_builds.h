/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef UDELAY_BUILDS_H
#define UDELAY_BUILDS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * The builds of the delay layer that meson.build makes, by the name that each gives
 * default_delay().
 */
struct build {
	const char *name;
	void (*delay)(unsigned int usecs);
	unsigned int threshold_us;
	bool monotonic; /* false for the fallback */
	bool absolute;
	bool hybrid;
	bool learns;
	bool slack;
	unsigned int percent;
	unsigned int sleep_unit_us; /* by so much a sleep may be short */
};

/* meson.build defines UDELAY_ROWS, too: a BUILD(name, ...) for each build. */
#define BUILD(name, ...) void name(unsigned int usecs);
UDELAY_ROWS
#undef BUILD

#define BUILD(name, ...) {#name, name, __VA_ARGS__},
static const struct build builds[] = {UDELAY_ROWS};
#undef BUILD

#define BUILDS (sizeof(builds) / sizeof(builds[0]))

/* From 4,294,968 us on, a product with 1000 exceeds 32 bits. */
static const unsigned int waits_us[] = {0, 1, 2, 99, 100, 101, 99999, 100000, 100001, 999999,
	1000000, 1000001, 4294967, 4294968, 5000000, UINT_MAX - 1, UINT_MAX};

#define WAITS (sizeof(waits_us) / sizeof(waits_us[0]))

/* Returns the wait that a build keeps: the requested one, unless the build is wrong on purpose. */
static inline unsigned int kept_us(const struct build *build, unsigned int usecs)
{
	return (unsigned int)((unsigned long long)usecs * build->percent / 100);
}

static inline bool sleeps_for(const struct build *build, unsigned int usecs)
{
	const unsigned int wait_us = kept_us(build, usecs);

	return wait_us >= build->threshold_us && wait_us > 0;
}

#endif
