/* SPDX-License-Identifier: GPL-2.0-or-later */
/* System calls that a filter refuses to the subject, as in containers. */
#ifndef AGENT_REFUSAL_H
#define AGENT_REFUSAL_H

#include <stdbool.h>
#include <stddef.h>

#define REFUSALS_MAX 8

/* One of the kinds of calls below, and the error that it gets. */
struct refusal {
	size_t kind;
	int error;
};

struct refusals {
	struct refusal of[REFUSALS_MAX];
	size_t count;
};

/*
 * Adds a kind of call ("sleep", "select", "poll", "timerfd" or "clock") and its error ("eperm",
 * "enosys" or "einval"). Returns false if one of them is unknown, or there is no room.
 */
bool refusals_add(struct refusals *refusals, const char *kind, const char *error);

/*
 * Refuses these calls to the calling process and to all that it starts. The caller needs
 * CAP_SYS_ADMIN. Returns 0 or a negative errno.
 */
int refusals_install(const struct refusals *refusals);

#endif
