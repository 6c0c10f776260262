/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A schedule: windows of time, relative to its origin, once or repeated. */
#ifndef AGENT_SCHEDULE_H
#define AGENT_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SCHEDULE_WINDOWS_MAX 16
#define SCHEDULE_NEVER_NS UINT64_MAX

struct schedule_window {
	uint64_t from_ns;
	uint64_t to_ns;
};

/* The windows are in order and do not overlap; with a period, all of them end within it. */
struct schedule {
	struct schedule_window window[SCHEDULE_WINDOWS_MAX];
	size_t count;
	uint64_t period_ns; /* 0: the windows are not repeated */
};

/*
 * Returns true if `at_ns` is in a window; a window includes its beginning, but not its end.
 */
bool schedule_open(const struct schedule *schedule, uint64_t at_ns);

/* Returns the first beginning or end after `at_ns`; SCHEDULE_NEVER_NS if there is none. */
uint64_t schedule_next_edge_ns(const struct schedule *schedule, uint64_t at_ns);

#endif
