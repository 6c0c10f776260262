/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef UDELAY_BUILDS_H
#define UDELAY_BUILDS_H

#include <limits.h>
#include <stdbool.h>

#include "../cases.h"

/*
 * The builds of the delay layer that meson.build makes, by the name that each gives
 * default_delay().
 */
struct build {
	const char *name;
	void (*delay)(unsigned int usecs);
	unsigned int threshold_us;
	bool monotonic; /* false: it uses the wall clock */
	bool absolute;
	bool hybrid;
	bool learns;
	bool slack;
	unsigned int percent;
	unsigned int sleep_unit_us; /* a sleep may be short by this much */
};

/* meson.build defines UDELAY_ROWS, too: a BUILD(name, ...) for each build. */
#define BUILD(name, ...) void name(unsigned int usecs);
UDELAY_ROWS
#undef BUILD

#define BUILD(name, ...) {#name, name, __VA_ARGS__},
static const struct build builds[] = {UDELAY_ROWS};
#undef BUILD

#define BUILDS COUNT(builds)

/* From 4,294,968 us on, a product with 1000 exceeds 32 bits. */
static const unsigned int waits_us[] = {0, 1, 2, 99, 100, 101, 99999, 100000, 100001, 999999,
	1000000, 1000001, 4294967, 4294968, 5000000, UINT_MAX - 1, UINT_MAX};

#define WAITS COUNT(waits_us)

/* Returns how long a build waits. Some builds wait for only a part of the request, on purpose. */
static inline unsigned int actual_us(const struct build *build, unsigned int usecs)
{
	return (unsigned int)((unsigned long long)usecs * build->percent / 100);
}

static inline bool sleeps_for(const struct build *build, unsigned int usecs)
{
	const unsigned int wait_us = actual_us(build, usecs);

	return wait_us >= build->threshold_us && wait_us > 0;
}

/* A case for the builds that `is_for` accepts. It fails if there are none. */
struct build_case {
	bool (*is_for)(const struct build *build);
	void (*run)(const struct build *build);
};

static inline void run_on_builds(void **state)
{
	const struct build_case *row = *state;
	size_t count = 0;

	for (size_t i = 0; i < BUILDS; i++) {
		if (!row->is_for(&builds[i]))
			continue;
		row->run(&builds[i]);
		count++;
	}
	assert_true(count > 0);
}

#define ON_BUILDS(is_for, function) ROW(run_on_builds, build_case, function, is_for, function)

#endif
