/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef UDELAY_BUILDS_H
#define UDELAY_BUILDS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* The delay layer as meson.build has built it, told apart by the name that default_delay() got. */
struct build {
	const char *name;
	void (*delay)(unsigned int usecs);
	unsigned int threshold_us;
	bool monotonic; /* else the fallback */
	bool absolute;
	bool hybrid;
	bool learns;
	bool slack;
	unsigned int percent;
};

/* UDELAY_ROWS comes from there too: a BUILD(name, ...) for each. */
#define BUILD(name, ...) void name(unsigned int usecs);
UDELAY_ROWS
#undef BUILD

#define BUILD(name, ...) {#name, name, __VA_ARGS__},
static const struct build builds[] = {UDELAY_ROWS};
#undef BUILD

#define BUILDS (sizeof(builds) / sizeof(builds[0]))

/* 4,294,967 us is where a product with 1000 leaves 32 bits. */
static const unsigned int waits_us[] = {0, 1, 2, 99, 100, 101, 99999, 100000, 100001, 999999,
	1000000, 1000001, 4294967, 4294968, 5000000, UINT_MAX - 1, UINT_MAX};

#define WAITS (sizeof(waits_us) / sizeof(waits_us[0]))

/* The wait that a build keeps, which is another one only where it is wrong on purpose. */
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
