/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The ways of waiting that are measured, by the names of the system's own functions. */
#ifndef LATENCY_WAITS_H
#define LATENCY_WAITS_H

#include <stdint.h>

struct wait {
	const char *name;
	/* Waits that long, as the function that it is named after does when asked for it once. */
	void (*wait)(int64_t request_ns);
};

/* The wait of that name; NULL where there is none. */
const struct wait *wait_find(const char *name);

#endif
