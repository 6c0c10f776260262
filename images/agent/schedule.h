/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A schedule: stretches of time, counted from some moment, once or over and over. */
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

/* In order and apart from each other; with a period all of them end within it. */
struct schedule {
	struct schedule_window window[SCHEDULE_WINDOWS_MAX];
	size_t count;
	uint64_t period_ns; /* 0: once */
};

/*
 * Returns true if the moment `at_ns` is in one of them; each includes its beginning, not its end.
 */
bool schedule_open(const struct schedule *schedule, uint64_t at_ns);

/* The first beginning or end after `at_ns`; SCHEDULE_NEVER_NS where none comes any more. */
uint64_t schedule_next_edge_ns(const struct schedule *schedule, uint64_t at_ns);

#endif
